/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Some messages, then an end that is none: `abort` calls MPI_Abort with 9, `kill` kills rank 1,
 * `exit` returns 5 after MPI_Finalize, `well` 0, `none` exits without MPI_Finalize on one rank.
 */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "exit";
	int me, size, v;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 10; i++)
		MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % size, 1, &v, 1, MPI_INT, (me + size - 1) % size,
			     1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
	if (!strcmp(how, "abort") && me == 0)
		MPI_Abort(MPI_COMM_WORLD, 9);
	if (!strcmp(how, "kill") && me == 1)
		raise(SIGKILL);
	if (!strcmp(how, "abort") || !strcmp(how, "kill"))
		pause();
	MPI_Finalize();
	return strcmp(how, "well") ? 5 : 0;
}
