/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of a location while it is read: its open segment, items for the bags, open requests.
 *
 * Limits: see sync.h.
 */
#include "config.h"

#include "report/waits/sync_int.h"

#include <stdlib.h>
#include <string.h>

#include "lib/assemble/util/memory.h"

enum { PENDING = 64 };

/* ---- timelines ----------------------------------------------------------------------------------- */

/* As much of the time as a word can say; what is left takes at most two more. */
static inline uint32_t long_part(uint64_t time)
{
	uint64_t units = time >> GT_PART_SHIFT;

	if (!units)
		return (uint32_t)time;
	return GT_PART_UNITS | (uint32_t)(units < GT_PART_UNITS ? units : GT_PART_UNITS - 1);
}

/* Writes a part of what its node has, which is then counted. Returns what is behind it. `left`: of nodes. */
static inline uint32_t *put_part(uint32_t *words, struct gt_profile_node *node, uint32_t number,
				 uint64_t *left)
{
	uint64_t part = node->part;

	if (part < GT_PART_LONG) {
		node->part = 0;
		*words++ = number << GT_PART_BITS | (uint32_t)part;
	} else {
		uint32_t word = long_part(part);

		part = gt_part_long(word);
		node->part -= part;
		*left |= node->part;
		*words++ = number << GT_PART_BITS | GT_PART_LONG;
		*words++ = word;
	}
	node->exclusive += part;
	return words;
}

/*
 * Writes parts of up to so many nodes, of as many as there is room for in a block. Returns how many. `left`:
 * not 0 if a node has more than a word has.
 */
static uint32_t put_some(struct gt_sync *sync, struct gt_syncing *state, const uint32_t *touched,
			 uint32_t count, uint64_t *left)
{
	uint64_t more = 0;
	struct gt_log *log = &state->timeline.profile;
	struct gt_profile_node *nodes = state->profiling->tree.nodes;
	uint64_t room = 2 * (uint64_t)count;
	uint32_t *first = gt_log_room(&sync->spill, log, &room), *words = first, done = 0;

	for (; done < count && words + 1 < first + room; done++)
		words = put_part(words, &nodes[touched[done]], touched[done], &more);
	if (done < count && words < first + room)
		*words++ = touched[done] << GT_PART_BITS; /* of no time, to fill the block */
	log->count += (uint64_t)(words - first);
	*left |= more;
	return done;
}

/* The time of calls since the last segment; that of an open one is in its begin and end. */
static void write_profile(struct gt_sync *sync, struct gt_syncing *state)
{
	struct gt_profiling *p = state->profiling;
	uint32_t left = p->touched_count;

	while (left) {
		uint32_t count = left;
		uint64_t more = 0;

		left = 0;
		for (uint32_t i = 0, n; i < count; i += n)
			n = put_some(sync, state, p->touched + i, count - i, &more);
		for (uint32_t k = 0; more && k < count; k++)
			if (p->tree.nodes[p->touched[k]].part)
				p->touched[left++] = p->touched[k];
	}
	p->touched_count = 0;
}

uint32_t gt_sync_node(const struct gt_otf2_cursor *at)
{
	return at->depth ? (uint32_t)at->stack[at->depth - 1].user : 0;
}

void gt_sync_open_segment(struct gt_sync *sync, struct gt_syncing *state, uint64_t now, uint32_t node,
			 enum gt_class class)
{
	write_profile(sync, state);
	state->open = (struct gt_wait_segment){ .begin = now,
					   .profile = state->timeline.profile.count,
					   .sent = UINT64_MAX,
					   .node = node,
					   .cause = GT_NO_CAUSE,
					   .also = GT_NO_CAUSE,
					   .launcher = GT_NO_CAUSE,
					   .class = (unsigned char)class };
	state->is_open = true;
}

void gt_sync_close_segment(struct gt_sync *sync, struct gt_syncing *state, uint64_t now)
{
	state->open.end = now;
	state->is_open = false;
	gt_profile_flush(state->profiling);
	if (state->stream && now == state->open.begin && state->open.class == GT_CLASS_GPU_IDLE)
		return;
	*(struct gt_wait_segment *)gt_log_add(&sync->spill, &state->timeline.segments) = state->open;
}

/* The number of the segment that the event is in. */
uint32_t gt_sync_here(struct gt_sync *sync, struct gt_syncing *state, const struct gt_otf2_cursor *at)
{
	if (!state->is_open) {
		gt_sync_open_segment(sync, state, at->time, gt_sync_node(at), GT_CLASS_CODE);
		gt_sync_close_segment(sync, state, at->time);
		return (uint32_t)state->timeline.segments.count - 1;
	}
	return (uint32_t)state->timeline.segments.count;
}

/* When the open call began. */
uint64_t gt_sync_entry(const struct gt_syncing *state, const struct gt_otf2_cursor *at)
{
	return state->is_open && at->depth ? at->stack[at->depth - 1].begin : at->time;
}

static void swap(uint32_t *a, uint32_t *b)
{
	uint32_t other = *a;

	*a = *b;
	*b = other;
}

/* Nodes below this one to the end, itself before those. Returns where it is; `sum`: their time. */
static uint32_t touched_below(struct gt_syncing *state, uint32_t node, uint64_t *sum)
{
	struct gt_profiling *p = state->profiling;
	uint32_t first = 0;

	for (uint32_t i = 0; i < p->touched_count; i++)
		if (!gt_sync_is_in(state, p->touched[i], node))
			swap(&p->touched[first++], &p->touched[i]);
	*sum = 0;
	for (uint32_t i = first; i < p->touched_count; i++) {
		*sum += p->tree.nodes[p->touched[i]].part;
		if (p->touched[i] == node)
			swap(&p->touched[first], &p->touched[i]);
	}
	return first;
}

/* What was called since the last segment was before this call, but for the call itself. */
void gt_sync_part_at_entry(struct gt_sync *sync, struct gt_syncing *state, const struct gt_otf2_cursor *at)
{
	const struct gt_log *segments = &state->timeline.segments;
	struct gt_profiling *p = state->profiling;
	uint32_t node = gt_sync_node(at), count = p->touched_count, first;
	struct gt_profile_node *of = &p->tree.nodes[node];
	const struct gt_wait_segment *last = segments->count ? gt_log_at(segments, segments->count - 1)
							     : NULL;
	uint64_t begin = at->depth ? at->stack[at->depth - 1].begin : 0, sum, earlier, later;

	if (!node || state->is_open || (last && last->end > begin))
		return;
	first = touched_below(state, node, &sum);
	earlier = sum > at->time - begin ? sum - (at->time - begin) : 0; /* in another such call */
	earlier = earlier < of->part ? earlier : of->part;
	later = of->part - earlier;
	of->part = earlier;
	p->touched_count = first + (earlier > 0);
	gt_sync_open_segment(sync, state, begin, of->parent, GT_CLASS_CODE);
	gt_sync_close_segment(sync, state, begin);
	of->part = later;
	first += earlier && !later;
	p->touched_count = count - first;
	memmove(p->touched, p->touched + first, p->touched_count * sizeof(*p->touched));
}

/* ---- bags ---------------------------------------------------------------------------------------- */

void gt_sync_hand_over(struct gt_sync *sync, struct gt_syncing *state, enum gt_bag_kind bag)
{
	struct gt_sync_pending *pending = &state->pending[bag];

	pthread_mutex_lock(&sync->spill.lock);
	for (unsigned i = 0; i < pending->count; i++)
		gt_bag_add(&sync->spill, &sync->bags[bag], &pending->items[i]);
	pthread_mutex_unlock(&sync->spill.lock);
	pending->count = 0;
}

void gt_sync_put(struct gt_sync *sync, struct gt_syncing *state, enum gt_bag_kind bag,
		 const struct gt_item *item)
{
	struct gt_sync_pending *pending = &state->pending[bag];

	if (!pending->items)
		pending->items = gt_need(malloc(PENDING * sizeof(*pending->items)));
	pending->items[pending->count++] = *item;
	if (pending->count == PENDING)
		gt_sync_hand_over(sync, state, bag);
}

uint64_t gt_sync_mixed(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

struct gt_item gt_sync_item(struct gt_sync *sync, struct gt_syncing *state, const struct gt_otf2_cursor *at)
{
	return (struct gt_item){ .time = gt_sync_entry(state, at),
				 .begin = gt_sync_entry(state, at),
				 .segment = gt_sync_here(sync, state, at),
				 .location = (uint32_t)at->index,
				 .tie = at->event };
}

/* ---- requests ------------------------------------------------------------------------------------ */

void gt_sync_begin_request(struct gt_syncing *state, unsigned what, uint64_t id, const struct gt_item *item)
{
	if (state->waiting.count == state->request_room) {
		state->request_room = state->request_room ? 2 * state->request_room : 64;
		state->requests = gt_resized(state->requests, state->request_room, sizeof(*state->requests));
	}
	state->requests[state->waiting.count] = (struct gt_sync_request){ what, *item };
	gt_places_add(&state->waiting, what, id);
}

bool gt_sync_end_request(struct gt_syncing *state, unsigned what, uint64_t id, struct gt_item *item)
{
	size_t place = gt_places_take(&state->waiting, what, id);

	if (place == GT_NO_PLACE)
		return false;
	*item = state->requests[place].item;
	state->requests[place] = state->requests[state->waiting.count];
	return true;
}
