/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The handlers of all kinds of records, by the table in <gputrace/records.def>; they are called by
 * conv->kinds (gt_track_emit). Here are those of the core; metrics.c, io.c, write.c and the adapters' halves
 * have the others.
 *
 * Limits: each takes a whole record and the tick that it is to have.
 */
#ifndef GT_ASSEMBLE_ARCHIVE_RECORDS_H
#define GT_ASSEMBLE_ARCHIVE_RECORDS_H

#include "lib/assemble/archive/track.h"

#define GT_RECORD(name, code, least, handler, owner, payload, data, otf2) gt_convert gt_convert_##handler;
#include "gputrace/records.def"
#undef GT_RECORD

/* Program begin and end, on the first location of a process. */
void gt_track_begin(struct gt_track *t);
void gt_track_end(struct gt_track *t, uint64_t ns);

#endif
