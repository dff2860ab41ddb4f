/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processes of parallel programs and their communicators, unified over all ranks: what the
 * processes call the same by a key becomes one communicator of the archive.
 *
 * Limits: made once, when the layout is; reads definitions only. Ranks that were not recorded are
 * left out of their communicators, and messages to them are not written.
 */
#ifndef GT_MPI_COMMS_H
#define GT_MPI_COMMS_H

#include "lib/assemble/assembly.h"
#include "mpi/assemble/links.h"

/* One side of a communicator: rank -> place in the archive's communicator. */
struct gt_mpi_side {
	uint32_t size;        /* ranks as the program counts them */
	uint32_t *place;      /* NULL: all are there, a rank is its place */
};

/* A communicator of the archive. Inter-communicators have two sides. */
struct gt_mpi_archive_comm {
	uint64_t key;
	uint32_t number;
	uint64_t first[2];    /* members' hash of each side: which is whose? */
	struct gt_mpi_side sides[2];
	const uint64_t *members[2]; /* of the sides, by place: locations, or ... */
	uint64_t job;         /* ... if not 0, ranks of this job */
	bool inter;
};

/* A communicator as a process's COMM definition refers to it. */
struct gt_mpi_view {
	const struct gt_mpi_archive_comm *comm;
	unsigned far;         /* the side that ranks in its records refer to */
	uint64_t salt;        /* 0, or what makes keys of what it has the same in all jobs */
};

struct gt_mpi {
	struct gt_mpi_archive_comm **comms; /* in order of their first appearance */
	size_t count, room;
	uint32_t *table;      /* by key: place + 1 in comms */
	size_t mask;
	struct gt_mpi_view **views; /* by place in spool->procs, then COMM id */
	uint32_t *view_counts;
	uint64_t *who;        /* by place in spool->procs: gt_mpi_who() */
	size_t proc_count;
	struct gt_mpi_rank {
		uint64_t job;
		uint32_t rank, location; /* of its first thread */
	} *ranks;             /* by job and rank */
	size_t rank_count;
	uint32_t *rank_of;    /* by location: place in ranks + 1 */
	struct gt_mpi_links links;
	enum gt_how how;
	int dirfd;
	uint64_t counted_job; /* whose ranks here were counted last */
	size_t counted;
};

/* Was it started as a rank and has an MPI library, but no MPI was recorded, although that was wished? */
bool gt_mpi_silent(const struct gt_proc *proc);
/* Why, of a process that is silent: a sentence without a full stop; "": not known. */
void gt_mpi_silent_why(const struct gt_proc *proc, char *text, size_t size);

/*
 * 0 or a negative errno. `part`: other hosts' processes are not in this spool. Of a job that has all its
 * ranks in the run, though not here, the members of communicators are then kept as ranks. `alone`:
 * with -EAGAIN if a job has not, because then places are known only to who sees all hosts.
 */
int gt_mpi_make(struct gt_mpi *mpi, const struct gt_spool *spool, const struct gt_layout *layout,
		const struct gt_clock *clock, struct gt_defs *defs, enum gt_how how);

/*
 * The Cartesian topologies of communicators whose members were all recorded, up to GT_DIMENSIONS
 * dimensions.
 */
void gt_mpi_topologies(const struct gt_mpi *mpi, const struct gt_spool *spool, struct gt_defs *defs);

/* Have all hosts of a job found each other with all its ranks? (lib/record/ranks.c) */
bool gt_mpi_complete(int dirfd, uint64_t job);
void gt_mpi_free(struct gt_mpi *mpi);

/* The number of a process as a rank (gt_mpi_who), or 0. */
uint64_t gt_mpi_who_is(const struct gt_mpi *mpi, const struct gt_proc *proc);

/* The meaning of a process's COMM definition, or NULL. Any thread. */
const struct gt_mpi_view *gt_mpi_view_of(const struct gt_mpi *mpi, size_t proc, uint32_t id);

/* The key of a window or file of such a communicator, the same in all processes. */
static inline uint64_t gt_mpi_key(const struct gt_mpi_view *view, uint64_t key)
{
	return view->salt ? gt_hash_mix(view->salt, key) : key;
}

/* A number for a rank, the same in all parts. */
uint64_t gt_mpi_who(uint64_t job, uint32_t rank);

/* Is the process at a place of the far side on another host than `proc`? Then *who gets its number. */
bool gt_mpi_elsewhere(const struct gt_mpi *mpi, const struct gt_layout *layout,
		      const struct gt_mpi_view *view, uint32_t place, const struct gt_proc *proc,
		      uint64_t *who);

/* The place of a rank of the far side, or GT_UNDEFINED. */
uint32_t gt_mpi_return(const struct gt_mpi_view *view, uint32_t rank);

#endif
