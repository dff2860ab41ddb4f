/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call paths: where a call of an adapter's ends, and has taken long or begun something, the thread's stack is
 * walked from there, and the record stands before that of the call's end. It is one of the thread's samples
 * in all but its weight, so that each walk needs to go only as far as the one before is the same. Frames of
 * gputrace and of the adapter are left out: the innermost one is who called.
 *
 * Limits: as unwind.h. Of calls inside each other the GT_SP_CALLS innermost. A call that begins
 * on one stack and ends on another (fibres) may be taken for one of the same region there.
 */
#include "gputrace/thread.h"
#include "sampling/sampling.h"

#define KNOWN  UINT64_C(10000000) /* ns after which the clock's rate is known well enough */
#define MOMENT 5000               /* ns between two readings that are of one moment */
#define TRIES  10
#define STATES UINT64_C(10000000) /* ns from one reading of the thread's states to the next, at least */

struct moment {
	uint64_t tick, ns;
};

static uint64_t wanted;     /* ns that a call must have taken */
static struct moment first; /* when that was set */
static uint64_t known;      /* the same in ticks; 0: not yet; atomic */

/* Unless the thread always has to wait for a processor in between. */
static struct moment now(void)
{
	struct moment m = { 0, gt_monotonic() };
	uint64_t before;
	int tries = 0;

	do {
		before = m.ns;
		m.tick = gt_now();
		m.ns = gt_monotonic();
	} while (m.ns - before > MOMENT && ++tries < TRIES);
	return m;
}

/* By system calls. */
static uint64_t find_out(void)
{
	struct moment m = now();
	uint64_t ticks;

	if (m.tick <= first.tick || m.ns <= first.ns)
		return UINT64_MAX;
	ticks = (uint64_t)((double)wanted * (double)(m.tick - first.tick) / (double)(m.ns - first.ns)) + 1;
	if (m.ns - first.ns >= KNOWN)
		__atomic_store_n(&known, ticks, __ATOMIC_RELAXED);
	return ticks;
}

static void enter(gt_ref region, bool always, uint64_t tick)
{
	struct gt_sp_thread *t = gt_sp_self;

	if (!t)
		return;
	t->calls[t->depth % GT_SP_CALLS] = (struct gt_sp_call){ region, always, tick };
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* a handler's calls take the places above */
	t->depth++;
}

/* The call that ends, with those that were left inside of it. NULL: its begin is not known. */
static const struct gt_sp_call *take(struct gt_sp_thread *t, gt_ref region)
{
	for (uint32_t i = 1; i <= GT_SP_CALLS && i <= t->depth; i++) {
		const struct gt_sp_call *call = &t->calls[(t->depth - i) % GT_SP_CALLS];

		if (call->region != region)
			continue;
		t->depth -= i;
		return call;
	}
	return NULL;
}

/* Returns when the call ends: a sample may have come since then, and records stay in order. Of one that
 * `took` long it is recorded, too, for how long the thread was blocked, and for how long it was ready. */
static uint64_t walk(struct gt_sp_thread *t, uint64_t tick, bool took, const void *caller)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	if (gt_sp_is_walking(t, here))
		return tick;
	t->walking = here;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (tick < t->put)
		tick = t->put;
	if (took)
		gt_note_states(STATES, tick);
	if (gt_sp_walker(t, here)) {
		gt_walk_here(t->walker);
		gt_walk_leave_out(t->walker, (uintptr_t)caller);
		gt_sp_put_path(t, tick);
	}
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t->walking = 0;
	return tick;
}

static uint64_t leave(gt_ref region, uint64_t tick, const void *caller)
{
	struct gt_sp_thread *t = gt_sp_self;
	const struct gt_sp_call *call = t ? take(t, region) : NULL;
	uint64_t least = __atomic_load_n(&known, __ATOMIC_RELAXED), took;

	if (!call)
		return tick;
	took = call->always ? UINT64_MAX : tick - call->begin;
	if (took < least || !gt_sp_handler_begins())
		return tick;
	if (least || took >= find_out())
		tick = walk(t, tick, !call->always, caller);
	gt_sp_handler_ends();
	return tick;
}

void gt_sp_paths(uint64_t ns)
{
	wanted = ns;
	first = now();
	gt_call_watch(enter, leave);
}
