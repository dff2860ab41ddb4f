/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that all call MPI at once, each with its own communicator: a ring of messages and
 * reductions. Prints what every rank must have in its trace.
 *
 *     threads THREADS ROUNDS
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int me, size, rounds;

static void *work(void *argument)
{
	MPI_Comm comm = *(MPI_Comm *)argument;
	int to = (me + 1) % size, from = (me + size - 1) % size, v, w, sum;

	for (int i = 0; i < rounds; i++) {
		MPI_Request requests[2];

		v = i;
		MPI_Irecv(&w, 1, MPI_INT, from, i % 50, comm, &requests[0]);
		MPI_Isend(&v, 1, MPI_INT, to, i % 50, comm, &requests[1]);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
		if (w != i)
			MPI_Abort(comm, 4);
		if (i % 10 == 0)
			MPI_Allreduce(&v, &sum, 1, MPI_INT, MPI_SUM, comm);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 3, provided;
	pthread_t threads[64];
	MPI_Comm comms[64];

	rounds = argc > 2 ? atoi(argv[2]) : 100;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	if (provided < MPI_THREAD_MULTIPLE) {
		MPI_Finalize();
		return 77;
	}
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < n; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
	for (int i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, work, &comms[i]);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < n; i++)
		MPI_Comm_free(&comms[i]);
	MPI_Finalize();
	return 0;
}
