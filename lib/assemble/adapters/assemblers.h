/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The assembling halves of adapters. Which there are is said once, at the beginning (halves.c).
 *
 * Limits: what was loaded stays loaded; at most GT_ASSEMBLERS_MOST. One thread; the list must not change
 * while locations are converted.
 */
#ifndef GT_ASSEMBLE_ASSEMBLERS_H
#define GT_ASSEMBLE_ASSEMBLERS_H

#include "gputrace/assemble.h"
#include "lib/assemble/spool/spool.h"
#include "lib/common/sized.h"

#define GT_ASSEMBLERS_MOST 64u

/* Bytes of the structs of <gputrace/assemble.h> in release 0.1. */
#define GT_FIRST_ASSEMBLER	   GT_SIZED_UP_TO(struct gt_assembler, half)
#define GT_FIRST_PROCESS	   GT_SIZED_UP_TO(struct gt_process_info, program)
#define GT_FIRST_LOC		   GT_SIZED_UP_TO(struct gt_loc_info, name)
#define GT_FIRST_OUT_COMM	   GT_SIZED_UP_TO(struct gt_out_comm, count)

/* One more. False: there are too many. */
bool gt_assembler_add(const struct gt_assembler *one);

/* The n-th, from 0; NULL behind the last. */
const struct gt_assembler *gt_assembler(size_t n);

/* That of an adapter, or NULL. */
const struct gt_assembler *gt_assembler_find(const char *name);

/* The name that an adapter gives a location; false: none does. */
bool gt_assemblers_name(const struct gt_loc *loc, char *text, size_t size);

/* The number of the kind of record that a process's RECORD definition stands for; GT_NO_NUMBER: unknown. */
uint32_t gt_assembler_record(const struct gt_proc *proc, uint32_t id);
const struct gt_own_record *gt_assembler_record_at(uint32_t place);

/* Of a paradigm (OTF2_Paradigm), or NULL. */
const struct gt_paradigm *gt_assembler_paradigm(uint8_t paradigm);

#endif
