/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CUDA's assembling half: the names of what accel/ makes of its streams, PC samples and counts of
 * instructions.
 *
 * Limits: see accel/assemble/scan.h.
 */
#include "config.h"

#include "cuda/assemble/pcsamples.h"
#include "lib/assemble/archive/archive_int.h"
#include "lib/assemble/adapters/half.h"

#include <ctype.h>
#include <string.h>

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
	.idle_name = "CUDA",
	/* An H100, driver 580, CUDA 13.0: kernels 1.9 us (1.5 of them CUPTI's), copies 1.4, other calls 0.1
	 * to 0.3; kernels 2.6 us on another host. */
	.activity_ns = 1800,
	.call_ns = 200,
};

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool is_library(const char *object)
{
	return begins(object, "libcuda.so") || begins(object, "libcudart") || begins(object, "libcupti");
}

static bool is_call(const char *symbol)
{
	return begins(symbol, "cuda") && isupper((unsigned char)symbol[4]);
}

/*
 * The runtime may be linked into the program, where only its calls have names of their own: what calls one of
 * these is the program's, whatever its name. Before a launch there is what nvcc makes of <<< >>>.
 *
 * Limits: a function of such a name that calls the driver itself is taken for the runtime's.
 */
static bool is_entry(const char *name, const char *symbol, const char *callee)
{
	return begins(symbol, "libcudart_static_") || begins(symbol, "__cudart") ||
	       begins(name, "__device_stub__") || strstr(symbol, "16cudaLaunchKernelI") ||
	       (is_call(symbol) && !is_call(callee));
}

static const struct gt_half half = { .accel = &accel, .is_library = is_library, .is_entry = is_entry };

extern const struct gt_assembler gt_assembler_cuda;

static int scan(struct gt_assembly *a)
{
	return gt_pcsamples_scan(a, &gt_assembler_cuda);
}

static void properties(struct gt_assembly *a, const struct gt_proc *proc)
{
	gt_pcsamples_properties(a, proc, &gt_assembler_cuda);
}

static void end(struct gt_assembly *a)
{
	gt_pcsamples_end(a, &gt_assembler_cuda);
}

static const struct gt_own_record records[] = {
	{ "pc_drain", 3, gt_pcsamples_drain },
	{ "pc", 3, gt_pcsamples_none },
	{ "pc_reason", 1, gt_pcsamples_none },
	{ "cubin", 2, gt_pcsamples_none },
	{ "sass", 3, gt_pcsamples_none },
	{ "sass_metric", 1, gt_pcsamples_none },
	{ NULL, 0, NULL },
};

const struct gt_assembler gt_assembler_cuda = {
	.bytes = sizeof(struct gt_assembler), .abi = GT_ASSEMBLER_ABI, .name = "cuda",
	.records = records, .paradigms = paradigms, .half = &half, .scan = scan, .properties = properties,
	.end = end,
};
