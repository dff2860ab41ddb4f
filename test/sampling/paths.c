/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls with known lines, of which one takes three times as long as the other: what samples must find. Also
 * in a thread, whose path begins elsewhere, and in a child. Each prints how many seconds of its processor
 * time were in often() and in seldom(). Calls are of different lengths: turns that are always the same may
 * keep step with the samples.
 *
 * Limits: `work` is long enough to be sampled, 0.2 s or more in each of the three.
 */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ALONE __attribute__((noipa))

ALONE static void work(long n)
{
	for (volatile long i = 0; i < n; i++) /* WORK */
		;
}

ALONE static void often(long n)
{
	work(3 * n); /* OFTEN */
	__asm__ volatile("");
}

ALONE static void seldom(long n)
{
	work(n); /* SELDOM */
	__asm__ volatile("");
}

ALONE static void down(int frames, long n)
{
	if (frames)
		down(frames - 1, n); /* DOWN */
	else
		seldom(n);
	__asm__ volatile("");
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

ALONE static void *turns(void *unused)
{
	double o = 0, s = 0, begin = now(), middle, end;

	for (int i = 0; i < 40; i++) {
		long n = 3000000 + 150000 * (i * 17 % 40); /* each of 40 lengths once */

		often(n);
		middle = now();
		down(3, n);
		end = now();
		o += middle - begin;
		s += end - middle;
		begin = end;
	}
	printf("%.6f %.6f\n", o, s);
	fflush(stdout);
	return unused;
}

int main(void)
{
	pthread_t thread;
	pid_t child;

	turns(NULL);
	pthread_create(&thread, NULL, turns, NULL);
	pthread_join(thread, NULL);
	child = fork();
	if (!child) {
		turns(NULL);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	return 0;
}
