/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The core's lock: a futex mutex that is held with all signals blocked, so that a handler on the
 * same thread can never wait for it, and cancellation cannot strike its holder.
 *
 * Limits: not recursive; the holder makes a few system calls at most. Order: modules, the
 * filter, locations, definitions. Never call the loader or an adapter while holding one.
 */
#ifndef GT_LOCK_H
#define GT_LOCK_H

#include "lib/common/sys.h"

#include <stdbool.h>

struct gt_lock {
	uint32_t word; /* 0 free, 1 held, 2 held and somebody sleeps */
};

/* Returns the signal mask to give back to gt_unlock. */
static inline uint64_t gt_lock(struct gt_lock *lock)
{
	uint64_t mask = gt_sys_sigmask_set(GT_SIGMASK_ALL);
	uint32_t free_word = 0;

	if (__atomic_compare_exchange_n(&lock->word, &free_word, 1, false, __ATOMIC_ACQUIRE,
					__ATOMIC_RELAXED))
		return mask; /* pairs with the release in gt_unlock */
	/* Not for ever: who holds it may not be allowed to wake anybody any more (gt_confined). */
	while (__atomic_exchange_n(&lock->word, 2, __ATOMIC_ACQUIRE)) {
		struct timespec most = { 0, 50000000 };

		GT_SYS4(SYS_futex, &lock->word, FUTEX_WAIT_PRIVATE, 2, &most);
	}
	return mask;
}

static inline void gt_unlock(struct gt_lock *lock, uint64_t mask)
{
	if (__atomic_exchange_n(&lock->word, 0, __ATOMIC_RELEASE) == 2)
		gt_sys_futex(&lock->word, FUTEX_WAKE_PRIVATE, 1);
	gt_sys_sigmask_set(mask);
}

#endif
