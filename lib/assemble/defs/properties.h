/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Properties of processes and locations in the archive: GPUTRACE::PROCESS_ID, GPUTRACE::ENDED and so on.
 * Collected before the strings are written, because their texts are strings.
 *
 * Limits: single-threaded.
 */
#ifndef GT_ASSEMBLE_DEFS_PROPERTIES_H
#define GT_ASSEMBLE_DEFS_PROPERTIES_H

#include "lib/assemble/clock/clock.h"
#include "lib/assemble/defs/layout.h"

struct gt_property {
	bool of_group;      /* else of a location */
	uint32_t owner, name, value;
};

struct gt_properties {
	struct gt_property *list;
	size_t count, room;
	int rc;
};

/* All that the spool knows; `part`: the errors of clocks are not known yet. 0 or -ENOMEM. */
int gt_properties_collect(struct gt_properties *props, const struct gt_layout *layout,
			  struct gt_defs *defs, const struct gt_clock *clock,
			  const struct gt_proc *procs, bool part);

/* One more; the prefix GPUTRACE:: is added to `name`. */
void gt_properties_add(struct gt_properties *props, struct gt_defs *defs, bool of_group,
		       uint32_t owner, const char *name, const char *value);

/* How far a process's clock may be off, -1: unknown. */
void gt_properties_clock(struct gt_properties *props, struct gt_defs *defs, uint32_t group,
			 int64_t error, uint32_t comparisons);

void gt_properties_free(struct gt_properties *props);

#endif
