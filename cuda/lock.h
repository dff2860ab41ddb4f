/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A lock for what the program's threads share: held with all signals blocked, so that a handler never
 * waits for it on the thread that has it, and never jumps away from under it. And waiting for a word; and
 * a ring of what the program's threads write and ours reads.
 *
 * Limits: not recursive; in a forked child its word is set to 0. Keeps errno. In a process that has confined
 * itself no signal is blocked and nobody sleeps. A ring keeps its newest slots.
 */
#ifndef GT_CUDA_LOCK_H
#define GT_CUDA_LOCK_H

#include "gputrace/adapter.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The kernel's own set, which holds the signals of the thread library, too. */
static inline uint64_t gt_cu_signals(uint64_t mask)
{
	uint64_t old = 0;

	syscall(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &mask, &old, sizeof(mask));
	return old;
}

#define GT_CU_SIGNALS_OPEN (UINT64_C(1) << 8) /* SIGKILL, which no thread's own mask has in it */

static inline void gt_cu_sleep(uint32_t *word)
{
	struct timespec most = { 0, 50000000 }; /* who holds it may not be allowed to wake anybody any more */

	if (!gt_is_confined())
		syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 2, &most, NULL, 0);
}

/* The word is 0: free, 1: held, 2: held, and somebody sleeps. Returns what gt_cu_unlock() wants. */
static inline uint64_t gt_cu_lock(uint32_t *word)
{
	uint64_t mask = gt_is_confined() ? GT_CU_SIGNALS_OPEN : gt_cu_signals(~UINT64_C(0));
	uint32_t none = 0;
	int saved = errno;

	if (__atomic_compare_exchange_n(word, &none, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return mask;
	while (__atomic_exchange_n(word, 2, __ATOMIC_ACQUIRE))
		gt_cu_sleep(word);
	errno = saved;
	return mask;
}

/* Signals that came meanwhile strike here: nothing may be left to be done after it. */
static inline void gt_cu_unlock(uint32_t *word, uint64_t mask)
{
	if (__atomic_exchange_n(word, 0, __ATOMIC_RELEASE) == 2 && !gt_is_confined())
		syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	if (mask != GT_CU_SIGNALS_OPEN)
		gt_cu_signals(mask);
}

/* Waits until *word is no longer `value` and somebody says so, at most `ms` milliseconds. */
static inline void gt_cu_futex_wait(uint32_t *word, uint32_t value, unsigned ms)
{
	struct timespec limit = { ms / 1000, (long)(ms % 1000) * 1000000 };

	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &limit, NULL, 0);
}

/* Adds one to the word, and wakes who waits for it. */
static inline void gt_cu_futex_wake(uint32_t *word)
{
	__atomic_add_fetch(word, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* A call that has waited, in a ring: each writer has a slot of its own. */
struct gt_cu_wait {
	uint64_t number; /* 1 + how many came before: the slot is complete when this is right */
	uint64_t enter, leave;
	uint32_t context, location;
};

/* *count: how many came; `size`: a power of two. */
static inline void gt_cu_wait_put(struct gt_cu_wait *ring, uint32_t size, uint64_t *count,
				  const struct gt_cu_wait *wait)
{
	uint64_t n = __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
	struct gt_cu_wait *w = &ring[n % size];

	__atomic_store_n(&w->number, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	w->enter = wait->enter;
	w->leave = wait->leave;
	w->context = wait->context;
	w->location = wait->location;
	__atomic_store_n(&w->number, n + 1, __ATOMIC_RELEASE);
}

/* False: the slot is not complete, or belongs to a later one. */
static inline bool gt_cu_wait_get(const struct gt_cu_wait *ring, uint32_t size, uint64_t n,
				  struct gt_cu_wait *copy)
{
	const struct gt_cu_wait *w = &ring[n % size];

	if (__atomic_load_n(&w->number, __ATOMIC_ACQUIRE) != n + 1)
		return false;
	*copy = *w;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&w->number, __ATOMIC_RELAXED) == n + 1;
}

#endif
