/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A device, and when it was busy, from what its streams did.
 *
 * Limits: activities that others enclose on their stream (nodes of a graph) are counted, and the device is
 * busy for the outermost.
 */
#ifndef GT_REPORT_DEVICE_H
#define GT_REPORT_DEVICE_H

#include "report/model/spans.h"

struct gt_device {
	struct gt_spans kernels, copies; /* copies and sets */
	uint64_t kernel_count, streams;
	uint64_t stream_time, busiest;   /* kernels: summed over streams, and of the stream with most of it */
	uint32_t busiest_location;       /* that stream, and when it ran kernels longest without a pause */
	uint64_t busiest_begin, busiest_end;
};

/* Between the first and the last activity of a device; times in the archive's ns. */
struct gt_gaps {
	uint64_t sum, count, longest, when;
};

/* The activities of one stream, which is a location. */
void gt_device_add(struct gt_device *device, const struct gt_spans *kernels, const struct gt_spans *copies,
		   uint64_t kernel_count, bool used, uint32_t location);
/* Kernels and copies of a device that is busy with either. */
uint64_t gt_device_busy(const struct gt_device *device);
/* Gaps of at least this length; they are added to `when`, if it is not NULL. */
struct gt_gaps gt_device_gaps(const struct gt_device *device, uint64_t least, struct gt_spans *when);
uint64_t gt_device_idle(const struct gt_device *device);
/* Several streams have kernels; a few elsewhere, as before the work begins, change nothing. */
bool gt_device_several(const struct gt_device *device);
/* Memory was lacking for what it did. */
bool gt_device_failed(const struct gt_device *device);
void gt_device_free(struct gt_device *device);

#endif
