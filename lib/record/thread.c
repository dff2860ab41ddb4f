/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a thread records, from its first event on, which sets the process up and gives the thread a location:
 *
 *   gt_hot_new --first event or gt_thread_begin--> its own --last destructor round--> gt_hot_gone
 *
 * Limits: the thread's own events only, and those of adapters' locations; how they are written is buffer.c's.
 */
#include "gputrace/accel.h"
#include "gputrace/thread.h"
#include "lib/common/sized.h"
#include "lib/record/control.h"
#include "lib/record/record.h"

#define RETRY 4096
static GT_TLS unsigned missed; /* events without a buffer: each RETRY it asks for one again */
static uint64_t next_sequence;

static struct gt_hot *attach(void)
{
	struct gt_hot *hot = gt_self;

	if (hot == &gt_hot_lost && ++missed % RETRY == 0)
		gt_self = hot = &gt_hot_new;
	if (hot == &gt_hot_gone || hot == &gt_hot_closed || hot == &gt_hot_lost) {
		int state = gt_state_now();
		bool late = hot != &gt_hot_lost || state == GT_CLOSING || state == GT_CLOSED;
		unsigned why = late ? GT_LOSS_LATE : __atomic_load_n(&gt_no_location, __ATOMIC_RELAXED);

		if (state != GT_DEAD)
			gt_count_lost(why, 1);
		return hot;
	}
	if (gt_sys_refused()) {
		gt_count_lost(GT_LOSS_SANDBOX, 1);
		if (gt_confined_here()) /* the thread whose memory we share will ask again */
			return &gt_hot_lost;
		__atomic_store_n(&gt_no_location, GT_LOSS_SANDBOX, __ATOMIC_RELAXED);
		gt_self = &gt_hot_lost;
		return gt_self;
	}
	if (!gt_start()) {
		int state = gt_state_now();

		if (state == GT_STARTING)
			gt_count_lost(GT_LOSS_EARLY, 1);
		else if (state != GT_DEAD)
			gt_count_lost(GT_LOSS_LATE, 1);
		if (state != GT_STARTING)
			gt_self = &gt_hot_closed;
		return state == GT_STARTING ? &gt_hot_new : &gt_hot_closed;
	}
	return gt_location_attach();
}

struct gt_location *gt_own_location(void)
{
	struct gt_hot *hot = gt_self;

	return hot->loc ? hot->loc : attach()->loc;
}

/* ---- events --------------------------------------------------------------------------------------- */

/*
 * A thread without a location gets one, and the reservation there. Returns false if it has one, or gets
 * none.
 */
static bool begin(struct gt_hot **hot, uint64_t *address, unsigned slots, uint64_t *tick)
{
	uint64_t now;

	if ((*hot)->loc)
		return false;
	*hot = attach();
	if (!(*hot)->loc)
		return false;
	now = gt_clock_read(); /* the thread has begun: nothing of it lies before */
	if (*tick < now)
		*tick = now;
	*address = gt_local_add(&(*hot)->cur, (uint64_t)slots * GT_SLOT);
	return true;
}

struct gt_slot *gt_reserve_slow(struct gt_hot **hot, uint64_t address, unsigned slots, uint64_t *tick)
{
	struct gt_slot *slot;

	do {
		slot = gt_reserve_in(*hot, address, slots, tick);
	} while (!slot && begin(hot, &address, slots, tick));
	return slot;
}

struct gt_slot *gt_reserve_event(struct gt_hot **hot, uint64_t address, unsigned slots, uint64_t *tick,
				 bool now)
{
	struct gt_slot *slot;

	do {
		slot = gt_reserve_event_in(*hot, address, slots, tick, now);
	} while (!slot && begin(hot, &address, slots, tick));
	return slot;
}

/* Is it an enter or a leave? */
#define BIT(type) (UINT64_C(1) << (type))
static bool enters_or_leaves(uint64_t word)
{
	const uint64_t types = BIT(GT_T_ENTER_ADDR) | BIT(GT_T_LEAVE_ADDR) | BIT(GT_T_ENTER) |
			       BIT(GT_T_LEAVE) | BIT(GT_T_IO_ENTER) | BIT(GT_T_IO_LEAVE) |
			       BIT(GT_T_MPI_SEND_ENTER) | BIT(GT_T_MPI_RECV_LEAVE);

	return GT_WORD_TYPE(word) < 64 && types >> GT_WORD_TYPE(word) & 1;
}

/* The slow half of gt_put. */
void gt_put_slow(struct gt_hot *hot, uint64_t address, uint64_t word)
{
	bool event = enters_or_leaves(word);
	uint64_t tick = 0;
	struct gt_slot *slot = event ? gt_reserve_counted(hot, address, 1, &tick, true) : NULL;

	if (!slot) {
		tick = gt_clock_read();
		slot = event ? gt_reserve_event(&hot, address, 1, &tick, true)
			     : gt_reserve_slow(&hot, address, 1, &tick);
	}
	if (slot)
		gt_commit(slot, word, NULL, 0, tick);
}

static inline void write_to(struct gt_hot *hot, bool event, uint64_t word, const uint64_t *data,
			    unsigned extra, uint64_t tick)
{
	uint64_t bytes = (1 + (uint64_t)extra) * GT_SLOT;
	uint64_t address, low;
	struct gt_slot *slot;

	if (gt_unlikely(extra >= GT_KEPT_LEAST && hot->loc))
		gt_note_length(hot->loc, bytes);
	address = gt_local_add(&hot->cur, bytes);
	if (address + bytes > __atomic_load_n(event ? &hot->limit : &hot->counted, __ATOMIC_RELAXED) ||
	    !hot->loc) {
		slot = event ? gt_reserve_event(&hot, address, 1 + extra, &tick, false)
			     : gt_reserve_slow(&hot, address, 1 + extra, &tick);
		if (!slot)
			return;
	} else {
		slot = (struct gt_slot *)address;
		low = gt_lower_bound(hot->loc, address - (uint64_t)(uintptr_t)hot->base);
		if (tick < low && !(hot->loc->flags & GT_LOC_COMMITS))
			tick = low;
	}
	gt_commit_in(hot->loc, slot, word, data, extra, tick);
}

void gt_write(struct gt_hot *hot, uint64_t word, const uint64_t *data, unsigned extra, uint64_t tick)
{
	write_to(hot ? hot : gt_self, false, word, data, extra, tick);
}

void gt_write_event(uint64_t word, const uint64_t *data, unsigned extra, uint64_t tick)
{
	write_to(gt_self, true, word, data, extra, tick);
}

/* ---- for adapters ---------------------------------------------------------------------------------- */

uint64_t gt_thread_number(void)
{
	uint64_t thread = __atomic_add_fetch(&next_sequence, 1, __ATOMIC_RELAXED);

	gt_states_created(thread);
	return thread;
}

void gt_thread_created(uint64_t sequence, uint64_t tick)
{
	struct gt_location *loc;

	if (!gt_active())
		return;
	loc = gt_own_location();
	if (loc)
		loc->created_from = gt_stream_end(loc);
	gt_write(NULL, GT_WORDX(GT_T_THREAD_CREATE, 1, 0), (uint64_t[2]){ sequence, 0 }, 1, tick);
	if (!loc)
		return;
	loc->created_to = gt_stream_end(loc);
	loc->created = sequence;
}

void gt_thread_not_created(uint64_t sequence)
{
	struct gt_location *loc = gt_self->loc;
	struct gt_def_cut cut;

	if (!loc || loc->created != sequence)
		return;
	cut = (struct gt_def_cut){ loc->id, 1, loc->created_from, loc->created_to };
	gt_journal_put(GT_D_CUT, 0, &(struct gt_piece){ &cut, sizeof(cut) }, 1);
	loc->created = 0;
}

void gt_thread_begin(uint64_t sequence)
{
	struct gt_location *loc = NULL;

	gt_announced = sequence;
	if (gt_active() || gt_state_now() == GT_FORKED)
		loc = gt_own_location();
	if (loc) /* a signal handler may have recorded before this */
		gt_location_announced(loc);
	gt_announced = 0;
}

void gt_thread_join(uint64_t sequence)
{
	gt_write(NULL, GT_WORDX(GT_T_THREAD_WAIT, 1, 0), (uint64_t[2]){ sequence, 0 }, 1, gt_clock_read());
}

void gt_thread_name(uint32_t kernel_tid, const char *name)
{
	struct gt_def_loc_name def = { .tick = gt_clock_read() };
	struct gt_location *loc;

	if (gt_state_now() != GT_READY || !name)
		return;
	loc = kernel_tid ? __atomic_load_n(&gt_locations, __ATOMIC_ACQUIRE) : gt_own_location();
	while (loc && kernel_tid && (loc->kind != GT_LOC_THREAD || loc->win->tid != kernel_tid))
		loc = __atomic_load_n(&loc->next, __ATOMIC_ACQUIRE);
	if (!loc)
		return;
	def.location = loc->id;
	def.name = gt_def_string(name);
	gt_journal_put(GT_D_LOCATION_NAME, 0, &(struct gt_piece){ &def, sizeof(def) }, 1);
}

struct gt_location *gt_location_create(const struct gt_location_info *given)
{
	struct gt_location_info info;

	return GT_TAKEN(info, GT_FIRST_LOCATION, given) && gt_start()
			? gt_location_make(&info, gt_def_string(info.name)) : NULL;
}

uint32_t gt_self_location(void)
{
	struct gt_location *loc = gt_own_location();

	return loc ? loc->id : UINT32_MAX;
}

void gt_location_name(const struct gt_location *location, const char *name)
{
	struct gt_def_loc_name def = { .tick = gt_clock_read() };

	if (!location || gt_state_now() != GT_READY || location->hot->loc != location)
		return;
	def.location = location->id;
	def.name = gt_def_string(name);
	gt_journal_put(GT_D_LOCATION_NAME, 0, &(struct gt_piece){ &def, sizeof(def) }, 1);
}

uint32_t gt_location_id(const struct gt_location *location)
{
	return location ? location->id : UINT32_MAX;
}

void gt_location_record(struct gt_location *location, unsigned type, uint64_t low56,
			const uint64_t *data, unsigned extra, uint64_t tick)
{
	if (!location) {
		gt_count_lost(GT_LOSS_NO_LOCATION, 1);
		return;
	}
	if (location->hot->loc != location) { /* wiped: a child cannot write its parent's stream */
		gt_count_lost(GT_LOSS_FORK, 1);
		return;
	}
	if (extra > GT_MAX_EXTRA) {
		gt_count_lost(GT_LOSS_SIZE, 1);
		return;
	}
	gt_write(location->hot,
		 GT_TYPE_HAS_EXTRA(type) ? GT_WORDX(type, extra, low56) : GT_WORD(type, low56), data,
		 extra, tick);
}

static unsigned extra_of(const struct gt_slot *slot)
{
	return GT_TYPE_HAS_EXTRA(GT_WORD_TYPE(slot->word)) ? GT_WORD_EXTRA(slot->word) : 0;
}

static unsigned records_in(const struct gt_slot *slots, unsigned count)
{
	unsigned records = 0;

	for (unsigned i = 0; i < count; i += 1 + extra_of(slots + i))
		records++;
	return records;
}

/* Counts the records of a block after the first one, which was refused and has been counted. */
static void count_rest(struct gt_location *location, unsigned records)
{
	if (__atomic_load_n(&gt_attention, __ATOMIC_RELAXED) & GT_ATT_CLOSING)
		gt_count_lost(GT_LOSS_LATE, records);
	else if (location->stopped)
		location->win->lost[location->stopped - 1] += records;
}

/* Of one that cannot be reserved at once each record stands or is lost by itself. */
static void write_apart(struct gt_location *location, const struct gt_slot *slots, unsigned count)
{
	for (unsigned i = 0; i < count; i += 1 + extra_of(slots + i))
		gt_location_record(location, GT_WORD_TYPE(slots[i].word), GT_WORD_PAYLOAD(slots[i].word),
				   (const uint64_t *)(slots + i + 1), extra_of(slots + i), slots[i].time);
}

void gt_location_block(struct gt_location *location, const struct gt_slot *slots, unsigned count)
{
	struct gt_hot *hot = location ? location->hot : NULL;
	uint64_t bytes = (uint64_t)count * GT_SLOT, address, tick = slots->time;
	struct gt_slot *to;

	if (!hot || hot->loc != location || count > GT_BLOCK_SLOTS) {
		write_apart(location, slots, count);
		return;
	}
	gt_note_length(location, bytes);
	address = gt_local_add(&hot->cur, bytes);
	to = (struct gt_slot *)address;
	if (address + bytes > __atomic_load_n(&hot->counted, __ATOMIC_RELAXED))
		to = gt_reserve_slow(&hot, address, count, &tick);
	if (!to) {
		count_rest(location, records_in(slots, count) - 1);
		return;
	}
	for (unsigned i = 0; i < count; i += 1 + extra_of(slots + i))
		gt_commit(to + i, slots[i].word, (const uint64_t *)(slots + i + 1), extra_of(slots + i),
			  slots[i].time);
	gt_committed(location);
}
