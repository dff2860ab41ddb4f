/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks at a program that is about to be started: can it load our libraries? Another C library would
 * refuse to start it because of them, and a loader of another word size complains about each.
 *
 * Limits: async-signal-safe and without memory of its own, for children of fork and vfork. What
 * cannot be read is taken for a program that can load them.
 */
#ifndef GT_EXEC_LOOK_H
#define GT_EXEC_LOOK_H

#include <stdbool.h>
#include <stddef.h>

struct gt_exec_look {
	bool untraced;    /* nothing of us can be loaded; counted in the run's header */
	size_t words;     /* > 0: the environment must be made anew, with gt_exec_env() */
};

/*
 * `file` is what exec would be given, relative to the folder `dir` (AT_FDCWD); with `search` it is looked
 * for in PATH, as execvp does. An empty name: `dir` is the program itself.
 */
struct gt_exec_look gt_exec_look(int dir, const char *file, bool search, char *const *envp);

/* `envp` without our libraries in LD_PRELOAD; `space` is of `words` pointers. */
char **gt_exec_env(char *const *envp, char **space);

/* The program is not started after all. */
void gt_exec_not_started(const struct gt_exec_look *look);

#endif
