/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which of MPI 4's procedures are there: Open MPI 5 has partitioned messages, persistent collectives and
 * MPI_Isendrecv, no large counts, and says that it is 3.1.
 */
#ifndef MPI4_H
#define MPI4_H

#include <mpi.h>

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HAS_MPI4 1
#endif
#if MPI_VERSION >= 4
#define HAS_LARGE_COUNTS 1
#endif

#endif
