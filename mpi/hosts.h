/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs on several hosts: which job this is, who speaks for each host, and a communicator of
 * the speakers, over which their clocks are compared (clocks.c) and their definitions unified.
 *
 * Limits: on one host nothing of this sends a message. All calls come from the thread that is in
 * MPI_Init, MPI_Finalize, a collective of MPI_COMM_WORLD or VT_TIMESYNC.
 */
#ifndef GT_MPI_HOSTS_H
#define GT_MPI_HOSTS_H

#include "mpi/base.h"

#pragma GCC visibility push(hidden)

#define GT_MPI_HOSTS_MOST 65536u

/* A number that all processes of MPI_COMM_WORLD have in common and no others. */
uint64_t gt_mpi_find_job(void);
/* The same of a job that the launcher calls so. */
uint64_t gt_mpi_job_of(const char *name);

extern uint32_t gt_mpi_rank; /* in MPI_COMM_WORLD or all of a session; UINT32_MAX: not known yet */
/* Says which rank this process is, once; returns the job's number. */
uint64_t gt_mpi_be_rank(int rank, int size);

/* Before MPI_Init, after it, before MPI_Finalize. */
void gt_mpi_hosts_begin(void);
void gt_mpi_hosts_ready(uint64_t job, int rank, int size);
void gt_mpi_hosts_end(void);
void gt_mpi_hosts_forked(void); /* in a forked child */

/* This process speaks for its host, and clocks are compared during the run, too. */
extern bool gt_mpi_meets;
void gt_mpi_meet(void);

/* After a collective that nobody leaves before all have come. */
static inline void gt_mpi_met(MPI_Comm comm)
{
	if (gt_unlikely(gt_mpi_meets) && comm == MPI_COMM_WORLD)
		gt_mpi_meet();
}

#pragma GCC visibility pop

#endif
