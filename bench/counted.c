/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The baseline for counters. Prints one line of key=value pairs:
 *
 *   counted reads N        ns_per_pair: two read() of a group of two perf counters
 *   counted spin N [NS]    a loop that computes; a thread sleeps meanwhile for NS nanoseconds, over and over
 *
 * Limits: Linux. The counters are page-faults and context-switches, which need no PMU.
 */
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "bench.h"

static int open_counter(uint64_t config, int group)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .type = PERF_TYPE_SOFTWARE, .config = config };

	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
			   PERF_FORMAT_TOTAL_TIME_RUNNING;
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, group, PERF_FLAG_FD_CLOEXEC);
}

static int reads(long n)
{
	int group = open_counter(PERF_COUNT_SW_PAGE_FAULTS, -1);
	uint64_t values[5];
	double t0;

	if (group < 0 || open_counter(PERF_COUNT_SW_CONTEXT_SWITCHES, group) < 0)
		return 1;
	t0 = bench_now();
	for (long i = 0; i < 2 * n; i++)
		if (read(group, values, sizeof(values)) != sizeof(values))
			return 1;
	printf("ns_per_pair=%.3f", (bench_now() - t0) / (double)n * 1e9);
	bench_end();
	return 0;
}

static void *sleep_on(void *argument)
{
	const struct timespec *interval = argument;
	struct timespec next;

	clock_gettime(CLOCK_MONOTONIC, &next);
	for (;;) {
		next.tv_nsec += interval->tv_nsec;
		next.tv_sec += next.tv_nsec / 1000000000;
		next.tv_nsec %= 1000000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
	return NULL;
}

static int spin(long n, long interval)
{
	static struct timespec time;
	volatile double x = 1;
	pthread_t thread;
	double t0;

	time.tv_nsec = interval;
	if (interval && pthread_create(&thread, NULL, sleep_on, &time))
		return 1;
	t0 = bench_now();
	for (long i = 0; i < n; i++)
		x = x * 1.0000001;
	printf("work_s=%.6f", bench_now() - t0);
	bench_end();
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "reads"))
		return reads(atol(argv[2]));
	if (argc > 2 && !strcmp(argv[1], "spin"))
		return spin(atol(argv[2]), argc > 3 ? atol(argv[3]) : 0);
	fprintf(stderr, "usage: counted reads N | counted spin N [NS]\n");
	return 2;
}
