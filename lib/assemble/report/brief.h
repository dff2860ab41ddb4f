/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the end of a run says beyond its table: efficiencies, the worst findings, and all of it as JSON. Ids
 * and thresholds of findings are those of `gputrace report` (gputrace-findings(7)), keys those of its JSON.
 *
 * Limits: what sums over regions, ranks, locks and files can tell; `gputrace report` reads the events.
 */
#ifndef GT_ASSEMBLE_REPORT_BRIEF_H
#define GT_ASSEMBLE_REPORT_BRIEF_H

#include "lib/assemble/defs/layout.h"
#include "lib/assemble/report/summary.h"

/* Of ranks, threads and GPUs; needs balance. */
void gt_efficiencies(struct gt_summary *summary, const struct gt_layout *layout);
/* From the rest of the summary: findings. */
void gt_brief(struct gt_summary *summary);
/* summary.json */
void gt_brief_json(const struct gt_summary *summary, FILE *out);

#endif
