/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pairs of ranks exchange N messages each way, with pauses, after each 1000 (or argument 3), in which all
 * ranks meet. "kill": rank 1 kills itself in the middle; "sync": VT_TIMESYNC() at each pause, if there is
 * one; "part": rank 1 never comes to MPI_Finalize but exits with 0 (launchers call that an error).
 */
#include <mpi.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1000;
	const char *how = argc > 2 ? argv[2] : "";
	long together = argc > 3 ? atol(argv[3]) : 1000;
	void (*sync)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "vt_user_timesync");
	int me, size, other, v;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	other = me ^ 1;
	for (long i = 0; i < n; i++) {
		if (other < size && me < other) {
			MPI_Send(&me, 1, MPI_INT, other, 1, MPI_COMM_WORLD);
			MPI_Recv(&v, 1, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else if (other < size) {
			MPI_Recv(&v, 1, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(&me, 1, MPI_INT, other, 1, MPI_COMM_WORLD);
		}
		if ((i + 1) % together == 0) {
			struct timespec pause = { 0, 5000000 };

			nanosleep(&pause, NULL);
			MPI_Barrier(MPI_COMM_WORLD);
			if (!strcmp(how, "sync") && sync)
				sync();
		}
		if (!strcmp(how, "kill") && me == 1 && i == n / 2)
			raise(SIGKILL);
	}
	if (!strcmp(how, "part") && me == 1)
		_exit(0);
	MPI_Finalize();
	return 0;
}
