/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps taken at every event, whether libotf2 (events.c) or decode.c decodes it.
 *
 * Limits: for lib/read only.
 */
#ifndef GT_OTF2_VISIT_H
#define GT_OTF2_VISIT_H

#include "lib/read/read_int.h"

extern const struct gt_otf2_region gt_otf2_unknown_region;

/* Out of the way: faults, and what few events have. */
__attribute__((cold)) void gt_otf2_bad_time(struct gt_otf2_cursor *at, uint64_t before);
__attribute__((cold)) void gt_otf2_look_at_attributes(struct gt_otf2_cursor *at);
__attribute__((cold)) void gt_otf2_undefined(struct gt_otf2_cursor *at, enum gt_otf2_kind kind, uint64_t id);
__attribute__((cold)) void gt_otf2_bad_leave(struct gt_otf2_cursor *at, const struct gt_otf2_region *region);
__attribute__((cold)) void gt_otf2_grow_stack(struct gt_otf2_cursor *at);

/* at->attributes is set already. */
static inline void gt_otf2_step(struct gt_otf2_cursor *at, uint64_t ticks, uint32_t attributes)
{
	const struct gt_otf2 *read = at->read;
	uint64_t before = at->ticks, ns = gt_otf2_ns(read, ticks);

	at->event++;
	at->ticks = ticks;
	at->time = ns > at->time ? ns : at->time;
	at->attribute_count = attributes;
	if (ticks < before || ticks < read->begin || ticks > read->end)
		gt_otf2_bad_time(at, before);
	if (attributes)
		gt_otf2_look_at_attributes(at);
}

static inline const struct gt_otf2_region *gt_otf2_region_of(struct gt_otf2_cursor *at, uint32_t id)
{
	const struct gt_otf2_region *region = gt_otf2_find_region(at->read, id);

	if (region)
		return region;
	gt_otf2_undefined(at, GT_OTF2_REGION, id);
	return &gt_otf2_unknown_region;
}

/* After gt_otf2_step(). */
static inline void gt_otf2_enter(struct gt_otf2_cursor *at, uint32_t id)
{
	if (at->depth == at->room)
		gt_otf2_grow_stack(at);
	at->stack[at->depth++] = (struct gt_otf2_frame){ .region = gt_otf2_region_of(at, id),
							 .begin = at->time };
	if (at->visitor->enter)
		at->visitor->enter(at);
}

static inline void gt_otf2_leave(struct gt_otf2_cursor *at, uint32_t id)
{
	const struct gt_otf2_region *region = gt_otf2_region_of(at, id);
	struct gt_otf2_frame *frame;

	if (!at->depth || at->stack[at->depth - 1].region != region) {
		gt_otf2_bad_leave(at, region);
		if (!at->depth)
			return;
	}
	frame = &at->stack[--at->depth];
	if (at->depth)
		frame[-1].inside += gt_otf2_inclusive(at, frame);
	if (at->visitor->leave)
		at->visitor->leave(at, frame);
}

/* Everything else: `undefined` is found out. */
void gt_otf2_read_event(struct gt_otf2_cursor *at, struct gt_otf2_event *event);

#endif
