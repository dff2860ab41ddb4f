/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading a stream that is not in order of time, one unit after the other: a record with the
 * attributes that belong to it, or, in a GPU's stream, all records of one activity from its enter to
 * its leave.
 *
 * Limits: a unit has at most GT_UNIT_SLOTS slots; longer ones, and activities whose end was never
 * written, are left out and counted.
 */
#ifndef GT_ASSEMBLE_SPOOL_UNITS_H
#define GT_ASSEMBLE_SPOOL_UNITS_H

#include "lib/assemble/spool/stream.h"

#define GT_UNIT_SLOTS 1000u

struct gt_units {
	struct gt_stream *stream;
	struct gt_slot slots[GT_UNIT_SLOTS];
	unsigned used;
	uint64_t start, end;   /* of the unit: ticks */
	bool activity;         /* it is one */
	bool rubbish;          /* one slot that makes no sense, time 0 */
	uint32_t location;     /* in a stream of kind GT_LOC_DEFERRED: whose record it is */
	uint64_t torn;         /* activities that were left out, over all */
	uint64_t skipped;      /* notes of the recorder, and records for nobody, over all */
};

void gt_units_open(struct gt_units *units, struct gt_stream *stream);

/* The next unit, in the order of writing. 1; 0 at the end; or a negative errno. */
int gt_units_next(struct gt_units *units);

/* Slots of the record that begins at `slot`. */
static inline unsigned gt_slots_of(const struct gt_slot *slot)
{
	unsigned type = GT_WORD_TYPE(slot->word);

	return GT_TYPE_HAS_EXTRA(type) ? 1 + GT_WORD_EXTRA(slot->word) : 1;
}

/* Is the record a note of the recorder about itself, in a stream that is about something else, or has
 * times of somewhere else? */
static inline bool gt_own_note(const struct gt_loc *loc, unsigned type)
{
	return type == GT_T_FLUSH &&
	       (loc->win.kind == GT_LOC_GPU_STREAM || loc->win.kind == GT_LOC_DEFERRED ||
		loc->win.flags & GT_LOC_COMMITS);
}

/* Does the unit `slots` hold an activity? Then *end is when it ends. */
bool gt_unit_activity(const struct gt_slot *slots, unsigned used, uint64_t *end);

/* Is this a record about a transfer: part of an activity, but an event by itself? */
bool gt_type_transfer(unsigned type);

/*
 * Which of a stream's lanes an activity belongs to: the first that is free when it starts. The
 * activities must come in order of start, then of length.
 */
#define GT_LANES_MOST 128u

struct gt_lanes {
	uint64_t end[GT_LANES_MOST];
	unsigned count;        /* lanes that have been used */
};

unsigned gt_lane_of(struct gt_lanes *lanes, uint64_t start, uint64_t end);

#endif
