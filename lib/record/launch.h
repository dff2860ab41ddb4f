/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes of our own beside the program: for the assembly, and for descriptors. Limits: see the functions. */
#ifndef GT_LAUNCH_H
#define GT_LAUNCH_H

#include "gputrace/compiler.h"

#include <stdbool.h>

/*
 * Runs `gputrace assemble` on `dir` and waits for its end. The tool inherits `lock_fd`, which holds the
 * exclusive lock on the run in the folder `home`. part: only converts what this host has recorded. Returns 0 if the tool was started, or a negative errno.
 */
GT_HIDDEN int gt_launch_assembly(const char *dir, const char *home, int lock_fd, bool part);

/*
 * Calls the function; if the program has no descriptor left (it returns -EMFILE), once more in a process
 * that shares all memory with this one and has descriptors of its own: stderr, `folder` and `other`, at the
 * same numbers, and some free ones. Returns what the function returns. That process has another pid; what the function opens for
 * good is not open here.
 */
GT_HIDDEN int gt_launch_apart(int (*function)(void *), void *argument, int folder, int other);

#endif
