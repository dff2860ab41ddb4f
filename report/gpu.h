/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What GPUs did: kernels, copies, and when each device was busy with them.
 *
 * Limits: activities that other activities enclose on their stream (nodes of a graph) count as kernels or
 * copies, and the device is busy for the outermost. The first million asynchronous copies of a location are
 * tied to their calls.
 */
#ifndef GT_REPORT_GPU_H
#define GT_REPORT_GPU_H

#include "report/report.h"
#include "report/spans.h"
#include "report/sums.h"

struct gt_gpu_device {
	struct gt_spans kernels, copies; /* copies and sets */
	uint64_t kernel_count, streams;
	uint64_t stream_time, busiest; /* kernels: summed over streams, and of the stream with most of it */
	uint32_t busiest_location;     /* that stream, and when it ran kernels longest without a pause */
	uint64_t busiest_begin, busiest_end;
};

struct gt_gpu {
	struct gt_sums kernels; /* region, grid, block */
	struct gt_sums copies;  /* region, or one of GT_GPU_GET, GT_GPU_PUT */
	/* Asynchronous copies: the host's calls by location, correlation, region and begin; */
	struct gt_sums async_calls;
	struct gt_sums pageable; /* those of pageable memory by process and correlation */
	uint32_t device_count;
	struct gt_gpu_device *devices; /* by index in report->classes.devices */
};

/* Copies that are RMA records of a stream and not regions. */
#define GT_GPU_GET (GT_OTF2_NOTHING - 1)
#define GT_GPU_PUT (GT_OTF2_NOTHING - 2)

/* Kernels and copies of a device that is busy with either. */
uint64_t gt_gpu_busy(const struct gt_gpu_device *device);
/* "H2D", "pageable" of a key of `copies`; NULL: not known. */
const char *gt_gpu_direction(struct gt_report *report, uint64_t key);
const char *gt_gpu_memory(struct gt_report *report, uint64_t key);

#endif
