/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads losses and failures from the properties of an archive, for `gputrace report` and `gputrace check`.
 *
 * Limits: only archives by gputrace have such properties.
 */
#ifndef GT_REPORT_LACKING_H
#define GT_REPORT_LACKING_H

#include "lib/assemble/util/losses.h"
#include "lib/read/read.h"

struct gt_lacking {
	bool any;
	uint64_t sum;      /* of the archive and its processes */
	const char *words; /* what came first in the first of these that knows; or the words; or NULL */
};
struct gt_lacking gt_lacking_of(const struct gt_otf2 *read, const struct gt_shortfall *what);

#endif
