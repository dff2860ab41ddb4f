/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks at a program that is about to be started: will it be in the trace? One that will not is counted,
 * and starts without our libraries in LD_PRELOAD: another C library would refuse to start it because of
 * them, and the loader if there is no room for them; a loader of another word size or in another root
 * complains about each; and what cannot join the run would say so in the program's output, or begin an
 * archive where nobody expects one. One that is in the trace, but has no MPI, say, starts without the library
 * of ours that has MPI's names (doc/adr/0020).
 *
 * Limits: async-signal-safe, for children of fork and vfork: memory is mapped only while a file is looked at.
 * What cannot be read is taken for a program that can load them.
 */
#ifndef GT_EXEC_LOOK_H
#define GT_EXEC_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_exec_look {
	bool refused;     /* the kernel takes neither name nor environment: nothing of them may be read */
	int missing;      /* not in the trace: an enum gt_absent, GT_LOOK_OUTSIDE; or GT_LOOK_JOINS */
	size_t words;     /* > 0: the environment must be made anew, with gt_exec_env() */
	uint32_t shown;   /* GT_LOOK_JOINS: which libraries of GT_SHOWN_WITH it may see, as bits */
};
enum {
	GT_LOOK_JOINS = -1,
	GT_LOOK_OUTSIDE = 100, /* whatever it could do: nothing of us is loaded */
};

/*
 * `file` is what exec would be given, relative to the folder `dir` (AT_FDCWD); with `search` it is looked
 * for in PATH, as execvp does. An empty name: `dir` is the program itself.
 */
struct gt_exec_look gt_exec_look(int dir, const char *file, bool search, char *const *envp);

/* `envp` with what the program is to have in LD_PRELOAD; `space` is of `look->words` pointers. */
char **gt_exec_env(const struct gt_exec_look *look, char *const *envp, char **space);

/* The program is not started after all. */
void gt_exec_not_started(const struct gt_exec_look *look);

#endif
