/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One problem of an MPI program: ID, or its twin without it: ID clean. Of two ranks, but for n-x-n; of two
 * ranks that one is serialised-ranks.
 *
 * Limits: sleeps, so that ranks need no processor of their own; for so long that it matters beside MPI_Init,
 * and that waking up late does not, on a busy machine.
 */
#include <mpi.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

static int rank;

static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

/* Half of the ranks work and the others wait, by turns; or all work at the same time. */
static void n_x_n(bool bad)
{
	int one = 1, sum;

	for (int i = 0; i < 16; i++) {
		if (!bad || i % 2 == rank % 2)
			sleep_ms(150);
		MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	}
}

static void tiny_messages(bool bad)
{
	static char part[4096];
	int size = bad ? 8 : sizeof(part);

	for (int i = 0; i < 15000; i++) {
		if (rank)
			MPI_Recv(part, size, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(part, size, MPI_CHAR, !rank, 0, MPI_COMM_WORLD);
		if (!rank)
			MPI_Recv(part, size, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
}

int main(int argc, char **argv)
{
	bool bad = argc < 3;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (argc > 1 && !strcmp(argv[1], "n-x-n"))
		n_x_n(bad);
	if (argc > 1 && !strcmp(argv[1], "tiny-messages"))
		tiny_messages(bad);
	MPI_Finalize();
	return 0;
}
