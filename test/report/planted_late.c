/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ranks that do the same, and then rank 1 something of its own, in each of 20 steps.
 *
 * Limits: times are those of the thread's own clock, so that load elsewhere does not change who is late.
 */
#include <mpi.h>
#include <time.h>

static double now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
	return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

__attribute__((noinline)) static double spin(volatile unsigned *n)
{
	for (*n = 0; *n < 300000; ++*n)
		;
	return now();
}

__attribute__((noinline)) static double common(double end)
{
	volatile unsigned n;

	while (spin(&n) < end)
		;
	return end;
}

__attribute__((noinline)) static double uneven(double end)
{
	volatile unsigned n;

	while (spin(&n) < end)
		;
	return end;
}

int main(int argc, char **argv)
{
	int rank, one = 1, sum;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 20; i++) {
		common(now() + 0.01);
		if (rank)
			uneven(now() + 0.03);
		MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
