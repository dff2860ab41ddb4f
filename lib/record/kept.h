/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slots that are left unused because a record reserved in an earlier turn of the window may still be written
 * there (kept.c), and other properties of single slots. Where a function takes a half, signals are blocked.
 *
 * Limits: as kept.c.
 */
#ifndef GT_KEPT_H
#define GT_KEPT_H

#include "lib/record/record.h"

static inline struct gt_slot *gt_slot_at(const struct gt_location *loc, uint64_t offset)
{
	return (struct gt_slot *)(loc->hot->base + (offset & loc->hot->mask));
}

/* Does [from, to), which lies in one half, touch what is kept there? */
static inline bool gt_is_kept(const struct gt_location *loc, uint64_t from, uint64_t to)
{
	const struct gt_kept *kept = &loc->kept[(from & loc->half) != 0];

	return from < kept->to && to > kept->from;
}

/* Makes these slots padding. */
GT_HIDDEN void gt_fill(struct gt_location *loc, uint64_t from, uint64_t to, uint64_t tick);

/*
 * The same with a reservation that will not be used, so that its event can be recorded at another place, or
 * be counted. False: handlers have recorded so much since that it has been counted already: as what had not
 * given up its slots when the half was left, or as an unfinished record, by the assembly.
 */
GT_HIDDEN bool gt_give_up(struct gt_location *loc, uint64_t from, uint64_t to, uint64_t tick);
GT_HIDDEN void gt_kept_leave(struct gt_location *loc, uint64_t end, uint64_t tick);
GT_HIDDEN void gt_kept_empty(struct gt_location *loc, uint64_t offset);
GT_HIDDEN void gt_kept_clear(struct gt_location *loc, uint64_t offset, uint64_t tick);
GT_HIDDEN bool gt_half_unfinished(const struct gt_location *loc, uint64_t offset, struct gt_kept *found);
GT_HIDDEN void gt_kept_find(struct gt_location *loc, uint64_t offset, bool look);

#endif
