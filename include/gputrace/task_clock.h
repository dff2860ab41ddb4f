/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The perf event that interrupts a thread by its processor time in user mode: the sampling adapter has one
 * for each thread, and `gputrace run` measures with one what an interruption costs.
 *
 * Limits: not installed. As syscall.h.
 */
#ifndef GPUTRACE_TASK_CLOCK_H
#define GPUTRACE_TASK_CLOCK_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>

#include "gputrace/syscall.h"

/* Opens it, disabled, for thread `tid` (0: the caller), every `period` ns; a descriptor or a negative
 * errno. */
static inline long gt_task_clock_open(int tid, uint64_t period)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_TASK_CLOCK;
	attr.sample_period = period;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	attr.disabled = 1;
	attr.wakeup_events = 1;
	return gt_raw(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* From now on it sends the signal `number` to that thread. */
static inline bool gt_task_clock_signals(long fd, int tid, int number)
{
	const struct { int type, pid; } owner = { 0 /* F_OWNER_TID */, tid };

	return !gt_raw(SYS_fcntl, fd, 15 /* F_SETOWN_EX */, &owner) &&
	       !gt_raw(SYS_fcntl, fd, 10 /* F_SETSIG */, number) &&
	       !gt_raw(SYS_fcntl, fd, F_SETFL, O_ASYNC | O_NONBLOCK);
}

#endif
