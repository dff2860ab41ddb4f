/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective operations: who is the root, how many bytes go out and come in.
 * Limits: those that do not block go on in messages.h.
 */
#ifndef GT_MPI_COLLS_H
#define GT_MPI_COLLS_H

#include "mpi/base.h"

#pragma GCC visibility push(hidden)

#define GT_MPI_ROOTLESS INT32_MIN

struct gt_mpi_coll {
	gt_ref ref;              /* GT_NONE: not recorded */
	uint32_t op, at;         /* OTF2_CollectiveOp; root as OTF2 wants it */
	int size, local, me;     /* ranks at the far side, on the own side, own rank */
	bool root;               /* this is the root */
	bool gives, takes;       /* it takes part as one of the others */
	int in, out;             /* neighbours that it receives from, sends to, with those that are none */
	uint64_t nulls;          /* of a Cartesian topology: those that are none, as bits */
	gt_ref near;             /* the string of those that it receives from, or GT_NONE */
	uint64_t sent, received;
};

struct gt_mpi_coll gt_mpi_coll_of(MPI_Comm comm, uint32_t op, int root);
void gt_mpi_coll_begin(const struct gt_mpi_coll *coll);
void gt_mpi_coll_end(const struct gt_mpi_coll *coll, int rc);
uint64_t gt_mpi_sum(int ranks, size_t size, const void *counts, MPI_Datatype type);
uint64_t gt_mpi_sum_types(int ranks, size_t size, const void *counts, const MPI_Datatype *types);

/* Of a communicator with a topology. */
void gt_mpi_neighbours(MPI_Comm comm, struct gt_mpi_coll *coll);
/* Before the record of its end. GT_NONE: it has none. */
void gt_mpi_say_neighbours(gt_ref near);
uint64_t gt_mpi_some(const struct gt_mpi_coll *coll, int ranks, size_t size, const void *counts,
		     const MPI_Datatype *types, bool same);

#pragma GCC visibility pop

#endif
