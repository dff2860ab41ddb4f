/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Delay costs: which call paths on another location made a wait (Scalasca's definition, gputrace-waits(7)).
 *
 * Waits are taken from the last to the first. A wait's time is divided among what the location that came late
 * did and the waiting one did not (or less), since both were last synchronised. What it waited there itself
 * is not its fault: that part is carried to those waits, and so to their causes (the long-term cost). Who
 * waits for a lock, a thread or a device waits for what is done there in the meantime.
 *
 * The order of waits matters only to what is carried, which is little work. So threads take a batch of waits
 * and find what made each late, one thread carries from wait to wait, then threads add up the costs, each of
 * them those of its own call paths: sums are made in the same order however many threads there are.
 *
 * Limits: of each wait so many segments back as MOST_STEPS allows for all of them, 1024 at most.
 */
#include "config.h"

#include "lib/assemble/util/memory.h"
#include "report/waits/crew.h"
#include "report/model/sums.h"
#include "report/waits/sync.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS = 40000000, LEAST_BACK = 16, MOST_BACK = 1024 };
/* Waits of a batch; it has that many shares at most, or as many as so few waits have. */
enum { MOST_WAITS = 256, LEAST_WAITS = 16, MOST_SHARES = 1 << 22 };

/* Nodes of the whole tree that lie there one after the other, and who adds up their costs. */
enum { GROUP = 16 };

struct cost {
	double direct, carried; /* ns */
	uint64_t count;
};

/* A thread's own data. */
struct hand {
	double *times;     /* by node of the whole tree; not touched: NEVER */
	uint32_t *touched;
	uint32_t count;
};

/* A window of a location's time, walked backwards. */
struct window {
	uint32_t location;
	uint64_t from, to;
	bool own; /* of who waited: what it did is subtracted where the other did it, too */
};

/* A wait, and what made it. */
struct late {
	uint32_t location;
	uint64_t index;     /* segment */
	struct window by;   /* when it was made */
	double sum, waited; /* ns: of the shares; of waits for others in the window */
	double time, carried;
	struct share {
		uint32_t node;
		float time; /* two in 16 bytes: they are written and read once more for each wait */
	} *shares;
	uint32_t count, room;
};

struct delays {
	struct gt_sync *sync;
	struct gt_crew *crew;
	struct hand *hands; /* one of each member */
	struct cost ***costs; /* by location, if it is to blame: GROUP of them each, or NULL */
	uint64_t back;
	uint64_t *cursors; /* by location: segments that were not taken */
	uint32_t *heap;    /* locations, the one with the latest wait first */
	uint32_t heap_count;
	struct late *batch;
	uint32_t batch_count, batch_room, next; /* next: that no thread has taken */
};

/* ---- what a location did ------------------------------------------------------------------------- */

/* Subtracting what is less than 1e280 does not change it, so that nobody need look whether it is there. */
#define NEVER (-1e300)

/* Returns how many are touched then. */
static inline uint32_t add(double *times, uint32_t *touched, uint32_t count, uint32_t whole, double time)
{
	double sum = times[whole];

	touched[count] = whole;
	times[whole] = (sum < 0 ? 0 : sum) + time;
	return count + (sum < 0);
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

/* Parts of a location's nodes, scaled. */
static void add_parts(struct hand *hand, struct gt_parts *parts, const uint32_t *nodes, double scale)
{
	uint32_t *touched = hand->touched, count = hand->count;
	double *times = hand->times;
	struct gt_part_of one;

	while (gt_parts_next(parts))
		for (const uint32_t *words = parts->words; words < parts->last;) {
			words = gt_part_take(words, &one);
			count = add(times, touched, count, nodes[one.node], scale * (double)one.time);
		}
	hand->count = count;
}

static void subtract_parts(struct hand *hand, struct gt_parts *parts, const uint32_t *nodes, double scale)
{
	double *times = hand->times;
	struct gt_part_of one;

	while (gt_parts_next(parts))
		for (const uint32_t *words = parts->words; words < parts->last;) {
			words = gt_part_take(words, &one);
			times[nodes[one.node]] -= scale * (double)one.time;
		}
}

/* The profile before the segment `next`, of the time since `since`. */
static void add_gap(const struct delays *delays, struct hand *hand, const struct window *w, uint64_t first,
		    uint64_t since, const struct gt_wait_segment *next)
{
	const uint32_t *nodes = delays->sync->profile->locations[w->location].nodes;
	struct gt_parts parts = gt_parts_of(&delays->sync->timelines[w->location].profile, first,
					    next->profile);
	uint64_t from = larger(since, w->from), to = smaller(next->begin, w->to);

	if (from < to)
		(w->own ? subtract_parts : add_parts)(hand, &parts, nodes,
						      (double)(to - from) / (double)(next->begin - since));
}

static void add_segment(const struct delays *delays, struct hand *hand, const struct window *w,
			const struct gt_wait_segment *segment, uint64_t time)
{
	uint32_t whole = gt_profile_node_at(delays->sync->profile, w->location, segment->node);

	if (w->own)
		hand->times[whole] -= (double)time;
	else
		hand->count = add(hand->times, hand->touched, hand->count, whole, (double)time);
}

/* Until when a segment waited for another location, in the window. */
static uint64_t waited_until(const struct gt_wait_segment *segment)
{
	return segment->cause == GT_NO_CAUSE ? segment->begin : larger(segment->begin, segment->until);
}

static double wait_in(const struct gt_wait_segment *segment, const struct window *w)
{
	uint64_t from = larger(segment->begin, w->from), to = smaller(waited_until(segment), w->to);

	return from < to ? (double)(to - from) : 0;
}

/* Adds what was done in the window; returns what was waited for others in it. */
static double add_window(const struct delays *delays, struct hand *hand, const struct window *w)
{
	const struct gt_sync *sync = delays->sync;
	uint64_t at = before(sync, w->location, w->to), steps = 0;
	const struct gt_wait_segment *next;
	double waited = 0;

	if (at == gt_segment_count(sync, w->location))
		at--; /* the last one is empty */
	next = gt_segment_at(sync, w->location, at);
	for (; at && next->begin > w->from && steps < delays->back; at--, steps++) {
		const struct gt_wait_segment *segment = gt_segment_at(sync, w->location, at - 1);
		uint64_t from = larger(waited_until(segment), w->from), to = smaller(segment->end, w->to);

		add_gap(delays, hand, w, segment->profile, segment->end, next);
		if (from < to)
			add_segment(delays, hand, w, segment, to - from);
		waited += wait_in(segment, w);
		next = segment;
	}
	if (!at)
		add_gap(delays, hand, w, 0, sync->timelines[w->location].begin, next);
	return waited;
}

/* The same way: each wait in the window gets its part of what others waited. */
static void carry(const struct delays *delays, const struct window *w, double part)
{
	const struct gt_sync *sync = delays->sync;
	uint64_t at = before(sync, w->location, w->to), steps = 0;

	for (; at && steps < delays->back; at--, steps++) {
		struct gt_wait_segment *segment = gt_segment_at(sync, w->location, at - 1);

		segment->carried += (float)(part * wait_in(segment, w));
		if (segment->begin <= w->from)
			return;
	}
}

/* ---- since when ---------------------------------------------------------------------------------- */

/* The wait at or before a place in a location, which only goes back. */
static const struct gt_wait_segment *wait_before(const struct gt_sync *sync, uint32_t location, uint64_t *at,
					    uint64_t *steps)
{
	for (; *at && *steps; --*at, --*steps) {
		const struct gt_wait_segment *segment = gt_segment_at(sync, location, *at - 1);

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
		const struct gt_wait_segment *a = wait_before(sync, one, &one_at, &steps),
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

/* ---- what made a wait ---------------------------------------------------------------------------- */

static bool of_ranks(enum gt_wait wait)
{
	return wait < GT_WAIT_LOCK || wait == GT_WAIT_THREAD_BARRIER || wait == GT_WAIT_OMP_BARRIER;
}

static void reserve(struct late *late, uint32_t count)
{
	if (count <= late->room)
		return;
	late->room = count < late->room * 2 ? late->room * 2 : count;
	late->shares = gt_resized(late->shares, late->room, sizeof(*late->shares));
}

/* Four sums side by side: an addition takes as long as the rest of the loop, and each waits for the last. */
static double sum_of(const struct share *shares, uint32_t count)
{
	double sums[4] = { 0 };
	uint32_t i = 0;

	for (; i + 4 <= count; i += 4)
		for (unsigned k = 0; k < 4; k++)
			sums[k] += (double)shares[i + k].time;
	for (; i < count; i++)
		sums[0] += (double)shares[i].time;
	return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* What is in the hand made the wait. Returns the node with the largest part, or 0. */
static uint32_t take_shares(struct hand *hand, struct late *late)
{
	double largest = 0, *times = hand->times;
	const uint32_t *touched = hand->touched;
	uint32_t most = 0, count = 0, touches = hand->count;
	struct share *shares;

	reserve(late, touches);
	shares = late->shares;
	for (uint32_t i = 0; i < touches; i++) {
		uint32_t node = touched[i];
		double time = times[node];

		times[node] = NEVER;
		shares[count] = (struct share){ node, (float)time };
		count += time >= 1; /* ns; half of them do, so there is no branch for it */
		if (time > largest && time >= 1) {
			largest = time;
			most = node;
		}
	}
	hand->count = 0;
	late->count = count;
	late->sum = sum_of(shares, count);
	return most;
}

static void look_into(const struct delays *delays, struct hand *hand, struct late *late)
{
	const struct gt_sync *sync = delays->sync;
	struct gt_wait_segment *wait = gt_segment_at(sync, late->location, late->index);
	uint64_t waited = gt_sync_waited(wait);
	bool ranks = of_ranks((enum gt_wait)wait->wait);

	late->time = (double)waited;
	late->by = (struct window){ wait->cause, wait->until - waited, wait->until, false };
	if (ranks)
		late->by.from = last_common(delays, late->location, late->index, late->by.location,
					    before(sync, late->by.location, late->by.to));
	late->waited = add_window(delays, hand, &late->by);
	if (ranks)
		add_window(delays, hand,
			   &(struct window){ late->location, late->by.from, wait->begin, true });
	wait->blame = take_shares(hand, late);
}

static void look_into_some(void *user, unsigned member)
{
	struct delays *delays = user;
	uint32_t i;

	while ((i = __atomic_fetch_add(&delays->next, 1, __ATOMIC_RELAXED)) < delays->batch_count)
		look_into(delays, &delays->hands[member], &delays->batch[i]);
}

/* ---- costs --------------------------------------------------------------------------------------- */

static void add_cost(struct cost **groups, uint32_t node, double direct, double carried)
{
	struct cost **group = &groups[node / GROUP], *cost;

	if (!*group)
		*group = gt_zeroed(GROUP, sizeof(**group));
	cost = &(*group)[node % GROUP];
	cost->count++;
	cost->direct += direct;
	cost->carried += carried;
}

/* Which member has the costs of a node. */
static unsigned member_of(uint32_t node, unsigned members)
{
	return (unsigned)((uint64_t)(node / GROUP * UINT32_C(0x9e3779b1)) * members >> 32);
}

static void charge(const struct delays *delays, const struct late *late, unsigned member, unsigned members)
{
	double all = late->sum + late->waited, direct = late->time / all, carried = late->carried / all;
	struct cost **groups = delays->costs[late->by.location];

	for (uint32_t i = 0; i < late->count; i++) {
		const struct share *share = &late->shares[i];

		if (members == 1 || member_of(share->node, members) == member)
			add_cost(groups, share->node, share->time * direct, share->time * carried);
	}
}

static void charge_some(void *user, unsigned member)
{
	struct delays *delays = user;

	for (uint32_t i = 0; i < delays->batch_count; i++)
		charge(delays, &delays->batch[i], member, gt_crew_size(delays->crew));
}

static size_t group_count(const struct delays *delays)
{
	return delays->sync->profile->tree.count / GROUP + 1;
}

static void charge_batch(struct delays *delays)
{
	delays->next = 0;
	gt_crew_run(delays->crew, look_into_some, delays);
	for (uint32_t i = 0; i < delays->batch_count; i++) {
		struct late *late = &delays->batch[i];
		struct cost ***costs = &delays->costs[late->by.location];

		if (!*costs)
			*costs = gt_zeroed(group_count(delays), sizeof(**costs));
		late->carried = (double)gt_segment_at(delays->sync, late->location, late->index)->carried;
		if (late->waited > 0)
			carry(delays, &late->by, (late->time + late->carried) / (late->sum + late->waited));
	}
	gt_crew_run(delays->crew, charge_some, delays);
	delays->batch_count = 0;
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
		const struct gt_wait_segment *segment = gt_segment_at(delays->sync, location, *at - 1);

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

		delays->batch[delays->batch_count].location = location;
		delays->batch[delays->batch_count++].index = --delays->cursors[location];
		if (delays->batch_count == delays->batch_room)
			charge_batch(delays);
		gt_spill_used(&delays->sync->spill);
		if (!go_back(delays, location))
			delays->heap[0] = delays->heap[--delays->heap_count];
		if (delays->heap_count)
			sink(delays, 0);
	}
	charge_batch(delays);
}

/* ---- figures ------------------------------------------------------------------------------------- */

static const struct gt_column columns[] = {
	{ "seconds", "short-term", GT_SECONDS },
	{ "long_term_s", "long-term", GT_SECONDS },
	{ "count", "waits", GT_COUNT },
	{ "location", "caused by", GT_TEXT },
	{ "region", "in", GT_TEXT },
	{ "path", "call path", GT_TEXT },
};
const struct gt_section_kind gt_delays_kind =
	GT_SECTION("delays", "Causes of waits", GT_ROWS, columns, .below = "path");

static void write_cost(struct delays *delays, struct gt_section *section, uint32_t location, uint32_t node,
		       const struct cost *cost)
{
	struct gt_report *report = delays->sync->report;
	union gt_cell *row;

	if (cost->direct + cost->carried < 1)
		return;
	row = gt_row_add(section);
	row[0].count = (uint64_t)(cost->direct + 0.5);
	row[1].count = (uint64_t)(cost->carried + 0.5);
	row[2].count = cost->count;
	row[3].text = gt_report_location(report, location);
	row[4].text = gt_sync_region(delays->sync, location, node);
	row[5].text = gt_profile_path(report, delays->sync->profile, node);
}

static void write_costs(struct delays *delays)
{
	struct gt_section *section = gt_section_add(&delays->sync->report->figures, &gt_delays_kind);

	for (uint32_t i = 0; i < gt_sync_locations(delays->sync); i++) {
		struct cost **groups = delays->costs[i];

		for (uint32_t g = 0; groups && g < group_count(delays); g++)
			for (uint32_t k = 0; groups[g] && k < GROUP; k++)
				write_cost(delays, section, i, g * GROUP + k, &groups[g][k]);
	}
	gt_rows_sort(section, 0);
}

static void free_costs(struct delays *delays)
{
	for (uint32_t i = 0; i < gt_sync_locations(delays->sync); i++) {
		for (uint32_t g = 0; delays->costs[i] && g < group_count(delays); g++)
			free(delays->costs[i][g]);
		free(delays->costs[i]);
	}
	free(delays->costs);
}

static uint64_t count_waits(struct gt_sync *sync)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < gt_sync_locations(sync); i++)
		for (uint64_t k = 0; k < gt_segment_count(sync, i); k++, gt_spill_used(&sync->spill))
			count += gt_segment_at(sync, i, k)->wait != GT_WAIT_NONE;
	return count;
}

static void take_hands(struct delays *delays)
{
	size_t nodes = delays->sync->profile->tree.count;

	delays->crew = gt_crew_new(delays->sync->report->threads);
	delays->hands = gt_zeroed(gt_crew_size(delays->crew), sizeof(*delays->hands));
	for (unsigned i = 0; i < gt_crew_size(delays->crew); i++) {
		delays->hands[i].times = gt_zeroed(nodes + 1, sizeof(*delays->hands[i].times));
		delays->hands[i].touched = gt_zeroed(nodes + 1, sizeof(uint32_t));
		for (size_t k = 0; k <= nodes; k++)
			delays->hands[i].times[k] = NEVER;
	}
	delays->batch_room = (uint32_t)smaller(larger(MOST_SHARES / (nodes + 1), LEAST_WAITS), MOST_WAITS);
	delays->batch = gt_zeroed(delays->batch_room, sizeof(*delays->batch));
}

static void free_hands(struct delays *delays)
{
	for (unsigned i = 0; i < gt_crew_size(delays->crew); i++) {
		free(delays->hands[i].times);
		free(delays->hands[i].touched);
	}
	for (uint32_t i = 0; i < delays->batch_room; i++)
		free(delays->batch[i].shares);
	free(delays->hands);
	free(delays->batch);
	gt_crew_free(delays->crew);
}

/* As far back whether all waits are looked into or a few, so that the same is found. */
static uint64_t how_far_back(struct gt_sync *sync)
{
	return smaller(larger(MOST_STEPS / (count_waits(sync) + 1), LEAST_BACK), MOST_BACK);
}

void gt_delays_blame(struct gt_sync *sync, const struct gt_wait_at *waits, size_t count)
{
	struct delays delays = { .sync = sync, .back = how_far_back(sync) };

	take_hands(&delays);
	for (size_t i = 0; i < count; i++) {
		struct late *late = &delays.batch[delays.batch_count++];

		late->location = waits[i].location;
		late->index = waits[i].segment;
		if (delays.batch_count < delays.batch_room && i + 1 < count)
			continue;
		delays.next = 0;
		gt_crew_run(delays.crew, look_into_some, &delays);
		delays.batch_count = 0;
		gt_spill_drop(&sync->spill);
	}
	free_hands(&delays);
}

void gt_delays_figures(struct gt_sync *sync)
{
	size_t locations = gt_sync_locations(sync);
	struct delays delays = { .sync = sync, .back = how_far_back(sync) };

	delays.cursors = gt_zeroed(locations + 1, sizeof(*delays.cursors));
	delays.heap = gt_zeroed(locations + 1, sizeof(*delays.heap));
	delays.costs = gt_zeroed(locations + 1, sizeof(*delays.costs));
	take_hands(&delays);
	for (uint32_t i = 0; i < locations; i++) {
		delays.cursors[i] = gt_segment_count(sync, i);
		if (go_back(&delays, i))
			delays.heap[delays.heap_count++] = i;
	}
	charge_all(&delays);
	write_costs(&delays);
	free_costs(&delays);
	free_hands(&delays);
	free(delays.cursors);
	free(delays.heap);
}
