/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A serial part, then a parallel region whose threads arrive at its end 40 and 80 ms before the last one.
 * With an argument a clean twin: nothing is serial, and all work for as long.
 *
 * Prints the waits (of the clean twin: those of a busy machine), the share of the time in which the mean
 * thread was busy, and that time in seconds.
 */
#include <omp.h>
#include <stdio.h>
#include <time.h>

enum { THREADS = 3 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* For so long, not for so many turns: a busy machine does not change it. */
static void work(double seconds)
{
	double until = now() + seconds;

	while (now() < until)
		;
}

int main(int argc, char **argv)
{
	double begin = now(), began[THREADS], came[THREADS], last = 0, busy;

	(void)argv;
	if (argc < 2)
		work(0.1);
#pragma omp parallel num_threads(THREADS)
	{
		int i = omp_get_thread_num();

		began[i] = now();
		work(argc < 2 ? 0.2 - 0.04 * i : 0.2);
		came[i] = now();
	}
	for (int i = 0; i < THREADS; i++)
		last = came[i] > last ? came[i] : last;
	busy = came[0] - begin;
	for (int i = 1; i < THREADS; i++)
		busy += came[i] - began[i];
	for (int i = 1; i < THREADS; i++)
		printf("wait at OpenMP barrier,OpenMP thread %d,%.9f\n", i, last - came[i]);
	if (argc > 1)
		printf("wait at OpenMP barrier,Master thread,%.9f\n", last - came[0]);
	fprintf(stderr, "%.4f %.4f\n", busy / THREADS / (last - begin), last - begin);
	return 0;
}
