/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks with unequal work: messages of several sizes, two communicators, collectives, requests. */
#include <mpi.h>
#include <stdlib.h>

static volatile double sum;

static __attribute__((noinline)) void work(int n)
{
	for (int i = 0; i < n * 20000; i++)
		sum += i;
}

static void step(int rank, int size, int i, char *data, MPI_Comm half)
{
	MPI_Request requests[2];
	double mine = sum, all;

	work(1 + rank);
	MPI_Sendrecv_replace(data, 8 << i % 10, MPI_CHAR, (rank + 1) % size, 0, (rank + size - 1) % size, 0,
			     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	MPI_Bcast(data, 100, MPI_CHAR, 0, half);
	MPI_Irecv(data, 5000, MPI_CHAR, (rank + 1) % size, 1, MPI_COMM_WORLD, &requests[0]);
	MPI_Isend(data + 9000, 5000, MPI_CHAR, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &requests[1]);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
	char *data = calloc(1, 1 << 20);
	MPI_Comm half;
	int rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_split(MPI_COMM_WORLD, rank & 1, rank, &half);
	for (int i = 0; i < 30; i++)
		step(rank, size, i, data, half);
	MPI_Finalize();
	free(data);
	return 0;
}
