/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators.
 * Limits: see comms.c.
 */
#ifndef GT_MPI_COMMS_H
#define GT_MPI_COMMS_H

#include "mpi/links.h"
#include "mpi/requests.h"

#pragma GCC visibility push(hidden)

struct gt_mpi_comm {
	uint64_t bits;
	struct gt_mpi_comm *next;
	gt_ref ref;              /* GT_NONE: with members of other jobs, nothing can be recorded */
	gt_ref parent, ranks, remote;
	uint64_t key;
	uint32_t children;       /* communicators that were made from it */
	int size, me;            /* of the own side */
	int far;                 /* ranks that messages and collectives can mean: the remote side's */
	bool inter;
	bool events;             /* its making and its end are recorded */
	bool leaving;            /* the call that frees it is under way */
	bool side;               /* of an inter-communicator that goes back to a link */
	struct gt_mpi_link *link; /* what it goes back to, if processes of other jobs do */
	gt_ref near;             /* names the neighbours that it receives from; GT_NONE: not made yet */
};

/* NULL: not known, and it cannot be found out. */
const struct gt_mpi_comm *gt_mpi_comm_find(MPI_Comm comm);
extern uint64_t gt_mpi_generation;

static inline __attribute__((always_inline)) const struct gt_mpi_comm *gt_mpi_comm_of(MPI_Comm comm)
{
	struct gt_mpi_self *self = &gt_mpi_self;

	if (gt_likely(self->comm && self->comm_bits == GT_MPI_BITS(comm) &&
		      self->generation == __atomic_load_n(&gt_mpi_generation, __ATOMIC_ACQUIRE)))
		return self->comm;
	return gt_mpi_comm_find(comm);
}

/* MPI_Init and MPI_Finalize, or a session with the group of all processes; its end is that of MPI, too. */
void gt_mpi_comms_begin(uint64_t job);
void gt_mpi_session_begun(MPI_Group all);
void gt_mpi_comms_end(void);
void gt_mpi_comm_made(MPI_Comm parent, const MPI_Comm *comm);
void gt_mpi_comm_by_group(MPI_Comm parent, int tag, const MPI_Comm *comm);
void gt_mpi_comm_by_tag(const char *tag, const MPI_Comm *comm);
void gt_mpi_comm_later(MPI_Comm parent, const MPI_Comm *comm, const MPI_Request *request);
/* Inter-communicators with processes of another job (links.h). */
void gt_mpi_parent_found(void);
void gt_mpi_comm_spawned(uint64_t began, MPI_Comm near, int root, const MPI_Comm *comm);
void gt_mpi_comm_met(bool accepts, uint64_t began, MPI_Comm near, int root, const char *port,
		     const MPI_Comm *comm);
void gt_mpi_comm_joined(uint64_t began, int fd, const MPI_Comm *comm);
/* Before the call that frees it, and after that. */
struct gt_mpi_comm *gt_mpi_comm_leaves(const MPI_Comm *comm);
void gt_mpi_comm_left(struct gt_mpi_comm *comm, int rc);
void gt_mpi_comm_named(MPI_Comm comm, const char *name);
/* The key of the next thing that all members make together. */
uint64_t gt_mpi_comm_child(const struct gt_mpi_comm *comm);
/* The end of gt_mpi_comm_later(), when the request is complete. */
void gt_mpi_comm_ready(const struct gt_mpi_op *op);

#pragma GCC visibility pop

#endif
