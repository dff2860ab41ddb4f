/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CUPTI's time and ours. CUPTI asks a callback for the time and maps what the device measured to it;
 * we answer in nanoseconds that are a fixed multiple of the core's ticks, so that the way back is
 * exact and the archive's clock is the only one.
 *
 * Where CUPTI takes no callback (before 11.6, or refused) its own clock is CLOCK_REALTIME; then pairs
 * of readings are taken and interpolated.
 *
 * Limits: the factor is measured over 2 ms and is right to about 1e-4; nothing depends on it but
 * that the numbers look like nanoseconds.
 */
#include <errno.h>
#include <time.h>

#include "cuda/cuda.h"

#define SHIFT 32
#define PAIRS 4096u

static uint64_t base_tick, base_ns;
static uint64_t mult = UINT64_C(1) << SHIFT; /* nanoseconds per tick, times 2^32 */
static bool fallback;

static struct pair {
	uint64_t tick, ns;
} pairs[PAIRS];
static unsigned pair_count;
static uint32_t pairs_taken; /* a lock of our two threads; neither calls anything while it has it */

static uint64_t scale(uint64_t ticks)
{
	return (uint64_t)((unsigned __int128)ticks * mult >> SHIFT);
}

/* What CUPTI calls; on any thread. */
static uint64_t now_for_cupti(void)
{
	return base_ns + scale(gt_now() - base_tick);
}

/* The pair with the least time between two readings of the tick. */
static void measure(struct pair *best, uint64_t (*read)(void))
{
	uint64_t width = UINT64_MAX;

	for (int i = 0; i < 10; i++) {
		uint64_t before = gt_now(), ns = read(), after = gt_now();

		if (after - before >= width)
			continue;
		width = after - before;
		best->tick = before + width / 2;
		best->ns = ns;
	}
}

static uint64_t cupti_time(void)
{
	uint64_t ns = 0;

	gt_cu_api.timestamp(&ns);
	return ns;
}

uint64_t gt_cu_clock_now(void)
{
	return fallback ? cupti_time() : now_for_cupti();
}

static void take_pairs(void)
{
	while (__atomic_exchange_n(&pairs_taken, 1, __ATOMIC_ACQUIRE))
		;
}

static void leave_pairs(void)
{
	__atomic_store_n(&pairs_taken, 0, __ATOMIC_RELEASE);
}

void gt_cu_clock_note(void)
{
	struct pair pair = { 0, 0 };

	if (!fallback)
		return;
	measure(&pair, cupti_time);
	take_pairs();
	if (pair_count == PAIRS) { /* keep every second one */
		for (unsigned i = 0; i < PAIRS / 2; i++)
			pairs[i] = pairs[2 * i];
		pair_count = PAIRS / 2;
	}
	pairs[pair_count++] = pair;
	leave_pairs();
}

void gt_cu_clock_setup(void)
{
	struct timespec pause = { 0, 2000000 };
	struct pair a = { 0, 0 }, b = { 0, 0 };
	int rc;

	measure(&a, gt_monotonic);
	while (nanosleep(&pause, &pause) && errno == EINTR)
		;
	measure(&b, gt_monotonic);
	if (b.tick > a.tick && b.ns > a.ns)
		mult = (uint64_t)(((unsigned __int128)(b.ns - a.ns) << SHIFT) / (b.tick - a.tick));
	if (!mult)
		mult = 1;
	base_tick = a.tick;
	base_ns = a.ns;
	rc = gt_cu_api.register_timestamp ? gt_cu_api.register_timestamp(now_for_cupti)
					  : CU_ERROR_NOT_SUPPORTED;
	if (!rc) {
		gt_def_property("cuda:clock", "timestamp callback");
		return;
	}
	fallback = true;
	gt_def_property("cuda:clock", "offset pairs");
	gt_message(2, "CUPTI does not accept a timestamp callback (%s): the clocks are compared instead",
		   gt_cu_result(rc));
	gt_cu_clock_note();
}

/* With the pairs taken. */
static uint64_t from_pairs(uint64_t ns)
{
	unsigned n = pair_count, low = 0, high = n;
	const struct pair *a, *b;
	int64_t ticks, delta;

	if (n < 2)
		return pairs[0].tick + (uint64_t)((__int128)((int64_t)(ns - pairs[0].ns)) *
						  (INT64_C(1) << SHIFT) / (int64_t)mult);
	while (high - low > 1) {
		unsigned mid = (low + high) / 2;

		if (pairs[mid].ns <= ns)
			low = mid;
		else
			high = mid;
	}
	if (low == n - 1)
		low--;
	a = &pairs[low];
	b = &pairs[low + 1];
	ticks = (int64_t)(b->tick - a->tick);
	delta = (int64_t)(b->ns - a->ns);
	if (delta <= 0)
		return a->tick;
	return a->tick + (uint64_t)((__int128)((int64_t)(ns - a->ns)) * ticks / delta);
}

uint64_t gt_cu_ticks(uint64_t ns)
{
	if (!ns)
		return 0;
	if (fallback) {
		uint64_t tick;

		take_pairs();
		tick = from_pairs(ns);
		leave_pairs();
		return tick;
	}
	if (ns < base_ns)
		return base_tick - (uint64_t)(((unsigned __int128)(base_ns - ns) << SHIFT) / mult);
	return base_tick + (uint64_t)(((unsigned __int128)(ns - base_ns) << SHIFT) / mult);
}

uint64_t gt_cu_ns(uint64_t ticks)
{
	return scale(ticks);
}

void gt_cu_clock_identity(void)
{
	fallback = false;
	base_tick = base_ns = 0;
	mult = UINT64_C(1) << SHIFT;
}
