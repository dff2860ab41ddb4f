/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A clock that misbehaves, to preload: SHIM_CLOCK=wall steps the wall clock an hour back and forth
 * at each reading, back sets every 997th reading of the monotonic clock 500 ns back, jump sets the
 * monotonic clock an hour ahead after the 5000th reading, gone ends the program if anybody asks after
 * its destructor has run.
 *
 * Limits: only who calls clock_gettime through its symbol is fooled; the processor's counter is not.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define HOUR 3600

static const char *mode;
static unsigned long readings;

__attribute__((constructor)) static void choose(void)
{
	mode = getenv("SHIM_CLOCK");
}

static int gone;

__attribute__((destructor)) static void leave(void)
{
	gone = mode && !strcmp(mode, "gone");
}

int clock_gettime(clockid_t id, struct timespec *ts)
{
	int rc = (int)syscall(SYS_clock_gettime, id, ts);
	unsigned long n;

	if (gone)
		abort();
	if (rc || !mode)
		return rc;
	n = __atomic_add_fetch(&readings, 1, __ATOMIC_RELAXED);
	if (id == CLOCK_REALTIME && !strcmp(mode, "wall"))
		ts->tv_sec += n % 2 ? HOUR : -HOUR;
	if (id != CLOCK_MONOTONIC)
		return 0;
	if (!strcmp(mode, "back") && n % 997 == 0) {
		ts->tv_nsec -= 500;
		if (ts->tv_nsec < 0) {
			ts->tv_nsec += 1000000000;
			ts->tv_sec--;
		}
	}
	if (!strcmp(mode, "jump") && n > 5000)
		ts->tv_sec += HOUR;
	return 0;
}
