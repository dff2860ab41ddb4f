/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds when a device of a process did not compute (COMPUTE IDLE), and when it did nothing at all (GPU
 * IDLE), from the activities of all its streams. Shown in a location of its own, if its
 * runtime's recording half has said that they are wanted (struct gt_accel.idle).
 *
 * Limits: from the first activity of the device to its last; what other processes do there is not known.
 */
#ifndef GT_ACCEL_IDLE_H
#define GT_ACCEL_IDLE_H

#include "lib/assemble/defs/defs.h"
#include "lib/assemble/adapters/half.h"
#include "lib/assemble/spool/sort.h"
#include "lib/assemble/spool/units.h"

struct gt_idle_device {
	uint32_t proc;          /* place in the spool */
	uint32_t device;
	const struct gt_accel *accel;
	uint32_t like;          /* local id of its first stream: the context that it is shown in */
	struct gt_sorter *busy; /* activities: time, end, does it compute? */
};

struct gt_idle {
	struct gt_idle_device *devices;
	size_t count;
	const struct gt_proc *proc; /* of which the rest is true */
	const struct gt_accel *accel; /* the runtime whose idle times are wanted, or NULL */
	bool compute, all;          /* which */
};

/* Notes the activity in `units`, if idle times are wanted. 0 or a negative errno. */
int gt_idle_add(struct gt_idle *idle, const struct gt_loc *loc, const struct gt_units *units,
		int dirfd);

/* Gives each device with idle times a location in its process, unless something has failed already (`rc`,
 * a negative errno), which is returned then. Frees `idle`. */
int gt_idle_finish(struct gt_idle *idle, struct gt_spool *spool, struct gt_defs *defs, int dirfd, int rc);

#endif
