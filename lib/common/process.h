/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads about a process in /proc: is it still running?
 *
 * Limits: this host and pid namespace; no malloc, no stdio, no locale.
 */
#ifndef GT_PROCESS_H
#define GT_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From /proc/<pid>/stat. */
struct gt_process {
	char name[32];
	char state;
	uint64_t parent, flags, threads;
	uint64_t start_time; /* clock ticks since the machine began */
};

/* False if there is no such process. pid 0: this one. */
bool gt_process_read(uint32_t pid, struct gt_process *process);

/*
 * True if the process with this pid began at `start_time` (field 22) and still has a running thread. A zombie
 * does not live; a process whose main thread has ended by pthread_exit() while other threads continue does,
 * although its state is Z as well.
 */
bool gt_process_lives(uint32_t pid, uint64_t start_time);

/*
 * True if it lives but not for long: it is exiting, or a fatal signal is pending that is neither blocked nor
 * caught.
 */
bool gt_process_dying(uint32_t pid);

/* Is the process stopped (job control)? */
bool gt_process_stopped(uint32_t pid);

/* Is it `ancestor` or one of its descendants? */
bool gt_process_below(int pid, int ancestor);

/* Has it mapped a file whose path contains `name`? */
bool gt_process_loaded(uint32_t pid, const char *name);

/* The name of this host; `pretended` (VT_TEST_HOST, up to a colon) replaces it if not empty. */
void gt_host_name(const char *pretended, char *name, size_t size);

/* Field 22 of /proc/<pid>/stat (pid 0: our own), 0 if there is no such process. */
uint64_t gt_process_start_time(uint32_t pid);

/* The number of seccomp filters of this process; uses only system calls that the loader makes, too. */
unsigned gt_process_filters(void);

#endif
