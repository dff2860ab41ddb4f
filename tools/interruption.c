/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures how long one timer signal stops a program: the cost of a sample of its call stack, without the
 * walk of the stack. A loop reads the clock all the time: across a signal the step from one look to the
 * next is longer by its cost, the timer's interrupt included, which no program can see otherwise.
 *
 * Limits: the calling process has no other use of SIGURG, and no other threads. One millisecond of processor
 * time where perf events are granted, else nothing is known.
 */
#include "config.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "gputrace/task_clock.h"
#include "tools/run_parent.h"

enum { SIGNALS = 9, PERIOD_NS = 100000, LONGEST_NS = 20000000 };

static volatile sig_atomic_t signals;

static void count_signal(int number)
{
	(void)number;
	signals++;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The median time between two looks with a signal in between, less what it is without one. */
static uint32_t watch_clock(void)
{
	uint64_t steps[SIGNALS], plain = UINT64_MAX, begin = now(), before = begin, at;
	int n = 0;

	while (n < SIGNALS && before - begin < LONGEST_NS) {
		sig_atomic_t seen = signals;

		at = now();
		if (signals != seen) /* during this look or just after it */
			steps[n++] = now() - before;
		else if (at - before < plain)
			plain = at - before;
		before = now();
	}
	if (n < SIGNALS)
		return 0;
	qsort(steps, SIGNALS, sizeof(*steps), by_size);
	return steps[n / 2] > plain ? (uint32_t)(steps[n / 2] - plain) : 1;
}

uint32_t gt_interruption_ns(void)
{
	const struct sigaction counting = { .sa_handler = count_signal };
	struct sigaction old;
	uint32_t ns = 0;
	int fd = (int)gt_task_clock_open(0, PERIOD_NS);
	void *page;

	if (fd < 0)
		return 0;
	page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page != MAP_FAILED && !sigaction(SIGURG, &counting, &old)) {
		signals = 0;
		if (gt_task_clock_signals(fd, (int)gt_raw(SYS_gettid), SIGURG) &&
		    !ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
			ns = watch_clock();
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		sigaction(SIGURG, &old, NULL);
	}
	if (page != MAP_FAILED)
		munmap(page, (size_t)sysconf(_SC_PAGESIZE));
	close(fd);
	return ns;
}
