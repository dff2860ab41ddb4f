/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A location's window: is its header valid, what does its stream hold, which slots are complete?
 *
 * Limits: used by the reader of the spool and of the streams only.
 */
#ifndef GT_ASSEMBLE_SPOOL_WINDOW_H
#define GT_ASSEMBLE_SPOOL_WINDOW_H

#include "lib/assemble/spool/proc.h"

/* Can a record begin with this word? */
bool gt_type_known(unsigned type);

/* A slot that was reserved but not finished looks like this once it has been read. */
#define GT_TORN_TIME UINT64_MAX

/* Walks over slots piece by piece and tells finished records from rubbish. */
struct gt_slot_walk {
	uint64_t low, high; /* times of finished slots lie between, inclusive */
	uint64_t half_end;  /* stream offset no record may cross */
	uint64_t kept_from, kept_to; /* stream offsets: a record there is one that was counted as lost */
	bool late;          /* so is the last one */
	unsigned skip;      /* continuation slots of the last record that are still to come */
	uint64_t torn;      /* slots marked */
	uint64_t valid_end; /* stream offset behind the last finished record */
	uint64_t last_tick; /* its time */
};

/* Goes to the half at `base`. */
void gt_walk_half(struct gt_slot_walk *walk, const struct gt_loc *loc, uint64_t base);

/*
 * Marks the slots that were not finished (word 0, time GT_TORN_TIME) among `n` slots that lie at
 * stream offset `offset`.
 */
void gt_walk_slots(struct gt_slot_walk *walk, struct gt_slot *slots, size_t n, uint64_t offset);

/*
 * Fills loc->win, begin, end, last_tick, missing and lost. Returns 0; -ENODATA for a window that was
 * never filled in; -EINVAL for one that cannot be right; another negative errno.
 */
int gt_window_read(struct gt_loc *loc);

/* Lowest time of a finished slot in the half that holds `offset`. */
uint64_t gt_window_low(const struct gt_loc *loc, uint64_t offset);

#endif
