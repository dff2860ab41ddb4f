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

struct gt_mpi_coll gt_mpi_coll_of(MPI_Comm comm, uint32_t op, int root)
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
	gt_mpi_say_neighbours(coll->near);
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

#define DIMENSIONS  32 /* whose borders are known */
#define RANK_LENGTH 11 /* of a number with a comma */

/* Ranks with commas between, as a string; "many" if it were too long. */
static gt_ref name_ranks(const int *ranks, int count)
{
	size_t room = RANK_LENGTH * (size_t)count;
	char *text = room < GT_NAME_MAX ? gt_memory(room + 1) : NULL, *at;
	gt_ref name;

	if (!text)
		return gt_def_string("many");
	at = text + room;
	*at = 0;
	for (int i = count; i-- > 0;) {
		unsigned rank = (unsigned)ranks[i];

		do
			*--at = (char)('0' + rank % 10);
		while (rank /= 10);
		if (i)
			*--at = ',';
	}
	name = gt_def_string(at);
	gt_memory_free(text, room + 1);
	return name;
}

/* Those that are one, and named once for each communicator. */
static void name_sources(MPI_Comm comm, struct gt_mpi_coll *coll, int *ranks, int count)
{
	gt_ref *near = &((struct gt_mpi_comm *)gt_mpi_comm_of(comm))->near;
	int n = 0;

	for (int i = 0; i < count; i++)
		if (ranks[i] >= 0 && ranks[i] < coll->local)
			ranks[n++] = ranks[i];
	__atomic_store_n(near, name_ranks(ranks, n), __ATOMIC_RELAXED);
}

static void graph_sources(MPI_Comm comm, struct gt_mpi_coll *coll, bool distributed)
{
	size_t in = (size_t)coll->in, out = (size_t)coll->out, bytes = (2 * (in + out) + 1) * sizeof(int);
	int *ranks = gt_memory(bytes), rc;

	if (!ranks)
		return;
	if (distributed)
		rc = gt_mpi_Dist_graph_neighbors()(comm, coll->in, ranks, ranks + in, coll->out,
						   ranks + 2 * in, ranks + 2 * in + out);
	else
		rc = gt_mpi_Graph_neighbors()(comm, coll->me, coll->in, ranks);
	if (rc == MPI_SUCCESS)
		name_sources(comm, coll, ranks, coll->in);
	gt_memory_free(ranks, bytes);
}

/* At a border that is not periodic there is nobody. `ranks`: all of them; how many these are. */
static int cartesian(MPI_Comm comm, struct gt_mpi_coll *coll, int ranks[2 * DIMENSIONS])
{
	int count = 0, low, high, n = 0;

	if (gt_mpi_Cartdim_get()(comm, &count) != MPI_SUCCESS)
		return 0;
	coll->in = coll->out = 2 * count;
	for (int i = 0; i < count && i < DIMENSIONS; i++) {
		if (gt_mpi_Cart_shift()(comm, i, 1, &low, &high) != MPI_SUCCESS)
			continue;
		coll->nulls |= (uint64_t)(low == MPI_PROC_NULL) << (2 * i);
		coll->nulls |= (uint64_t)(high == MPI_PROC_NULL) << (2 * i + 1);
		ranks[n++] = low == MPI_PROC_NULL ? -1 : low;
		ranks[n++] = high == MPI_PROC_NULL ? -1 : high;
	}
	return n;
}

static gt_ref near_of(MPI_Comm comm)
{
	return __atomic_load_n(&gt_mpi_comm_of(comm)->near, __ATOMIC_RELAXED);
}

void gt_mpi_neighbours(MPI_Comm comm, struct gt_mpi_coll *coll)
{
	int kind = MPI_UNDEFINED, weighted, ranks[2 * DIMENSIONS], count = 0;

	if (!coll->ref || gt_mpi_Topo_test()(comm, &kind) != MPI_SUCCESS)
		return;
	if (kind == MPI_CART) {
		count = cartesian(comm, coll, ranks);
	} else if (kind == MPI_GRAPH) {
		if (gt_mpi_Graph_neighbors_count()(comm, coll->me, &coll->in) != MPI_SUCCESS)
			coll->in = 0;
		coll->out = coll->in;
	} else if (kind == MPI_DIST_GRAPH) {
		if (gt_mpi_Dist_graph_neighbors_count()(comm, &coll->in, &coll->out, &weighted) !=
		    MPI_SUCCESS)
			coll->in = coll->out = 0;
	}
	if (!near_of(comm) && kind == MPI_CART)
		name_sources(comm, coll, ranks, count);
	else if (!near_of(comm) && kind != MPI_UNDEFINED)
		graph_sources(comm, coll, kind == MPI_DIST_GRAPH);
	coll->near = near_of(comm);
}

void gt_mpi_say_neighbours(gt_ref near)
{
	static gt_ref attribute;
	gt_ref known = __atomic_load_n(&attribute, __ATOMIC_RELAXED);

	if (!near)
		return;
	if (!known)
		known = gt_def_attribute("MPI_NEIGHBOURS",
					 "Ranks that this one receives from in a neighbourhood collective",
					 GT_VALUE_STRING);
	__atomic_store_n(&attribute, known, __ATOMIC_RELAXED);
	gt_attribute(known, near);
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
