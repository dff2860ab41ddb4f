/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Cartesian topologies of communicators, unified over all processes.
 *
 * Limits: of communicators whose members were all recorded; up to GT_DIMENSIONS dimensions.
 */
#ifndef GT_MPI_TOPOLOGY_H
#define GT_MPI_TOPOLOGY_H

#include "mpi/assemble/comms.h"

/* After gt_mpi_make(). */
void gt_topologies_make(const struct gt_mpi *mpi, const struct gt_spool *spool, struct gt_defs *defs);

#endif
