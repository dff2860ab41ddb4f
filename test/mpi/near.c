/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Topologies, collectives among neighbours, persistent collectives where MPI has them, and the life of
 * communicators; says what it did as onesided.c does.
 */
#include <stdio.h>
#include <stdlib.h>

#include "mpi4.h"

static int me, size;
static long blocking, later, made;
static int messages;
static long long sent, received;

static void did(long n, long long out, long long in, int is_later)
{
	*(is_later ? &later : &blocking) += n;
	sent += out;
	received += in;
}

static void among(MPI_Comm comm, int in, int out)
{
	int data[64] = { 0 }, got[64], counts[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
	int displs[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	MPI_Request request;

	MPI_Neighbor_allgather(data, 2, MPI_INT, got, 2, MPI_INT, comm);
	did(1, 8LL * out, 8LL * in, 0);
	MPI_Neighbor_allgatherv(data, 1, MPI_INT, got, counts, displs, MPI_INT, comm);
	did(1, 4LL * out, 4LL * in, 0);
	MPI_Neighbor_alltoall(data, 3, MPI_INT, got, 3, MPI_INT, comm);
	did(1, 12LL * out, 12LL * in, 0);
	MPI_Neighbor_alltoallv(data, counts, displs, MPI_INT, got, counts, displs, MPI_INT, comm);
	did(1, 4LL * out, 4LL * in, 0);
	MPI_Ineighbor_allgather(data, 5, MPI_INT, got, 5, MPI_INT, comm, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	did(1, 20LL * out, 20LL * in, 1);
#ifdef HAS_MPI4
	MPI_Neighbor_alltoall_init(data, 1, MPI_INT, got, 1, MPI_INT, comm, MPI_INFO_NULL, &request);
	for (int i = 0; i < 2; i++) {
		MPI_Start(&request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		did(1, 4LL * out, 4LL * in, 1);
	}
	MPI_Request_free(&request);
#endif
}

static void persistent(void)
{
#ifdef HAS_MPI4
	MPI_Request request;
	int v = me, sum;

	MPI_Allreduce_init(&v, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
	for (int i = 0; i < 3; i++) {
		MPI_Start(&request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		did(1, 4, 4, 1);
	}
	MPI_Request_free(&request);
#endif
#ifdef HAS_LARGE_COUNTS
	MPI_Allreduce_c(&v, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	did(1, 4, 4, 0);
	MPI_Isend_c(&v, 1, MPI_INT, (me + 1) % size, 1, MPI_COMM_WORLD, &request);
	MPI_Recv_c(&sum, 1, MPI_INT, (me + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	messages = size;
#endif
}

int main(int argc, char **argv)
{
	int dims[2] = { 0, 0 }, periods[2] = { 1, 0 }, low, high, n = 0, right, left, keep[2] = { 1, 0 };
	long mine[3], all[3];
	long long bytes[2], all_bytes[2];
	MPI_Comm cart, row, graph;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	right = (me + 1) % size;
	left = (me + size - 1) % size;
	MPI_Dims_create(size, 2, dims);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
	made++;
	MPI_Comm_set_name(cart, "grid");
	for (int d = 0; d < 2; d++) {
		MPI_Cart_shift(cart, d, 1, &low, &high);
		n += (low != MPI_PROC_NULL) + (high != MPI_PROC_NULL);
	}
	among(cart, n, n);
	MPI_Cart_sub(cart, keep, &row);
	made += dims[0] > 1;
	MPI_Comm_free(&row);
	MPI_Comm_free(&cart);
	/* One neighbour in front, two behind. */
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, (int[2]){ left, left }, MPI_UNWEIGHTED, 2,
				       (int[2]){ right, right }, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
	made++;
	among(graph, 2, 2);
	MPI_Comm_free(&graph);
	persistent();

	mine[0] = blocking, mine[1] = later, mine[2] = made;
	bytes[0] = sent, bytes[1] = received;
	MPI_Reduce(mine, all, 3, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	MPI_Reduce(bytes, all_bytes, 2, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	if (me == 0)
		printf("count NON_BLOCKING_COLLECTIVE_COMPLETE %ld\ncount COMM_CREATE %ld\n"
		       "count COMM_DESTROY %ld\ncount MPI_ISEND %d\ncount MPI_RECV %d\nnear %ld %lld %lld\n",
		       all[1], all[2], all[2], messages, messages, all[0] + all[1], all_bytes[0],
		       all_bytes[1]);
	MPI_Finalize();
	return 0;
}
