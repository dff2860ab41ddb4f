/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads this host's clocks now; see now.h.
 */
#include "config.h"

#include "lib/assemble/clock/now.h"

#include "lib/common/process.h"

#include <string.h>
#include <time.h>

#define ASLEEP 1000000 /* ns */

static int64_t read_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

#if defined(__x86_64__)
static uint64_t ticks(uint32_t kind)
{
	if (kind == GT_CLOCK_TSC)
		return __builtin_ia32_rdtsc();
	return kind == GT_CLOCK_MONOTONIC ? (uint64_t)read_ns(CLOCK_MONOTONIC) : 0;
}
#elif defined(__aarch64__)
static uint64_t ticks(uint32_t kind)
{
	uint64_t value;

	if (kind == GT_CLOCK_MONOTONIC)
		return (uint64_t)read_ns(CLOCK_MONOTONIC);
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
	return kind == GT_CLOCK_CNTVCT ? value : 0;
}
#else
static uint64_t ticks(uint32_t kind)
{
	return kind == GT_CLOCK_MONOTONIC ? (uint64_t)read_ns(CLOCK_MONOTONIC) : 0;
}
#endif

bool gt_clock_now(const struct gt_proc *proc, struct gt_calib *calib)
{
	char host[sizeof(proc->header.host)];

	gt_host_name("", host, sizeof(host));
	if (gt_clock_slept() || strcmp(host, proc->header.host) || !gt_proc_same_boot(proc))
		return false;
	return gt_clock_pair(proc->header.clock, calib);
}

bool gt_clock_slept(void)
{
	return read_ns(CLOCK_BOOTTIME) - read_ns(CLOCK_MONOTONIC) > ASLEEP;
}

bool gt_clock_pair(uint32_t kind, struct gt_calib *calib)
{
	struct gt_calib best = { .width = UINT64_MAX };

	if (!ticks(kind))
		return false;
	for (int i = 0; i < 6; i++) {
		uint64_t before = ticks(kind);
		int64_t mono = read_ns(CLOCK_MONOTONIC), real = read_ns(CLOCK_REALTIME);
		uint64_t after = ticks(kind);

		if (after - before < best.width)
			best = (struct gt_calib){ before + (after - before) / 2, after - before, mono,
						  real };
	}
	*calib = best;
	return true;
}
