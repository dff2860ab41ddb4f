/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections between parallel programs (spawn, accept and connect, join): which end that processes
 * of one job have written down belongs to which end of another job.
 *
 * Limits: an endpoint is recorded by the process whose arguments counted; without it there is none. Ends
 * that could belong to several others stay alone: nothing is guessed.
 */
#ifndef GT_MPI_ASSEMBLE_LINKS_H
#define GT_MPI_ASSEMBLE_LINKS_H

#include "gputrace/hash.h"
#include "lib/assemble/clock/clock.h"
#include "lib/assemble/spool/spool.h"

/* A process as communicators know it; rank UINT32_MAX: it cannot be known. */
struct gt_mpi_member {
	uint64_t job;
	uint32_t rank;
};

/* A list of them. */
struct gt_mpi_member_lists {
	struct gt_mpi_member *list;
	uint32_t count;
	uint64_t hash; /* of all of them, in order */
};

struct gt_mpi_links {
	const struct gt_spool *spool;
	struct gt_link_endpoint *ends;
	size_t end_count;
	struct gt_link_view **views; /* by place in spool->procs, then LINK id */
	uint32_t *view_counts;
	size_t alone; /* ends that could belong to several others */
};

/* 0 or a negative errno. */
int gt_links_make(struct gt_mpi_links *links, const struct gt_spool *spool,
		  const struct gt_clock *clock);
void gt_links_free(struct gt_mpi_links *links);

/* Does any process of a job have one? */
bool gt_links_any(const struct gt_spool *spool);

/* What makes keys that go back to a process's LINK those of the whole run. 0: there is no such
 * link. */
uint64_t gt_links_key(const struct gt_mpi_links *links, const struct gt_proc *proc, uint32_t id);

/* The members of a process's GROUP, to be freed with free(list). -EPROTO: that is no list of
 * members. */
int gt_links_members(const struct gt_mpi_links *links, const struct gt_proc *proc, uint32_t group,
		     struct gt_mpi_member_lists *members);

#endif
