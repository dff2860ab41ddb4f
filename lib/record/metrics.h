/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters that are read with each enter and leave of a thread (gt_metric_source in adapter.h). A process
 * that has a source keeps GT_ATT_METRICS set, which takes all events to the slow path; there
 * gt_reserve_event() reserves what the readings take together with the event.
 *
 * Limits: GT_SOURCES sources, whose records fit into the smallest half beside an event. A signal handler that
 * interrupts a reading gets none: accumulated counters would run backwards.
 */
#ifndef GT_METRICS_H
#define GT_METRICS_H

#include "gputrace/adapter.h"
#include "gputrace/window.h"

#define GT_SOURCES 8u

/* Of one location, whose thread alone uses it. */
struct gt_readings {
	void *states[GT_SOURCES];
	uint32_t opened, failed; /* sources, as bits */
	unsigned room;           /* slots that the readings of all of them take */
	uintptr_t frame;         /* of the function that is reading, 0: none */
	uint64_t last;           /* tick of the last ones */
};

/*
 * With the lock of the definitions: is there room for one more source? Adds it; its metrics are `first` and
 * on.
 */
GT_HIDDEN bool gt_metrics_fit(uint32_t values);
GT_HIDDEN void gt_metrics_add(const struct gt_metric_source *source, gt_ref first);

/* How many slots the readings of the next event take; opens what is not open yet. 0: there are none. */
GT_HIDDEN unsigned gt_metrics_room(struct gt_location *loc);

/* Is this called by what interrupts a reading? The frame of a reading that longjmp() has left lies below
 * that of any function that is called later from where it led to. */
static inline bool gt_metrics_inside(const struct gt_readings *readings)
{
	return readings->frame > (uintptr_t)__builtin_frame_address(0);
}

/*
 * Reads the sources and commits their records in the `room` slots from `slot` on; returns the slot behind
 * them. `now`: *tick becomes the time after the readings, if it is not later.
 */
GT_HIDDEN struct gt_slot *gt_metrics_fill(struct gt_location *loc, struct gt_slot *slot, unsigned room,
					  bool now, uint64_t *tick);

/* The thread ends that records here. */
GT_HIDDEN void gt_metrics_close(struct gt_location *loc);

#endif
