/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HIP's assembling half: the names of what accel/ makes of its streams.
 *
 * Limits: see accel/assemble/scan.h.
 */
#include "config.h"

#include "lib/assemble/adapters/assemblers.h"
#include "lib/assemble/adapters/half.h"
#include "lib/assemble/archive/records.h"

extern const struct gt_assembler gt_assembler_hip;

static const struct gt_paradigm paradigms[] = {
	{ .name = "HIP", .paradigm = OTF2_PARADIGM_HIP, .kind = OTF2_PARADIGM_CLASS_ACCELERATOR },
	{ .name = NULL },
};

static const struct gt_accel accel = {
	.paradigm = OTF2_PARADIGM_HIP,
	.streams = "HIP_GROUP",
	.device = "hip:device ",
	.device_class = "HIP Device",
};

static const struct gt_half half = { .accel = &accel };

const struct gt_assembler gt_assembler_hip = {
	.bytes = sizeof(struct gt_assembler), .abi = GT_ASSEMBLER_ABI, .name = "hip",
	.paradigms = paradigms, .half = &half,
};
