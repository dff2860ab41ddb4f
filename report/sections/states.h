/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Says what the scheduler did with a thread, as a whole and in the course of time (states.c).
 *
 * Limits: known of whole archives by gputrace.
 */
#ifndef GT_REPORT_STATES_H
#define GT_REPORT_STATES_H

#include "report/model/lives.h"
#include "report/report.h"

struct gt_thread_states {
	uint64_t life, running, ready, blocked, unknown; /* ns */
};

/* False: too little is known of the thread of a location. */
bool gt_states_of(const struct gt_report *report, size_t location, struct gt_thread_states *states);

/* Is it the metric that says what the scheduler did with a thread up to a moment? */
bool gt_is_states(const struct gt_otf2 *read, const struct gt_otf2_metric *metric);
/* Is it known of a location when it was ready? */
bool gt_states_know(const struct gt_report *report, size_t location);
struct gt_stretch {
	uint64_t begin, end; /* ns */
};
/*
 * For how long (ns) a location's thread was ready in a stretch of time; 0: not, or it is not known. `events`:
 * from the location's first one to its last one; `lives`: when its threads lived in between.
 */
double gt_states_ready(const struct gt_report *report, size_t location, const struct gt_lives *lives,
		       struct gt_stretch events, struct gt_stretch in);

#endif
