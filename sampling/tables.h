/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a function's entry of .eh_frame (System V ABI, LSB "Exception Frames", DWARF 5 part 6.4) and runs its
 * program once, from the first instruction to the last: a row at each change.
 *
 * Limits: search tables of pairs of 32 bits, as GNU ld and lld make them; programs of 64 kB; eight remembered
 * states; of expressions those that compilers and libraries have (GT_RULE_PLT, GT_RULE_AT_SP, GT_RULE_AT_BP).
 * What is beyond ends the function's rows with GT_RULE_NONE.
 */
#ifndef SAMPLING_TABLES_H
#define SAMPLING_TABLES_H

#include "sampling/rows.h"

enum { GT_TABLES_PROGRAM = 65536 };

/* Finds the function of `address` in walker->object: walker->function. [signal-safe] */
GT_HIDDEN bool gt_tables_find(struct gt_walker *walker, uint64_t address);

/*
 * Puts its rows, `most` of them at most, into `row`: how many is walker->run.n, and walker->run.answer the
 * rule at `address`. [signal-safe]
 */
GT_HIDDEN void gt_tables_run(struct gt_walker *walker, uint64_t address, struct gt_row *row, unsigned most);

#endif
