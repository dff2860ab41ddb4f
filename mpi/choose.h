/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libgputrace-mpi.so: every MPI function is a jump through a table. The first call looks which MPI
 * the program has loaded, loads the wrappers that were compiled for it, and fills the table.
 *
 * Limits: x86-64 and aarch64 (the jumps are assembly, so that they need to know nothing of the arguments).
 */
#ifndef GT_MPI_CHOOSE_H
#define GT_MPI_CHOOSE_H

#include <stdbool.h>

#include "gputrace/compiler.h"

/* Names of the functions, MPI_...; entry 2 * i of the table is MPI_X, 2 * i + 1 is PMPI_X. */
extern GT_HIDDEN const char *const gt_mpi_names[];
extern GT_HIDDEN const unsigned gt_mpi_count;
extern GT_HIDDEN void *gt_mpi_table[];

/* The interface that libgputrace-mpi-<flavour>.so exports as gt_mpi_flavour. */
struct gt_mpi_flavour {
	unsigned functions;       /* must be gt_mpi_count */
	void *const *wrappers;    /* as the table; NULL: this MPI has no such function */
	void **real;              /* to be filled before the next */
	bool (*setup)(void *(*find)(const char *symbol)); /* false: nothing is to be recorded */
};

/* One entry point, and what its table entry holds at first. */
#if defined(__x86_64__)
#define GT_MPI_STUB(name, number)                                                                  \
	".text\n.globl " name "\n.type " name ", @function\n.p2align 4\n" name ":\n"               \
	"\tendbr64\n\tjmp *gt_mpi_table+8*" number "(%rip)\n"                                      \
	".size " name ", .-" name "\n"                                                             \
	".Lgt_mpi_first_" number ":\n\tendbr64\n\tpush $" number "\n\tjmp gt_mpi_first\n"
#elif defined(__aarch64__)
/* ldar: what was written before the entry is seen by what it leads to. */
#define GT_MPI_STUB(name, number)                                                                  \
	".text\n.globl " name "\n.type " name ", %function\n.p2align 4\n" name ":\n"               \
	"\tadrp x16, gt_mpi_table+8*" number "\n"                                                 \
	"\tadd x16, x16, :lo12:gt_mpi_table+8*" number "\n"                                       \
	"\tldar x16, [x16]\n\tbr x16\n"                                                          \
	".size " name ", .-" name "\n"                                                             \
	".Lgt_mpi_first_" number ":\n\tmov x17, #" number "\n\tb gt_mpi_first\n"
#endif

#define GT_MPI_TABLE_BEGIN                                                                         \
	".section .data.rel.local, \"aw\"\n.hidden gt_mpi_table\n.globl gt_mpi_table\n"            \
	".type gt_mpi_table, %object\n.p2align 6\ngt_mpi_table:\n"
#define GT_MPI_TABLE_ENTRY(number) "\t.quad .Lgt_mpi_first_" number "\n"
#define GT_MPI_TABLE_END           ".size gt_mpi_table, .-gt_mpi_table\n.text\n"

#endif
