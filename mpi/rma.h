/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided operations.
 * Limits: those with a request are completed by messages.h.
 */
#ifndef GT_MPI_RMA_H
#define GT_MPI_RMA_H

#include "mpi/requests.h"

#pragma GCC visibility push(hidden)

enum gt_mpi_access_kind {
	GT_MPI_PUT,
	GT_MPI_GET,
	GT_MPI_ATOMIC,           /* + OTF2_RmaAtomicType */
};

/* `begin` is the time before the call, 0: it is not recorded. */
void gt_mpi_win_made(uint64_t begin, MPI_Comm comm, bool memory, const MPI_Win *win);
/* Before the call that frees it, and after that; `begin` as above. */
void *gt_mpi_win_leaves(const MPI_Win *win);
void gt_mpi_win_left(uint64_t begin, void *window, int rc);
void gt_mpi_win_named(MPI_Win win, const char *name);

/*
 * An access, before the call; its kind is GT_MPI_NOTHING if it is not recorded. After the call, if that
 * did not fail: it is under way; with a request (later) gt_mpi_bind() gets it, too.
 */
struct gt_mpi_op gt_mpi_access(bool on, MPI_Win win, int target, unsigned kind, uint64_t bytes,
			       uint64_t received);
void gt_mpi_accessed(const struct gt_mpi_op *op, MPI_Win win, bool later);
unsigned gt_mpi_fetch_kind(MPI_Op op);

#define GT_MPI_ALL_TARGETS INT32_MIN /* MPI_PROC_NULL is another negative number, and means nobody */
/* All accesses to the target are complete: on this side, or also on the other. */
void gt_mpi_win_flushed(MPI_Win win, int target, bool remote);
void gt_mpi_win_fenced(uint64_t begin, MPI_Win win);
void gt_mpi_win_lock(MPI_Win win, int target, int type, bool acquired);
void gt_mpi_win_unlock(MPI_Win win, int target);
void gt_mpi_win_start(MPI_Win win, MPI_Group group);
void gt_mpi_win_complete(MPI_Win win);
void gt_mpi_win_post(MPI_Win win, MPI_Group group);
void gt_mpi_win_wait(MPI_Win win);
void gt_mpi_win_sync(MPI_Win win);
void gt_mpi_win_done(const struct gt_mpi_op *op);

#pragma GCC visibility pop

#endif
