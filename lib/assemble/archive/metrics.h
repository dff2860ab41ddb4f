/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters: which metric of the archive a record is of, and the readings that stay with their event.
 *
 * Limits: see metrics.c.
 */
#ifndef GT_ASSEMBLE_ARCHIVE_METRICS_H
#define GT_ASSEMBLE_ARCHIVE_METRICS_H

#include "lib/assemble/archive/track.h"

/* The metric of `count` of the process's definitions from `id` on, with a recorder. And: one that the
 * location has events of. */
uint32_t gt_track_metric_number(struct gt_track *t, uint32_t id, uint32_t count);
void gt_track_metric_here(struct gt_track *t, uint32_t metric);

/*
 * The slots of what stays together, and in *tick the event's time: readings of counters and the event at
 * which they were made, at the same time; attributes and their event. Of any other record, its own.
 */
unsigned gt_track_unit_slots(const struct gt_slot *slot, const struct gt_slot *end, uint64_t *tick);

/*
 * A METRIC or METRICS in the run of plain enters and leaves up to tick `most`: written, at `ns`, if it was
 * seen before and what it stays together with is in order; the slot at `end` is there, too. Returns the slot
 * behind it; NULL: it is something else, or not plain.
 */
const struct gt_slot *gt_track_run_metrics(struct gt_track *t, const struct gt_slot *slot,
					   const struct gt_slot *end, uint64_t most, uint64_t ns);

#endif
