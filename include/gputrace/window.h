/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing into a thread's window: reserving slots, committing records, and reading the counter that gives
 * their time. Shared by the core (lib/record/hot.h) and adapters' quick calls (call.h).
 *
 * Limits: not installed. One writer for each window, which its own signal handlers may interrupt.
 */
#ifndef GPUTRACE_WINDOW_H
#define GPUTRACE_WINDOW_H

#include "gputrace/compiler.h"
#include "gputrace/records.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gt_location;

/* A thread's position in its window (see lib/record/hot.h). */
struct gt_hot {
	uint64_t cur;            /* address of the next free slot */
	uint64_t limit;          /* addresses below it may be written at once; 0: take the slow path */
	unsigned char *base;     /* first half of the window */
	uint64_t mask;           /* size of the window - 1 */
	struct gt_location *loc; /* NULL: no location (yet), or wiped by fork */
	uint64_t counted;        /* limit for events with counters, and for records that are no events */
	uint64_t pad[2];         /* one cache line */
};

/* Adds to *p and returns the old value in one instruction: atomic with respect to this thread's signal
 * handlers, not to other threads (a location has one writer). */
static inline uint64_t gt_local_add(uint64_t *p, uint64_t value)
{
#if defined(__x86_64__)
	__asm__ volatile("xaddq %0, %1" : "+r"(value), "+m"(*p) : : "cc", "memory");
	return value;
#elif defined(__aarch64__)
	/* The compiler would call a function. A handler in between makes the store fail. */
	uint64_t old, sum;
	uint32_t failed;

	__asm__ volatile("0:	ldxr %0, %3\n"
			 "	add %1, %0, %4\n"
			 "	stxr %w2, %1, %3\n"
			 "	cbnz %w2, 0b"
			 : "=&r"(old), "=&r"(sum), "=&r"(failed), "+Q"(*p) : "r"(value) : "memory");
	return old;
#else
	return __atomic_fetch_add(p, value, __ATOMIC_ACQ_REL);
#endif
}

/*
 * Writes a record into slots that were reserved for it: its continuation slots, its word, and then its time,
 * which commits it. A reader on any processor that sees the time sees the rest; on x86, which keeps stores
 * in order, that costs no instruction. Pairs with the acquire in live/windows.c; the assembly
 * reads windows that nobody writes any more.
 */
static inline void gt_commit(struct gt_slot *slot, uint64_t word, const uint64_t *data, unsigned extra,
			     uint64_t now)
{
	for (unsigned i = 0; i < extra; i++) {
		slot[1 + i].time = data[2 * i];
		slot[1 + i].word = data[2 * i + 1];
	}
	slot->word = word;
	__atomic_store_n(&slot->time, now, __ATOMIC_RELEASE);
}

/* Sets *p to `value` if it equals `old`; atomic as above. */
static inline bool gt_local_exchange(uint64_t *p, uint64_t old, uint64_t value)
{
#if defined(__x86_64__)
	bool done;

	__asm__ volatile("cmpxchgq %3, %1\n\tsete %0"
			 : "=q"(done), "+m"(*p), "+a"(old) : "r"(value) : "cc", "memory");
	return done;
#else
	return __atomic_compare_exchange_n(p, &old, value, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
#endif
}

/* The counter that the hot path reads. If it is not the run's clock, every limit is kept at 0, and the slow
 * path calls gt_clock_read(). */
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

/* Prefetches a cache line that will be written soon, but not next. Never faults. */
static inline void gt_will_write(const void *p)
{
#if defined(__x86_64__)
	__asm__ volatile("prefetchw %0" : : "m"(*(const char *)p));
#else
	__builtin_prefetch(p, 1);
#endif
}

#ifdef __cplusplus
}
#endif

#endif
