/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums for findings of the summary: how long threads wait for each lock, the reads and writes of each file,
 * kernels by their shape and copies. `gputrace report` computes the same from the events.
 *
 * Limits: a worker has sums of at most 65,536 of these; others are left out, and the tally says so of
 * kernels. Of operations with an id of their own that are under way at once, those begun before the last 16
 * are left out.
 */
#ifndef GT_ASSEMBLE_ARCHIVE_WORST_H
#define GT_ASSEMBLE_ARCHIVE_WORST_H

#include "lib/assemble/archive/track.h"
#include "lib/assemble/util/calls.h"

#define GT_NO_FILE (GT_UNDEFINED)     /* its operations do not count */
#define GT_PIPES   (GT_UNDEFINED - 1) /* instead of a file: all pipes */

/* The location has acquired a lock (gt_defs_lock_id()), in the call that is open; or gives it back. */
void gt_worst_lock(struct gt_track *t, uint8_t paradigm, uint32_t lock, uint64_t address, uint64_t ns);
void gt_worst_unlock(struct gt_track *t, uint8_t paradigm, uint32_t lock, uint64_t ns);
/* An operation on a file that was begun is over. `mode`: OTF2_IoOperationMode. */
void gt_worst_io(struct gt_track *t, const struct gt_io_open *io, uint64_t bytes, uint64_t ns);

/* An activity of a device: a kernel of this shape (0: not known), a copy or set. */
void gt_worst_kernel(struct gt_track *t, uint32_t region, uint64_t grid, uint64_t block, uint64_t ns);
void gt_worst_copy(struct gt_track *t, uint32_t region, enum gt_activity what, uint64_t bytes,
		   uint64_t ns);

/* The worst of all workers, once they are done, of a run of so many ns; changes the first one's sums. */
void gt_worst_choose(struct gt_worker *workers, unsigned count, uint64_t run, struct gt_tally *tally);

#endif
