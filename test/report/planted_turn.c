/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that take turns: in each round each does its part while the others wait, for the token that the rank
 * before it hands on ("token") or in a barrier behind each turn ("barrier"). Else all do theirs at once.
 *
 * Limits: what they do is a sleep that nobody records, so that no processor is needed for it.
 */
#include <mpi.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 10, PART_MS = 20 };

static void part(void)
{
	syscall(SYS_nanosleep, &(struct timespec){ 0, PART_MS * 1000000L }, NULL);
}

/* The token, for as long as its part takes. */
static void take(int me, int ranks)
{
	if (me)
		MPI_Recv(NULL, 0, MPI_CHAR, me - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	part();
	if (me < ranks - 1)
		MPI_Send(NULL, 0, MPI_CHAR, me + 1, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int me, ranks;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int round = 0; round < ROUNDS; round++) {
		for (int turn = 0; turn < ranks; turn++) {
			if (!strcmp(how, "token") && turn == me) {
				take(me, ranks);
			} else if (!strcmp(how, "barrier") && turn == me) {
				part();
			} else if (!*how) {
				part();
			}
			if (strcmp(how, "token"))
				MPI_Barrier(MPI_COMM_WORLD);
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
