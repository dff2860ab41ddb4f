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
#define GT_ACTIVITY_BYTES 0x100u /* beside the type of an attribute: it says how much is copied */

/* Of a location that is a stream: what it did, empty, which the layout frees. NULL: it is none. */
struct gt_device *gt_activity_begin(struct gt_out_location *out);
/* At an enter of such a location, and when its frame is left and no longer on the stack. */
void gt_activity_enter(struct gt_track *t);
void gt_activity_leave(struct gt_track *t, const struct gt_frame *frame, uint64_t ns);
/* A parameter of the innermost activity: enum gt_size, type of the record, value. */
void gt_activity_size(struct gt_track *t, uint32_t what, unsigned type, uint64_t value);
/* Is this the attribute's name? */
bool gt_activity_bytes(const char *name);
/* What the parameter of this name says: enum gt_size. */
uint32_t gt_activity_parameter(const char *name);

#endif
