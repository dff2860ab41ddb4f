/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MPI functions: names, roles, regions, and what lies behind our wrappers. mpi/gen.py makes the tables
 * (real-<flavour>.c). The adapter itself calls MPI past all wrappers: gt_mpi_Comm_size()(comm, &n).
 *
 * Limits: the list below is NEEDED in gen.py. What not every MPI has is declared where it is called.
 */
#ifndef GT_MPI_REAL_H
#define GT_MPI_REAL_H

#include <mpi.h>
#include <stdint.h>

#include "gputrace/adapter.h"

#pragma GCC visibility push(hidden)

struct gt_mpi_function {
	const char *name;
	uint8_t role;
};
extern const unsigned gt_mpi_functions; /* how many */
extern const struct gt_mpi_function gt_mpi_function[];
extern gt_ref gt_mpi_region[]; /* 0: not defined yet */
extern void *gt_mpi_real[];    /* 2 * i: MPI_X behind us, 2 * i + 1: PMPI_X */

#define GT_MPI_CALL(name)                                                                          \
	typedef __typeof__(MPI_##name) MPI_##name##_fn;                                            \
	MPI_##name##_fn *gt_mpi_##name(void);

GT_MPI_CALL(Bcast)
GT_MPI_CALL(Cart_get)
GT_MPI_CALL(Cart_shift)
GT_MPI_CALL(Cartdim_get)
GT_MPI_CALL(Comm_create_group)
GT_MPI_CALL(Comm_free)
GT_MPI_CALL(Comm_get_attr)
GT_MPI_CALL(Comm_get_name)
GT_MPI_CALL(Comm_get_parent)
GT_MPI_CALL(Comm_group)
GT_MPI_CALL(Comm_rank)
GT_MPI_CALL(Comm_remote_group)
GT_MPI_CALL(Comm_remote_size)
GT_MPI_CALL(Comm_set_errhandler)
GT_MPI_CALL(Comm_size)
GT_MPI_CALL(Comm_test_inter)
GT_MPI_CALL(Dist_graph_neighbors)
GT_MPI_CALL(Dist_graph_neighbors_count)
GT_MPI_CALL(Error_class)
GT_MPI_CALL(File_get_position)
GT_MPI_CALL(File_get_position_shared)
GT_MPI_CALL(Finalized)
GT_MPI_CALL(Get_library_version)
GT_MPI_CALL(Graph_neighbors)
GT_MPI_CALL(Graph_neighbors_count)
GT_MPI_CALL(Group_free)
GT_MPI_CALL(Group_incl)
GT_MPI_CALL(Group_rank)
GT_MPI_CALL(Group_size)
GT_MPI_CALL(Group_translate_ranks)
GT_MPI_CALL(Initialized)
GT_MPI_CALL(Recv)
GT_MPI_CALL(Request_get_status)
GT_MPI_CALL(Send)
GT_MPI_CALL(Test_cancelled)
GT_MPI_CALL(Topo_test)
GT_MPI_CALL(Type_size_x)
GT_MPI_CALL(Win_get_group)

#undef GT_MPI_CALL

#pragma GCC visibility pop

#endif
