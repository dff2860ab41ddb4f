/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes of other MPI_COMM_WORLDs: the inter-communicators by which they became known (spawn,
 * accept, connect, join, MPI_Comm_get_parent), called links, and naming members of communicators by
 * them.
 *
 * Limits: nothing is sent. What a process knows by itself is written down; the assembly finds out
 * which ends of links belong together.
 */
#ifndef GT_MPI_LINKS_H
#define GT_MPI_LINKS_H

#include "mpi/base.h"

#pragma GCC visibility push(hidden)

struct gt_mpi_link {
	struct gt_mpi_link *next;
	struct gt_mpi_link *base; /* that the key goes back to, and some members at this end */
	gt_ref ref;
	uint64_t key;
	bool side; /* which end this is: both ends must come to the same keys */
	MPI_Group ends[2];
	uint32_t users; /* communicators that go back to it, and links; 0: it is free */
};

/* The call that made it. */
struct gt_mpi_meeting {
	unsigned kind;	  /* enum gt_link_kind */
	MPI_Comm near;	  /* over which it was made ... */
	int root;	  /* ... and whose arguments count */
	int me;           /* this process's rank there */
	struct gt_mpi_link *base; /* that `near` goes back to */
	const char *port; /* of accept and connect */
	int fd;		  /* of join */
	uint64_t began;
};

/* A new one, with one user; NULL: it cannot be recorded. key: of this end. */
struct gt_mpi_link *gt_mpi_link_new(const struct gt_mpi_meeting *m, uint64_t key, MPI_Comm inter);
void gt_mpi_link_use(struct gt_mpi_link *link);
void gt_mpi_link_leave(struct gt_mpi_link *link);
/* MPI ends. */
void gt_mpi_links_end(void);

/*
 * The one that all members of both groups belong to, with one more user, or NULL.
 */
struct gt_mpi_link *gt_mpi_link_of(MPI_Group group, MPI_Group remote);

/* The members of a group. */
struct gt_mpi_members {
	uint64_t hash;
	gt_ref ref;       /* their definition */
	int size;
	bool foreign;     /* some are not in MPI_COMM_WORLD, and no link names them */
};

/* The members of MPI_COMM_WORLD; used until MPI ends. */
void gt_mpi_members_begin(MPI_Group world);
/* link: names members that are not in the own MPI_COMM_WORLD, or NULL. */
struct gt_mpi_members gt_mpi_members_of(MPI_Group group, const struct gt_mpi_link *link);

/* A number for the places that the members have in `places`; false: some have none. */
bool gt_mpi_link_places(MPI_Group group, const MPI_Group places[2], uint64_t *hash);

#pragma GCC visibility pop

#endif
