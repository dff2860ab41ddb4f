/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the start and end of an MPI program: rank 0 prints how long MPI_Init and MPI_Finalize took (the
 * longest of all ranks; ms), and the memory of a process that is not shared with others (the mean of all
 * ranks, kB).
 *
 * Limits: MPI_Finalize is rank 0's own.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec * 1e-6;
}

static double own_memory(void)
{
	FILE *file = fopen("/proc/self/smaps_rollup", "r");
	char line[256];
	double kb = 0, one;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Private_Dirty: %lf kB", &one) == 1)
			kb += one;
	if (file)
		fclose(file);
	return kb;
}

int main(int argc, char **argv)
{
	double begin = now(), mine[2], longest, sum, finalize;
	int me, size, v = 0;

	MPI_Init(&argc, &argv);
	mine[0] = now() - begin;
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 100; i++)
		MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % size, 1, &v, 1, MPI_INT, (me + size - 1) % size, 1,
			     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	mine[1] = own_memory();
	MPI_Reduce(&mine[0], &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	MPI_Reduce(&mine[1], &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	begin = now();
	MPI_Finalize();
	finalize = now() - begin;
	if (!me)
		printf("init %.3f finalize %.3f memory %.0f\n", longest, finalize, sum / size);
	return v < 0;
}
