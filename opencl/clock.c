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

static int64_t ns_of(uint64_t tick)
{
	return (int64_t)gt_accel_ns(tick);
}

void gt_cl_clock_bound(struct gt_cl_clock *clock, uint64_t before, uint64_t after, uint64_t queued,
		       uint64_t end)
{
	int64_t least = ns_of(before) - (int64_t)queued, most = ns_of(after) - (int64_t)queued;
	int64_t over = ns_of(gt_now()) - (int64_t)end;

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

	return gt_accel_ticks((uint64_t)here);
}
