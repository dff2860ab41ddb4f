/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data shared by all parts of the adapter: its state, definitions, counters, hooks.
 * Limits: data only.
 */
#include "cuda/cuda.h"
#include "cuda/hooks.h"

struct gt_cu_hot gt_cu_hot;
struct gt_cu_refs gt_cu_refs;
struct gt_cu_counts gt_cu_counts __attribute__((aligned(64)));
uint32_t gt_cu_version;
struct gt_cu_hooks *gt_cu_hooks;

void gt_cu_hooks_add(struct gt_cu_hooks *hooks)
{
	hooks->next = gt_cu_hooks;
	gt_cu_hooks = hooks;
}

const struct gt_accel_info gt_accel_runtime = {
	.name = "CUDA", .adapter = "cuda", .comm = "GPU_COMM_GLOBAL", .window = "CUDA_WINDOW",
	.ranges = "NVTX ranges",
	.paradigm = GT_PARADIGM_CUDA,
};
