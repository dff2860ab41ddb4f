/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The core's lock, also for adapters in the tree: held with all signals blocked, so that a signal handler on
 * the same thread can never wait for it, and cancellation cannot strike its holder. In a process that has
 * confined itself no signal can be blocked, and nobody waits for long: there the lock can be refused.
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
	uint32_t waited; /* how often it was looked at in vain, since it was last taken */
};

/* Returned for a lock that was not taken. No thread's own mask has these signals in it. */
#define GT_LOCK_REFUSED (UINT64_C(1) << (SIGKILL - 1) | UINT64_C(1) << (SIGSTOP - 1))

/*
 * Returns what gt_unlock() wants, in any case. If it is GT_LOCK_REFUSED what the lock protects must not
 * be touched: the process has confined itself, and who holds the lock may be what this handler has
 * interrupted, or never go on.
 */
GT_API __attribute__((warn_unused_result)) uint64_t gt_lock(struct gt_lock *lock);
/* The same, but refused in any process if somebody holds it. */
GT_API __attribute__((warn_unused_result)) uint64_t gt_lock_try(struct gt_lock *lock);
GT_API void gt_unlock(struct gt_lock *lock, uint64_t mask);

#endif
