/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of gputrace/lock.h that only the core uses: its locks, and sections with all signals blocked.
 *
 * Limits: never call the loader or an adapter while holding a lock of the core.
 */
#ifndef GT_LOCK_H
#define GT_LOCK_H

#include "gputrace/lock.h"
#include "lib/common/sys.h"

#include <stdbool.h>

/*
 * What a fork takes, so that the child finds whole what they protect. Who holds one may take those after it.
 */
enum {
	GT_LOCK_PATCH,
	GT_LOCK_SHOWN,
	GT_LOCK_MODULES,
	GT_LOCK_VERDICTS,
	GT_LOCK_LOCATIONS,
	GT_LOCK_DEFS,
	GT_LOCKS
};
extern GT_HIDDEN struct gt_lock gt_locks[GT_LOCKS];

/*
 * Signal masks to give back. No thread's own has SIGKILL in it, so that there is room for: blocked
 * already, cannot be blocked, and (of gt_lock only) not locked.
 */
#define GT_SIGNALS_KEPT   GT_SIGMASK_ALL
#define GT_SIGNALS_OPEN   (UINT64_C(1) << (SIGKILL - 1))

/* Blocks all signals of the thread; what it returns goes to gt_signals_restore(). */
GT_HIDDEN uint64_t gt_signals_block(void);
GT_HIDDEN void gt_signals_restore(uint64_t mask);

/*
 * The program is about to confine itself, or has failed to: from now on nobody blocks signals, and
 * those who have done so have given them back when this returns (or a second has passed).
 */
GT_HIDDEN void gt_signals_confine(bool confined);
/* In a forked child, where other threads are not: `mask` is what the calling one has to restore. */
GT_HIDDEN void gt_signals_forked(uint64_t mask);
/* Does a thread hold the core's locks while it forks? Then others wait for a second at most. */
GT_HIDDEN void gt_locks_forking(bool forks);

/*
 * Whoever takes many locks, one after the other or together, blocks signals once: a process that
 * starts makes some hundred definitions, each with a lock of its own. Per thread, in the order of a
 * stack; what gt_hold_signals() returns goes to the other.
 */
GT_HIDDEN uint64_t gt_hold_signals(void);
GT_HIDDEN void gt_release_signals(uint64_t mask);

#endif
