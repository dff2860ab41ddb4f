/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ways in which the ranks of an MPI program end: `ends HOW`. All ranks have exchanged something before. HOW
 * is a verb, and where it says so the last rank alone does it, and the others wait for it in a barrier:
 *	fin0 fin5        MPI_Finalize, return 0 or 5
 *	none0 none3      return 0 or 3 without MPI_Finalize
 *	_exit0 exit3     _exit(0), exit(3) without MPI_Finalize
 *	one3             the last rank exits with 3 before the barrier
 *	abort cabort     the last rank calls MPI_Abort(7), abort()
 *	segv term kill   the last rank gets this signal
 *	fatal            an error that MPI itself ends the program for
 */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void end_one(const char *how)
{
	if (!strcmp(how, "one3"))
		exit(3);
	if (!strcmp(how, "abort"))
		MPI_Abort(MPI_COMM_WORLD, 7);
	if (!strcmp(how, "cabort"))
		abort();
	raise(!strcmp(how, "segv") ? SIGSEGV : !strcmp(how, "term") ? SIGTERM : SIGKILL);
}

int main(int argc, char **argv)
{
	static const char *const alone[] = {"one3", "abort", "cabort", "segv", "term", "kill"};
	const char *how = argc > 1 ? argv[1] : "fin0";
	int me, size, sum;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 10; i++)
		MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	for (size_t i = 0; i < sizeof(alone) / sizeof(alone[0]); i++)
		if (!strcmp(how, alone[i])) {
			if (me == size - 1)
				end_one(how);
			MPI_Barrier(MPI_COMM_WORLD);
		}
	if (!strcmp(how, "fatal"))
		MPI_Send(&me, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
	if (!strcmp(how, "none0") || !strcmp(how, "none3"))
		return how[4] - '0';
	if (!strcmp(how, "_exit0"))
		_exit(0);
	if (!strcmp(how, "exit3"))
		exit(3);
	MPI_Finalize();
	return !strcmp(how, "fin5") ? 5 : 0;
}
