/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parallel job that this process is started for: mpirun -np 4 gputrace run program.
 *
 * Limits: known launchers only (Open MPI, PMIx, PMI, Slurm); needs /proc. Processes on several
 * machines agree on the job, but only with -o or VT_FILE_PREFIX on the directory. No malloc, no stdio.
 */
#ifndef GT_LAUNCHERS_JOB_H
#define GT_LAUNCHERS_JOB_H

#include <stdbool.h>
#include <stdint.h>

/* A number that the processes of the job share, and when its launcher began (seconds since 1970);
 * 0 and 0: we are not started by a launcher. */
uint64_t gt_job(char **envp, int64_t *when);

/* The rank that a launcher has given to this process, as a text; NULL: no launcher has started it. */
const char *gt_job_rank(char *const *envp);

/* How many processes the job has, and how many of them are on this host; 0: the launcher does not say. */
uint32_t gt_job_size(char *const *envp);
uint32_t gt_job_local(char *const *envp);

/*
 * The descriptor by which the launcher follows this process's life, or -1: if the last copy is closed,
 * the process has ended as the launcher sees it. It is a socket whose other end our launcher has made.
 */
int gt_job_link(char *const *envp);

/* Has the process taken its leave from the launcher (MPI_Finalize)? -1: there is no launcher, so yes. */
bool gt_job_has_left(int link);

/*
 * The pid of our launcher, if it is one that kills what still runs of a job once a process of it has ended
 * that has not taken its leave, with what has started it; 0: it is none. It waits until stderr is closed.
 */
uint32_t gt_job_killer(char *const *envp);

#endif
