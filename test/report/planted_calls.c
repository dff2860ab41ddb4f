/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits of MPI in which not all take part, or without data: one rank comes late to each step, on purpose.
 * planted_calls FOLDER: lines "class,region,waits,late" of those who must have waited for it, and "not,..."
 * of those who must not. Four ranks on one machine, in a line; each step is behind a barrier.
 *
 * Limits: an MPI need not wait in each of these calls (Open MPI does not in MPI_File_preallocate).
 */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

enum { LATE_MS = 300 };

static int me;

/* Step by step: who is late. */
static void step(int late)
{
	struct timespec t = { 0, LATE_MS * 1000000L };

	MPI_Barrier(MPI_COMM_WORLD);
	if (me == late)
		nanosleep(&t, NULL);
}

static void wait_row(const char *class, const char *region, int waits, int late)
{
	if (me == 0)
		printf("%s,%s,rank %d,rank %d\n", class, region, waits, late);
}

static void line(MPI_Comm comm)
{
	int got[4] = { 0 };
	MPI_Request request;

	step(0);
	MPI_Neighbor_allgather(&me, 1, MPI_INT, got, 1, MPI_INT, comm);
	wait_row("late neighbour", "MPI_Neighbor_allgather", 1, 0);
	wait_row("not", "MPI_Neighbor_allgather", 2, 0);
	wait_row("not", "MPI_Neighbor_allgather", 3, 0);
	step(3);
	MPI_Ineighbor_allgather(&me, 1, MPI_INT, got, 1, MPI_INT, comm, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	wait_row("late neighbour", "MPI_Wait", 2, 3);
	wait_row("not", "MPI_Wait", 0, 3);
	wait_row("not", "MPI_Wait", 1, 3);
}

static void neighbours(void)
{
	int dims[1] = { 4 }, periods[1] = { 0 }, n = 0, who[2];
	MPI_Comm grid, graph;

	MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &grid);
	line(grid);
	MPI_Comm_free(&grid);
	if (me > 0)
		who[n++] = me - 1;
	if (me < 3)
		who[n++] = me + 1;
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n, who, MPI_UNWEIGHTED, n, who, MPI_UNWEIGHTED,
				       MPI_INFO_NULL, 0, &graph);
	line(graph);
	MPI_Comm_free(&graph);
	MPI_Graph_create(MPI_COMM_WORLD, 4, (int[4]){ 1, 3, 5, 6 }, (int[6]){ 1, 0, 2, 1, 3, 2 }, 0, &graph);
	line(graph);
	MPI_Comm_free(&graph);
}

/* Rank 1 has the lock of rank 3's window, and rank 2 wants it meanwhile. */
static void window(void)
{
	static int memory;
	struct timespec t = { 0, LATE_MS * 1000000L };
	MPI_Win win;

	MPI_Win_create(&memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Barrier(MPI_COMM_WORLD);
	if (me == 1) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 3, 0, win);
		MPI_Put(&me, 1, MPI_INT, 3, 0, 1, MPI_INT, win);
		MPI_Win_flush(3, win);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (me == 1) {
		nanosleep(&t, NULL);
		MPI_Win_unlock(3, win);
	} else if (me == 2) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 3, 0, win);
		MPI_Put(&me, 1, MPI_INT, 3, 0, 1, MPI_INT, win);
		MPI_Win_flush(3, win);
		MPI_Win_unlock(3, win);
	}
	wait_row("window lock", "MPI_Win_(lock|flush)", 2, 1);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_free(&win);
}

static void file(const char *folder)
{
	char name[4096], data[64] = { 0 };
	MPI_File f;

	snprintf(name, sizeof(name), "%s/planted", folder);
	MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
	step(1);
	MPI_File_set_view(f, 0, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL);
	wait_row("wait at collective I/O", "MPI_File_set_view", 0, 1);
	step(2);
	MPI_File_set_size(f, 4096);
	wait_row("wait at collective I/O", "MPI_File_set_size", 0, 2);
	step(3);
	MPI_File_preallocate(f, 8192);
	wait_row("wait at collective I/O", "MPI_File_preallocate", 0, 3);
	step(1);
	MPI_File_seek_shared(f, 0, MPI_SEEK_SET);
	wait_row("wait at collective I/O", "MPI_File_seek_shared", 0, 1);
	step(2);
	MPI_File_write_at_all_begin(f, me * 64, data, 64, MPI_CHAR);
	MPI_File_write_at_all_end(f, data, MPI_STATUS_IGNORE);
	wait_row("wait at collective I/O", "MPI_File_write_at_all_(begin|end)", 0, 2);
	MPI_File_close(&f);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	neighbours();
	window();
	file(argv[1]);
	MPI_Finalize();
	return 0;
}
