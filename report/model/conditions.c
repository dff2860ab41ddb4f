/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gathers who waits for which condition and who signals it, and judges what is waited for.
 *
 * Limits: see conditions.h.
 */
#include "config.h"

#include "lib/assemble/util/memory.h"
#include "report/model/conditions.h"
#include "report/model/rules.h"
#include "report/model/spread.h"

#include <stdlib.h>

/* What is known of a condition. */
enum {
	SIGNALLED = 1, /* by somebody who is known */
	HELD = 2,      /* it stands for something that somebody has, or has to do */
	FREE_HANDS = 4, /* one came to it with nothing done */
};

/* ---- a location ---------------------------------------------------------------------------------- */

void gt_conditions_prepare(struct gt_conditions *conditions, const struct gt_report *report)
{
	conditions->address = gt_otf2_attribute_named(report->read, "GPUTRACE::CONDITION_ADDRESS");
	conditions->woken_by = gt_otf2_attribute_named(report->read, "GPUTRACE::WOKEN_BY");
	conditions->work = gt_zeroed(report->read->tables[GT_OTF2_LOCATION].count + 1,
				     sizeof(*conditions->work));
}

static void first(const struct gt_otf2_cursor *at, struct gt_condition_waits *state)
{
	if (!state->begun)
		state->begin = at->time;
	state->begun = true;
}

void gt_conditions_enter(const struct gt_conditions *conditions, const struct gt_report *report,
			 const struct gt_otf2_cursor *at, struct gt_condition_waits *state)
{
	first(at, state);
	if (!at->attribute_count ||
	    gt_class_of(&report->classes, at->stack[at->depth - 1].region) != GT_CLASS_CONDITION)
		return;
	state->condition = gt_condition_of(at, conditions->address);
	state->call = at->time;
}

static uint64_t within(uint64_t begin, uint64_t end, uint64_t from, uint64_t to)
{
	begin = begin < from ? from : begin;
	end = end > to ? to : end;
	return begin < end ? end - begin : 0;
}

/* A wait for a condition or a semaphore, which a thread of this number + 1 ended. */
static void waited(const struct gt_report *report, const struct gt_otf2_cursor *at,
		   const struct gt_otf2_frame *frame, struct gt_condition_waits *state, uint64_t by,
		   uint64_t counts)
{
	uint64_t condition = state->call == frame->begin ? state->condition : 0;
	uint64_t ns = gt_otf2_exclusive(at, frame);
	struct gt_sum *sum;

	if (by) {
		sum = gt_sums_at(&state->wakes, by, 0, 0, 0);
		if (!sum->count++)
			sum->ns = at->time;
	}
	if (!condition)
		return;
	sum = gt_sums_at(&state->firsts, condition, 0, 0, 0);
	if (!sum->count++) {
		sum->ns = frame->begin;
		sum->bytes = frame->begin - state->begin - state->waited;
		sum->most = ns;
	}
	gt_sum_add(gt_sums_at(&state->waits, condition, by, gt_report_region(report, frame->region), 0), ns,
		   counts < ns ? counts : ns);
}

/* The call ends, or the location does. */
static void ends(const struct gt_conditions *conditions, const struct gt_report *report,
		 const struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame,
		 struct gt_condition_waits *state, uint64_t counts, bool left)
{
	enum gt_class class = gt_class_of(&report->classes, frame->region);
	OTF2_AttributeValue by;

	if (class == GT_CLASS_CONDITION || class == GT_CLASS_SEMAPHORE)
		waited(report, at, frame, state,
		       left && gt_otf2_attribute(at, conditions->woken_by, OTF2_TYPE_UINT64, &by)
			       ? by.uint64 + 1 : 0, counts);
	if (gt_class_times[class] == GT_TIME_WAIT)
		state->waited += gt_otf2_exclusive(at, frame);
}

void gt_conditions_leave(const struct gt_conditions *conditions, const struct gt_report *report,
			 struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame,
			 struct gt_condition_waits *state, uint64_t from, uint64_t to)
{
	ends(conditions, report, at, frame, state, within(frame->begin, at->time, from, to), true);
}

void gt_conditions_event(const struct gt_otf2_cursor *at, const struct gt_otf2_event *event,
			 struct gt_condition_waits *state)
{
	first(at, state);
	if (event->undefined)
		return;
	if (event->type == GT_OTF2_ThreadBegin)
		gt_sums_at(&state->threads, event->ThreadBegin.number, 0, 0, 0);
	if (event->type == GT_OTF2_ThreadCreate)
		gt_sums_at(&state->threads, event->ThreadCreate.number, 1, 0, 0);
}

void gt_conditions_end(const struct gt_conditions *conditions, const struct gt_report *report,
		       const struct gt_otf2_cursor *at, struct gt_condition_waits *state, uint64_t from,
		       uint64_t to)
{
	for (size_t depth = at->depth; depth--;)
		ends(conditions, report, at, &at->stack[depth], state,
		     within(at->stack[depth].begin, at->time, from, to), false);
}

/* ---- all of them --------------------------------------------------------------------------------- */

static uint64_t process_of(const struct gt_report *report, uint64_t location)
{
	return report->classes.locations[location].process;
}

static void copy(struct gt_sum *to, const struct gt_sum *from)
{
	to->count = from->count;
	to->ns = from->ns;
	to->bytes = from->bytes;
	to->most = from->most;
}

void gt_conditions_merge(struct gt_conditions *conditions, const struct gt_report *report,
			 const struct gt_otf2_cursor *at, struct gt_condition_waits *state)
{
	uint64_t process = process_of(report, at->index), life = state->begun ? at->time - state->begin : 0;
	const struct gt_sum *one;

	for (uint32_t i = 0; i < state->waits.count; i++) {
		one = &state->waits.items[i];
		copy(gt_sums_at(&conditions->waits, at->index, one->key[0], one->key[1], one->key[2]), one);
	}
	for (uint32_t i = 0; i < state->firsts.count; i++) {
		one = &state->firsts.items[i];
		copy(gt_sums_at(&conditions->firsts, process, one->key[0], at->index, 0), one);
	}
	for (uint32_t i = 0; i < state->wakes.count; i++) {
		one = &state->wakes.items[i];
		copy(gt_sums_at(&conditions->wakes, at->index, one->key[0], 0, 0), one);
	}
	for (uint32_t i = 0; i < state->threads.count; i++) {
		one = &state->threads.items[i];
		if (one->key[1])
			gt_sums_at(&conditions->created, at->index, one->key[0], 0, 0);
		else
			gt_sums_at(&conditions->threads, process, one->key[0], 0, 0)->ns = at->index;
	}
	conditions->work[at->index] = state->waited < life ? life - state->waited : 0;
	gt_sums_free(&state->waits);
	gt_sums_free(&state->firsts);
	gt_sums_free(&state->wakes);
	gt_sums_free(&state->threads);
}

/* ---- what is waited for -------------------------------------------------------------------------- */

/* Of locations. */
struct pairs {
	struct gt_sums wakes; /* keys: who waited, who ended it; ns: the first time */
	struct gt_sums made;  /* keys: who created it, a thread's */
	struct gt_sums ended; /* keys: who waited, the condition; count: waits that somebody ended */
	struct gt_sums alone; /* key: one that waits alone for a condition, and others end it */
};

/* The location of a thread by its number + 1; GT_NO_DEVICE: it is not known. */
static uint64_t thread_of(const struct gt_conditions *conditions, const struct gt_report *report,
			  uint64_t process, uint64_t by)
{
	const struct gt_sum *thread = gt_sums_find(&conditions->threads, process, by - 1, 0, 0);

	return thread ? thread->ns : by == 1 ? report->classes.processes[process].main : GT_NO_DEVICE;
}

uint64_t gt_conditions_thread(const struct gt_conditions *conditions, const struct gt_report *report,
			      uint64_t process, uint64_t number)
{
	return thread_of(conditions, report, process, number + 1);
}

static struct gt_sum *verdict_of(struct gt_conditions *conditions, uint64_t process, uint64_t condition)
{
	return gt_sums_at(&conditions->verdicts, process, condition, 0, 0);
}

static void pair_up(const struct gt_conditions *conditions, const struct gt_report *report,
		    struct pairs *pairs)
{
	for (uint32_t i = 0; i < conditions->wakes.count; i++) {
		const struct gt_sum *one = &conditions->wakes.items[i];
		uint64_t by = thread_of(conditions, report, process_of(report, one->key[0]), one->key[1]);
		struct gt_sum *pair = gt_sums_at(&pairs->wakes, one->key[0], by, 0, 0);

		if (!pair->count++ || one->ns < pair->ns)
			pair->ns = one->ns;
	}
	for (uint32_t i = 0; i < conditions->created.count; i++) {
		const struct gt_sum *one = &conditions->created.items[i];
		uint64_t process = process_of(report, one->key[0]);

		gt_sums_at(&pairs->made, one->key[0],
			   thread_of(conditions, report, process, one->key[1] + 1), 0, 0);
	}
}

/*
 * The location waited for the condition until `by` signalled it. Is that not one that hands out work? Those
 * that wait for one condition and signal it, too, take turns, as with a lock. A thread that the location has
 * made owes it a result. Who waited for the location before the location waited for him gets from it, and not
 * the other way: a queue was full.
 */
static bool is_held(const struct gt_conditions *conditions, const struct pairs *pairs, uint64_t process,
		    const struct gt_sum *wait, uint64_t by)
{
	uint64_t location = wait->key[0], condition = wait->key[1];
	const struct gt_sum *began = gt_sums_find(&conditions->firsts, process, condition, location, 0);
	const struct gt_sum *served = gt_sums_find(&pairs->wakes, by, location, 0, 0);

	return by == GT_NO_DEVICE || gt_sums_find(&conditions->firsts, process, condition, by, 0) ||
	       gt_sums_find(&pairs->made, location, by, 0, 0) ||
	       (served && began && served->ns <= began->ns);
}

static void look_at_wakers(struct gt_conditions *conditions, const struct gt_report *report,
			   struct pairs *pairs)
{
	for (uint32_t i = 0; i < conditions->waits.count; i++) {
		const struct gt_sum *wait = &conditions->waits.items[i];
		uint64_t process = process_of(report, wait->key[0]);
		struct gt_sum *verdict = verdict_of(conditions, process, wait->key[1]);

		if (!wait->key[2])
			continue;
		verdict->bytes |= SIGNALLED;
		gt_sums_at(&pairs->ended, wait->key[0], wait->key[1], 0, 0)->count += wait->count;
		if (verdict->count == 1)
			gt_sums_at(&pairs->alone, wait->key[0], 0, 0, 0);
		if (is_held(conditions, pairs, process, wait,
			    thread_of(conditions, report, process, wait->key[2])))
			verdict->bytes |= HELD;
	}
}

/* Where each thread has a condition of its own, as in Java, nobody signals the one that he waits for. */
static void look_at_loners(struct gt_conditions *conditions, const struct gt_report *report,
			   const struct pairs *pairs)
{
	for (uint32_t i = 0; i < conditions->waits.count; i++) {
		const struct gt_sum *wait = &conditions->waits.items[i];
		uint64_t process = process_of(report, wait->key[0]), by;
		struct gt_sum *verdict = verdict_of(conditions, process, wait->key[1]);

		if (!wait->key[2] || verdict->count > 1)
			continue;
		by = thread_of(conditions, report, process, wait->key[2]);
		if (by != GT_NO_DEVICE && report->classes.locations[by].kind != GT_LOCATION_MAIN &&
		    gt_sums_find(&pairs->alone, by, 0, 0, 0))
			verdict->bytes |= HELD;
	}
}

static void look_at_waiters(struct gt_conditions *conditions, const struct pairs *pairs)
{
	for (uint32_t i = 0; i < conditions->firsts.count; i++) {
		const struct gt_sum *one = &conditions->firsts.items[i];
		const struct gt_sum *ended = gt_sums_find(&pairs->ended, one->key[2], one->key[1], 0, 0);
		uint64_t work = conditions->work[one->key[2]], before = one->bytes;

		if (ended && gt_comes_for_work(before, one->most, work > before ? work - before : 0,
						ended->count))
			verdict_of(conditions, one->key[0], one->key[1])->bytes |= FREE_HANDS;
	}
}

void gt_conditions_judge(struct gt_conditions *conditions, const struct gt_report *report)
{
	struct pairs pairs = { 0 };

	for (uint32_t i = 0; i < conditions->firsts.count; i++)
		verdict_of(conditions, conditions->firsts.items[i].key[0], conditions->firsts.items[i].key[1])
			->count++;
	pair_up(conditions, report, &pairs);
	look_at_wakers(conditions, report, &pairs);
	look_at_loners(conditions, report, &pairs);
	look_at_waiters(conditions, &pairs);
	gt_sums_free(&pairs.wakes);
	gt_sums_free(&pairs.made);
	gt_sums_free(&pairs.ended);
	gt_sums_free(&pairs.alone);
}

bool gt_conditions_idle(const struct gt_conditions *conditions, const struct gt_report *report,
			uint64_t location, uint64_t condition)
{
	const struct gt_sum *verdict =
		condition ? gt_sums_find(&conditions->verdicts, process_of(report, location), condition, 0, 0)
			  : NULL;

	return verdict && report->classes.locations[location].kind == GT_LOCATION_THREAD &&
	       !(verdict->bytes & HELD) && (verdict->bytes & FREE_HANDS || !(verdict->bytes & SIGNALLED));
}

void gt_conditions_free(struct gt_conditions *conditions)
{
	gt_sums_free(&conditions->waits);
	gt_sums_free(&conditions->firsts);
	gt_sums_free(&conditions->wakes);
	gt_sums_free(&conditions->threads);
	gt_sums_free(&conditions->created);
	gt_sums_free(&conditions->verdicts);
	free(conditions->work);
}

/* ---- the analysis -------------------------------------------------------------------------------- */

static void prepare(struct gt_report *report, void *result)
{
	gt_conditions_prepare(result, report);
}

static void enter(struct gt_report *report, struct gt_otf2_cursor *at, void *state)
{
	gt_conditions_enter(gt_report_result(report, &gt_conditions_analysis), report, at, state);
}

static void leave(struct gt_report *report, struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame,
		  void *state)
{
	gt_conditions_leave(gt_report_result(report, &gt_conditions_analysis), report, at, frame, state, 0,
			    UINT64_MAX);
}

static void event(struct gt_report *report, struct gt_otf2_cursor *at, const struct gt_otf2_event *event,
		  void *state)
{
	(void)report;
	gt_conditions_event(at, event, state);
}

static void end(struct gt_report *report, struct gt_otf2_cursor *at, void *state)
{
	gt_conditions_end(gt_report_result(report, &gt_conditions_analysis), report, at, state, 0,
			  UINT64_MAX);
}

static void merge(struct gt_report *report, struct gt_otf2_cursor *at, void *state, void *result)
{
	gt_conditions_merge(result, report, at, state);
}

static void carry(struct gt_report *report, struct gt_carry *carry, void *memory)
{
	struct gt_condition_waits *state = memory;

	(void)report;
	gt_carry_bytes(carry, &state->begin, sizeof(state->begin));
	gt_carry_bytes(carry, &state->waited, sizeof(state->waited));
	gt_carry_bytes(carry, &state->begun, sizeof(state->begun));
	gt_carry_sums(carry, &state->waits);
	gt_carry_sums(carry, &state->firsts);
	gt_carry_sums(carry, &state->wakes);
	gt_carry_sums(carry, &state->threads);
}

static void release(void *result)
{
	gt_conditions_free(result);
}

const struct gt_analysis gt_conditions_analysis = {
	.name = "conditions", .loud_only = true,
	.state_size = sizeof(struct gt_condition_waits), .result_size = sizeof(struct gt_conditions),
	.prepare = prepare, .enter = enter, .leave = leave, .event = event, .end = end,
	.merge = merge, .carry = carry, .free = release,
};
