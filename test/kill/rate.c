/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits for a while, says how long that took by the system's clock, and kills itself. Limits: none.
 */
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

__attribute__((noinline)) void nap(void)
{
	usleep(200000);
	__asm__ volatile("");
}

int main(void)
{
	long long begin = now();

	nap();
	printf("%lld\n", now() - begin);
	fflush(stdout);
	raise(SIGKILL);
	return 0;
}
