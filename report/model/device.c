/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computes when a device was busy.
 *
 * Limits: see device.h.
 */
#include "config.h"

#include "report/model/device.h"
#include "report/model/rules.h"

void gt_device_add(struct gt_device *device, const struct gt_spans *kernels, const struct gt_spans *copies,
		   uint64_t kernel_count, bool used, uint32_t location)
{
	struct gt_span_at longest;

	device->stream_time += kernels->total;
	if (kernels->total > device->busiest && gt_spans_longest(kernels, &longest)) {
		device->busiest = kernels->total;
		device->busiest_location = location;
		device->busiest_begin = longest.begin;
		device->busiest_end = longest.end;
	}
	gt_spans_merge(&device->kernels, kernels);
	gt_spans_merge(&device->copies, copies);
	device->kernel_count += kernel_count;
	device->streams += used;
}

uint64_t gt_device_busy(const struct gt_device *device)
{
	return device->kernels.total + device->copies.total -
	       gt_spans_common(&device->kernels, &device->copies);
}

struct gt_gaps gt_device_gaps(const struct gt_device *device, uint64_t least, struct gt_spans *when)
{
	struct gt_spans all = { 0 };
	struct gt_gaps gaps = { 0 };
	struct gt_span_at at;
	uint64_t last = 0;

	gt_spans_merge(&all, &device->kernels);
	gt_spans_merge(&all, &device->copies);
	for (at = gt_spans_first(&all); gt_spans_next(&at); last = at.end) {
		uint64_t gap = at.begin - last;

		if (!last || gap < least)
			continue;
		gaps.sum += gap;
		gaps.count++;
		if (when)
			gt_spans_add(when, last, at.begin);
		if (gap > gaps.longest) {
			gaps.longest = gap;
			gaps.when = last;
		}
	}
	gt_spans_free(&all);
	return gaps;
}

uint64_t gt_device_idle(const struct gt_device *device)
{
	return gt_device_gaps(device, 1, NULL).sum;
}

bool gt_device_several(const struct gt_device *device)
{
	return device->stream_time && !gt_at_least(device->busiest, GT_ONE_STREAM, device->stream_time);
}

bool gt_device_failed(const struct gt_device *device)
{
	return device->kernels.failed || device->copies.failed;
}

void gt_device_free(struct gt_device *device)
{
	gt_spans_free(&device->kernels);
	gt_spans_free(&device->copies);
	*device = (struct gt_device){ 0 };
}
