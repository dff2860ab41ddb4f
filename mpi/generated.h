/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MPI functions that the adapter itself calls, past all wrappers: gt_mpi_Comm_size()(comm, &n).
 * Limits: the list is NEEDED in gen.py. What not every MPI has is declared in the generated code.
 */
#ifndef GT_MPI_GENERATED_H
#define GT_MPI_GENERATED_H

#include "mpi/events.h"

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
GT_MPI_CALL(Dist_graph_neighbors_count)
GT_MPI_CALL(Error_class)
GT_MPI_CALL(File_get_position)
GT_MPI_CALL(File_get_position_shared)
GT_MPI_CALL(Finalized)
GT_MPI_CALL(Get_library_version)
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

#endif
