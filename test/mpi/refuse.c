/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library behind gputrace and in front of MPI, in which the first call of some functions fails and
 * does nothing.
 */
#include <mpi.h>

#define REFUSE(function, parameters, arguments)                                                    \
	int MPI_##function parameters                                                              \
	{                                                                                          \
		static int calls;                                                                  \
		return calls++ ? PMPI_##function arguments : MPI_ERR_OTHER;                        \
	}

REFUSE(Comm_free, (MPI_Comm *comm), (comm))
REFUSE(Win_free, (MPI_Win *win), (win))
REFUSE(File_close, (MPI_File *file), (file))
REFUSE(Start, (MPI_Request *request), (request))
REFUSE(Startall, (int n, MPI_Request *requests), (n, requests))
REFUSE(Mrecv, (void *data, int n, MPI_Datatype type, MPI_Message *message, MPI_Status *status),
       (data, n, type, message, status))
REFUSE(Imrecv, (void *data, int n, MPI_Datatype type, MPI_Message *message, MPI_Request *request),
       (data, n, type, message, request))
