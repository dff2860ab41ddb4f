/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 1 waits for rank 0 by asking again and again, then by asking now and then while it works; it says how
 * often it did each.
 * Limits: how often is chance; rank 0 sleeps a while to make it often (argument: so many milliseconds
 * before its first message).
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* For as long as many calls take. */
static void work(void)
{
	struct timespec from, now;

	clock_gettime(CLOCK_MONOTONIC, &from);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - from.tv_sec) * 1000000000L + now.tv_nsec - from.tv_nsec < 2000000);
}

int main(int argc, char **argv)
{
	int me, flag = 0, v = 7;
	long asked = 0, now_and_then = 0;
	MPI_Request request;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Barrier(MPI_COMM_WORLD);
	if (me == 0) {
		usleep(argc > 1 ? 1000 * (unsigned)atoi(argv[1]) : 50000);
		MPI_Send(&v, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
		usleep(50000);
		MPI_Send(&v, 1, MPI_INT, 1, 6, MPI_COMM_WORLD);
	} else if (me == 1) {
		MPI_Irecv(&v, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &request);
		while (!flag) {
			asked++;
			MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
		}
		MPI_Irecv(&v, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, &request);
		for (flag = 0; !flag; now_and_then++) {
			work();
			MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
		}
		printf("%ld %ld\n", asked, now_and_then);
	}
	MPI_Finalize();
	return 0;
}
