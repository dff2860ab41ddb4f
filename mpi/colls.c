/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective operations: who is the root, how many bytes go out and come in.
 *
 * Bytes sent count each receiver, bytes received each sender: the root of a broadcast to n ranks
 * sends n times its buffer. What a rank gives itself is counted, unless it stays in place.
 *
 * Limits: which arguments say it is in the table of gen.py.
 */
#include "mpi/colls.h"
#include "mpi/comms.h"

#define ROOT_NONE UINT32_MAX       /* OTF2_COLLECTIVE_ROOT_NONE */
#define ROOT_SELF (UINT32_MAX - 1) /* the remote side's root is this process */
#define ROOT_NEAR (UINT32_MAX - 2) /* another one on this side */

struct gt_mpi_coll gt_mpi_coll(MPI_Comm comm, uint32_t op, int root)
{
	const struct gt_mpi_comm *found = gt_mpi_comm_of(comm);
	struct gt_mpi_coll c = { .op = op, .at = ROOT_NONE, .gives = true, .takes = true };

	if (!found || !found->ref)
		return c;
	c.ref = found->ref;
	c.size = found->far;
	c.local = found->size;
	c.me = found->me;
	if (root == GT_MPI_ROOTLESS)
		return c;
	if (!found->inter) {
		c.root = root == c.me;
		c.at = (uint32_t)root;
	} else if (root == MPI_ROOT || root == MPI_PROC_NULL) {
		c.root = root == MPI_ROOT;
		c.at = c.root ? ROOT_SELF : ROOT_NEAR;
		c.gives = c.takes = false;
	} else {
		c.at = (uint32_t)root;
	}
	return c;
}

void gt_mpi_coll_begin(const struct gt_mpi_coll *coll)
{
	if (coll->ref)
		gt_record(GT_T_COLL_BEGIN, 0, NULL, 0);
}

void gt_mpi_coll_end(const struct gt_mpi_coll *coll, int rc)
{
	bool done = rc == MPI_SUCCESS;
	const uint64_t data[4] = { coll->op | (uint64_t)coll->at << 32, done ? coll->sent : 0,
				   done ? coll->received : 0, 0 };

	if (!coll->ref)
		return;
	if (!done)
		gt_mpi_failed(rc);
	gt_record(GT_T_COLL_END, coll->ref, data, 2);
}

/* Counts are int, or MPI_Count in the functions for large ones. */
static MPI_Count count_at(const void *counts, size_t size, int i)
{
	return size == sizeof(int) ? ((const int *)counts)[i] : ((const MPI_Count *)counts)[i];
}

uint64_t gt_mpi_sum(int ranks, size_t size, const void *counts, MPI_Datatype type)
{
	MPI_Count sum = 0;

	for (int i = 0; counts && i < ranks; i++)
		sum += count_at(counts, size, i);
	return gt_mpi_bytes(sum, type);
}

uint64_t gt_mpi_sum_types(int ranks, size_t size, const void *counts, const MPI_Datatype *types)
{
	uint64_t sum = 0;

	for (int i = 0; counts && types && i < ranks; i++)
		sum += gt_mpi_bytes(count_at(counts, size, i), types[i]);
	return sum;
}

/* ---- neighbours ----------------------------------------------------------------------------- */

#define DIMENSIONS 32 /* whose borders are known */

/* At a border that is not periodic there is nobody. */
static void cartesian(MPI_Comm comm, struct gt_mpi_coll *coll)
{
	int count = 0, low, high;

	if (gt_mpi_Cartdim_get()(comm, &count) != MPI_SUCCESS)
		return;
	coll->in = coll->out = 2 * count;
	for (int i = 0; i < count && i < DIMENSIONS; i++) {
		if (gt_mpi_Cart_shift()(comm, i, 1, &low, &high) != MPI_SUCCESS)
			continue;
		coll->nulls |= (uint64_t)(low == MPI_PROC_NULL) << (2 * i);
		coll->nulls |= (uint64_t)(high == MPI_PROC_NULL) << (2 * i + 1);
	}
}

void gt_mpi_neighbours(MPI_Comm comm, struct gt_mpi_coll *coll)
{
	int kind = MPI_UNDEFINED, weighted;

	if (!coll->ref || gt_mpi_Topo_test()(comm, &kind) != MPI_SUCCESS)
		return;
	if (kind == MPI_CART) {
		cartesian(comm, coll);
	} else if (kind == MPI_GRAPH) {
		if (gt_mpi_Graph_neighbors_count()(comm, coll->me, &coll->in) != MPI_SUCCESS)
			coll->in = 0;
		coll->out = coll->in;
	} else if (kind == MPI_DIST_GRAPH) {
		if (gt_mpi_Dist_graph_neighbors_count()(comm, &coll->in, &coll->out, &weighted) !=
		    MPI_SUCCESS)
			coll->in = coll->out = 0;
	}
}

/* same: one type for all. */
uint64_t gt_mpi_some(const struct gt_mpi_coll *coll, int ranks, size_t size, const void *counts,
		     const MPI_Datatype *types, bool same)
{
	uint64_t sum = 0;

	for (int i = 0; counts && types && i < ranks; i++)
		if (i >= 64 || !(coll->nulls >> i & 1))
			sum += gt_mpi_bytes(count_at(counts, size, i), types[same ? 0 : i]);
	return sum;
}
