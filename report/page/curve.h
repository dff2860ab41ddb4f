/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values of one counter over time at all levels of detail: the least, the most and the last one of each
 * bucket in which there are some.
 *
 * Limits: a level is written only where it shows more than the one above.
 */
#ifndef GT_REPORT_PAGE_CURVE_H
#define GT_REPORT_PAGE_CURVE_H

#include "report/page/store.h"

struct gt_curve {
	struct gt_store *store;
	uint32_t id;      /* row of its tiles */
	unsigned span_log2, levels;
	double least, most;
	uint64_t count;
	struct gt_curve_level *level;
};

void gt_curve_open(struct gt_curve *curve, struct gt_store *store, uint32_t id, unsigned span_log2,
		   uint64_t events);
/* Times do not go backwards. */
void gt_curve_value(struct gt_curve *curve, uint64_t time, double value);
void gt_curve_close(struct gt_curve *curve);

#endif
