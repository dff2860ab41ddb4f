/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a location spent its time with, in the few categories of the summary.
 *
 * Limits: by the regions' paradigms and names; what ran outside of all regions counts as work.
 */
#ifndef GT_ASSEMBLE_ARCHIVE_USE_H
#define GT_ASSEMBLE_ARCHIVE_USE_H

#include "lib/assemble/archive/worker.h"

/* Before a location is converted, and after: fills in out->use; `span`: from its making to its last event. */
void gt_use_begin(struct gt_worker *worker);
void gt_use_end(struct gt_worker *worker, struct gt_out_location *out, uint64_t begin,
		uint64_t span, uint64_t life);

/* Does it wait for a condition, which is to wait for work unless the first thread of a process does it? */
bool gt_use_is_idle(const struct gt_region *region, const char *name);

/* What its thread spent in no recorded function. */
static inline uint64_t gt_use_unseen(const struct gt_use *use)
{
	return use->seen < use->life ? use->life - use->seen : 0;
}

#endif
