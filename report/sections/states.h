/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Says what the scheduler did with a thread, and how long it could have worked given that (states.c).
 *
 * Limits: known of whole archives by gputrace.
 */
#ifndef GT_REPORT_STATES_H
#define GT_REPORT_STATES_H

#include "report/report.h"

struct gt_thread_states {
	uint64_t life, running, ready, blocked, unknown; /* ns */
};

/* False: too little is known of the thread of a location. */
bool gt_states_of(const struct gt_report *report, size_t location, struct gt_thread_states *states);

/*
 * ns that the thread of a location ran or was ready to, or that nothing is known of: it has worked for at
 * most as long; and in `blocked` those that it was blocked. GT_NO_COUNT: too little is known of it.
 */
uint64_t gt_states_able(const struct gt_report *report, size_t location, uint64_t *blocked);

#endif
