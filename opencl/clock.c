/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A device's profiling times are nanoseconds of a clock that nothing is known of, but that a command is
 * queued while the host is in the call that enqueues it, and is over when the host sees that it is. Each
 * command narrows the offset to CLOCK_MONOTONIC by that; of what is left the middle is taken.
 *
 * Limits: the device's clock runs as ours does; if it does not, the offset is found anew where the bounds of
 * old commands contradict those of new ones.
 */
#include "opencl/opencl.h"

#define NEW_PAIR 1000000u /* nanoseconds */

/* The same moment on both clocks: the first, and the newest. */
static struct pair {
	uint64_t tick, ns;
} first, newest;

/* The pair with the least time between two readings of the tick. */
static struct pair measure(void)
{
	uint64_t width = UINT64_MAX;
	struct pair best = { 0, 0 };

	for (int i = 0; i < 5; i++) {
		uint64_t before = gt_now(), ns = gt_monotonic(), after = gt_now();

		if (after - before >= width)
			continue;
		width = after - before;
		best = (struct pair){ before + width / 2, ns };
	}
	return best;
}

void gt_cl_clock_setup(void)
{
	first = measure();
}

void gt_cl_clock_note(void)
{
	if (newest.ns < first.ns + NEW_PAIR || gt_monotonic() > newest.ns + NEW_PAIR)
		newest = measure();
}

static int64_t scale(int64_t value, uint64_t to, uint64_t from)
{
	return from ? (int64_t)((__int128)value * (int64_t)to / (int64_t)from) : value;
}

static int64_t to_ns(uint64_t tick)
{
	return (int64_t)first.ns +
	       scale((int64_t)(tick - first.tick), newest.ns - first.ns, newest.tick - first.tick);
}

void gt_cl_clock_bound(struct gt_cl_clock *clock, uint64_t before, uint64_t after, uint64_t queued,
		       uint64_t end)
{
	int64_t least = to_ns(before) - (int64_t)queued, most = to_ns(after) - (int64_t)queued;
	int64_t over = to_ns(gt_now()) - (int64_t)end;

	if (most > over)
		most = over;
	if (most < least)
		most = least;
	if (!clock->known || least > clock->most || most < clock->least) {
		*clock = (struct gt_cl_clock){ least, most, true };
		return;
	}
	if (least > clock->least)
		clock->least = least;
	if (most < clock->most)
		clock->most = most;
}

uint64_t gt_cl_ticks(const struct gt_cl_clock *clock, uint64_t ns)
{
	int64_t here = (int64_t)ns + clock->least + (clock->most - clock->least) / 2;

	return first.tick + (uint64_t)scale(here - (int64_t)first.ns, newest.tick - first.tick,
					    newest.ns - first.ns);
}
