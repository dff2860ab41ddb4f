/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks: how often each was acquired, how long threads waited for it and held it, and who held it meanwhile.
 *
 * A wait is the time from the enter of the call that acquires the lock to the acquisition, if somebody had
 * the lock meanwhile, or is not known only because not all acquisitions are recorded (gt_waits_unseen(); the
 * class "lock contention" has the same). The holder is whoever had the lock longest during the wait.
 *
 * Limits: holders are looked for among the first MOST acquisitions of an archive. With the default setting
 * gputrace records contended acquisitions only (VT_PTHREAD); for the uncontended holder it has who had the
 * lock as the wait began (HELD_BY), which is taken as having had it until another one that is known.
 */
#include "config.h"

#include "lib/assemble/util/memory.h"
#include "report/model/conditions.h"
#include "report/model/rules.h"
#include "report/model/turns.h"
#include "report/findings/findings.h"
#include "report/model/sums.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 21 };


struct hold {
	uint64_t process, paradigm, lock, address;
	uint64_t by; /* number + 1 of the thread that had it as the wait began; 0: not known */
	struct gt_hold at;
};

struct locks {
	struct hold *holds;
	size_t count, room;
	size_t *open; /* indices of those that are held */
	size_t open_count, open_room;
	uint64_t by, since; /* hold.by of the call that began then */
	bool cut;
};


/* The caller of the function that acquires the lock. */
static uint32_t caller(const struct gt_report *report, const struct gt_otf2_cursor *at)
{
	size_t depth = at->depth;

	while (depth && gt_class_of(&report->classes, at->stack[depth - 1].region) == GT_CLASS_LOCK)
		depth--;
	return depth ? gt_report_region(report, at->stack[depth - 1].region)
		     : (uint32_t)report->read->tables[GT_OTF2_REGION].count;
}

static uint64_t wanted_since(const struct gt_report *report, const struct gt_otf2_cursor *at)
{
	const struct gt_otf2_frame *top = at->depth ? &at->stack[at->depth - 1] : NULL;

	return top && gt_class_of(&report->classes, top->region) == GT_CLASS_LOCK ? top->begin : at->time;
}

static void enter(struct gt_report *report, struct gt_otf2_cursor *at, void *memory)
{
	struct locks *state = memory;
	OTF2_AttributeValue by;

	if (!at->attribute_count ||
	    gt_class_of(&report->classes, at->stack[at->depth - 1].region) != GT_CLASS_LOCK)
		return;
	state->since = at->time;
	state->by = gt_otf2_attribute(at, gt_otf2_attribute_named(at->read, "GPUTRACE::HELD_BY"),
				      OTF2_TYPE_UINT64, &by) ? by.uint64 + 1 : 0;
}

static void acquired(struct gt_report *report, struct gt_otf2_cursor *at, uint64_t paradigm, uint64_t lock,
		     struct locks *state)
{
	uint64_t id = gt_otf2_attribute_named(at->read, "GPUTRACE::LOCK_ADDRESS");
	OTF2_AttributeValue address;

	if (state->count == MOST) {
		state->cut = true;
		return;
	}
	if (state->count == state->room) {
		state->room = state->room ? 2 * state->room : 64;
		state->holds = gt_resized(state->holds, state->room, sizeof(*state->holds));
	}
	if (state->open_count == state->open_room) {
		state->open_room = state->open_room ? 2 * state->open_room : 8;
		state->open = gt_resized(state->open, state->open_room, sizeof(*state->open));
	}
	state->open[state->open_count++] = state->count;
	if (state->since != wanted_since(report, at))
		state->by = 0;
	state->holds[state->count++] = (struct hold){
		.process = report->classes.locations[at->index].process, .paradigm = paradigm, .lock = lock,
		.by = state->by,
		.address = gt_otf2_attribute(at, id, OTF2_TYPE_UINT64, &address) ? address.uint64 : 0,
		.at = { .wanted = wanted_since(report, at), .acquired = at->time, .released = UINT64_MAX,
			.location = (uint32_t)at->index, .region = caller(report, at) } };
}

static void released(struct gt_otf2_cursor *at, uint64_t paradigm, uint64_t lock, struct locks *state)
{
	for (size_t i = state->open_count; i--;) {
		struct hold *hold = &state->holds[state->open[i]];

		if (hold->paradigm != paradigm || hold->lock != lock)
			continue;
		hold->at.released = at->time;
		memmove(&state->open[i], &state->open[i + 1],
			(--state->open_count - i) * sizeof(*state->open));
		return;
	}
}

static void event(struct gt_report *report, struct gt_otf2_cursor *at, const struct gt_otf2_event *event,
		  void *memory)
{
	switch (event->type) {
	case GT_OTF2_ThreadAcquireLock:
		acquired(report, at, event->ThreadAcquireLock.model, event->ThreadAcquireLock.lock, memory);
		break;
	case GT_OTF2_ThreadReleaseLock:
		released(at, event->ThreadReleaseLock.model, event->ThreadReleaseLock.lock, memory);
		break;
	case GT_OTF2_OmpAcquireLock:
		acquired(report, at, OTF2_PARADIGM_OPENMP, event->OmpAcquireLock.lock, memory);
		break;
	case GT_OTF2_OmpReleaseLock:
		released(at, OTF2_PARADIGM_OPENMP, event->OmpReleaseLock.lock, memory);
		break;
	default:
		break;
	}
}

static void end(struct gt_report *report, struct gt_otf2_cursor *at, void *memory)
{
	struct locks *state = memory;

	(void)report;
	for (size_t i = 0; i < state->open_count; i++)
		state->holds[state->open[i]].at.released = at->time;
}

static void release(void *memory)
{
	struct locks *locks = memory;

	free(locks->holds);
	free(locks->open);
}

static void carry(struct gt_report *report, struct gt_carry *carry, void *memory)
{
	struct locks *state = memory;

	(void)report;
	gt_carry_bytes(carry, &state->cut, sizeof(state->cut));
	gt_carry_bytes(carry, &state->count, sizeof(state->count));
	state->holds = gt_carry_array(carry, state->holds, state->count, sizeof(*state->holds));
}

static void merge(struct gt_report *report, struct gt_otf2_cursor *at, void *memory, void *result)
{
	struct locks *state = memory, *all = result;
	size_t n = state->count;

	(void)report, (void)at;
	all->cut |= state->cut || n > MOST - all->count;
	n = n < MOST - all->count ? n : MOST - all->count;
	if (n) {
		all->holds = gt_resized(all->holds, all->count + n, sizeof(*all->holds));
		memcpy(all->holds + all->count, state->holds, n * sizeof(*state->holds));
		all->count += n;
	}
	release(state);
}

/* ---- figures ------------------------------------------------------------------------------------- */

static int by_lock(const void *a, const void *b)
{
	const struct hold *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->paradigm != y->paradigm)
		return x->paradigm < y->paradigm ? -1 : 1;
	if (x->lock != y->lock)
		return x->lock < y->lock ? -1 : 1;
	return (x->at.acquired > y->at.acquired) - (x->at.acquired < y->at.acquired);
}

static const struct gt_column columns[] = {
	{ "wait_s", "waited", GT_SECONDS },
	{ "waits", "waits", GT_COUNT },
	{ "max_wait_s", "longest", GT_SECONDS },
	{ "acquisitions", "acquired", GT_COUNT },
	{ "hold_s", "held", GT_SECONDS },
	{ "max_hold_s", NULL, GT_SECONDS },
	{ "locations", "threads", GT_COUNT },
	{ "process", NULL, GT_TEXT },
	{ "holder", "held meanwhile by", GT_TEXT },
	{ "holder_s", NULL, GT_SECONDS },
	{ "holder_region", "in", GT_TEXT },
	{ "name", "lock", GT_TEXT },
	{ "short_wait_s", NULL, GT_SECONDS }, /* of GT_LEAST_WAIT, and less than a time slice */
	{ "short_waits", NULL, GT_COUNT },
	{ "max_short_wait_time_s", NULL, GT_SECONDS },
	{ NULL, NULL, GT_SECONDS }, /* those that only rules look at */
	{ NULL, NULL, GT_SECONDS },
	{ NULL, NULL, GT_SECONDS },
	{ NULL, NULL, GT_COUNT },
	{ NULL, NULL, GT_SECONDS },
	{ NULL, NULL, GT_SECONDS },
	{ NULL, NULL, GT_COUNT },
};
static const struct gt_section_kind locks_kind =
	GT_SECTION("locks", "Locks", GT_ROWS, columns, .spare = "max_wait_s,acquisitions,locations");

/* Sums up how long each had the lock while others waited, by location and region. */
static void charge(void *holders, const struct gt_hold *holder, uint64_t ns)
{
	gt_sum_add(gt_sums_at(holders, holder->location, holder->region, 0, 0), ns, 0);
}

static void add_short(const struct gt_hold *hold, uint64_t wait, union gt_cell *row)
{
	if (wait < GT_LEAST_WAIT || wait >= GT_SHORT_WAIT)
		return;
	row[GT_LOCK_SHORT_NS].count += wait;
	row[GT_LOCK_SHORT].count++;
	if (row[GT_LOCK_SHORT_LONGEST].count >= wait)
		return;
	row[GT_LOCK_SHORT_LONGEST].count = wait;
	row[GT_LOCK_SHORT_BEGIN].count = hold->wanted;
}

static void start_row(union gt_cell *row)
{
	for (unsigned i = GT_LOCK_WAITED; i < GT_LOCK_THREADS; i++)
		row[i].count = 0;
	row[GT_LOCK_SHORT_NS].count = row[GT_LOCK_SHORT].count = row[GT_LOCK_SHORT_LONGEST].count = 0;
	for (unsigned i = GT_LOCK_KNOWN_NS; i <= GT_LOCK_TURNS_THREADS; i++)
		row[i].count = 0;
}

static void name_holder(struct gt_report *report, struct gt_sums *holders, union gt_cell *row)
{
	gt_sums_sort(holders, GT_SUMS_BY_NS);
	for (uint32_t i = 0; i < holders->count; i++)
		row[GT_LOCK_KNOWN_NS].count += holders->items[i].ns;
	if (!holders->count)
		return;
	row[GT_LOCK_HOLDER].text = gt_report_location(report, holders->items[0].key[0]);
	row[GT_LOCK_HOLDER_NS].count = holders->items[0].ns;
	if (holders->items[0].key[1] < report->read->tables[GT_OTF2_REGION].count)
		row[GT_LOCK_HOLDER_REGION].text = gt_report_region_name(report, holders->items[0].key[1]);
}

static void add_turns(struct gt_turns *turns, union gt_cell *row)
{
	struct gt_turns_found found = gt_turns_find(turns);

	row[GT_LOCK_THREADS].count = turns->threads;
	row[GT_LOCK_TURNS_NS].count = found.ns;
	row[GT_LOCK_TURNS].count = found.waits;
	row[GT_LOCK_TURNS_THREADS].count = found.threads;
	row[GT_LOCK_TURNS_LONGEST].count = found.longest;
	row[GT_LOCK_TURNS_BEGIN].count = found.begin;
	if (turns->failed)
		gt_no_memory();
	gt_turns_free(turns);
}

/* known: for how long somebody is known to have had it meanwhile; all: whoever had it would be known. */
static void add_hold(const struct gt_hold *hold, uint64_t known, bool all, union gt_cell *row)
{
	uint64_t wait = hold->acquired - hold->wanted, held = hold->released - hold->acquired;

	if (!known && !gt_waits_unseen(all, wait))
		wait = 0;
	row[GT_LOCK_WAITED].count += wait;
	row[GT_LOCK_LONGEST].count = wait > row[GT_LOCK_LONGEST].count ? wait : row[GT_LOCK_LONGEST].count;
	row[GT_LOCK_HELD].count += held;
	if (held > row[GT_LOCK_LONGEST_HOLD].count)
		row[GT_LOCK_LONGEST_HOLD].count = held;
	row[GT_LOCK_WAITS].count += wait != 0;
	add_short(hold, wait, row);
}

/* For how long somebody is known to have had the lock: for the rest, who had it as the wait began. */
static uint64_t known_of(struct gt_report *report, const struct hold *hold, uint64_t known,
			 struct gt_sums *holders)
{
	const struct gt_conditions *threads = gt_report_result(report, &gt_conditions_analysis);
	uint64_t wait = hold->at.acquired - hold->at.wanted;
	uint64_t by = hold->by ? gt_conditions_thread(threads, report, hold->process, hold->by - 1)
			       : GT_NO_DEVICE;

	if (known >= wait || by == GT_NO_DEVICE || by == hold->at.location)
		return known;
	gt_sum_add(gt_sums_at(holders, by, report->read->tables[GT_OTF2_REGION].count, 0, 0), wait - known,
		   0);
	return wait;
}

static void lock_row(struct gt_report *report, const struct hold *first, size_t count, union gt_cell *row)
{
	struct gt_hold *holds = gt_resized(NULL, count, sizeof(*holds));
	struct gt_sums holders = {0};
	struct gt_turns turns = { .count = 0 };

	start_row(row);
	row[GT_LOCK_ACQUIRED].count = count;
	for (size_t i = 0; i < count; i++) {
		holds[i] = first[i].at;
		add_hold(&holds[i],
			 known_of(report, &first[i], gt_turns_add(&turns, holds, i, charge, &holders),
				  &holders),
			 report->classes.all_locks, row);
	}
	row[GT_LOCK_PROCESS].text = gt_report_process(report, (uint32_t)first->process);
	row[GT_LOCK_NAME].text = first->address
		? gt_figures_text(&report->figures, "0x%llx", (unsigned long long)first->address)
		: gt_figures_text(&report->figures, "lock %llu", (unsigned long long)first->lock);
	add_turns(&turns, row);
	name_holder(report, &holders, row);
	gt_sums_free(&holders);
	free(holds);
}

/* By default only acquisitions that had to wait are recorded, and so are their holds. */
static const char *holders_note(struct gt_report *report, uint64_t waited, uint64_t known)
{
	bool own = gt_otf2_find_owned(report->read, GT_OTF2_KINDS, GT_OTF2_NOTHING,
					 "GPUTRACE::VERSION");

	if (known >= waited / 100 * 95)
		return NULL;
	return gt_figures_text(&report->figures,
			       own && report->classes.all_locks
				   ? "nobody is known to have held the lock for %s of that: it had readers, "
				     "which are not recorded, or the calls themselves were slow"
			       : own
				   ? "who held the lock is unknown for %s of that: holders that did not wait "
				     "are recorded with VT_PTHREAD_LOCKS=all"
				   : "who held the lock is unknown for %s: holders that did not wait are not "
				     "recorded",
			       gt_said(report, waited - known, GT_SECONDS));
}

static void figures(struct gt_report *report, void *result)
{
	struct gt_section *section = gt_section_add(&report->figures, &locks_kind);
	struct locks *all = result;
	uint64_t waited = 0, known = 0;

	if (all->count)
		qsort(all->holds, all->count, sizeof(*all->holds), by_lock);
	for (size_t i = 0, n; i < all->count; i += n) {
		const struct hold *first = &all->holds[i];
		union gt_cell *row;

		for (n = 1; i + n < all->count && first[n].process == first->process &&
			    first[n].paradigm == first->paradigm && first[n].lock == first->lock; n++)
			;
		row = gt_row_add(section);

		lock_row(report, first, n, row);
		known += row[GT_LOCK_KNOWN_NS].count;
		waited += row[0].count;
	}
	gt_rows_sort(section, 0);
	section->note = holders_note(report, waited, known);
	if (all->cut)
		section->note = "Only the first two million acquisitions are in this table.";
}

const struct gt_analysis gt_locks_analysis = {
	.name = "locks", .state_size = sizeof(struct locks), .result_size = sizeof(struct locks),
	.loud_only = true, .enter = enter, .event = event, .end = end,
	.carry = carry, .merge = merge, .figures = figures, .free = release,
};
