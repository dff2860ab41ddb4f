/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts the assembly of a finished run. Limits: called once, at the very end of a process. */
#ifndef GT_LAUNCH_H
#define GT_LAUNCH_H

#include <stdbool.h>

/*
 * Runs `gputrace assemble` on `dir` and waits for its end. The tool inherits `lock_fd`, which holds the
 * exclusive lock on the run in the folder `home`. part: only converts what this host has recorded. Returns 0 if the tool was started, or a negative errno.
 */
__attribute__((visibility("hidden"))) int gt_launch_assembly(const char *dir, const char *home,
								int lock_fd, bool part);

/*
 * Calls the function in a process that shares all memory with this one and has descriptors of its own:
 * stderr and `fd`, at the same numbers. Returns 0 when it is done, or a negative errno.
 */
__attribute__((visibility("hidden"))) int gt_launch_apart(void (*function)(void *), void *argument,
							     int fd);

#endif
