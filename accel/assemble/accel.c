/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The assembling half of all accelerators: what the assembly calls, and when.
 *
 * Limits: see scan.h.
 */
#include "config.h"

#include "accel/assemble/scan.h"
#include "lib/assemble/assembly.h"

#include <errno.h>
#include <stdlib.h>

struct gt_accel_gpu *gt_gpu_of(struct gt_assembly *a)
{
	return *gt_state(a, &gt_assembler_accel);
}

static int scan(struct gt_assembly *a)
{
	struct gt_accel_gpu *gpu = calloc(1, sizeof(*gpu));

	*gt_state(a, &gt_assembler_accel) = gpu;
	return gpu ? gt_gpu_scan(gpu, &a->spool, &a->defs, a->workfd) : -ENOMEM;
}

static int define(struct gt_assembly *a)
{
	return gt_gpu_finish(gt_gpu_of(a), &a->spool, &a->layout, &a->defs, a->workfd);
}

static void end(struct gt_assembly *a)
{
	struct gt_accel_gpu *gpu = gt_gpu_of(a);

	if (gpu)
		gt_gpu_free(gpu);
	free(gpu);
}

const struct gt_assembler gt_assembler_accel = {
	.bytes = sizeof(struct gt_assembler), .abi = GT_ASSEMBLER_ABI, .name = "accel",
	.scan = scan, .define = define, .end = end,
};
