/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that fail and do nothing (refuse.c), and are made again: what they were to free is still there and
 * is used in between; what they were to begin or to receive begins, and comes, the second time. Two ranks;
 * says how many records of each kind there must be.
 */
#include <mpi.h>
#include <stdio.h>

static int me, bad, one = 1, other;

/* The first try is refused. */
#define TWICE(call)                                                                                \
	do {                                                                                       \
		bad += (call) == MPI_SUCCESS;                                                      \
		bad += (call) != MPI_SUCCESS;                                                      \
	} while (0)

static void communicator(void)
{
	MPI_Comm comm;

	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Comm_set_name(comm, "kept");
	bad += MPI_Comm_free(&comm) == MPI_SUCCESS;
	MPI_Sendrecv(&one, 1, MPI_INT, 1 - me, 1, &other, 1, MPI_INT, 1 - me, 1, comm, MPI_STATUS_IGNORE);
	bad += MPI_Comm_free(&comm) != MPI_SUCCESS;
}

static void window(void)
{
	static int memory[2];
	MPI_Win win;

	MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_fence(0, win);
	bad += MPI_Win_free(&win) == MPI_SUCCESS;
	MPI_Put(&one, 1, MPI_INT, 1 - me, 0, 1, MPI_INT, win);
	MPI_Win_fence(0, win);
	bad += MPI_Win_free(&win) != MPI_SUCCESS;
}

static void file(const char *name)
{
	MPI_File out;

	MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &out);
	bad += MPI_File_close(&out) == MPI_SUCCESS;
	MPI_File_write_at(out, me * 4, &one, 1, MPI_INT, MPI_STATUS_IGNORE);
	bad += MPI_File_close(&out) != MPI_SUCCESS;
}

static void persistent(void)
{
	MPI_Request request[2];

	MPI_Send_init(&one, 1, MPI_INT, 1 - me, 2, MPI_COMM_WORLD, &request[0]);
	MPI_Recv_init(&other, 1, MPI_INT, 1 - me, 2, MPI_COMM_WORLD, &request[1]);
	TWICE(MPI_Startall(2, request));
	MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
	TWICE(MPI_Start(&request[0]));
	MPI_Start(&request[1]);
	MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
	MPI_Request_free(&request[0]);
	MPI_Request_free(&request[1]);
}

static void matched(void)
{
	MPI_Message message;
	MPI_Request request;

	for (int i = 0; i < 2; i++)
		MPI_Send(&one, 1, MPI_INT, 1 - me, 3, MPI_COMM_WORLD);
	MPI_Mprobe(1 - me, 3, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
	TWICE(MPI_Mrecv(&other, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
	MPI_Mprobe(1 - me, 3, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
	TWICE(MPI_Imrecv(&other, 1, MPI_INT, &message, &request));
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	communicator();
	window();
	file(argv[1]);
	persistent();
	matched();
	MPI_Allreduce(&bad, &other, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (!me)
		printf("bad %d\ncount COMM_DESTROY 2\ncount RMA_WIN_DESTROY 2\ncount RMA_PUT 2\n"
		       "count RMA_OP_COMPLETE_REMOTE 2\ncount IO_DESTROY_HANDLE 2\n"
		       "count IO_OPERATION_COMPLETE 2\ncount MPI_SEND 6\ncount MPI_RECV 2\n"
		       "count MPI_ISEND 8\ncount MPI_ISEND_COMPLETE 4\ncount MPI_IRECV 8\n"
		       "count MPI_IRECV_REQUEST 12\ncount MPI_REQUEST_CANCELLED 8\n", other);
	return MPI_Finalize();
}
