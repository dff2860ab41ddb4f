/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asynchronous copies, tied to the calls that asked for them by their correlation ids: those of pageable
 * memory block the host. `gputrace report` does the same from the archive (report/gpu.c).
 *
 * Limits: a worker keeps the first GT_TIES_MOST calls and as many copies; what comes later is left out.
 */
#ifndef GT_ASSEMBLE_ARCHIVE_TIES_H
#define GT_ASSEMBLE_ARCHIVE_TIES_H

#include "lib/assemble/archive/track.h"

#define GT_TIES_MOST (UINT64_C(1) << 20) /* of 16 bytes */

/* The location, a thread of the host, has entered a region that is called with this id. */
void gt_ties_enter(struct gt_track *t, uint64_t correlation);
/* The call that is watched (t->tied) is over. */
void gt_ties_leave(struct gt_track *t, const struct gt_frame *frame, uint64_t ns);
/* A copy of pageable memory, on a stream. */
void gt_ties_copy(struct gt_track *t, uint64_t correlation, uint64_t bytes);
/* All of all workers, once they are done. */
void gt_ties_sum(const struct gt_worker *workers, unsigned count, struct gt_tally *tally);

#endif
