/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading counters at enters and leaves; see metrics.h.
 *
 * Limits: as there. No reading in a process that has confined itself: a source may need system calls.
 */
#include "lib/record/metrics.h"
#include "lib/record/record.h"

#include <errno.h>

#define SLOTS_MOST 100u /* for one event; see too_long() in buffer.c */

/* Entries below `count` do not change, and stay in forked children. */
static struct {
	struct gt_metric_source source;
	gt_ref first;    /* id of its first metric */
	unsigned until;  /* slots that the records of all up to this one take */
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
	sources[count].source = *source;
	sources[count].source.metrics = NULL;
	sources[count].first = first;
	sources[count].until = (count ? sources[count - 1].until : 0) + 1 + extra_of(source->count);
	__atomic_store_n(&count, count + 1, __ATOMIC_RELEASE);
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

/*
 * Is this called by what interrupts a reading? The frame of a reading that longjmp() has left lies below
 * that of any function that is called later from where it led to.
 */
static bool inside_reading(const struct gt_readings *readings)
{
	return readings->frame > (uintptr_t)__builtin_frame_address(0);
}

unsigned gt_metrics_room(struct gt_location *loc)
{
	struct gt_readings *readings = &loc->readings;
	uint32_t n = __atomic_load_n(&count, __ATOMIC_ACQUIRE);

	if (loc->kind != GT_LOC_THREAD || loc->hot != gt_self)
		return 0;
	if (gt_sys_refused() || inside_reading(readings)) {
		loc->win->lost[GT_LOSS_METRIC] += n;
		return 0;
	}
	for (uint32_t i = 0; i < n; i++)
		if (!((readings->opened | readings->failed) >> i & 1))
			open_one(readings, i);
	return n ? sources[n - 1].until : 0;
}

/* What became of the readings before an event: sources, as bits. Who is in neither has lost its values. */
struct outcome {
	uint32_t done, none;
};

/* The values go straight to where they are recorded; without its time the slot is none yet. */
static void read_one(struct gt_readings *readings, uint32_t i, struct gt_slot *slot, struct outcome *outcome)
{
	const struct gt_metric_source *source = &sources[i].source;
	unsigned extra = extra_of(source->count);
	int rc;

	if (!(readings->opened >> i & 1))
		return;
	slot[extra].word = 0;
	slot[1].time = source->count;
	rc = source->read(readings->states[i], &slot[1].word, source->count);
	outcome->done |= (uint32_t)!rc << i;
	outcome->none |= (uint32_t)(rc == -EAGAIN) << i;
}

static void commit_one(uint32_t i, struct gt_slot *slot, bool is_read, uint64_t tick)
{
	unsigned extra = extra_of(sources[i].source.count);

	if (is_read) {
		gt_commit(slot, GT_WORDX(GT_T_METRICS, extra, sources[i].first), NULL, 0, tick);
		return;
	}
	for (unsigned k = 0; k <= extra; k++)
		gt_commit(slot + k, GT_WORD(GT_T_PAD, 0), NULL, 0, tick);
}

struct gt_slot *gt_metrics_fill(struct gt_location *loc, struct gt_slot *slot, unsigned room, bool now,
				uint64_t *tick)
{
	struct gt_readings *readings = &loc->readings;
	struct gt_slot *const end = slot + room;
	uint64_t last, after;
	int saved = errno;
	struct outcome outcome = { 0, 0 };

	__atomic_store_n(&readings->frame, (uintptr_t)__builtin_frame_address(0), __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	last = readings->last;
	/* A handler may have recorded later values since the caller took its time. */
	if (now || *tick >= last)
		for (uint32_t i = 0; i < GT_SOURCES && sources[i].until <= room && sources[i].until; i++)
			read_one(readings, i, end - room + (i ? sources[i - 1].until : 0), &outcome);
	after = now ? gt_clock_read() : 0;
	*tick = after > *tick ? after : *tick;
	if (readings->last != last) /* or now, on a stack of its own */
		outcome.done = 0;
	else if (*tick > last)
		readings->last = *tick;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&readings->frame, 0, __ATOMIC_RELAXED);
	errno = saved;
	for (uint32_t i = 0; i < GT_SOURCES && sources[i].until <= room && sources[i].until; i++) {
		commit_one(i, end - room + (i ? sources[i - 1].until : 0), outcome.done >> i & 1, *tick);
		loc->win->lost[GT_LOSS_METRIC] += !((outcome.done | outcome.none) >> i & 1);
	}
	return end;
}

void gt_metrics_close(struct gt_location *loc)
{
	struct gt_readings *readings = &loc->readings;
	int saved = errno;

	gt_guard();
	for (uint32_t i = 0; i < GT_SOURCES; i++)
		if (readings->opened >> i & 1 && sources[i].source.close)
			sources[i].source.close(readings->states[i]);
	gt_unguard();
	errno = saved;
	*readings = (struct gt_readings){ .opened = 0 };
}
