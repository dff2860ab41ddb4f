/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way in and out of calls that must cost little, as part of the adapter's own function. Such a call
 * runs with caches that a driver has filled: what counts is how many lines of code and memory it
 * touches, so nothing of it is in another library but what is rare.
 *
 * Limits: of the adapters that are built with the core and is not installed. The adapter asks for one
 * struct gt_call in each thread and uses it there only. Words are those of records.h.
 */
#ifndef GPUTRACE_CALL_H
#define GPUTRACE_CALL_H

#include "gputrace/adapter.h"

#ifdef __cplusplus
extern "C" {
#endif

#define gt_likely(x)   __builtin_expect(!!(x), 1)
#define gt_unlikely(x) __builtin_expect(!!(x), 0)

/* Where a thread records (lib/record/hot.h). */
struct gt_hot {
	uint64_t cur;            /* address of the next free slot */
	uint64_t limit;          /* addresses below may be written at once; 0: ask the slow path */
	unsigned char *base;     /* first half of the window */
	uint64_t mask;           /* size of the window - 1 */
	struct gt_location *loc; /* NULL: no location (yet), or wiped by fork */
	uint64_t pad[3];         /* one cache line */
};

/* Adds to *p and returns the old value in one instruction: atomic towards this thread's signal
 * handlers, not towards other threads (a location has one writer). */
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

/* The last store of a record: who sees it, on whichever processor, sees those before. Not an
 * instruction more on x86, which keeps stores in order anyway. */
static inline void gt_store_last(uint64_t *p, uint64_t value)
{
	__atomic_store_n(p, value, __ATOMIC_RELEASE);
}

/* Sets *p to `value` if it is `old`: atomic as the above. */
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

/* This line of memory will be written, but not by what comes next. Never faults. */
static inline void gt_will_write(const void *p)
{
#if defined(__x86_64__)
	__asm__ volatile("prefetchw %0" : : "m"(*(const char *)p));
#else
	__builtin_prefetch(p, 1);
#endif
}

/* What a thread needs for its calls. */
struct gt_call {
	struct gt_hot *const *self; /* where it records now */
	int *depth;                 /* gt_guard() */
};

/* Of the calling thread. Returns where the process says that regions are judged by a filter: not 0. */
GT_API const unsigned *gt_call_prepare(struct gt_call *call);

/* A place that was reserved at `now`. */
struct gt_call_place {
	struct gt_hot *window; /* NULL: nothing was done */
	uint64_t address, now;
};

/*
 * gt_active(), gt_guard(), and two records of one slot each (an attribute and an enter) at the present
 * time, which is place->now, in one. False: they are not written. If place->window is NULL, nothing was
 * done, because one of the three has anything to think about; else gt_call_enter_slow() does the rest.
 *
 * A limit that is not 0 says that the process is being recorded, and this thread, by the hot path's
 * clock; what is left to ask is whether it is inside of gputrace.
 */
static inline bool gt_call_enter(const struct gt_call *call, const unsigned *filtered, uint64_t word,
				 uint64_t enter, struct gt_call_place *place)
{
	struct gt_hot *hot = *call->self;
	uint64_t *slots;

	place->window = NULL;
	if (gt_unlikely(*call->depth || __atomic_load_n(filtered, __ATOMIC_RELAXED) ||
			hot->cur + 32 > __atomic_load_n(&hot->limit, __ATOMIC_RELAXED)))
		return false;
	*call->depth = 1;
	place->window = hot;
	place->address = gt_local_add(&hot->cur, 32);
	place->now = gt_hot_ticks();
	/* A handler may have come in between. */
	if (gt_unlikely(place->address + 32 > __atomic_load_n(&hot->limit, __ATOMIC_RELAXED)))
		return false;
	slots = (uint64_t *)place->address;
	slots[3] = enter;
	slots[1] = word;
	gt_store_last(&slots[2], place->now); /* the times commit; an attribute alone says nothing */
	gt_store_last(&slots[0], place->now);
	return true;
}

/* What gt_call_enter() has begun: gt_leave() at the present time, which is at least `after`, and
 * gt_unguard(). False: gt_call_leave_slow() does the rest. */
static inline bool gt_call_leave(const struct gt_call *call, uint64_t leave, uint64_t after,
				 struct gt_call_place *place)
{
	uint64_t *slot;

	place->window = *call->self;
	place->address = gt_local_add(&place->window->cur, 16);
	place->now = gt_hot_ticks();
	if (gt_unlikely(place->now < after))
		place->now = after;
	if (gt_unlikely(place->address >= __atomic_load_n(&place->window->limit, __ATOMIC_RELAXED)))
		return false;
	slot = (uint64_t *)place->address;
	slot[1] = leave;
	gt_store_last(&slot[0], place->now);
	--*call->depth;
	gt_will_write(slot + 10); /* the line after the one where the next call begins */
	return true;
}

/* They return the time of the records. */
GT_API uint64_t gt_call_enter_slow(struct gt_hot *hot, uint64_t address, uint64_t word, uint64_t enter);
GT_API uint64_t gt_call_leave_slow(struct gt_hot *hot, uint64_t address, uint64_t leave, uint64_t after);

#ifdef __cplusplus
}
#endif

#endif
