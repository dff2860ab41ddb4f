/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a device does, for the summary: when a stream's kernels and copies run, and of which shape and size
 * they are. The same as `gputrace report` computes from the archive (report/gpu.c).
 *
 * Limits: a stream with more than GT_ACTIVITY_MOST bytes of spans, or without memory for them, is not known.
 */
#ifndef GT_ASSEMBLE_ARCHIVE_ACTIVITY_H
#define GT_ASSEMBLE_ARCHIVE_ACTIVITY_H

#include "lib/assemble/archive/track.h"

#define GT_ACTIVITY_MOST  (UINT64_C(64) << 20)
/* Beside the type of an attribute: it says how much is copied; which call and activity belong together. */
#define GT_ACTIVITY_BYTES       0x100u
#define GT_ACTIVITY_CORRELATION 0x200u

/* Of a location that is a stream: what it did, empty, which the layout frees. NULL: it is none. */
struct gt_device *gt_activity_begin(struct gt_out_location *out);
/* At an enter of such a location, or with a correlation id, */
void gt_activity_enter(struct gt_track *t);
/* and when a frame of such a location is left and no longer on the stack. */
void gt_activity_leave(struct gt_track *t, const struct gt_frame *frame, uint64_t ns);
/* A parameter of the innermost activity: enum gt_size, type of the record, value. */
void gt_activity_size(struct gt_track *t, uint32_t what, unsigned type, uint64_t value);
/* What the attribute of this name says, and that it does so of the event that comes next. */
uint32_t gt_activity_attribute(const char *name);
void gt_activity_value(struct gt_track *t, uint32_t what, uint64_t value);
/* What the parameter of this name says: enum gt_size. */
uint32_t gt_activity_parameter(const char *name);

#endif
