/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of archives, with fewer events: what a visitor passes on is written, definitions are those of the
 * archive that is read.
 *
 *	struct gt_otf2_copy *copy = gt_otf2_copy_open(read, "DIR");
 *
 *	in begin(): place->copy = gt_otf2_copy_begin(copy, at);       the locations' events, in parallel
 *	in enter(): gt_otf2_copy_enter(place->copy, at->ticks, region, at);
 *	in end():   gt_otf2_copy_end(place->copy);
 *	gt_otf2_copy_close(copy, begin, end);
 *
 * Every location must be begun and ended, with or without events. Definitions keep their numbers.
 *
 * Limits: snapshots and thumbnails are not copied, of markers those in the copy's time. What libotf2 needs is
 * 1 MiB for each location that is open.
 */
#ifndef GT_OTF2_COPY_H
#define GT_OTF2_COPY_H

#include "lib/read/read.h"

struct gt_otf2_copy;
struct gt_otf2_copy_location;

/*
 * Makes an archive DIR/traces.otf2; DIR must be an empty folder. `without`: names of properties (of the
 * archive, or of locations) that it does not have, NULL at the end; or NULL. NULL: it cannot be made.
 */
struct gt_otf2_copy *gt_otf2_copy_open(const struct gt_otf2 *read, const char *dir,
				       const char *const *without);
/* A property of the archive, in addition to those that it has. */
void gt_otf2_copy_property(struct gt_otf2_copy *copy, const char *name, const char *value);

struct gt_otf2_copy_location *gt_otf2_copy_begin(struct gt_otf2_copy *copy, const struct gt_otf2_cursor *at);
/* Regions that are not defined are left out. `at`: whose attributes are written, too; NULL: none. */
void gt_otf2_copy_enter(struct gt_otf2_copy_location *location, uint64_t ticks,
			const struct gt_otf2_region *region, const struct gt_otf2_cursor *at);
void gt_otf2_copy_leave(struct gt_otf2_copy_location *location, uint64_t ticks,
			const struct gt_otf2_region *region, const struct gt_otf2_cursor *at);
void gt_otf2_copy_event(struct gt_otf2_copy_location *location, uint64_t ticks,
			const struct gt_otf2_event *event, const struct gt_otf2_cursor *at);
/* Returns the number of events that were written. */
uint64_t gt_otf2_copy_end(struct gt_otf2_copy_location *location);

/* Calling contexts in addition to those that it has; read when the copy is closed. */
void gt_otf2_copy_contexts(struct gt_otf2_copy *copy, const struct gt_otf2_context *contexts, size_t count);

/*
 * Writes definitions and markers; the copy's clock goes from `begin` to `end` (ticks). NULL, or the first
 * thing that libotf2 complained of. The copy is freed.
 */
const char *gt_otf2_copy_close(struct gt_otf2_copy *copy, uint64_t begin, uint64_t end);

#endif
