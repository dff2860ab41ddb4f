/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The assembling halves of adapters: those of the tree (instrument/adapters.def) and those that are loaded
 * because a process's journal names their adapter.
 *
 * Limits: what was loaded stays loaded; at most GT_ASSEMBLERS_MOST. One thread; the list must not change while
 * locations are converted.
 */
#ifndef GT_ASSEMBLE_ASSEMBLERS_H
#define GT_ASSEMBLE_ASSEMBLERS_H

#include "gputrace/assemble.h"
#include "lib/assemble/spool/spool.h"

#define GT_ASSEMBLERS_MOST 64u

struct gt_assembly;

/* The n-th, from 0; NULL behind the last. */
const struct gt_assembler *gt_assembler(size_t n);

/* That of an adapter, or NULL. */
const struct gt_assembler *gt_assembler_find(const char *name);

/* Loads those that the spool's processes name and that are not there yet, and says what is missing. */
void gt_assemblers_load(const struct gt_assembly *a, const struct gt_spool *spool);

/* Loads those that wrote the events of partial archives, for what they say of their paradigms; no hook but `end`
 * is called then. */
struct gt_properties;
struct gt_defs;
void gt_assemblers_load_joined(const struct gt_assembly *a, const struct gt_properties *properties,
			       struct gt_defs *defs);

/* Calls a hook of all of them until one fails. */
int gt_assemblers_scan(struct gt_assembly *a);
int gt_assemblers_define(struct gt_assembly *a);
void gt_assemblers_properties(struct gt_assembly *a);
void gt_assemblers_end(struct gt_assembly *a);

/* The name that an adapter gives a location; false: none does. */
bool gt_assemblers_name(const struct gt_loc *loc, char *text, size_t size);

/* What a process's RECORD definition stands for, as a number; GT_NO_NUMBER: nobody knows it. */
uint32_t gt_assembler_record(const struct gt_proc *proc, uint32_t id);
const struct gt_own_record *gt_assembler_record_at(uint32_t place);

/* Of a paradigm (OTF2_Paradigm), or NULL. */
const struct gt_paradigm *gt_assembler_paradigm(uint8_t paradigm);

#endif
