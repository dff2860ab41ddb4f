/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranges: regions of the role OTF2_REGION_ROLE_CODE, whose begin and end are calls of the program (push and
 * pop, VT_USER_START and VT_USER_END), so that a range may begin in one function and end in another, as where
 * an object's constructor and destructor do it. All other regions are functions: the
 * return of one ends what was called in it. A return does not end a range, and the end of a range does not
 * end the functions that are still running. OTF2 wants the regions of a location nested. So,
 *
 *  - a function that returns soon after it began a range: the range begins when that function returns;
 *  - a function that ends a range soon after it was called: the range ends when that function is called;
 *  - otherwise what goes on is left and entered again around the leave, and counted (tally.parts).
 *
 * Limits: "soon" is within GT_RANGES_AHEAD slots of the stream. A range that the program does not always end
 * (begins and ends are counted in the whole stream, when a return comes first) is closed by the return of the
 * function that began it, as a function that did not return.
 */
#ifndef GT_ASSEMBLE_ARCHIVE_RANGES_H
#define GT_ASSEMBLE_ARCHIVE_RANGES_H

#include "lib/assemble/archive/track.h"

#define GT_RANGES_AHEAD 400u

/* Is this the begin of a region that is defined as a range? */
bool gt_ranges_defined(const struct gt_track *t, uint64_t word);

/*
 * The unit that was just taken off the stream holds the begin of a range, or what follows that: shall it wait
 * until the function around it has returned? Then *tick is the time that it is to have.
 */
bool gt_ranges_wait(struct gt_track *t, const struct gt_slot *slot, unsigned slots, uint64_t *tick);

/* The unit is about to be emitted at `tick`: if a function begins with it that ends ranges, they end now. */
void gt_ranges_end_early(struct gt_track *t, const struct gt_slot *slot, unsigned slots, uint64_t tick);

/* Has the range that this leave is of ended early? Asked once for each such leave. */
bool gt_ranges_ended(struct gt_track *t, uint64_t enter_word);

/* Leaves the open region at `depth`, which is not the innermost one. */
void gt_ranges_leave(struct gt_track *t, size_t depth, uint64_t ns);

/* Of a leave that belongs to nothing that is open: was its call closed because one around it returned? Then
 * the thread has several stacks (fibres, coroutines). */
bool gt_ranges_was_closed(struct gt_track *t, uint64_t enter_word);

void gt_ranges_free(struct gt_track *t);

#endif
