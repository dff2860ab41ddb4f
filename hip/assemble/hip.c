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

#include <string.h>

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

/* What a call goes through until rocprofiler-sdk calls the adapter. */
static bool is_library(const char *object)
{
	static const char *const libraries[] = { "libamdhip64.so", "librocprofiler-", "libroctx64.so",
						 "libhsa-runtime64.so" };

	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
		if (!strncmp(object, libraries[i], strlen(libraries[i])))
			return true;
	return false;
}

/* What hipcc makes of <<< >>>. */
static bool is_entry(const char *name, const char *symbol, const char *callee)
{
	(void)symbol, (void)callee;
	return !strncmp(name, "__device_stub__", strlen("__device_stub__"));
}

static const struct gt_half half = { .accel = &accel, .is_library = is_library, .is_entry = is_entry };

const struct gt_assembler gt_assembler_hip = {
	.bytes = sizeof(struct gt_assembler), .abi = GT_ASSEMBLER_ABI, .name = "hip",
	.paradigms = paradigms, .half = &half,
};
