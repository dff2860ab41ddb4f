/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When only one rank worked: outside of MPI, or in calls of MPI-IO that wait for no other rank.
 *
 * Limits: first threads only, as of late-rank. Work of less than GT_SOLO_LEAST at a time is left out.
 */
#ifndef GT_REPORT_SOLO_H
#define GT_REPORT_SOLO_H

#include "report/report.h"

enum { GT_SOLO_LEAST = 10000 }; /* ns */

/* Of one rank. */
struct gt_solo {
	uint32_t location;
	uint64_t ns;             /* in which only it worked */
	uint64_t begin, longest; /* the longest time without a break: ns since the begin, ns */
};

struct gt_solos {
	struct gt_solo *items; /* free() */
	size_t count;
};

extern const struct gt_analysis gt_solo_analysis;

/* Of all ranks; none if there are not several, or if memory was lacking. */
struct gt_solos gt_solos_of(const struct gt_report *report);

#endif
