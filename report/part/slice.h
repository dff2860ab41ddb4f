/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies a time window or some locations of an archive into a new one, also in Score-P's layout (contexts.h).
 *
 * Limits: reads the archive twice.
 */
#ifndef GT_REPORT_SLICE_H
#define GT_REPORT_SLICE_H

#include <stdio.h>

#include "report/part/part.h"

struct gt_slice_options {
	const char *out;      /* a folder that is not there yet */
	const char *patterns; /* gt_part_choose(), or NULL */
	const char *window;   /* as the user wrote it, or NULL */
	struct gt_part part;  /* its window */
	bool quiet;
	bool contexts;        /* calls and samples as calling contexts */
	const char *command;  /* "gputrace slice", for messages */
};

/*
 * Writes `out`, which is there only if all went well, and says on `text` what is in it. 0, or after a
 * sentence on standard error 2, or 1 if there is no room for calling contexts (gt_contexts_have_room()): for
 * gt_otf2_guarded(), with a struct gt_slice_options.
 */
int gt_slice(const char *anchor, void *options, FILE *text);

#endif
