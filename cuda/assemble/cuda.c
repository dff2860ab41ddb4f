/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CUDA's assembling half: the names of what accel/ makes of its streams.
 *
 * Limits: see accel/assemble/scan.h.
 */
#include "config.h"

#include "lib/assemble/archive/archive_int.h"
#include "lib/assemble/adapters/half.h"

static const struct gt_paradigm paradigms[] = {
	{ .name = "CUDA", .paradigm = OTF2_PARADIGM_CUDA, .kind = OTF2_PARADIGM_CLASS_ACCELERATOR },
	{ .name = NULL },
};

static const struct gt_accel accel = {
	.paradigm = OTF2_PARADIGM_CUDA,
	.streams = "CUDA_GROUP",
	.device = "cuda:device ",
	.device_class = "CUDA Device",
	.idle = "cuda:idle",
	.idle_compute = "COMPUTE IDLE",
	.idle_all = "GPU IDLE",
	.idle_name = "CUDA[%u] idle",
};

static const struct gt_half half = { .accel = &accel };

extern const struct gt_assembler gt_assembler_cuda;
const struct gt_assembler gt_assembler_cuda = {
	.bytes = sizeof(struct gt_assembler), .abi = GT_ASSEMBLER_ABI, .name = "cuda",
	.paradigms = paradigms, .half = &half,
};
