/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI-IO.
 * Limits: operations with a request are completed by messages.h.
 */
#ifndef GT_MPI_IO_H
#define GT_MPI_IO_H

#include "mpi/requests.h"

#pragma GCC visibility push(hidden)

#define GT_MPI_IO_LATER      1u /* does not block */
#define GT_MPI_IO_COLLECTIVE 2u

void gt_mpi_file_opened(bool on, MPI_Comm comm, const char *name, int mode, const MPI_File *file);
void *gt_mpi_file_leaves(const MPI_File *file);
void gt_mpi_file_left(bool on, void *file, int rc);
/* All members of the file's communicator make this call: says of its leave which file it is about. */
void gt_mpi_file_together(MPI_File file);
void gt_mpi_file_deleted(const char *name);
void gt_mpi_file_seek(MPI_File file, MPI_Offset offset, int whence, bool shared);

/* An operation that is under way: op->kind is GT_MPI_NOTHING if it is not recorded. */
struct gt_mpi_op gt_mpi_io_begin(bool on, MPI_File file, unsigned mode, unsigned flags,
				 MPI_Count count, MPI_Datatype type);
void gt_mpi_io_end(const struct gt_mpi_op *op, int rc, const MPI_Status *status);
void gt_mpi_io_issued(bool on, const struct gt_mpi_op *op);
void gt_mpi_io_cancelled(const struct gt_mpi_op *op);
/* The two halves of a collective that is split. */
void gt_mpi_io_split(bool on, const struct gt_mpi_op *op, int rc, MPI_File file);
struct gt_mpi_op gt_mpi_io_joined(MPI_File file);

#pragma GCC visibility pop

#endif
