/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Enter and leave of calls that must cost little, inlined into the adapter's own function. Such a call runs
 * with caches that a driver has filled, so its cost is the number of cache lines of code and data that it
 * touches: only the rare cases are in another library.
 *
 * Limits: not installed; only for adapters that are built with the core. The adapter prepares one struct
 * gt_call in each thread and uses it there only. Words are those of records.h.
 */
#ifndef GPUTRACE_CALL_H
#define GPUTRACE_CALL_H

#include "gputrace/adapter.h"
#include "gputrace/window.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A thread's pointers for its calls. */
struct gt_call {
	struct gt_hot *const *self; /* where it records now */
	int *depth;                 /* gt_guard() */
};

/* Prepares the calling thread. Returns the address of a word that is not 0 while calls need more than to be
 * recorded, because of a filter or of call paths. */
GT_API const unsigned *gt_call_prepare(struct gt_call *call);

/* A slot reserved at `now`. */
struct gt_call_slot {
	struct gt_hot *window; /* NULL: nothing was done */
	uint64_t address, now;
};

/*
 * Combines gt_active(), gt_guard(), and two records of one slot each (an attribute and an enter) at the
 * present time, which is place->now. False: the records are not written. If place->window is NULL, nothing
 * was done, because the thread is off, guarded or filtered; otherwise gt_call_enter_slow() does the rest.
 *
 * A nonzero limit means that the process and this thread are being recorded, by the hot path's clock; it
 * remains to check whether the thread is inside gputrace.
 */
static inline bool gt_call_enter(const struct gt_call *call, const unsigned *filtered, uint64_t word,
				 uint64_t enter, struct gt_call_slot *place)
{
	struct gt_hot *hot = *call->self;
	struct gt_slot *slots;

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
	slots = (struct gt_slot *)place->address;
	gt_commit(slots + 1, enter, NULL, 0, place->now); /* first: an attribute alone says nothing */
	gt_commit(slots, word, NULL, 0, place->now);
	return true;
}

/* Ends a call that gt_call_enter() has begun: gt_leave() at the present time, but not before `after`, and
 * gt_unguard(). False: gt_call_leave_slow() does the rest. */
static inline bool gt_call_leave(const struct gt_call *call, uint64_t leave, uint64_t after,
				 struct gt_call_slot *place)
{
	struct gt_slot *slot;

	place->window = *call->self;
	place->address = gt_local_add(&place->window->cur, 16);
	place->now = gt_hot_ticks();
	if (gt_unlikely(place->now < after))
		place->now = after;
	if (gt_unlikely(place->address >= __atomic_load_n(&place->window->limit, __ATOMIC_RELAXED)))
		return false;
	slot = (struct gt_slot *)place->address;
	gt_commit(slot, leave, NULL, 0, place->now);
	--*call->depth;
	gt_will_write(slot + 5); /* the line after the one where the next call begins */
	return true;
}

/*
 * From now on `enter` is called when an adapter's call begins, and `leave` when it ends, before that event
 * is recorded, so that the call's path can be recorded (gt_sample()). `always`: also for calls that take no
 * time, because they start something; `tick`: the event's time; `caller`: an address in the code that
 * reports it. `leave` returns that time, or a later one for the event. Not called for regions that stand for
 * the program's own code. [signal-safe]
 */
GT_API void gt_call_watch(void (*enter)(gt_ref region, bool always, uint64_t tick),
			  uint64_t (*leave)(gt_ref region, uint64_t tick, const void *caller));

/* They return the time of the records. */
GT_API uint64_t gt_call_enter_slow(struct gt_hot *hot, uint64_t address, uint64_t word, uint64_t enter);
GT_API uint64_t gt_call_leave_slow(struct gt_hot *hot, uint64_t address, uint64_t leave, uint64_t after);

#ifdef __cplusplus
}
#endif

#endif
