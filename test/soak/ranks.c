/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI for the player: all ranks do the same steps of the script, and count what they send and take part in.
 *
 * Limits: what each kind of call becomes is test/mpi's matter (random.c); here it is MPI beside threads,
 * children, signals and jumps.
 */
#include "play.h"

#include <mpi.h>

static int me, size;

UNSEEN void ranks_begin(int *argc, char ***argv)
{
	int provided;

	MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	self.random = 1 + (uint64_t)me;
}

UNSEEN void ranks_end(void)
{
	MPI_Finalize();
}

static UNSEEN void collective(int kind, int bytes)
{
	static __thread char from[1 << 16], to[1 << 16];

	add(&truth->collectives, 1);
	switch (kind) {
	case 0:
		MPI_Barrier(MPI_COMM_WORLD);
		break;
	case 1:
		MPI_Bcast(from, bytes, MPI_BYTE, bytes % size, MPI_COMM_WORLD);
		break;
	case 2:
		MPI_Allreduce(from, to, bytes / 8, MPI_LONG, MPI_BOR, MPI_COMM_WORLD);
		break;
	default:
		MPI_Allgather(from, bytes / size, MPI_BYTE, to, bytes / size, MPI_BYTE, MPI_COMM_WORLD);
	}
}

UNSEEN void ranks_talk(int kind, int bytes)
{
	static __thread char from[1 << 16], to[1 << 16];
	int right = (me + 1) % size, left = (me + size - 1) % size;
	MPI_Request requests[2];

	if (kind < 4) {
		collective(kind, bytes);
		return;
	}
	add(&truth->messages, 1);
	if (kind == 4) {
		MPI_Sendrecv(from, bytes, MPI_BYTE, right, 5, to, bytes, MPI_BYTE, left, 5, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
		return;
	}
	MPI_Irecv(to, bytes, MPI_BYTE, left, 6, MPI_COMM_WORLD, &requests[0]);
	MPI_Isend(from, bytes, MPI_BYTE, right, 6, MPI_COMM_WORLD, &requests[1]);
	burst(10, 2);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}
