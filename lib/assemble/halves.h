/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The assembling halves of adapters: those of the tree (registry/adapters.def) and those that are loaded
 * because a process's journal names their adapter; and what becomes of each kind of record.
 *
 * Limits: what was loaded stays loaded. One thread.
 */
#ifndef GT_ASSEMBLE_HALVES_H
#define GT_ASSEMBLE_HALVES_H

#include "lib/assemble/assembly.h"

/* By type of record, from <gputrace/records.def>. */
extern const struct gt_kind gt_halves_kinds[256];

/* Before anything else: those of the tree. */
void gt_halves_begin(void);

/* Loads those that the spool's processes name and that are not there yet, and says what is missing. */
void gt_halves_load(const struct gt_assembly *a, const struct gt_spool *spool);

/* Loads those that wrote the events of partial archives, for what they say of their paradigms; no hook but
 * `end` is called then. */
void gt_halves_load_joined(const struct gt_assembly *a, const struct gt_properties *properties,
			   struct gt_defs *defs);

/* Calls a hook of all of them until one fails. */
int gt_halves_scan(struct gt_assembly *a);
int gt_halves_define(struct gt_assembly *a);
void gt_halves_properties(struct gt_assembly *a);
void gt_halves_end(struct gt_assembly *a);

#endif
