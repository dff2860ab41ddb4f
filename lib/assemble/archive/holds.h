/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When each lock was wanted, acquired and released, for turns that threads take with it (util/turns.h).
 *
 * Limits: acquisitions that took, from the wish to the release, less than GT_LEAST_WAIT are left out: nobody
 * waits long for them. A worker keeps the first GT_HOLDS_MOST of the others. Of locks that a thread has at
 * the same time, the last GT_HOLDS_OPEN count.
 */
#ifndef GT_ASSEMBLE_ARCHIVE_HOLDS_H
#define GT_ASSEMBLE_ARCHIVE_HOLDS_H

#include "lib/assemble/archive/track.h"
#include "lib/assemble/util/turns.h"

#define GT_HOLDS_MOST (UINT64_C(1) << 19) /* of 40 bytes */

/* The location has acquired the lock with this key; gives it back; and ends, with what it still has. */
void gt_holds_acquired(struct gt_track *t, uint64_t key, uint64_t wanted, uint64_t ns);
void gt_holds_released(struct gt_track *t, uint64_t key, uint64_t ns);
void gt_holds_end(struct gt_track *t, uint64_t ns);
/* Turns with this lock, once all workers are done. */
struct gt_turns_found gt_holds_turns(const struct gt_worker *workers, unsigned count, uint64_t key);

#endif
