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

#include "mpi/events.h"

#define GT_MPI_HOSTS_MOST 65536u

/* A number that all processes of MPI_COMM_WORLD have in common and no others. */
uint64_t gt_mpi_find_job(void);
/* The same of a job that the launcher calls so. */
uint64_t gt_mpi_job_of(const char *name);

/* Before MPI_Init, after it, before MPI_Finalize. */
void gt_mpi_hosts_begin(void);
void gt_mpi_hosts_ready(uint64_t job, int rank, int size);
void gt_mpi_hosts_end(void);

/* Compares the clocks of all hosts; all speakers at once. And, after the last time: tells each of them
 * how the clocks are converted that its own was compared with. */
void gt_mpi_clocks_compare(MPI_Comm speakers, int me, int count);
void gt_mpi_clocks_tell(MPI_Comm speakers, int me, int count);

/* This process speaks for its host, and clocks are compared during the run, too. */
extern bool gt_mpi_meets;
void gt_mpi_meet(void);

/* After a collective that nobody leaves before all have come. */
static inline void gt_mpi_met(MPI_Comm comm)
{
	if (GT_MPI_UNLIKELY(gt_mpi_meets) && comm == MPI_COMM_WORLD)
		gt_mpi_meet();
}

#endif
