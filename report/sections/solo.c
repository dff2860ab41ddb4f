/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collects when each rank worked, and goes through the work of all ranks in the order of time.
 *
 * Limits: see solo.h. Some four bytes for each stretch of work.
 */
#include "config.h"

#include "report/sections/solo.h"

#include "lib/assemble/util/memory.h"

#include <stdlib.h>
#include <string.h>

/* Of a location. */
struct state {
	struct gt_spans work;
	uint64_t since;  /* it works, unless it waits */
	uint64_t inside; /* calls that wait */
	uint64_t first, last; /* event */
	bool rank, begun;
};

struct result {
	struct gt_spans *work; /* by process */
	size_t count;
	uint64_t first, last;  /* when all ranks are there; 0: there was none yet */
};

static bool wanted(struct gt_report *report)
{
	return report->classes.ranks > 1;
}

static void begin(struct gt_report *report, struct gt_otf2_cursor *at, void *memory)
{
	const struct gt_process_class *process =
		&report->classes.processes[report->classes.locations[at->index].process];

	((struct state *)memory)->rank = process->rank != GT_NO_RANK && process->main == at->index;
}

/* Is it a call of MPI other than one that reads or writes a file alone? */
static bool waits(const struct gt_report *report, const struct gt_otf2_region *region)
{
	enum gt_class class = gt_class_of(&report->classes, region);

	if (gt_class_times[class] != GT_TIME_MPI)
		return false;
	return class != GT_CLASS_MPI_IO || strstr(region->name, "_all") || strstr(region->name, "_ordered") ||
	       (strncmp(region->name, "MPI_File_write", 14) && strncmp(region->name, "MPI_File_read", 13));
}

static void work_until(struct state *state, uint64_t now)
{
	if (now - state->since >= GT_SOLO_LEAST)
		gt_spans_add(&state->work, state->since, now);
}

static void at_first(const struct gt_otf2_cursor *at, struct state *state)
{
	if (!state->begun)
		state->since = state->first = at->time;
	state->begun = true;
}

static void enter(struct gt_report *report, struct gt_otf2_cursor *at, void *memory)
{
	struct state *state = memory;

	at_first(at, state);
	if (state->rank && waits(report, at->stack[at->depth - 1].region) && !state->inside++)
		work_until(state, at->time);
}

static void leave(struct gt_report *report, struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame,
		  void *memory)
{
	struct state *state = memory;

	if (state->rank && state->inside && waits(report, frame->region) && !--state->inside)
		state->since = at->time;
}

static void end(struct gt_report *report, struct gt_otf2_cursor *at, void *memory)
{
	struct state *state = memory;

	(void)report;
	state->last = at->time;
	if (state->begun && state->rank && !state->inside)
		work_until(state, at->time);
}

static void carry(struct gt_report *report, struct gt_carry *carry, void *memory)
{
	struct state *state = memory;

	(void)report;
	gt_carry_spans(carry, &state->work);
	gt_carry_bytes(carry, &state->rank, sizeof(state->rank));
	gt_carry_bytes(carry, &state->first, sizeof(state->first));
	gt_carry_bytes(carry, &state->last, sizeof(state->last));
}

static void merge(struct gt_report *report, struct gt_otf2_cursor *at, void *memory, void *memory_of_all)
{
	struct state *state = memory;
	struct result *all = memory_of_all;

	if (!all->work) {
		all->count = report->classes.process_count;
		all->work = gt_zeroed(all->count + 1, sizeof(*all->work));
	}
	if (!state->rank) {
		gt_spans_free(&state->work);
		return;
	}
	all->work[report->classes.locations[at->index].process] = state->work;
	if (state->first > all->first)
		all->first = state->first;
	if (!all->last || state->last < all->last)
		all->last = state->last;
}

static void release(void *memory)
{
	struct result *all = memory;

	for (size_t i = 0; i < all->count; i++)
		gt_spans_free(&all->work[i]);
	free(all->work);
}

/* ---- all ranks, in the order of time -------------------------------------------------------------- */

/* A rank's next begin or end of work. */
struct edge {
	struct gt_span_at at;
	uint64_t time;
	size_t rank; /* in gt_solos */
	bool working;
};

struct sweep {
	struct edge **heap; /* the earliest one first */
	size_t count;
	size_t working, sum; /* how many work, and the sum of which */
	size_t last;         /* the rank that works alone since `since`; the number of ranks: none */
	uint64_t since, now;
	uint64_t from, to; /* before and after, some ranks are not there, which wait for nobody */
	struct gt_solos solos;
};

static void sink(struct sweep *sweep, size_t i)
{
	for (;;) {
		struct edge *edge = sweep->heap[i];
		size_t least = i;

		for (size_t k = 2 * i + 1; k <= 2 * i + 2 && k < sweep->count; k++)
			if (sweep->heap[k]->time < sweep->heap[least]->time)
				least = k;
		if (least == i)
			return;
		sweep->heap[i] = sweep->heap[least];
		sweep->heap[least] = edge;
		i = least;
	}
}

/* Up to its time what was is so. */
static void account(struct sweep *sweep, uint64_t time)
{
	size_t alone = sweep->working == 1 ? sweep->sum : sweep->solos.count;

	if (time > sweep->to)
		time = sweep->to;
	if (sweep->now < sweep->from)
		sweep->now = sweep->from;
	if (time <= sweep->now)
		return;
	if (alone != sweep->last) {
		sweep->since = sweep->now;
		sweep->last = alone;
	}
	if (alone < sweep->solos.count) {
		struct gt_solo *solo = &sweep->solos.items[alone];

		solo->ns += time - sweep->now;
		if (time - sweep->since > solo->longest) {
			solo->longest = time - sweep->since;
			solo->begin = sweep->since;
		}
	}
	sweep->now = time;
}

/* The earliest edge, which then is the rank's next one. */
static void step(struct sweep *sweep)
{
	struct edge *edge = sweep->heap[0];

	account(sweep, edge->time);
	if (!edge->working) {
		sweep->working++;
		sweep->sum += edge->rank;
		edge->time = edge->at.end;
		edge->working = true;
	} else {
		sweep->working--;
		sweep->sum -= edge->rank;
		edge->working = false;
		if (gt_spans_next(&edge->at))
			edge->time = edge->at.begin;
		else
			sweep->heap[0] = sweep->heap[--sweep->count];
	}
	sink(sweep, 0);
}

struct gt_solos gt_solos_of(const struct gt_report *report)
{
	const struct result *all = gt_report_result(report, &gt_solo_analysis);
	size_t processes = all ? all->count : 0;
	struct edge *edges = gt_zeroed(processes + 1, sizeof(*edges));
	struct sweep sweep = { .heap = gt_zeroed(processes + 1, sizeof(*sweep.heap)) };
	bool failed = false;

	sweep.from = all ? all->first : 0;
	sweep.to = all ? all->last : 0;
	sweep.solos.items = gt_zeroed(processes + 1, sizeof(*sweep.solos.items));
	for (size_t i = 0; i < processes; i++) {
		struct edge *edge = &edges[sweep.solos.count];

		edge->at = gt_spans_first(&all->work[i]);
		failed |= all->work[i].failed;
		if (!gt_spans_next(&edge->at))
			continue;
		edge->time = edge->at.begin;
		edge->rank = sweep.solos.count;
		sweep.heap[sweep.count++] = edge;
		sweep.solos.items[sweep.solos.count++].location = report->classes.processes[i].main;
	}
	sweep.last = sweep.solos.count;
	for (size_t i = sweep.count; i--;)
		sink(&sweep, i);
	while (sweep.count)
		step(&sweep);
	sweep.solos.count = failed ? 0 : sweep.solos.count;
	free(sweep.heap);
	free(edges);
	return sweep.solos;
}

const struct gt_analysis gt_solo_analysis = {
	.name = "solo", .wanted = wanted, .loud_only = true,
	.state_size = sizeof(struct state), .result_size = sizeof(struct result),
	.begin = begin, .enter = enter, .leave = leave, .end = end, .carry = carry, .merge = merge,
	.free = release,
};
