/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GPU activity: kernels, copies, and when each device was busy.
 *
 * Limits: those of device.h. The first million asynchronous copies of a location are tied to their calls.
 */
#ifndef GT_REPORT_GPU_H
#define GT_REPORT_GPU_H

#include "report/model/device.h"
#include "report/report.h"
#include "report/model/sums.h"

struct gt_gpu {
	struct gt_sums kernels; /* region, grid, block */
	struct gt_sums copies;  /* region, or one of GT_GPU_GET, GT_GPU_PUT */
	/* Asynchronous copies: the host's calls by location, correlation, region and begin; */
	struct gt_sums async_calls;
	struct gt_sums pageable; /* those of pageable memory by process and correlation */
	uint32_t device_count;
	struct gt_device *devices; /* by index in report->classes.devices */
};

/* Copies that are RMA records of a stream and not regions. */
#define GT_GPU_GET (GT_OTF2_NOTHING - 1)
#define GT_GPU_PUT (GT_OTF2_NOTHING - 2)

/* "H2D", "pageable" of a key of `copies`; NULL: not known. */
const char *gt_gpu_direction(struct gt_report *report, uint64_t key);
const char *gt_gpu_memory(struct gt_report *report, uint64_t key);

#endif
