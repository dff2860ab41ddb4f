/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI's state in an assembly, for the handlers of its records.
 *
 * Limits: see comms.h.
 */
#ifndef GT_MPI_ASSEMBLE_MPI_H
#define GT_MPI_ASSEMBLE_MPI_H

#include "mpi/assemble/comms.h"

extern const struct gt_assembler gt_assembler_mpi;

struct gt_mpi *gt_mpi_of(struct gt_assembly *a);

/* A communicator of the process that is converted by its id, or NULL. */
const struct gt_mpi_view *gt_track_view(const struct gt_track *t, uint32_t id);

#endif
