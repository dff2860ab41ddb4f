/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that were made at run time, by a JIT compiler, in memory of no file. Compilers that can tell
 * their names write them to /tmp/perf-PID.map, which perf made usual: a line for each piece of code with its
 * address and size (hexadecimal) and its name.
 *
 * Limits: the file is there only on the host of the process and until somebody removes it, and is believed
 * only if it is the process's own. It says nothing of times: where code lay in a place of other code, all of
 * it is called by the last name. Of a longer file the last 256 MiB and 4 million lines are read. Of a killed
 * process it is not believed if it was written more than two seconds after its last record.
 */
#ifndef GT_ASSEMBLE_NAMES_JIT_H
#define GT_ASSEMBLE_NAMES_JIT_H

#include "lib/assemble/spool/proc.h"
#include "lib/assemble/util/lookup.h"

struct gt_jit;

/* The files of processes that were asked for, each read once. All zero at first; one thread at a time. */
struct gt_jits {
	struct gt_lookup numbers; /* by the process's address: of its map */
	struct gt_jit **maps;     /* NULL: there is none */
	size_t count, room;
};

struct gt_jit_function {
	char name[GT_NAME_MAX + 1];
	char file[GT_NAME_MAX + 1]; /* source, "": not known */
	unsigned line;              /* where it is defined; 0: not known */
};

/* Reads a map from the descriptor; NULL: it cannot be read, or has no usable line. */
struct gt_jit *gt_jit_read(int fd);
void gt_jit_free(struct gt_jit *jit);

bool gt_jit_find(const struct gt_jit *jit, uint64_t address, struct gt_jit_function *function);

/* In the process's own file, else in those of the processes it was forked from. */
bool gt_jits_find(struct gt_jits *jits, const struct gt_proc *proc, uint64_t address,
		  struct gt_jit_function *function);
void gt_jits_free(struct gt_jits *jits);

#endif
