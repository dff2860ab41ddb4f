/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stencil of MPI in which one rank takes three times as long: the one before the last.
 *
 * Limits: work is sleep, so that it takes as long on a machine with fewer processors than ranks.
 */
#include <mpi.h>
#include <time.h>

enum { STEPS = 20, STEP_MS = 20, SETUP_MS = 60, OUTPUT_MS = 40 };

__attribute__((no_instrument_function)) static void work(int ms)
{
	struct timespec t = { 0, ms * 1000000L };

	nanosleep(&t, NULL);
}

void read_input(void)
{
	work(SETUP_MS);
}

void smooth(int slow)
{
	work(slow ? 3 * STEP_MS : STEP_MS);
}

void swap_borders(int rank, int ranks)
{
	int mine = rank, other;

	MPI_Sendrecv(&mine, 1, MPI_INT, (rank + 1) % ranks, 1, &other, 1, MPI_INT,
		     (rank + ranks - 1) % ranks, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void write_output(void)
{
	work(OUTPUT_MS);
}

int main(int argc, char **argv)
{
	double error = 1, all;
	int rank, ranks;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	read_input();
	for (int step = 0; step < STEPS; step++) {
		smooth(rank == ranks - 2);
		swap_borders(rank, ranks);
		MPI_Allreduce(&error, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	write_output();
	MPI_Finalize();
	return 0;
}
