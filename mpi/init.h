/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The adapter's set-up, and the beginning and end of MPI.
 * Limits: sessions begin and end in comms.h.
 */
#ifndef GT_MPI_INIT_H
#define GT_MPI_INIT_H

#include "mpi/base.h"

#pragma GCC visibility push(hidden)

/* Of a gt_mpi_flavour (choose.h). */
bool gt_mpi_setup(void *(*find)(const char *symbol));
/* After MPI_Init, before MPI_Finalize. */
void gt_mpi_initialized(void);
void gt_mpi_finalizing(void);
/* Before MPI_Abort, in which the launcher ends all ranks and what would say something at their end. */
void gt_mpi_aborting(int code);

#pragma GCC visibility pop

#endif
