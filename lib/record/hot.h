/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hot path: one event into the calling thread's window. Budget: about 10 instructions and one
 * clock read; no call, no lock, no branch that is taken.
 *
 * How it is safe without a guard: a slot is reserved by one instruction (xadd), so a signal handler
 * that interrupts anywhere gets slots of its own. The clock is read after the reservation; what a
 * handler records in between has smaller times in later slots, and the assembly restores the order.
 * The time is stored last: a slot with a time from before its half was opened was never finished.
 * `cur` is an address, because what the clock read has to wait for is paid in full: no base is added
 * and no mask taken here, and the slow path goes back to the beginning of the window.
 *
 * How it is safe in forked children: struct gt_hot lies in memory that the kernel wipes in a child
 * (MADV_WIPEONFORK); limit 0 sends the child's first event to the slow path, whatever made the child.
 *
 * Limits: only include this in files that record; everything rare is in buffer.c.
 */
#ifndef GT_HOT_H
#define GT_HOT_H

#include "lib/format.h"

#include <stdbool.h>
#include <stddef.h>

struct gt_location;

#define GT_HIDDEN      __attribute__((visibility("hidden")))
#define GT_TLS         __thread __attribute__((tls_model("initial-exec")))
#define gt_likely(x)   __builtin_expect(!!(x), 1)
#define gt_unlikely(x) __builtin_expect(!!(x), 0)

struct gt_hot {
	uint64_t cur;            /* address of the next free slot */
	uint64_t limit;          /* addresses below may be written at once; 0: ask the slow path */
	unsigned char *base;     /* first half of the window */
	uint64_t mask;           /* size of the window - 1 */
	struct gt_location *loc; /* NULL: no location (yet), or wiped by fork */
	uint64_t pad[3];         /* one cache line */
};

/* The calling thread's buffer, or one of the gt_hot_* below, which all have limit 0. */
extern GT_HIDDEN GT_TLS struct gt_hot *gt_self;

/* Adds to *p and returns the old value in one instruction: atomic towards this thread's signal
 * handlers, not towards other threads (a location has one writer). */
static inline uint64_t gt_local_add(uint64_t *p, uint64_t value)
{
#if defined(__x86_64__)
	__asm__ volatile("xaddq %0, %1" : "+r"(value), "+m"(*p) : : "cc", "memory");
	return value;
#else
	return __atomic_fetch_add(p, value, __ATOMIC_RELAXED);
#endif
}

/* Sets *p to `to` if it is `from`; atomic towards this thread's signal handlers. */
static inline bool gt_local_swap(uint64_t *p, uint64_t from, uint64_t to)
{
	return __atomic_compare_exchange_n(p, &from, to, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* The counter that the hot path reads. Where it is not the run's clock every limit is kept at 0,
 * and the slow path asks gt_clock_read(). */
static inline uint64_t gt_hot_ticks(void)
{
#if defined(__x86_64__)
	uint64_t low, high; /* rdtsc clears the upper halves */

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return high << 32 | low;
#elif defined(__aarch64__)
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#else
	return 0;
#endif
}

GT_HIDDEN void gt_put_slow(struct gt_hot *hot, uint64_t address, uint64_t word);

/* Records one slot with the present time. */
static inline void gt_put(uint64_t word)
{
	struct gt_hot *hot = gt_self;
	uint64_t address = gt_local_add(&hot->cur, GT_SLOT);
	struct gt_slot *slot;

	if (gt_unlikely(address >= __atomic_load_n(&hot->limit, __ATOMIC_RELAXED))) {
		gt_put_slow(hot, address, word);
		return;
	}
	slot = (struct gt_slot *)address;
	slot->word = word;
	/* x86 keeps stores in order; the compiler must too, so that time commits the slot. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	slot->time = gt_hot_ticks();
}

#endif
