/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of 8 bytes between 2 ranks, 2 MPI calls of each rank per round; then calls without a
 * partner (MPI_PROC_NULL): the fixed cost of a call, without the wait.
 *
 *     pingpong ROUNDS
 *
 * Limits: the rest of the ranks, if there are more, do nothing.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define PARTS 10

static double ping(long rounds, int me)
{
	double t;
	long v = 0;

	MPI_Barrier(MPI_COMM_WORLD);
	t = MPI_Wtime();
	for (long i = 0; i < rounds && me < 2; i++) {
		if (me == 0)
			MPI_Send(&v, 1, MPI_LONG, 1, 7, MPI_COMM_WORLD);
		MPI_Recv(&v, 1, MPI_LONG, 1 - me, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (me == 1)
			MPI_Send(&v, 1, MPI_LONG, 0, 7, MPI_COMM_WORLD);
	}
	return (MPI_Wtime() - t) * 1e9 / (2.0 * (double)rounds);
}

static double alone(long rounds)
{
	MPI_Request request = MPI_REQUEST_NULL;
	double t;
	long v = 0;

	MPI_Barrier(MPI_COMM_WORLD);
	t = MPI_Wtime();
	for (long i = 0; i < rounds; i++) {
		MPI_Irecv(&v, 1, MPI_LONG, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		MPI_Send(&v, 1, MPI_LONG, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
	}
	return (MPI_Wtime() - t) * 1e9 / (3.0 * (double)rounds);
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 200000;
	double best = 1e18, local = 1e18;
	int me;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	ping(1000, me);
	for (int part = 0; part < PARTS; part++) {
		double a = ping(rounds / PARTS, me), b = alone(rounds / PARTS);

		best = a < best ? a : best;
		local = b < local ? b : local;
	}
	if (me == 0)
		printf("ns_per_call=%.2f ns_alone=%.2f\n", best, local);
	MPI_Finalize();
	return 0;
}
