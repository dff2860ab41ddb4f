/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that wait for the device implicitly: cudaFree and similar ones. What they waited for is
 * known from the device's times: if something of their context ended while the call ran, and nothing
 * went on beyond its end, the time until the last of these ends was the wait.
 *
 * Limits: calls that take less than SHORTEST are not looked at; WINDOWS calls at once can wait for their
 * records, further ones are not looked at. The rest of the file's state belongs to the reading thread.
 */
#include "cuda/cuda.h"
#include "accel/wait.h"

#define WINDOWS  256u /* a power of two */
#define SHORTEST 5000u /* nanoseconds */

static struct gt_accel_waited arriving[WINDOWS];
static uint64_t arrived;

/* Calls that wait for their records. */
static struct open {
	struct gt_accel_waited window;
	uint64_t last;     /* end of the latest activity that ended in it; 0: none yet */
	bool beyond;       /* something went on */
} opened[WINDOWS];
static unsigned open_count;
static uint64_t taken;

void gt_cu_implicit_call(uint32_t context, uint32_t location, uint64_t enter, uint64_t leave)
{
	if (gt_cu_ns(leave - enter) < SHORTEST)
		return;
	gt_accel_waited_put(arriving, WINDOWS, &arrived,
		       &(struct gt_accel_waited){ .enter = enter, .leave = leave, .context = context,
					     .location = location });
}

void gt_cu_implicit_take(void)
{
	uint64_t n = __atomic_load_n(&arrived, __ATOMIC_ACQUIRE);

	if (n - taken > WINDOWS)
		taken = n - WINDOWS;
	for (; taken < n && open_count < WINDOWS; taken++) {
		struct gt_accel_waited w;

		if (gt_accel_waited_get(arriving, WINDOWS, taken, &w))
			opened[open_count++] = (struct open){ .window = w };
	}
}

void gt_cu_implicit_activity(uint32_t context, uint64_t start, uint64_t end)
{
	for (unsigned i = 0; i < open_count; i++) {
		struct open *o = &opened[i];

		if (o->window.context != context || start >= o->window.leave || end <= o->window.enter)
			continue;
		if (end > o->window.leave)
			o->beyond = true;
		else if (end > o->last)
			o->last = end;
	}
}

/* Windows whose records must have come: two flushes have been. */
void gt_cu_implicit_settle(bool all)
{
	uint64_t now = gt_now(), wait = 2 * (uint64_t)gt_cu_options.flush_ms * 1000000;
	unsigned kept = 0;

	for (unsigned i = 0; i < open_count; i++) {
		struct open *o = &opened[i];
		uint64_t to = o->last;

		if (!all && gt_cu_ns(now - o->window.leave) < wait) {
			opened[kept++] = *o;
			continue;
		}
		if (o->beyond || to <= o->window.enter + 1)
			continue;
		if (to >= o->window.leave)
			to = o->window.leave - 1;
		gt_accel_defer(o->window.location, GT_T_ENTER, gt_cu_refs.host_idle, NULL, 0,
			   o->window.enter + 1);
		gt_accel_defer(o->window.location, GT_T_LEAVE, gt_cu_refs.host_idle, NULL, 0, to);
	}
	open_count = kept;
}
