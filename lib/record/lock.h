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

/*
 * Whoever takes many locks, one after the other or together, holds signals back once: a process that
 * starts makes some hundred definitions, each with a lock of its own. Per thread.
 */
extern __attribute__((visibility("hidden"))) __thread bool gt_signals_held
	__attribute__((tls_model("initial-exec")));

/* Returns the signal mask to give back to gt_unlock; GT_SIGMASK_ALL: signals were held back already. */
static inline uint64_t gt_lock(struct gt_lock *lock)
{
	uint64_t mask = gt_signals_held ? GT_SIGMASK_ALL : gt_sys_sigmask_set(GT_SIGMASK_ALL);
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
	if (mask != GT_SIGMASK_ALL)
		gt_sys_sigmask_set(mask);
}

/* Between these two, in the order of a stack; what gt_hold_signals() returns goes to the other. */
static inline uint64_t gt_hold_signals(void)
{
	uint64_t mask = gt_signals_held ? GT_SIGMASK_ALL : gt_sys_sigmask_set(GT_SIGMASK_ALL);

	gt_signals_held = true;
	return mask;
}

static inline void gt_release_signals(uint64_t mask)
{
	if (mask == GT_SIGMASK_ALL)
		return;
	gt_signals_held = false;
	gt_sys_sigmask_set(mask);
}

#endif
