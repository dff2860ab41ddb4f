/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NVTX ranges that are started and ended (ranges.c), as nvtx.c hands them over.
 *
 * Limits: any thread; an end without its start is nothing.
 */
#ifndef GT_CUDA_RANGES_H
#define GT_CUDA_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "gputrace/adapter.h"

struct gt_nv_range {
	gt_ref region;
	gt_ref attribute;           /* of the payload, or GT_NONE */
	uint64_t value;
	gt_ref parameter, category; /* a string, or GT_NONE */
};

/* A range begins now. Returns its number, never 0. */
GT_HIDDEN uint64_t gt_nv_range_start(const struct gt_nv_range *range);
GT_HIDDEN void gt_nv_range_end(uint64_t id);
/* The program ends, or becomes another one (which has failed: `ends` is false). What is open ends; in a
 * confined process it is counted as lost. */
GT_HIDDEN void gt_nv_ranges_finish(bool ends);
/* In a forked child. */
GT_HIDDEN void gt_nv_ranges_forked(void);

#endif
