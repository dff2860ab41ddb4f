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
#include "report/sections/profile.h"

#define INLINE static inline __attribute__((always_inline))

/* A node's time goes on. */
INLINE uint32_t *spend(struct gt_profile_node *nodes, uint32_t node, uint64_t time, uint32_t *touched)
{
	uint64_t part = nodes[node].part;

	if (!time)
		return touched;
	nodes[node].part = part + time;
	*touched = node;
	return touched + !part;
}

/*
 * `plain`: ticks are nanoseconds, and regions are defined in the order of their ids, as usual; the compiler
 * makes a loop of its own for it. The next node comes from the stack or the table of what is known, and not
 * from the last node, so that the processor need not wait for that.
 */
INLINE void take(struct gt_profiling *p, struct gt_otf2_cursor *at, struct gt_otf2_calls *calls, bool plain)
{
	const struct gt_otf2 *read = at->read;
	const struct gt_profile_known *known = p->known;
	const struct gt_otf2_region *regions = p->first;
	const unsigned char *here = calls->at, *last = calls->end - GT_OTF2_CALL_BYTES;
	struct gt_profile_node *nodes = p->tree.nodes;
	struct gt_otf2_frame *const stack = at->stack, *frame = stack + at->depth, *room = stack + at->room;
	uint32_t *touched = p->touched + p->touched_count, node = p->current;
	const uint64_t begin = read->begin, end = read->end;
	uint64_t ticks = at->ticks, now = plain ? 0 : at->time, leaves = 0;
	const size_t depth = at->depth;

	while (here <= last) {
		uint64_t then = ticks, time, spent;
		unsigned number;
		uint32_t id, region;
		const unsigned char *behind = gt_otf2_take_call(here, &then, &number, &id);

		if (!behind || then < ticks || then > end)
			break;
		region = plain ? id : (uint32_t)gt_otf2_index(read, GT_OTF2_REGION, id);
		time = plain ? then - begin : gt_otf2_ns(read, then);
		spent = plain ? then - ticks : time - now;
		if (number == GT_OTF2_RECORD_ENTER) {
			uint32_t to = gt_profile_find(known, nodes, node, region);

			if (!nodes[to].quiet || frame == room)
				break;
			touched = spend(nodes, node, spent, touched);
			node = to;
			*frame++ = (struct gt_otf2_frame){ .region = regions + region, .begin = time,
							   .user = node };
		} else {
			if (!nodes[node].quiet || frame[-1].user & GT_PROFILE_CONTINUES ||
			    (uintptr_t)frame[-1].region != (uintptr_t)regions + region * sizeof(*regions))
				break;
			touched = spend(nodes, node, spent, touched);
			frame--;
			leaves++;
			gt_profile_count(&nodes[node], time - frame->begin, frame->begin);
			node = frame == stack ? 0 : (uint32_t)frame[-1].user;
		}
		here = behind;
		ticks = then;
		if (!plain)
			now = time;
	}
	now = plain ? ticks - begin : now;
	calls->at = here;
	calls->time = at->ticks = ticks;
	at->time = p->time = now;
	at->depth = (size_t)(frame - stack);
	at->event += 2 * leaves + at->depth - depth;
	at->attribute_count = 0;
	p->current = node;
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
	if (read->factor == 1 && !read->fraction && read->tables[GT_OTF2_REGION].dense)
		take(p, at, calls, true);
	else
		take(p, at, calls, false);
}
