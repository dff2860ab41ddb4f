/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Level Zero's assembling half: the names of what accel/ makes of its queues.
 *
 * Limits: see accel/assemble/scan.h.
 */
#include "config.h"

#include "lib/assemble/adapters/assemblers.h"
#include "lib/assemble/adapters/half.h"
#include "lib/assemble/archive/records.h"

extern const struct gt_assembler gt_assembler_levelzero;

/* OTF2 has no paradigm for it; that of OpenCL is the nearest, and opencl/assemble/ has its name. */
static const struct gt_accel accel = {
	.paradigm = OTF2_PARADIGM_OPENCL,
	.streams = "LEVEL_ZERO_GROUP",
	.device = "levelzero:device ",
	.device_class = "Level Zero Device",
};

static const struct gt_half half = { .accel = &accel };

const struct gt_assembler gt_assembler_levelzero = {
	.bytes = sizeof(struct gt_assembler), .abi = GT_ASSEMBLER_ABI, .name = "levelzero",
	.half = &half,
};
