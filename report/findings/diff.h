/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What became slower or faster from some runs to others, by the figures of gputrace report.
 *
 * Limits: rows are matched by name. A verdict needs two runs on each side at least.
 */
#ifndef GT_REPORT_DIFF_H
#define GT_REPORT_DIFF_H

#include "report/print/figures.h"

struct gt_diff;

struct gt_diff *gt_diff_new(void);
/* Adds the figures of a run; `after`: of the second side. They may be freed then. */
void gt_diff_add(struct gt_diff *diff, const struct gt_figures *figures, bool after);
/* Compares, and writes a section for each that was compared. */
void gt_diff_figures(struct gt_diff *diff, struct gt_figures *figures);

#endif
