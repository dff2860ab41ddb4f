/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Comparing the clocks of hosts.
 * Limits: all hosts' speakers (hosts.h) take part at once.
 */
#ifndef GT_MPI_CLOCKS_H
#define GT_MPI_CLOCKS_H

#include "mpi/base.h"

/* Compares the clocks of all hosts; all speakers at once. And, after the last time: tells each of them
 * how the clocks are converted that its own was compared with. */
void gt_mpi_clocks_compare(MPI_Comm speakers, int me, int count);
void gt_mpi_clocks_report(MPI_Comm speakers, int me, int count);

#endif
