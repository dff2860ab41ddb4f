/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that fail and say so: messages longer than the buffer, received in every way there is, sends
 * and collectives with wrong arguments. Two ranks; says what really was sent and received.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { LONG = 100, SHORT = 40 };

static int me, cut, calls;
static char buffer[LONG], small[SHORT];

/* within: the call itself said that an error is in a status. */
static void is_cut_in(int rc, int within)
{
	int class = rc;

	MPI_Error_class(rc, &class);
	if (class != MPI_ERR_TRUNCATE) {
		printf("class %d where a message was cut\n", class);
		MPI_Abort(MPI_COMM_WORLD, 9);
	}
	cut++;
	calls += !within;
}

static void is_cut(int rc)
{
	is_cut_in(rc, 0);
}

static void is_failed(int rc)
{
	if (rc == MPI_SUCCESS) {
		printf("a call with a wrong argument does not fail\n");
		MPI_Abort(MPI_COMM_WORLD, 9);
	}
	calls++;
}

static void receive(int way)
{
	MPI_Request request[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
	MPI_Message message;
	MPI_Status status[2];
	int index = 0, flag = 0, rc;

	switch (way) {
	case 0: is_cut(MPI_Recv(small, SHORT, MPI_CHAR, 0, way, MPI_COMM_WORLD, status)); return;
	case 1: is_cut(MPI_Recv(small, SHORT, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
				MPI_STATUS_IGNORE));
		return;
	case 2: is_cut(MPI_Sendrecv(buffer, LONG, MPI_CHAR, 0, 99, small, SHORT, MPI_CHAR, 0, way,
				    MPI_COMM_WORLD, status));
		return;
	case 3: MPI_Mprobe(0, way, MPI_COMM_WORLD, &message, status);
		is_cut(MPI_Mrecv(small, SHORT, MPI_CHAR, &message, status));
		return;
	case 4: MPI_Recv_init(small, SHORT, MPI_CHAR, 0, way, MPI_COMM_WORLD, request);
		MPI_Start(request);
		is_cut(MPI_Wait(request, status));
		calls += MPI_Request_free(request) != MPI_SUCCESS; /* Open MPI says the same again */
		return;
	}
	MPI_Irecv(small, SHORT, MPI_CHAR, 0, way, MPI_COMM_WORLD, &request[0]);
	switch (way) {
	case 5: is_cut(MPI_Wait(request, MPI_STATUS_IGNORE)); break;
	case 6: while ((rc = MPI_Test(request, &flag, status)) == MPI_SUCCESS && !flag)
			;
		is_cut(rc);
		break;
	case 7: is_cut(MPI_Waitany(1, request, &index, status)); break;
	case 8: /* beside one that is all right */
		MPI_Irecv(buffer, LONG, MPI_CHAR, 0, 98, MPI_COMM_WORLD, &request[1]);
		is_failed(MPI_Waitall(2, request, status));
		is_cut_in(status[0].MPI_ERROR, 1);
		if (request[1] != MPI_REQUEST_NULL) /* still under way */
			MPI_Wait(&request[1], MPI_STATUS_IGNORE);
		break;
	default:
		is_failed(MPI_Waitsome(1, request, &index, &flag, status));
		is_cut_in(status[0].MPI_ERROR, 1);
		break;
	}
}

int main(int argc, char **argv)
{
	MPI_Request request;
	MPI_Win win;
	int mine[3] = { 0 }, all[3];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	for (int way = 0; way < 10; way++) {
		if (me == 0) {
			MPI_Send(buffer, LONG, MPI_CHAR, 1, way, MPI_COMM_WORLD);
			mine[0]++;
			if (way == 2)
				MPI_Recv(buffer, LONG, MPI_CHAR, 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			if (way == 8) {
				MPI_Send(buffer, LONG, MPI_CHAR, 1, 98, MPI_COMM_WORLD);
				mine[0]++;
			}
		} else {
			receive(way);
			mine[0] += way == 2;
		}
	}
	/* Nothing is sent. */
	is_failed(MPI_Send(buffer, LONG, MPI_DATATYPE_NULL, 1 - me, 5, MPI_COMM_WORLD));
	is_failed(MPI_Isend(buffer, -1, MPI_CHAR, 1 - me, 5, MPI_COMM_WORLD, &request));
	is_failed(MPI_Irecv(buffer, -1, MPI_CHAR, 1 - me, 5, MPI_COMM_WORLD, &request));
	is_failed(MPI_Recv(buffer, -1, MPI_CHAR, 1 - me, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	mine[0] += 2; /* recorded, and taken back */
	/* One rank's collective fails, the other's does not; what follows is still theirs. */
	MPI_Barrier(MPI_COMM_WORLD);
	is_failed(MPI_Bcast(buffer, 1, MPI_CHAR, 77, MPI_COMM_WORLD));
	is_failed(MPI_Ibcast(buffer, 1, MPI_CHAR, 77, MPI_COMM_WORLD, &request));
	if (me == 0)
		is_failed(MPI_Bcast(buffer, 1, MPI_CHAR, 78, MPI_COMM_WORLD));
	MPI_Barrier(MPI_COMM_WORLD);
	/* An access that fails is never complete. */
	MPI_Win_create(buffer, LONG, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	MPI_Win_fence(0, win);
	MPI_Put(small, 8, MPI_CHAR, 1 - me, 0, 8, MPI_CHAR, win);
	is_failed(MPI_Put(small, 8, MPI_DATATYPE_NULL, 1 - me, 0, 8, MPI_CHAR, win));
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	mine[1] = cut;
	mine[2] = calls;
	MPI_Reduce(mine, all, 3, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	if (me == 0)
		printf("sends %d\ncut %d\ncalls %d\n", all[0], all[1], all[2]);
	MPI_Finalize();
	return 0;
}
