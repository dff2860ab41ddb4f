/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading counters at enters and leaves; see metrics.h.
 *
 * Limits: as there. Nothing is read or closed in a process that has confined itself: a source may need
 * system calls.
 */
#include "lib/record/metrics.h"
#include "lib/record/record.h"

#include <errno.h>

#define SLOTS_MOST 100u /* for one event; see too_long() in buffer.c */

/* Entries below `count` do not change, and stay in forked children. */
static struct entry {
	struct gt_metric_source source;
	uint64_t word;    /* of its record */
	unsigned from;    /* slots that the records of those before it take */
	unsigned until;   /* and with its own, 0: not used */
} sources[GT_SOURCES];
static uint32_t count; /* atomic for readers outside of the definitions' lock */

/* The record and its continuation slots: the number of values, and they. */
static unsigned extra_of(uint32_t values)
{
	return (1 + values + 1) / 2;
}

bool gt_metrics_fit(uint32_t values)
{
	return count < GT_SOURCES &&
	       (count ? sources[count - 1].until : 0) + 1 + extra_of(values) <= SLOTS_MOST;
}

void gt_metrics_add(const struct gt_metric_source *source, gt_ref first)
{
	unsigned from = count ? sources[count - 1].until : 0, extra = extra_of(source->count);

	sources[count] = (struct entry){ .source = *source, .from = from, .until = from + 1 + extra,
					 .word = GT_WORDX(GT_T_METRICS, extra, first) };
	sources[count].source.metrics = NULL;
	__atomic_store_n(&count, count + 1, __ATOMIC_RELEASE); /* pairs with gt_metrics_room() */
}

static void open_one(struct gt_readings *readings, uint32_t i)
{
	uint64_t mask = gt_hold_signals();
	int saved = errno, rc = 0;

	gt_guard();
	if (sources[i].source.open)
		rc = sources[i].source.open(&readings->states[i]);
	gt_unguard();
	errno = saved;
	*(rc ? &readings->failed : &readings->opened) |= 1u << i;
	gt_release_signals(mask);
}

unsigned gt_metrics_room(struct gt_location *loc)
{
	struct gt_readings *readings = &loc->readings;
	uint32_t n = __atomic_load_n(&count, __ATOMIC_ACQUIRE);

	if (loc->kind != GT_LOC_THREAD || loc->hot != gt_self)
		return 0;
	if (gt_sys_refused() || gt_metrics_inside(readings)) {
		loc->win->lost[GT_LOSS_METRIC] += n;
		return 0;
	}
	for (uint32_t i = 0; i < n; i++)
		if (!((readings->opened | readings->failed) >> i & 1))
			open_one(readings, i);
	readings->room = n ? sources[n - 1].until : 0;
	return readings->room;
}

static inline int read_one(const struct entry *e, void *state, struct gt_slot *slot)
{
	slot[e->until - 1].word = 0;
	slot[e->from + 1].time = e->source.count;
	return e->source.read(state, &slot[e->from + 1].word, e->source.count);
}

/* There are no values. */
static __attribute__((noinline)) void fill_one(struct gt_location *loc, const struct entry *e,
					       struct gt_slot *slot, bool is_lost, uint64_t tick)
{
	for (unsigned k = e->from; k < e->until; k++)
		gt_commit(slot + k, GT_WORD(GT_T_PAD, 0), NULL, 0, tick);
	loc->win->lost[GT_LOSS_METRIC] += is_lost;
}

/* By the hot path's clock, if it is the run's. */
static inline uint64_t read_clock(const struct gt_location *loc)
{
	return __atomic_load_n(&loc->hot->counted, __ATOMIC_RELAXED) ? gt_hot_ticks() : gt_clock_read();
}

/*
 * The values go straight to where they are recorded; without its time the slot is none yet. Who is in neither
 * `done` nor `none` (sources, as bits) has lost its values.
 */
struct gt_slot *gt_metrics_fill(struct gt_location *loc, struct gt_slot *slot, unsigned room, bool now,
				uint64_t *tick)
{
	struct gt_readings *readings = &loc->readings;
	uint32_t n = 0, done = 0, none = 0;
	uint64_t last, after;
	int saved = errno;

	while (n < GT_SOURCES && sources[n].until && sources[n].until <= room)
		n++;
	__atomic_store_n(&readings->frame, (uintptr_t)__builtin_frame_address(0), __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	last = readings->last;
	/* A handler may have recorded later values since the caller took its time. */
	for (uint32_t i = 0, bit = 1; i < n && (now || *tick >= last); i++, bit <<= 1) {
		int rc = readings->opened & bit ? read_one(&sources[i], readings->states[i], slot) : -EBADF;

		done |= rc ? 0 : bit;
		none |= rc == -EAGAIN ? bit : 0;
	}
	after = now ? read_clock(loc) : 0;
	*tick = after > *tick ? after : *tick;
	if (readings->last != last) /* or now, on a stack of its own */
		done = 0;
	else if (*tick > last)
		readings->last = *tick;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&readings->frame, 0, __ATOMIC_RELAXED);
	errno = saved;
	for (uint32_t i = 0, bit = 1; i < n; i++, bit <<= 1)
		if (gt_likely(done & bit))
			gt_commit(slot + sources[i].from, sources[i].word, NULL, 0, *tick);
		else
			fill_one(loc, &sources[i], slot, !(none & bit), *tick);
	return slot + room;
}

void gt_metrics_close(struct gt_location *loc)
{
	struct gt_readings *readings = &loc->readings;
	int saved = errno;

	gt_guard();
	for (uint32_t i = 0; i < GT_SOURCES && !gt_sys_refused(); i++)
		if (readings->opened >> i & 1 && sources[i].source.close)
			sources[i].source.close(readings->states[i]);
	gt_unguard();
	errno = saved;
	*readings = (struct gt_readings){ .opened = 0 };
}
