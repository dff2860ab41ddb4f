/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 1 waits for rank 0 by asking again and again, and says how often it asked.
 * Limits: how often is chance; rank 0 sleeps a while to make it often.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int me, flag = 0, v = 7;
	long asked = 0;
	MPI_Request request;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Barrier(MPI_COMM_WORLD);
	if (me == 0) {
		usleep(50000);
		MPI_Send(&v, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
	} else if (me == 1) {
		MPI_Irecv(&v, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &request);
		while (!flag) {
			asked++;
			MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
		}
		printf("%ld\n", asked);
	}
	MPI_Finalize();
	return 0;
}
