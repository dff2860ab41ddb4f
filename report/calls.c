/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The profile of enters and leaves in regions that do not communicate, wait or drive a GPU, which nearly all
 * events of most archives are: decoded, checked and counted in one loop.
 *
 * Limits: what is not as usual (a fault, a call path that is not known, a full stack) ends the loop, and the
 * reader calls gt_profile_enter() and gt_profile_leave() for it.
 */
#include "config.h"

#include "lib/read/calls.h"
#include "report/profile.h"

/* `plain`: ticks are nanoseconds, as usual; the compiler makes a loop of its own for it. */
static inline __attribute__((always_inline)) void take(struct gt_profiling *p, struct gt_otf2_cursor *at,
						       struct gt_otf2_calls *calls, bool plain)
{
	const unsigned char *end = calls->end, *here = calls->at;
	struct gt_profile_node *nodes = p->tree.nodes, *node = &nodes[p->current], *next;
	struct gt_otf2_frame *frame = at->stack + at->depth, *room = at->stack + at->room;
	uint32_t *touched = p->touched + p->touched_count;
	uint64_t ticks = at->ticks, left = at->read->end - ticks, now = at->time, events = 0;

	for (;; events++) {
		uint64_t then = ticks, time;
		unsigned number;
		uint32_t id;
		const unsigned char *behind = gt_otf2_take_call(here, &then, &number, &id);

		/* A time before the last one is one that is far behind it. */
		if ((number & ~1U) != GT_OTF2_RECORD_ENTER || !behind || behind > end || then - ticks > left)
			break;
		time = plain ? then - ticks : gt_otf2_ns(at->read, then) - now;
		if (number == GT_OTF2_RECORD_ENTER) {
			const struct gt_profile_known *known = gt_profile_find(p, node, id);

			next = known ? &nodes[known->node] : nodes;
			if (!next->quiet || frame == room)
				break;
			*frame++ = (struct gt_otf2_frame){ .region = known->region,
							   .begin = now + time,
							   .user = known->node };
		} else {
			uint64_t inclusive;

			if (!node->quiet || frame[-1].region->id != id)
				break;
			inclusive = now + time - (--frame)->begin;
			gt_profile_count(node, inclusive, frame->begin);
			next = &nodes[node->parent];
			if (next != nodes)
				frame[-1].inside += inclusive;
		}
		left -= then - ticks;
		ticks = then;
		here = behind;
		if (time) {
			*touched = (uint32_t)(node - nodes);
			touched += !node->part;
			node->part += time;
			now += time;
		}
		node = next;
	}
	calls->at = here;
	calls->time = at->ticks = ticks;
	at->time = p->time = now;
	at->depth = (size_t)(frame - at->stack);
	at->event += events;
	at->attribute_count = 0;
	p->current = (uint32_t)(node - nodes);
	p->touched_count = (uint32_t)(touched - p->touched);
}

void gt_profile_calls(struct gt_profiling *p, struct gt_otf2_cursor *at, struct gt_otf2_calls *calls)
{
	const struct gt_otf2 *read = at->read;

	/* What has a time out of range, or before an earlier event, is for the reader to look at. */
	if (p->loud || !p->begun || !at->stack || p->tree.count == GT_PROFILE_NODES ||
	    at->ticks < read->begin || at->ticks > read->end || at->time != gt_otf2_ns(read, at->ticks))
		return;
	gt_profile_spend(p, at->time);
	if (read->factor == 1 && !read->fraction)
		take(p, at, calls, true);
	else
		take(p, at, calls, false);
}
