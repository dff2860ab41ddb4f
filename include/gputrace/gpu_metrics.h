/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The CUDA adapter's entry point for `gputrace info --gpu-metrics`: gt_cuda_metrics(), found by dlsym.
 * Limits: one question in a process, which does not record.
 */
#ifndef GPUTRACE_GPU_METRICS_H
#define GPUTRACE_GPU_METRICS_H

#include <stdbool.h>
#include <stddef.h>

#include "gputrace/plugin.h"

struct gt_gpu_listing {
	const char *chip;  /* which was asked */
	bool sampled;      /* it can be sampled over time; else kernels and ranges can be counted only */
	unsigned counted;  /* of a list: how many metrics VT_CUPTI_KERNEL can count ... */
	size_t passes;     /* ... and in how many passes */
};

/*
 * Calls `each` for every metric of the chip (NULL: the first GPU's), or for those of the list `wanted`, with
 * the reason where one cannot be sampled together with those before it, or not counted; their `kind` is
 * CUPTI's type of the metric. False: nothing can be said, for the reason in why[].
 */
typedef bool gt_cuda_metrics_function(const char *chip, const char *wanted, char *why, size_t room,
				      struct gt_gpu_listing *about, gt_plugin_each *each, void *argument);

#endif
