/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists the partial archives that a spool holds already, with their processes; for gt_spool_open().
 *
 * Limits: see spool.h.
 */
#ifndef GT_ASSEMBLE_SPOOL_PARTIALS_H
#define GT_ASSEMBLE_SPOOL_PARTIALS_H

#include "lib/assemble/spool/spool.h"

/* The parts in the folder `home` of a host; then all of them in order: the host's that made the directory
 * first. Is a process in one of them? */
int gt_spool_list_partials(struct gt_spool *spool, int home, const char *name);
int gt_spool_sort_partials(struct gt_spool *spool);
bool gt_spool_covered(const struct gt_spool *spool, const struct gt_root *root, const char *folder);

#endif
