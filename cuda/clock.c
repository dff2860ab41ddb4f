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
#include "gputrace/syscall.h"

#define SHIFT 32

static uint64_t base_tick, base_ns;
static uint64_t mult = UINT64_C(1) << SHIFT; /* nanoseconds per tick, times 2^32 */
static bool fallback;

/* The same moment on both clocks. */
struct pair {
	uint64_t tick, ns;
};

static uint64_t scale(uint64_t ticks)
{
	return (uint64_t)((unsigned __int128)ticks * mult >> SHIFT);
}

/* Called by CUPTI, on any thread. */
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

void gt_cu_clock_note(void)
{
	if (fallback)
		gt_accel_clock_note();
}

void gt_cu_clock_setup(void)
{
	struct timespec pause = { 0, 2000000 };
	struct pair a = { 0, 0 }, b = { 0, 0 };
	int rc;

	measure(&a, gt_monotonic);
	while (gt_raw(SYS_nanosleep, &pause, &pause) == -EINTR)
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
	gt_accel_clock_setup(cupti_time);
}

uint64_t gt_cu_ticks(uint64_t ns)
{
	if (!ns)
		return 0;
	if (fallback)
		return gt_accel_ticks(ns);
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
