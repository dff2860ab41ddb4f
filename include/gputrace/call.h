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
#include "gputrace/window.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a thread needs for its calls. */
struct gt_call {
	struct gt_hot *const *self; /* where it records now */
	int *depth;                 /* gt_guard() */
};

/* Of the calling thread. Returns where the process says that calls are not merely recorded, because there is
 * a filter, or they have call paths: not 0. */
GT_API const unsigned *gt_call_prepare(struct gt_call *call);

/* A place that was reserved at `now`. */
struct gt_call_slot {
	struct gt_hot *window; /* NULL: nothing was done */
	uint64_t address, now;
};

/*
 * gt_active(), gt_guard(), and two records of one slot each (an attribute and an enter) at the present
 * time, which is place->now, in one. False: they are not written. If place->window is NULL, nothing was
 * done, because the thread is off, guarded or filtered; else gt_call_enter_slow() does the rest.
 *
 * A limit that is not 0 says that the process is being recorded, and this thread, by the hot path's
 * clock; what is left to ask is whether it is inside of gputrace.
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

/* What gt_call_enter() has begun: gt_leave() at the present time, which is at least `after`, and
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
 * From now on `enter` is called when a call of an adapter's begins, and `leave` when it ends, before that is
 * recorded: for its call path (gt_sample()). `always`: also of calls that take no time, because something
 * comes of them; `tick`: the time of that event; `caller`: an address in the code that says so. `leave`
 * returns that time, or a later one that the event is to have. Not for regions that stand for code of the
 * program's own. [signal-safe]
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
