/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times that the hosts of a parallel program have agreed on: each has written down the chain of clocks that
 * leads to its own (GT_D_CLOCK), so that it converts its ticks as all others would.
 *
 * Limits: chains that contradict each other, or do not reach all processes of the spool, are not used.
 */
#ifndef GT_ASSEMBLE_CLOCK_CHAIN_H
#define GT_ASSEMBLE_CLOCK_CHAIN_H

#include "lib/assemble/clock/clock.h"
#include "lib/assemble/clock/source.h"

struct gt_chains {
	const struct gt_def_clock **list; /* a clock behind the one that it was compared with */
	size_t count;                     /* 0: there are none that can be used */
	uint64_t common;                  /* the same for all hosts that use the same time; not 0 */
};

/* 0 or -ENOMEM. */
int gt_chains_find(struct gt_chains *chains, const struct gt_spool *spool);
void gt_chains_free(struct gt_chains *chains);

/* Have all hosts converted to one time? Then `clock`, which has room, is that. */
bool gt_origins_agree(struct gt_clock *clock, const struct gt_origins *origins);

#define GT_UNKNOWN_PPM 500 /* how fast two clocks may drift apart: what Linux corrects at most */

/*
 * Leaves out comparisons that are so wide (a host was late or busy for seconds) that another one and the most
 * that clocks drift apart tell more of the same moment. Returns how many are left. `mult`: of the clock.
 */
size_t gt_sync_points_believed(struct sync_point *list, size_t count, uint64_t mult);

/*
 * Comparisons of one clock, ascending by tick. One that was made while the network or a processor was busy
 * has a large error, and tilts the lines on both sides of it by as much. If all lie on one line within their
 * errors, the best two say where it is: what it says better than a comparison takes that one's place. (More
 * than 200 stay.)
 */
void gt_sync_points_straighten(struct sync_point *list, size_t count);

#endif
