/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library between gputrace and MPI: when the last call of MPI began, at the latest. The program knows when
 * it began at the earliest; a busy machine may take the processor away in between.
 *
 * Limits: of the functions that planted_mpi.c calls; one thread.
 */
#include <mpi.h>
#include <time.h>

double entered;

static void enter(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	entered = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#define BEHIND(name, parameters, arguments) \
	int MPI_##name parameters           \
	{                                   \
		enter();                    \
		return PMPI_##name arguments; \
	}

BEHIND(Send, (const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm),
       (data, n, type, to, tag, comm))
BEHIND(Ssend, (const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm),
       (data, n, type, to, tag, comm))
BEHIND(Recv, (void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status),
       (data, n, type, from, tag, comm, status))
BEHIND(Wait, (MPI_Request *request, MPI_Status *status), (request, status))
BEHIND(Barrier, (MPI_Comm comm), (comm))
BEHIND(Bcast, (void *data, int n, MPI_Datatype type, int root, MPI_Comm comm), (data, n, type, root, comm))
BEHIND(Allreduce, (const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
       (in, out, n, type, op, comm))
BEHIND(Scan, (const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
       (in, out, n, type, op, comm))
BEHIND(Reduce, (const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
       (in, out, n, type, op, root, comm))
