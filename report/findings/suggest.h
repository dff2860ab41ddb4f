/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that cost more to record than they tell, as a filter file.
 *
 * Limits: knows what a call costs only as a constant (report/model/rules.h).
 */
#ifndef GT_REPORT_SUGGEST_H
#define GT_REPORT_SUGGEST_H

#include <stdint.h>
#include <stdio.h>

#include "lib/read/read.h"

enum {
	GT_SUGGEST_SHORT = 1000,  /* ns: a call that takes less tells little */
	GT_SUGGEST_CALLS = 1000,  /* as many calls at least */
};

struct gt_suggest_options {
	const char *name;  /* of the trace, as the user wrote it */
	const char *out;   /* the filter file; NULL: `text` */
	uint64_t shorter;  /* ns, in place of GT_SUGGEST_SHORT */
};

/* Is it a function that a filter can leave out? */
bool gt_suggest_can(const struct gt_otf2_region *region);

/*
 * Writes the filter file, and says on `text` what it will do. 0; 1: nothing is to be left out, and no file is
 * written; 2 after a sentence on standard error: for gt_otf2_guarded(), with a struct gt_suggest_options.
 */
int gt_suggest(const char *anchor, void *options, FILE *text);

#endif
