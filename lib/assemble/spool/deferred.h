/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the records that streams of kind GT_LOC_DEFERRED hold for a location, in order of time. They are
 * merged into the location's own stream when that is converted.
 *
 * Limits: as sort.h; the deferred streams of a process are read once, or three times for three locations.
 */
#ifndef GT_ASSEMBLE_SPOOL_DEFERRED_H
#define GT_ASSEMBLE_SPOOL_DEFERRED_H

#include "lib/assemble/spool/units.h"

struct gt_deferred {
	struct gt_sorter *sorter;
	struct gt_slot slots[GT_UNIT_SLOTS]; /* the unit that is next */
	unsigned used;
	uint64_t time;             /* its ticks; UINT64_MAX: there is none */
	bool enter, region;        /* it begins a region; it begins or ends one */
};

/*
 * Collects and sorts; a location that was added gives its own away. *side stays NULL if there is nothing. 0
 * or a negative errno.
 */
int gt_deferred_open(struct gt_deferred **deferred, const struct gt_loc *loc, int dirfd);
void gt_deferred_close(struct gt_deferred *deferred);

/* Frees what the process's locations have in common, when all of them are done. */
void gt_deferred_forget(struct gt_proc *proc);

/* Goes to the next unit. 0 or a negative errno, after which there is none. */
int gt_deferred_next(struct gt_deferred *deferred);

#endif
