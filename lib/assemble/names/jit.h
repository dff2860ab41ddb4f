/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that were made at run time, by a JIT compiler, in memory of no file. Compilers that can tell
 * their names write them to /tmp/perf-PID.map, which perf made usual: a line for each piece of code with its
 * address and size (hexadecimal) and its name.
 *
 * Limits: the file is there only on the host of the process and until somebody removes it, and is believed
 * only if it is the process's own. It says nothing of times: where code lay in a place of other code, all of
 * it is called by the last name. Of a longer file the last 256 MiB and 4 million lines are read; by each
 * forked child once more. Of a killed process it is not believed if it was written more than two seconds
 * after its last record.
 */
#ifndef GT_ASSEMBLE_NAMES_JIT_H
#define GT_ASSEMBLE_NAMES_JIT_H

#include "lib/assemble/spool/proc.h"

struct gt_jit;

struct gt_jit_function {
	char name[GT_NAME_MAX + 1];
	char file[GT_NAME_MAX + 1]; /* source, "": not known */
	unsigned line;              /* where it is defined; 0: not known */
};

/* The process's own file, and behind it those of the processes it was forked from. NULL: there is none. */
struct gt_jit *gt_jit_of(const struct gt_proc *proc);
/* What the descriptor has; NULL: it cannot be read, or no line of it says anything. */
struct gt_jit *gt_jit_read(int fd);
void gt_jit_free(struct gt_jit *jit);

bool gt_jit_find(const struct gt_jit *jit, uint64_t address, struct gt_jit_function *function);

#endif
