/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of windows and files. Limits: used by rma.c and io.c only.
 */
#ifndef GT_MPI_HANDLES_H
#define GT_MPI_HANDLES_H

#include "mpi/requests.h"

enum gt_mpi_handle_kind { GT_MPI_WINDOW, GT_MPI_FILE };

/* An access that is not complete on both sides yet. */
struct gt_mpi_pending {
	struct gt_mpi_pending *next;
	uint64_t id;
	int target;
	bool here, there;        /* has it still to be completed on this side, on the other? */
};

struct gt_mpi_ranks {
	int *list;               /* in the window's communicator */
	int count, room;
};

struct gt_mpi_handle {
	uint64_t bits;
	struct gt_mpi_handle *next;
	bool leaving;            /* the call that frees it is under way */
	gt_ref ref;
	/* of windows */
	gt_ref comm;
	uint64_t key;
	int size, me;
	uint32_t lock;           /* of the accesses */
	struct gt_mpi_pending *pending[16], **tail[16]; /* by target, in order */
	struct gt_mpi_ranks access, exposure;
	/* of files */
	struct gt_mpi_op split;
};

/* NULL: not known. */
struct gt_mpi_handle *gt_mpi_handle_find(enum gt_mpi_handle_kind kind, uint64_t bits);
/* The one with this handle, or a new one; NULL without memory. */
struct gt_mpi_handle *gt_mpi_handle_add(enum gt_mpi_handle_kind kind, uint64_t bits);
/*
 * The handle may stand for another thread's new window or file before the call that freed it has
 * returned: before the call the entry is set aside, and after it dropped, or found again if it failed.
 */
struct gt_mpi_handle *gt_mpi_handle_leaves(enum gt_mpi_handle_kind kind, uint64_t bits);
void gt_mpi_handle_left(enum gt_mpi_handle_kind kind, struct gt_mpi_handle *handle, bool gone);

#endif
