/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lanes of a run: threads of a process that follow one another. Efficiencies and findings say by them how
 * evenly threads work (efficiency.c).
 *
 * Limits: those that only wait, or mostly for work, are none.
 */
#ifndef GT_REPORT_LANES_H
#define GT_REPORT_LANES_H

#include "report/sections/profile.h"

struct gt_lane {
	uint32_t process;
	uint32_t location; /* the one that was useful for longest */
	uint64_t begin, end;
	uint64_t life, waiting, idle, useful, device, unseen; /* ns */
	uint64_t running, ready;
	uint64_t longest;  /* useful in `location` */
	bool main, guessed; /* guessed: it is not known whether it was blocked */
};

struct gt_lane_list {
	struct gt_lane *items; /* free() */
	size_t count;
};

struct gt_lane_list gt_lanes_of(struct gt_report *report);

#endif
