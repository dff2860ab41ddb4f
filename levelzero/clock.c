/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A device's clock counts ticks of a rate that it says, in so many bits. It is read between two readings of
 * CLOCK_MONOTONIC; as long as the pair from which is counted predicts a time between these it is kept, so
 * that times do not jump. Timestamps of commands are that clock's, in fewer bits: the nearest time to the
 * newest reading is meant that is at most an eighth of all their bits later.
 *
 * Limits: a command whose times are read later than seven eighths of the timestamps' bits is at a wrong time.
 */
#include "levelzero/levelzero.h"

/* Nanoseconds between readings, and of those that say what the rate is: where the device says it exactly, or
 * in whole nanoseconds a tick. */
#define NEW_READING(exact)  (exact ? 10000000u : 1000000u)
#define SPAN_OF_RATE(exact) (exact ? 1000000000u : 20000000u)

static uint64_t mask_of(uint32_t bits)
{
	return bits && bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX;
}

/* The fastest of up to `tries` readings. */
static bool read_clock(void *device, int tries, uint64_t *ticks, uint64_t *before, uint64_t *after)
{
	uint64_t width = UINT64_MAX;

	for (int i = 0; i < tries; i++) {
		uint64_t host, now, one = gt_monotonic(), two;

		if (gt_ze.DeviceGetGlobalTimestamps(device, &host, &now) != GT_ZE_SUCCESS)
			break;
		two = gt_monotonic();
		if (two - one >= width)
			continue;
		width = two - one;
		*ticks = now;
		*before = one;
		*after = two;
	}
	return width != UINT64_MAX;
}

static int64_t ns_since(const struct gt_ze_clock *clock, uint64_t ticks)
{
	return (int64_t)((double)(int64_t)(ticks - clock->at) * clock->rate);
}

/* The bits that the clock has lost since the newest reading. */
static uint64_t carried(const struct gt_ze_clock *clock, uint64_t ticks, uint64_t ns)
{
	uint64_t since = (ticks - clock->latest) & clock->mask;

	if (clock->mask != UINT64_MAX) {
		double wraps = ((double)(ns - clock->latest_ns) / clock->rate - (double)since) /
			       ((double)clock->mask + 1);

		if (wraps > 0.5)
			since += (uint64_t)(wraps + 0.5) * (clock->mask + 1);
	}
	return clock->latest + since;
}

void gt_ze_clock_setup(struct gt_ze_clock *clock, void *device, const struct gt_ze_abi_device *properties)
{
	double resolution = (double)properties->resolution;
	uint64_t ticks, before, after;

	clock->exact = properties->stype == GT_ZE_ABI_DEVICE_PROPERTIES_1_2;
	clock->rate = resolution <= 0 ? 1 : clock->exact ? 1e9 / resolution : resolution;
	clock->mask = mask_of(properties->clock_bits);
	clock->timestamp_mask = mask_of(properties->timestamp_bits) & clock->mask;
	if (!read_clock(device, 5, &ticks, &before, &after))
		return;
	clock->at = clock->first = clock->latest = ticks & clock->mask;
	clock->at_ns = clock->first_ns = clock->latest_ns = before + (after - before) / 2;
}

void gt_ze_clock_note(struct gt_ze_clock *clock, void *device)
{
	uint64_t ticks, before, after, expected;

	if (gt_monotonic() < clock->latest_ns + NEW_READING(clock->exact) ||
	    !read_clock(device, 2, &ticks, &before, &after))
		return;
	ticks = carried(clock, ticks & clock->mask, before + (after - before) / 2);
	clock->latest = ticks;
	clock->latest_ns = before + (after - before) / 2;
	expected = clock->at_ns + (uint64_t)ns_since(clock, ticks);
	if (expected >= before && expected <= after)
		return;
	clock->at = ticks;
	clock->at_ns = expected < before ? before : after;
	if (clock->at_ns > clock->first_ns + SPAN_OF_RATE(clock->exact) && ticks > clock->first)
		clock->rate = (double)(clock->at_ns - clock->first_ns) / (double)(ticks - clock->first);
}

void gt_ze_clock_span(const struct gt_ze_clock *clock, const struct gt_ze_abi_span *span, uint64_t *start,
		      uint64_t *end)
{
	uint64_t mask = clock->timestamp_mask, length = (span->end - span->start) & mask;
	uint64_t ahead = (span->start - clock->latest) & mask;
	uint64_t begin = clock->latest + ahead - (ahead > mask / 8 ? mask + 1 : 0), ns;

	if (mask == UINT64_MAX)
		begin = span->start;
	ns = clock->at_ns + (uint64_t)ns_since(clock, begin);
	*start = gt_accel_ticks(ns);
	*end = gt_accel_ticks(ns + (uint64_t)((double)length * clock->rate));
}
