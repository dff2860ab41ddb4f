/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads and locks, as OTF2 has them.
 *
 * Limits: a lock is known by its address; a thread that nobody announced has no events of its own.
 */
#include "config.h"

#include "lib/assemble/archive/records.h"
#include "lib/assemble/adapters/assemblers.h"

/* The paradigm that a record names; 0: POSIX threads. */
static uint8_t paradigm_of(uint64_t number)
{
	return number && number <= GT_PARADIGM_MOST ? (uint8_t)number : OTF2_PARADIGM_PTHREAD;
}

/* The threads of the process, as a communicator. */
static uint32_t thread_comm(struct gt_track *t, const struct gt_slot *slot)
{
	uint8_t paradigm = paradigm_of(GT_WORD_LOW(slot->word));
	const struct gt_lookup_entry *entry = gt_track_remembered(t, GT_T_THREAD_CREATE, paradigm);
	const struct gt_paradigm *known = gt_assembler_paradigm(paradigm);
	uint32_t key[2] = { 'P' | (uint32_t)paradigm << 8, t->loc->proc->number };
	struct gt_comm comm = { .parent = GT_UNDEFINED, .proc = t->loc->proc->number, .paradigm = paradigm };

	if (entry)
		return entry->value;
	comm.name = gt_defs_string(t->conv->defs, paradigm == OTF2_PARADIGM_PTHREAD ? "Pthread"
						  : known			    ? known->name
										    : "Threads");
	return gt_track_remember(t, GT_T_THREAD_CREATE, paradigm,
				 gt_defs_comm(t->conv->defs, key, sizeof(key), &comm, NULL), 0);
}

/* How a thread ended, where it did not simply return. */
static void add_thread_end(struct gt_track *t, uint64_t how)
{
	const char *word = how == GT_THREAD_END_EXIT ? "exit" :
			   how == GT_THREAD_END_CANCEL ? "cancel" : NULL;
	struct gt_attribute_def attribute = { .type = OTF2_TYPE_STRING };
	OTF2_AttributeValue value;

	if (!word)
		return;
	attribute.name = gt_defs_string(t->conv->defs, "GPUTRACE::THREAD_END");
	attribute.description = gt_defs_string(
		t->conv->defs, "How the thread ended: exit (pthread_exit) or cancel");
	value.stringRef = gt_defs_spoken(t->conv->defs, gt_defs_string(t->conv->defs, word));
	gt_track_attribute(t, gt_defs_attribute(t->conv->defs, &attribute), OTF2_TYPE_STRING, value);
}

void gt_convert_thread(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	unsigned type = GT_WORD_TYPE(slot->word);
	uint64_t ns = gt_track_time(t, tick), sequence = slot[1].time;

	/* A thread begins and ends outside of all regions, however its predecessor was ended. */
	if (type == GT_T_THREAD_BEGIN || type == GT_T_THREAD_END)
		gt_track_close(t, 0, ns);
	if (!sequence || gt_archive_bad(t->conv->archive)) /* nobody announced it */
		return;
	switch (type) {
	case GT_T_THREAD_CREATE:
		gt_track_write(t, ThreadCreate, ns, thread_comm(t, slot), sequence);
		break;
	case GT_T_THREAD_BEGIN:
		gt_track_write(t, ThreadBegin, ns, thread_comm(t, slot), sequence);
		break;
	case GT_T_THREAD_WAIT:
		gt_track_write(t, ThreadWait, ns, thread_comm(t, slot), sequence);
		break;
	default:
		add_thread_end(t, slot[1].word);
		gt_track_write(t, ThreadEnd, ns, thread_comm(t, slot), sequence);
		break;
	}
}

static uint32_t woken_attribute(struct gt_track *t, const char *name, const char *description)
{
	struct gt_attribute_def attribute = { .type = OTF2_TYPE_UINT64 };

	attribute.name = gt_defs_string(t->conv->defs, name);
	attribute.description = gt_defs_string(t->conv->defs, description);
	return gt_defs_attribute(t->conv->defs, &attribute);
}

static const struct gt_lookup_entry *woken_attributes(struct gt_track *t)
{
	const struct gt_lookup_entry *entry = gt_track_remembered(t, GT_T_WOKEN, 0);

	if (entry)
		return entry;
	gt_track_remember(t, GT_T_WOKEN, 0,
			  woken_attribute(t, "GPUTRACE::WOKEN_BY",
					  "Thread that ended the wait (ThreadBegin's number), 0: the first"),
			  woken_attribute(t, "GPUTRACE::WOKEN_AGO",
					  "Nanoseconds from that to the end of the wait"));
	return gt_track_remembered(t, GT_T_WOKEN, 0);
}

/* Nanoseconds between a time, of which GT_WOKEN_TIME() is left, and a tick within minutes after it. */
static uint64_t ns_since(const struct gt_track *t, uint64_t time, uint64_t tick)
{
	uint64_t units = (tick / GT_WOKEN_UNIT - time) & ((UINT64_C(1) << GT_WOKEN_TIME_BITS) - 1);

	/* Processors' counters may differ by a little. */
	if (units >> (GT_WOKEN_TIME_BITS - 1) || units * GT_WOKEN_UNIT > tick)
		return 0;
	return gt_scale_ns(&t->scale, tick) - gt_scale_ns(&t->scale, tick - units * GT_WOKEN_UNIT);
}

void gt_convert_woken(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	const struct gt_lookup_entry *entry = woken_attributes(t);
	uint64_t payload = GT_WORD_PAYLOAD(slot->word);
	OTF2_AttributeValue by = { .uint64 = payload >> GT_WOKEN_TIME_BITS };
	OTF2_AttributeValue ago = { .uint64 = ns_since(t, payload, tick) };

	if (!entry)
		return;
	gt_track_attribute(t, entry->value, OTF2_TYPE_UINT64, by);
	gt_track_attribute(t, entry->aux, OTF2_TYPE_UINT64, ago);
}

/* Where the lock is: OTF2's number of it tells nothing about the program. */
static uint32_t lock_address(struct gt_track *t)
{
	struct gt_attribute_def attribute = { .type = OTF2_TYPE_UINT64 };

	attribute.name = gt_defs_string(t->conv->defs, "GPUTRACE::LOCK_ADDRESS");
	attribute.description = gt_defs_string(t->conv->defs, "Address of the lock in its process");
	return gt_defs_attribute(t->conv->defs, &attribute);
}

void gt_convert_lock(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	bool acquire = GT_WORD_TYPE(slot->word) == GT_T_LOCK_ACQUIRE;
	uint64_t address = GT_WORD_LOW(slot->word);
	const struct gt_lookup_entry *entry = gt_track_remembered(t, GT_T_LOCK_ACQUIRE, address);
	uint32_t id = entry ? entry->value
			    : gt_track_remember(t, GT_T_LOCK_ACQUIRE, address,
				       gt_defs_lock_id(t->conv->defs, t->loc->proc->number, address),
				       lock_address(t));
	uint32_t order = (uint32_t)slot[1].time;
	uint8_t paradigm = paradigm_of(slot[1].word);
	uint64_t ns = gt_track_time(t, tick);

	if (acquire && (entry || (entry = gt_track_remembered(t, GT_T_LOCK_ACQUIRE, address))))
		gt_track_attribute(t, entry->aux, OTF2_TYPE_UINT64,
				   (OTF2_AttributeValue){ .uint64 = address });
	if (acquire)
		gt_track_write(t, ThreadAcquireLock, ns, paradigm, id, order);
	else
		gt_track_write(t, ThreadReleaseLock, ns, paradigm, id, order);
}

static const struct gt_paradigm paradigms[] = {
	{ .name = "PTHREAD",
	  .paradigm = OTF2_PARADIGM_PTHREAD,
	  .kind = OTF2_PARADIGM_CLASS_THREAD_CREATE_WAIT },
	{ .name = NULL },
};

extern const struct gt_assembler gt_assembler_pthread;
const struct gt_assembler gt_assembler_pthread = {
	.bytes = sizeof(struct gt_assembler),
	.abi = GT_ASSEMBLER_ABI,
	.name = "pthread",
	.paradigms = paradigms,
};
