/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of one channel that are not received in the order of their receive calls: rank 1 finds the first
 * one by MPI_Mprobe and MPI_Improbe and receives the second one before it; it frees the request of a receive
 * before the message comes. Each has another length, the n-th of its tag n numbers. With an argument another
 * one is never received.
 * Limits: two ranks; the message that is not received is short, so that MPI_Finalize does not wait for it.
 * MPI_Finalize of MPICH 4.2 may refuse it, if it has come by then.
 */
#include <mpi.h>

static int me, numbers[8];

static void send(int tag, int count)
{
	for (int n = 1; n <= count; n++)
		MPI_Send(numbers, n, MPI_INT, 1, tag, MPI_COMM_WORLD);
}

static void receive(int tag, int n)
{
	MPI_Recv(numbers, n, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void probed(void)
{
	MPI_Message message;

	MPI_Mprobe(0, 20, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
	receive(20, 2);
	MPI_Mrecv(numbers, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
}

static void asked(void)
{
	MPI_Message message;
	MPI_Request request;
	int there = 0;

	while (!there)
		MPI_Improbe(0, 21, MPI_COMM_WORLD, &there, &message, MPI_STATUS_IGNORE);
	receive(21, 2);
	MPI_Imrecv(numbers, 1, MPI_INT, &message, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void freed(void)
{
	static int later[8];
	MPI_Request request;

	if (me == 1) {
		MPI_Irecv(later, 8, MPI_INT, 0, 40, MPI_COMM_WORLD, &request);
		MPI_Request_free(&request);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (me == 0)
		return send(40, 3);
	receive(40, 2);
	receive(40, 3);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	if (me == 0) {
		send(20, 2);
		send(21, 2);
	} else {
		probed();
		asked();
	}
	freed();
	if (me == 0 && argc > 1)
		send(5, 1);
	MPI_Finalize();
	return 0;
}
