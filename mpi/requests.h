/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations that are under way, by the request (or message) that stands for each.
 * Limits: a table; what an operation means is in messages.h.
 */
#ifndef GT_MPI_REQUESTS_H
#define GT_MPI_REQUESTS_H

#include "mpi/base.h"

#pragma GCC visibility push(hidden)

enum gt_mpi_kind {
	GT_MPI_NOTHING = 0,
	GT_MPI_SEND,
	GT_MPI_RECV,
	GT_MPI_COLL,
	GT_MPI_COMM,
	GT_MPI_MATCHED, /* a message that MPI_Mprobe has found; `id` of its receive, 0: none */
	GT_MPI_RMA,     /* `comm` is a window */
	GT_MPI_IO,      /* `comm` is a file */
	GT_MPI_BOTH,    /* a receive, and a send with the id `received` of `sent` bytes */
};

/* An operation that is under way. */
struct gt_mpi_op {
	uint8_t kind;
	bool persistent, active, cancel;
	bool posted;             /* a receive: `peer` and `tag` are those that were asked for */
	gt_ref comm;
	uint64_t id;
	uint32_t peer, tag;      /* of collectives: operation, root */
	uint64_t bytes, received; /* of receives: the buffer's */
	uint64_t sent;
	gt_ref near;             /* of collectives: gt_mpi_coll_of's */
	MPI_Comm made;           /* then `bytes` is the link that it goes back to, `tag` its side */
};

uint64_t gt_mpi_new_id(void);

extern uint64_t gt_mpi_live; /* operations in the table */
void gt_mpi_insert(MPI_Request request, const struct gt_mpi_op *op);
/* A message that MPI_Mprobe has found; they are kept beside requests. */
void gt_mpi_insert_matched(MPI_Message message, const struct gt_mpi_op *op);
struct gt_mpi_op gt_mpi_take_matched(MPI_Message message);

/*
 * What is known of the request before the call that may complete it (NULL: nothing); afterwards the
 * handle may already stand for another thread's operation.
 */
void *gt_mpi_look_up(MPI_Request request);

/* Pointers may be NULL: MPI says so, and this goes before it. */
static inline void *gt_mpi_look(const MPI_Request *request)
{
	return request && __atomic_load_n(&gt_mpi_live, __ATOMIC_RELAXED) ? gt_mpi_look_up(*request) : NULL;
}

/*
 * Takes an operation that is complete; a persistent one stays, and is no longer active. `was`: from the
 * above.
 */
struct gt_mpi_op gt_mpi_take(void *was);
/* Takes it, also if it is persistent. */
struct gt_mpi_op gt_mpi_drop(MPI_Request request);
/* Starts a persistent one, under a new id; the kind is GT_MPI_NOTHING if there is none. */
struct gt_mpi_op gt_mpi_restart(MPI_Request request, bool active);
/* A receive that was freed while it was under way; and each of them, once. */
void gt_mpi_keep_freed(const struct gt_mpi_op *op);
bool gt_mpi_next_freed(struct gt_mpi_op *op);
/* It may be cancelled when it is complete. */
void gt_mpi_cancel(const MPI_Request *request);

#pragma GCC visibility pop

#endif
