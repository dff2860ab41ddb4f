/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The core's lock, also for adapters in the tree: held with all signals blocked, so that a signal handler
 * never waits for a lock that its own thread holds, and the holder cannot be cancelled. In a process that
 * has confined itself signals cannot be blocked, and waits are short: there the lock can be refused.
 *
 * Limits: not installed. Not recursive; the holder makes a few system calls at most. In a forked child an
 * adapter sets its own to zero.
 */
#ifndef GPUTRACE_LOCK_H
#define GPUTRACE_LOCK_H

#include "gputrace/compiler.h"

#include <signal.h>
#include <stdint.h>

struct gt_lock {
	uint32_t word;   /* 0: free; else who holds it, and whether somebody sleeps */
	uint32_t waited; /* failed attempts since it was last taken */
};

/* Returned for a lock that was not taken. No thread's own mask contains these signals. */
#define GT_LOCK_REFUSED (UINT64_C(1) << (SIGKILL - 1) | UINT64_C(1) << (SIGSTOP - 1))

/*
 * Returns the argument for gt_unlock(), which must be called in any case. If it is GT_LOCK_REFUSED, the data
 * that the lock protects must not be touched: the process has confined itself, and the holder may be the
 * code that this handler has interrupted, or may never continue; or the holder has been forking for a second,
 * and may wait for what this handler has interrupted.
 */
GT_API __attribute__((warn_unused_result)) uint64_t gt_lock(struct gt_lock *lock);
/* The same, but refused in any process if the lock is held. */
GT_API __attribute__((warn_unused_result)) uint64_t gt_lock_try(struct gt_lock *lock);
GT_API void gt_unlock(struct gt_lock *lock, uint64_t mask);

#endif
