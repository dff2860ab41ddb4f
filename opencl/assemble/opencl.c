/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenCL's assembling half: the names of what accel/ makes of its queues.
 *
 * Limits: see accel/assemble/scan.h.
 */
#include "config.h"

#include "lib/assemble/adapters/assemblers.h"
#include "lib/assemble/adapters/half.h"
#include "lib/assemble/archive/records.h"

extern const struct gt_assembler gt_assembler_opencl;

static const struct gt_paradigm paradigms[] = {
	{ .name = "OPENCL", .paradigm = OTF2_PARADIGM_OPENCL, .kind = OTF2_PARADIGM_CLASS_ACCELERATOR },
	{ .name = NULL },
};

static const struct gt_accel accel = {
	.paradigm = OTF2_PARADIGM_OPENCL,
	.streams = "OPENCL_GROUP",
	.device = "opencl:device ",
	.device_class = "OpenCL Device",
};

static const struct gt_half half = { .accel = &accel };

const struct gt_assembler gt_assembler_opencl = {
	.bytes = sizeof(struct gt_assembler), .abi = GT_ASSEMBLER_ABI, .name = "opencl",
	.paradigms = paradigms, .half = &half,
};
