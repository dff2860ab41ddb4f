/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the end of a run says beyond its table: efficiencies, the worst findings, and all of it as JSON. Ids
 * and thresholds of findings are those of `gputrace report` (gputrace-findings(7)), keys those of its JSON.
 *
 * Limits: what sums over regions, ranks, locks, files and kernels can tell, and when devices were busy;
 * `gputrace report` reads the events.
 */
#ifndef GT_ASSEMBLE_REPORT_BRIEF_H
#define GT_ASSEMBLE_REPORT_BRIEF_H

#include "lib/assemble/defs/layout.h"
#include "lib/assemble/report/summary.h"
#include "lib/assemble/util/calls.h"

/* The devices that have streams, and what they did; count 0: that of one is not known (device.h). */
struct gt_devices {
	struct gt_device *items;
	char (*names)[64];
	uint32_t count;
};
void gt_devices_make(struct gt_devices *devices, const struct gt_layout *layout, const struct gt_defs *defs);
void gt_devices_free(struct gt_devices *devices);

struct gt_balance gt_balance_of(const struct gt_layout *layout);
bool gt_has_ranks(const struct gt_layout *layout);
/* The lives of the threads that make the run, and what of them was in no recorded function. */
uint64_t gt_threads_ns(const struct gt_layout *layout, uint64_t *unseen_ns);
/* Of threads that were made, not of first ones. */
uint64_t gt_made_ns(const struct gt_layout *layout);
void gt_longest_flush(struct gt_summary *summary, const struct gt_layout *layout, const struct gt_defs *defs);

/* Of ranks, threads and GPUs; needs balance. */
void gt_efficiencies(struct gt_summary *summary, const struct gt_layout *layout);
/* From the rest of the summary: findings. */
void gt_brief(struct gt_summary *summary);
/* Of GPUs only; and, for all rules: where to write a finding's text, or NULL if it gains too little. */
void gt_brief_devices(struct gt_summary *summary);
char *gt_brief_add(struct gt_summary *summary, const char *id, uint64_t gain);
/* Calls of this kind, and the time in them. */
uint64_t gt_brief_calls(const struct gt_summary *summary, enum gt_call call, uint64_t *ns);
/* summary.json */
void gt_brief_json(const struct gt_summary *summary, FILE *out);

#endif
