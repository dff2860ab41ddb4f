/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that are not all alike: "late": odd ranks come to MPI_Init a second later; "fork": each rank
 * has a child before MPI_Init and one behind MPI_Finalize, which work and end; "abort": rank 1 calls
 * MPI_Abort(7) after the first messages; "end": rank 0 comes to MPI_Finalize 4 s later. Each pair of ranks
 * exchanges N messages.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *work(void *argument)
{
	return argument;
}

static void have_a_child(void)
{
	pthread_t thread;
	pid_t pid = fork();
	int status;

	if (!pid) {
		pthread_create(&thread, NULL, work, NULL);
		pthread_join(thread, NULL);
		exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		exit(3);
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 100;
	const char *how = argc > 2 ? argv[2] : "";
	const char *rank = getenv("OMPI_COMM_WORLD_RANK");
	int me, size, v, partner;

	if (!rank)
		rank = getenv("PMI_RANK");
	if (!strcmp(how, "late") && rank && atoi(rank) % 2)
		sleep(1);
	if (!strcmp(how, "fork"))
		have_a_child();
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	partner = me ^ 1;
	for (long i = 0; i < n; i++) {
		MPI_Sendrecv(&me, 1, MPI_INT, partner, 1, &v, 1, MPI_INT, partner, 1, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
		if (!strcmp(how, "abort") && me == 1 && i == n / 2)
			MPI_Abort(MPI_COMM_WORLD, 7);
	}
	if (!strcmp(how, "end") && me == 0)
		sleep(4);
	MPI_Finalize();
	if (!strcmp(how, "fork"))
		have_a_child();
	return 0;
}
