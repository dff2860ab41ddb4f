/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Delay costs: which call paths on another location made a wait (Scalasca's definition, gputrace-waits(7)).
 *
 * Waits are taken from the last to the first. A wait's time is divided among what the location that came late
 * did and the waiting one did not (or less), since both were last synchronised. What it waited there itself
 * is not its fault: that part is carried to those waits, and so to their causes (the long-term cost). Who
 * waits for a lock, a thread or a device waits for what is done there in the meantime.
 *
 * Limits: of each wait so many segments back as MOST_STEPS allows for all of them, 1024 at most.
 */
#include "config.h"

#include "report/sync.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS = 40000000, LEAST_BACK = 16, MOST_BACK = 1024 };

struct cost {
	uint64_t key; /* location << 32 | node of the whole tree */
	double direct, carried; /* ns */
	uint64_t count;
};

struct delays {
	struct gt_sync *sync;
	double *times;     /* by node of the whole tree */
	uint32_t *touched; /* of them those that are not 0 */
	uint32_t count;
	uint64_t back;
	uint64_t *cursors; /* by location: segments that were not taken */
	uint32_t *heap;    /* locations, the one with the latest wait first */
	uint32_t heap_count;
	struct cost *costs; /* a hash table */
	uint32_t cost_count, cost_room;
};

static void *need(void *memory)
{
	if (!memory) {
		fputs("gputrace report: out of memory\n", stderr);
		exit(2);
	}
	return memory;
}

/* ---- what a location did ------------------------------------------------------------------------- */

static inline void add(struct delays *delays, const struct gt_profile_location *location, uint32_t node,
		       double time)
{
	uint32_t whole = node < location->node_count ? location->nodes[node] : 0;
	double *sum = &delays->times[whole];

	if (*sum == 0)
		delays->touched[delays->count++] = whole;
	*sum += time;
	if (*sum == 0) /* it is in the list already */
		*sum = 1e-9;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The last segment that begins before a time, + 1. */
static uint64_t before(const struct gt_sync *sync, uint32_t location, uint64_t time)
{
	uint64_t from = 0, to = gt_segment_count(sync, location);

	while (from < to) {
		uint64_t middle = from + (to - from) / 2;

		if (gt_segment_at(sync, location, middle)->begin < time)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* A window of a location's time, walked backwards. */
struct window {
	uint32_t location;
	uint64_t from, to;
	double sign;
};

/* The profile before the segment `next`, of the time since `since`. */
static void add_gap(struct delays *delays, const struct window *w, uint64_t first, uint64_t since,
		    const struct gt_segment *next)
{
	const struct gt_log *profile = &delays->sync->timelines[w->location].profile;
	const struct gt_profile_location *nodes = &delays->sync->profile->locations[w->location];
	uint64_t from = larger(since, w->from), to = smaller(next->begin, w->to);
	double part;

	if (from >= to)
		return;
	part = w->sign * (double)(to - from) / (double)(next->begin - since);
	for (uint64_t i = first, n; i < next->profile; i += n) {
		const uint64_t *parts = gt_log_span(profile, i, &n);

		n = smaller(n, next->profile - i);
		for (uint64_t k = 0; k < n; k++)
			add(delays, nodes, gt_part_node(parts[k]), part * (double)gt_part_time(parts[k]));
	}
}

/* Until when a segment waited for another location, in the window. */
static uint64_t waited_until(const struct gt_segment *segment)
{
	return segment->cause == GT_NO_CAUSE ? segment->begin : larger(segment->begin, segment->until);
}

static double wait_in(const struct gt_segment *segment, const struct window *w)
{
	uint64_t from = larger(segment->begin, w->from), to = smaller(waited_until(segment), w->to);

	return from < to ? (double)(to - from) : 0;
}

/* Adds what was done in the window; returns what was waited for others in it. */
static double add_window(struct delays *delays, const struct window *w)
{
	struct gt_sync *sync = delays->sync;
	uint64_t at = before(sync, w->location, w->to), steps = 0;
	const struct gt_segment *next;
	double waited = 0;

	if (at == gt_segment_count(sync, w->location))
		at--; /* the last one is empty */
	next = gt_segment_at(sync, w->location, at);
	for (; at && next->begin > w->from && steps < delays->back; at--, steps++) {
		const struct gt_segment *segment = gt_segment_at(sync, w->location, at - 1);
		uint64_t from = larger(waited_until(segment), w->from), to = smaller(segment->end, w->to);

		add_gap(delays, w, segment->profile, segment->end, next);
		if (from < to)
			add(delays, &sync->profile->locations[w->location], segment->node,
			    w->sign * (double)(to - from));
		waited += wait_in(segment, w);
		next = segment;
	}
	if (!at)
		add_gap(delays, w, 0, sync->timelines[w->location].begin, next);
	return waited;
}

/* The same way: each wait in the window gets its part of what others waited. */
static void carry(struct delays *delays, const struct window *w, double part)
{
	struct gt_sync *sync = delays->sync;
	uint64_t at = before(sync, w->location, w->to), steps = 0;

	for (; at && steps < delays->back; at--, steps++) {
		struct gt_segment *segment = gt_segment_at(sync, w->location, at - 1);

		segment->carried += (float)(part * wait_in(segment, w));
		if (segment->begin <= w->from)
			return;
	}
}

/* ---- since when ---------------------------------------------------------------------------------- */

/* The wait at or before a place in a location, which only goes back. */
static const struct gt_segment *wait_before(const struct gt_sync *sync, uint32_t location, uint64_t *at,
					    uint64_t *steps)
{
	for (; *at && *steps; --*at, --*steps) {
		const struct gt_segment *segment = gt_segment_at(sync, location, *at - 1);

		if (segment->cause != GT_NO_CAUSE)
			return segment;
	}
	return NULL;
}

/* When two locations were last synchronised: one had waited for the other, or both for the same. */
static uint64_t last_common(const struct delays *delays, uint32_t one, uint64_t one_at, uint32_t other,
			    uint64_t other_at)
{
	const struct gt_sync *sync = delays->sync;
	uint64_t steps = delays->back;

	for (;;) {
		const struct gt_segment *a = wait_before(sync, one, &one_at, &steps),
					*b = wait_before(sync, other, &other_at, &steps);

		if (!steps || (!a && !b))
			return 0;
		if (a && b && a->cause == b->cause && a->until == b->until)
			return a->until;
		if (a && (!b || a->until >= b->until)) {
			if (a->cause == other)
				return a->until;
			one_at--;
		} else {
			if (b->cause == one)
				return b->until;
			other_at--;
		}
	}
}

/* ---- costs --------------------------------------------------------------------------------------- */

static struct cost *find(struct delays *delays, uint64_t key)
{
	uint32_t i = (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (delays->cost_room - 1);

	while (delays->costs[i].count && delays->costs[i].key != key)
		i = (i + 1) & (delays->cost_room - 1);
	return &delays->costs[i];
}

static void grow(struct delays *delays)
{
	struct cost *old = delays->costs;
	uint32_t room = delays->cost_room;

	delays->cost_room = room ? 2 * room : 256;
	delays->costs = need(calloc(delays->cost_room, sizeof(*delays->costs)));
	for (uint32_t i = 0; i < room; i++)
		if (old[i].count)
			*find(delays, old[i].key) = old[i];
	free(old);
}

static void add_cost(struct delays *delays, uint32_t location, uint32_t node, double direct, double carried)
{
	struct cost *cost;

	if (2 * delays->cost_count >= delays->cost_room)
		grow(delays);
	cost = find(delays, (uint64_t)location << 32 | node);
	if (!cost->count++)
		delays->cost_count++;
	cost->key = (uint64_t)location << 32 | node;
	cost->direct += direct;
	cost->carried += carried;
}

/* What is in `times` is what made it late. Returns their sum, and the node with the largest part. */
static double sum_up(struct delays *delays, uint32_t *most)
{
	double sum = 0, largest = 0;

	for (uint32_t i = 0; i < delays->count; i++) {
		double time = delays->times[delays->touched[i]];

		if (time < 1) { /* ns */
			delays->times[delays->touched[i]] = 0;
			continue;
		}
		sum += time;
		if (time > largest) {
			largest = time;
			*most = delays->touched[i];
		}
	}
	return sum;
}

static bool of_ranks(enum gt_wait wait)
{
	return wait < GT_WAIT_LOCK || wait == GT_WAIT_THREAD_BARRIER;
}

static void charge(struct delays *delays, uint32_t location, uint64_t index)
{
	struct gt_sync *sync = delays->sync;
	struct gt_segment *wait = gt_segment_at(sync, location, index);
	double time = (double)gt_sync_waited(wait), waited, sum;
	struct window late = { wait->cause, wait->until - gt_sync_waited(wait), wait->until, 1 };

	if (of_ranks((enum gt_wait)wait->wait)) {
		late.from = last_common(delays, location, index, late.location,
					before(sync, late.location, late.to));
		add_window(delays, &(struct window){ location, late.from, wait->begin, -1 });
	}
	waited = add_window(delays, &late);
	sum = sum_up(delays, &wait->blame);
	for (uint32_t i = 0; i < delays->count; i++) {
		uint32_t node = delays->touched[i];
		double part = sum > 0 ? delays->times[node] / (sum + waited) : 0;

		delays->times[node] = 0;
		if (part > 0)
			add_cost(delays, late.location, node, part * time, part * (double)wait->carried);
	}
	delays->count = 0;
	if (waited > 0)
		carry(delays, &late, (time + (double)wait->carried) / (sum + waited));
}

/* ---- from the last to the first ------------------------------------------------------------------ */

static uint64_t wait_time(const struct delays *delays, uint32_t location)
{
	return gt_segment_at(delays->sync, location, delays->cursors[location] - 1)->until;
}

/* Goes back to a wait that somebody ended. */
static bool go_back(struct delays *delays, uint32_t location)
{
	for (uint64_t *at = &delays->cursors[location]; *at; --*at) {
		const struct gt_segment *segment = gt_segment_at(delays->sync, location, *at - 1);

		if (segment->wait && segment->cause != GT_NO_CAUSE)
			return true;
		gt_spill_used(&delays->sync->spill);
	}
	return false;
}

static void sink(struct delays *delays, uint32_t at)
{
	uint32_t *heap = delays->heap, one = heap[at];

	for (uint32_t child; (child = 2 * at + 1) < delays->heap_count; at = child) {
		if (child + 1 < delays->heap_count &&
		    wait_time(delays, heap[child + 1]) > wait_time(delays, heap[child]))
			child++;
		if (wait_time(delays, heap[child]) <= wait_time(delays, one))
			break;
		heap[at] = heap[child];
	}
	heap[at] = one;
}

static void charge_all(struct delays *delays)
{
	for (uint32_t i = delays->heap_count; i--;)
		sink(delays, i);
	while (delays->heap_count) {
		uint32_t location = delays->heap[0];

		charge(delays, location, --delays->cursors[location]);
		gt_spill_used(&delays->sync->spill);
		if (!go_back(delays, location))
			delays->heap[0] = delays->heap[--delays->heap_count];
		if (delays->heap_count)
			sink(delays, 0);
	}
}

/* ---- figures ------------------------------------------------------------------------------------- */

static const struct gt_column columns[] = {
	{ "seconds", "others waited", GT_SECONDS },
	{ "long_term_s", "and then", GT_SECONDS },
	{ "count", "waits", GT_COUNT },
	{ "location", "for", GT_TEXT },
	{ "region", "in", GT_TEXT },
	{ "path", NULL, GT_TEXT },
};
const struct gt_section_kind gt_delays_kind = GT_SECTION("delays", "Causes of waits", GT_ROWS, columns);

static void write_costs(struct delays *delays)
{
	struct gt_report *report = delays->sync->report;
	struct gt_section *section = gt_section_add(&report->figures, &gt_delays_kind);

	for (uint32_t i = 0; i < delays->cost_room; i++) {
		const struct cost *cost = &delays->costs[i];
		uint32_t location = (uint32_t)(cost->key >> 32), node = (uint32_t)cost->key;
		union gt_cell *row;

		if (!cost->count || cost->direct + cost->carried < 1)
			continue;
		row = gt_row_add(section);
		row[0].count = (uint64_t)(cost->direct + 0.5);
		row[1].count = (uint64_t)(cost->carried + 0.5);
		row[2].count = cost->count;
		row[3].text = gt_report_location(report, location);
		row[4].text = gt_sync_region(delays->sync, location, node);
		row[5].text = gt_profile_path(report, delays->sync->profile, node);
	}
	gt_rows_sort(section, 0);
}

static uint64_t count_waits(struct gt_sync *sync)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < gt_sync_locations(sync); i++)
		for (uint64_t k = 0; k < gt_segment_count(sync, i); k++, gt_spill_used(&sync->spill))
			count += gt_segment_at(sync, i, k)->wait != GT_WAIT_NONE;
	return count;
}

void gt_delays_figures(struct gt_sync *sync)
{
	size_t locations = gt_sync_locations(sync), nodes = sync->profile->tree.count;
	struct delays delays = { .sync = sync, .back = MOST_STEPS / (count_waits(sync) + 1) };

	delays.back = smaller(larger(delays.back, LEAST_BACK), MOST_BACK);
	delays.times = need(calloc(nodes + 1, sizeof(*delays.times)));
	delays.touched = need(calloc(nodes + 1, sizeof(*delays.touched)));
	delays.cursors = need(calloc(locations + 1, sizeof(*delays.cursors)));
	delays.heap = need(calloc(locations + 1, sizeof(*delays.heap)));
	for (uint32_t i = 0; i < locations; i++) {
		delays.cursors[i] = gt_segment_count(sync, i);
		if (go_back(&delays, i))
			delays.heap[delays.heap_count++] = i;
	}
	charge_all(&delays);
	write_costs(&delays);
	free(delays.times);
	free(delays.touched);
	free(delays.cursors);
	free(delays.heap);
	free(delays.costs);
}
