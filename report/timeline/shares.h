/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much of the threads' lives in a window was spent in which class of regions: the shares of `gputrace
 * report` (gputrace-metrics(7), "SHARES"), of a part of the run. Which threads count, the whole run tells.
 *
 * Limits: those of gt_profile_counts().
 */
#ifndef GT_REPORT_TIMELINE_SHARES_H
#define GT_REPORT_TIMELINE_SHARES_H

#include "report/model/conditions.h"
#include "report/sections/profile.h"
#include "report/timeline/grid.h"

/* Of a location, zero at first. */
struct gt_sharing {
	bool begun, ended;          /* ended: gt_profile_follows() */
	uint64_t begin, time;       /* the first event; the last one */
	uint64_t absent, absent_in; /* ns without a thread; those in the window */
	uint64_t classes[GT_CLASSES], classes_in[GT_CLASSES]; /* ns in the innermost regions */
	struct gt_condition_waits waits;
};

/* The sums of all locations, zero at first. */
struct gt_shares {
	struct gt_profile profile; /* of it: begin, end and times of locations */
	struct gt_conditions conditions;
	bool *devices;             /* by index: a location that is shown is one's stream */
	uint64_t last;             /* event of the run */
};

/* The part of a time that lies in the window. */
static inline uint64_t gt_shares_in(const struct gt_part *part, uint64_t from, uint64_t to)
{
	from = from < part->from ? part->from : from;
	to = to < part->to ? to : part->to;
	return from < to ? to - from : 0;
}

/* At each event, before the time since the last one is spent. `event`: NULL for an enter or leave. */
void gt_shares_event(struct gt_sharing *sharing, const struct gt_otf2_cursor *at,
		     const struct gt_otf2_event *event, const struct gt_part *part);
/* The location has been read. */
void gt_shares_add(struct gt_shares *shares, struct gt_report *report, struct gt_sharing *sharing,
		   const struct gt_otf2_cursor *at, struct gt_grid *grid);
/* All have. */
void gt_shares_finish(struct gt_shares *shares, const struct gt_report *report, struct gt_grid *grid);

#endif
