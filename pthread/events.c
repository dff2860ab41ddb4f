/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions and lock records of the thread library.
 *
 * Limits: knows nothing of threads' lives (threads.c) and intercepts nothing (wrap_*.c).
 *
 * A recorded acquisition gets a number and is kept in a list of the thread until it is released,
 * so that each release in the trace belongs to an acquisition in the trace. The number comes from
 * a table of counters that is indexed by a hash of the lock's address and is drawn while the lock
 * is held: it grows strictly for each lock, though not by one.
 */
#include <errno.h>
#include <string.h>

#include "gputrace/thread.h"
#include "pthread/events.h"

#define ORDERS           4096u

GT_HIDDEN enum gt_pt_mode gt_pt_mode;
GT_HIDDEN GT_TLS struct gt_pt_self gt_pt_self = { .unsure = 1 };

/* Written by the constructor only: */
static gt_ref region_id[GT_PT_REGIONS], condition_id, holder_id;
static uint32_t orders[ORDERS];

/* A signal handler of this thread may run between the two sides. */
#define FENCE() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/* ---- regions ----------------------------------------------------------------------------------- */

enum when { WHEN_THREAD, WHEN_WAIT, WHEN_ALL };

static const struct {
	const char *name;
	uint8_t role;
	uint8_t when;
} regions[GT_PT_REGIONS] = {
#define GT_PT_REGION(name, role, when) { #name, role, WHEN_##when },
#include "pthread/regions.def"
#undef GT_PT_REGION
};

static enum gt_pt_mode wanted_mode(void)
{
	const char *mode = gt_setting("VT_MODE");
	const char *locks = gt_setting("VT_PTHREAD_LOCKS");

	if (mode && strcmp(mode, "OFF") == 0)
		return GT_PT_NO;
	if (locks && strcmp(locks, "all") == 0)
		return GT_PT_ALL;
	if (locks && strcmp(locks, "no") == 0)
		return GT_PT_NO;
	return GT_PT_CONTENDED;
}

static bool can_occur(unsigned when, enum gt_pt_mode mode)
{
	return when == WHEN_THREAD || mode == GT_PT_ALL ||
	       (when == WHEN_WAIT && mode == GT_PT_CONTENDED);
}

void gt_pt_define(void)
{
	enum gt_pt_mode mode = wanted_mode();
	bool any = false;

	for (size_t i = 0; i < GT_PT_REGIONS; i++) {
		struct gt_region_info info = {
			.bytes = sizeof(info),
			.name = regions[i].name,
			.group = "Pthreads",
			.role = regions[i].role,
			.paradigm = GT_PARADIGM_PTHREAD,
		};

		if (can_occur(regions[i].when, mode))
			region_id[i] = gt_def_region(&info);
		any |= region_id[i] != GT_NONE;
	}
	condition_id = gt_def_attribute("GPUTRACE::CONDITION_ADDRESS",
					"Address of the condition that is waited for, in its process",
					GT_VALUE_UINT);
	holder_id = gt_def_attribute("GPUTRACE::HELD_BY",
				     "Thread that had the lock before (ThreadBegin's number), 0: the first",
				     GT_VALUE_UINT);
	/* All are filtered out, or the core records nothing in this process. */
	if (!any)
		mode = GT_PT_NO;
	/* Last: with it the wrappers begin to record. */
	__atomic_store_n(&gt_pt_mode, mode, __ATOMIC_RELEASE);
}

/* Is this the library's own business, or is nothing recorded now? */
static bool is_left_out(enum gt_pt_region region)
{
	return region_id[region] == GT_NONE || gt_pt_self.quiet || !gt_active() || gt_inside();
}

bool gt_pt_enter(enum gt_pt_region region)
{
	if (is_left_out(region))
		return false;
	gt_enter(region_id[region]);
	return true;
}

bool gt_pt_enter_at(enum gt_pt_region region, uint64_t begin)
{
	if (is_left_out(region))
		return false;
	gt_enter_at(region_id[region], begin);
	return true;
}

void gt_pt_leave(enum gt_pt_region region)
{
	gt_leave(region_id[region]);
}

/* ---- the list of held locks ---------------------------------------------------------------------- */

static struct gt_pt_held *find(const void *lock)
{
	struct gt_pt_self *self = &gt_pt_self;

	/* What was acquired last is most often released first. */
	for (uint32_t i = self->held; i-- > 0;)
		if (self->list[i].lock == (uintptr_t)lock)
			return &self->list[i];
	return NULL;
}

/* Doubles the list. False without memory. */
static bool grow(struct gt_pt_self *self)
{
	uint32_t old = self->capacity ? self->capacity : GT_PT_HELD_INLINE;
	uint32_t capacity = self->capacity ? 2 * self->capacity : 4096 / sizeof(*self->list);
	struct gt_pt_held *from = self->list, *to;

	to = gt_memory(capacity * sizeof(*to));
	if (!to)
		return false;
	memcpy(to, from, old * sizeof(*to));
	FENCE();
	self->list = to;
	FENCE();
	self->capacity = capacity;
	if (from != self->few)
		gt_memory_free(from, old * sizeof(*from));
	return true;
}

/* Puts a lock into the list. False if there is no room and no memory: it is not recorded then. */
static bool push(const void *lock, uint32_t order)
{
	struct gt_pt_self *self = &gt_pt_self;
	uint32_t i;

	if (!self->list)
		self->list = self->few;
	if (self->held == (self->capacity ? self->capacity : GT_PT_HELD_INLINE) && !grow(self))
		return false;
	/* Take the place first: a handler that locks and unlocks leaves it alone then. */
	i = self->held;
	self->list[i].lock = 0;
	FENCE();
	self->held = i + 1;
	FENCE();
	self->list[i].order = order;
	self->list[i].depth = 1;
	self->list[i].lock = (uintptr_t)lock;
	return true;
}

static void drop(struct gt_pt_held *entry)
{
	struct gt_pt_self *self = &gt_pt_self;

	*entry = self->list[self->held - 1];
	FENCE();
	self->held--;
}

static void record(unsigned type, const void *lock, uint32_t order)
{
	const uint64_t data[2] = { order, 0 };

	gt_record(type, (uintptr_t)lock, data, 1);
}

static void release(struct gt_pt_held *entry)
{
	bool active = gt_active();

	if (!gt_pt_self.held)
		/* that was the first word of a child which the C library did not make: gt_pt_locks_child() */
		return;
	if (active)
		record(GT_T_LOCK_RELEASE, (const void *)entry->lock, entry->order);
	drop(entry);
}

static void acquired(const void *lock)
{
	size_t i = gt_hash_word((uintptr_t)lock) >> 52;
	uint32_t order = __atomic_add_fetch(&orders[i % ORDERS], 1, __ATOMIC_RELAXED);

	if (push(lock, order))
		record(GT_T_LOCK_ACQUIRE, lock, order);
	else /* nor will its release be */
		gt_pt_no_memory(2);
}

/* ---- locks ------------------------------------------------------------------------------------- */

#define NUMBERS 4096u

static uint64_t numbers[NUMBERS]; /* by the kernel's number: that << 32, ours */

void gt_pt_note_number(uint32_t tid, uint64_t ours)
{
	__atomic_store_n(&numbers[tid % NUMBERS], (uint64_t)tid << 32 | (uint32_t)ours, __ATOMIC_RELAXED);
}

uint32_t gt_pt_number_of(uint32_t tid)
{
	uint64_t of = __atomic_load_n(&numbers[tid % NUMBERS], __ATOMIC_RELAXED);

	return tid && of >> 32 == tid ? (uint32_t)of : 0;
}

/* The holder may not be recorded otherwise: it need not have waited for the lock. */
static bool enter_held(enum gt_pt_region region, const int *owner)
{
	uint32_t holder = owner ? gt_pt_number_of((uint32_t)__atomic_load_n(owner, __ATOMIC_RELAXED)) : 0;

	if (!holder)
		return gt_pt_enter(region);
	if (is_left_out(region))
		return false;
	gt_enter_attribute(region_id[region], holder_id, holder - 1, 0);
	return true;
}

bool gt_pt_lock_begin(enum gt_pt_region region, int tried, const int *owner)
{
	if (gt_pt_mode == GT_PT_CONTENDED ? tried != EBUSY : gt_pt_mode != GT_PT_ALL)
		return false;
	return gt_pt_mode == GT_PT_CONTENDED ? enter_held(region, owner) : gt_pt_enter(region);
}

int gt_pt_lock_end(enum gt_pt_region region, const void *lock, int rc)
{
	struct gt_pt_held *entry;

	if (lock && (rc == 0 || rc == EOWNERDEAD)) {
		entry = find(lock);
		if (entry && gt_pt_mode == GT_PT_CONTENDED) {
			/* It was not ours, or there would have been no wait: someone else released it. */
			release(entry);
			entry = NULL;
		}
		if (entry)
			entry->depth++;
		else
			acquired(lock);
	}
	gt_pt_leave(region);
	return rc;
}

void gt_pt_again(const void *lock)
{
	struct gt_pt_held *entry = find(lock);

	if (entry)
		entry->depth++;
}

void gt_pt_releasing(const void *lock)
{
	struct gt_pt_held *entry = find(lock);

	if (entry && --entry->depth == 0)
		release(entry);
}

bool gt_pt_unlock_begin(enum gt_pt_region region, const void *lock)
{
	bool recorded = gt_pt_mode == GT_PT_ALL && gt_pt_enter(region);

	if (gt_pt_self.held)
		gt_pt_releasing(lock);
	return recorded;
}

/* ---- who ended a wait -------------------------------------------------------------------------- */

/*
 * `last` of gt_pt_wakes: the time; a few bits of the object's address, because others may have the same
 * place; the number of the thread plus 1, or 0. All in one word, because signals may come from several
 * threads. A wait that finds it as it was at its beginning was not signalled.
 */
#define TAG_BITS (64 - GT_WOKEN_TIME_BITS - GT_WOKEN_BY_BITS)

struct gt_pt_wake gt_pt_wakes[GT_PT_WAKES];

static uint64_t tag_of(const void *object)
{
	return gt_hash_word((uintptr_t)object) >> 46 & ((1 << TAG_BITS) - 1);
}

void gt_pt_note_wake(struct gt_pt_wake *wake, const void *object)
{
	uint64_t thread = gt_pt_self.sequence + 1;

	if ((thread == 1 && !gt_pt_self.first) || thread >> GT_WOKEN_BY_BITS || !gt_active() || gt_inside())
		thread = 0;
	/* Pairs with leave_woken(). */
	__atomic_store_n(&wake->last,
			 (GT_WOKEN_TIME(gt_now()) << TAG_BITS | tag_of(object)) << GT_WOKEN_BY_BITS | thread,
			 __ATOMIC_RELEASE);
}

static void wait_for_wake(struct gt_pt_wait *wait)
{
	struct gt_pt_wake *wake = gt_pt_wake_of(wait->object);

	__atomic_fetch_add(&wake->waiters, 1, __ATOMIC_SEQ_CST);
	wait->last = __atomic_load_n(&wake->last, __ATOMIC_RELAXED);
}

/* Leaves the region, with who ended the wait. */
static void leave_woken(const struct gt_pt_wait *wait)
{
	struct gt_pt_wake *wake = gt_pt_wake_of(wait->object);
	uint64_t last = __atomic_load_n(&wake->last, __ATOMIC_ACQUIRE);
	uint64_t thread = last & ((1 << GT_WOKEN_BY_BITS) - 1);

	__atomic_fetch_sub(&wake->waiters, 1, __ATOMIC_RELAXED);
	if (wait->rc != 0 || last == wait->last || !thread ||
	    (last >> GT_WOKEN_BY_BITS & ((1 << TAG_BITS) - 1)) != tag_of(wait->object)) {
		gt_pt_leave(wait->region);
		return;
	}
	gt_leave_woken(region_id[wait->region], thread - 1,
		       (last >> (TAG_BITS + GT_WOKEN_BY_BITS)) * GT_WOKEN_UNIT);
}

/* Waits for conditions say for which: reports judge by it what is waited for (report/model/conditions.h). */
static bool enter_wait(const struct gt_pt_wait *wait)
{
	if (!wait->object || !wait->lock)
		return gt_pt_enter(wait->region);
	if (is_left_out(wait->region))
		return false;
	gt_enter_attribute(region_id[wait->region], condition_id, (uintptr_t)wait->object, 0);
	return true;
}

void gt_pt_wait_begin(struct gt_pt_wait *wait)
{
	struct gt_pt_held *entry;

	wait->rc = GT_PT_CANCELLED;
	wait->recorded = !(wait->target && wait->target->quiet) && enter_wait(wait);
	/* A recursive mutex that is held more than once is not set free by waiting. */
	entry = wait->lock && gt_pt_self.held ? find(wait->lock) : NULL;
	wait->released = entry && entry->depth == 1;
	if (wait->released)
		release(entry);
	if (wait->recorded && wait->object)
		wait_for_wake(wait);
}

void gt_pt_wait_end(struct gt_pt_wait *wait)
{
	/* A cancelled waiter has the mutex again before its cleanup handlers run. */
	if (wait->released && wait->rc != ENOTRECOVERABLE && gt_active())
		acquired(wait->lock);
	if (!wait->recorded)
		return;
	if (wait->object)
		leave_woken(wait);
	else
		gt_pt_leave(wait->region);
}

void gt_pt_locks_child(void)
{
	/* The acquisitions are in the parent's trace, and so are those who wait. */
	memset(gt_pt_wakes, 0, sizeof(gt_pt_wakes));
	memset(numbers, 0, sizeof(numbers)); /* before gt_pt_threads_child() */
	gt_pt_self.held = 0;
	gt_pt_self.unsure = 1;
}
