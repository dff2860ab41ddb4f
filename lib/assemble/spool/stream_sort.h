/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bringing a stream into order of time, and apart into lanes; see stream_sort.c.
 *
 * Limits: any threads, each lane once.
 */
#ifndef GT_ASSEMBLE_SPOOL_STREAM_SORT_H
#define GT_ASSEMBLE_SPOOL_STREAM_SORT_H

#include "lib/assemble/spool/stream.h"

/*
 * For a location whose records are not in order of time: reads the whole stream and sorts it; what
 * comes out then is in order, and is what belongs to the lane (0: the first, or only one). Temporary
 * files go into the folder `dirfd`. 0 or a negative errno.
 */
int gt_stream_sort(struct gt_stream *stream, struct gt_loc *loc, unsigned lane, int dirfd);

/* Frees lanes that nobody has asked for. */
void gt_stream_forget(struct gt_loc *loc);

#endif
