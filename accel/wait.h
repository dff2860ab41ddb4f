/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting on a word (futex), and a ring buffer from the program's threads to ours. Locks are the core's
 * (gputrace/lock.h).
 *
 * Limits: in a process that has confined itself nothing sleeps and nothing is woken. A full ring overwrites
 * its oldest slots.
 */
#ifndef GT_ACCEL_WAIT_H
#define GT_ACCEL_WAIT_H

#include "gputrace/adapter.h"
#include "gputrace/lock.h"
#include "gputrace/syscall.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Waits until *word is no longer `value` and somebody says so, at most `ms` milliseconds. */
static inline void gt_accel_wait(uint32_t *word, uint32_t value, unsigned ms)
{
	struct timespec limit = { ms / 1000, (long)(ms % 1000) * 1000000 };

	if (!gt_is_confined())
		gt_raw(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &limit, NULL, 0);
}

/* Adds one to the word, and wakes who waits for it. */
static inline void gt_accel_wake(uint32_t *word)
{
	__atomic_add_fetch(word, 1, __ATOMIC_SEQ_CST);
	if (!gt_is_confined())
		gt_raw(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* A call that has waited, in a ring: each writer has a slot of its own. */
struct gt_accel_waited {
	uint64_t number; /* 1 + how many came before: the slot is complete when this is right */
	uint64_t enter, leave;
	uint32_t context, location;
};

/* *count: how many came; `size`: a power of two. */
static inline void gt_accel_waited_put(struct gt_accel_waited *ring, uint32_t size, uint64_t *count,
				  const struct gt_accel_waited *wait)
{
	uint64_t n = __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
	struct gt_accel_waited *w = &ring[n % size];

	__atomic_store_n(&w->number, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	w->enter = wait->enter;
	w->leave = wait->leave;
	w->context = wait->context;
	w->location = wait->location;
	__atomic_store_n(&w->number, n + 1, __ATOMIC_RELEASE); /* pairs with gt_accel_waited_get() */
}

/* False: the slot is not complete, or belongs to a later one. */
static inline bool gt_accel_waited_get(const struct gt_accel_waited *ring, uint32_t size, uint64_t n,
				  struct gt_accel_waited *copy)
{
	const struct gt_accel_waited *w = &ring[n % size];

	if (__atomic_load_n(&w->number, __ATOMIC_ACQUIRE) != n + 1)
		return false;
	*copy = *w;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&w->number, __ATOMIC_RELAXED) == n + 1;
}

#endif
