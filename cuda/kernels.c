/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions of the device: kernels by their names, copies by direction and kind of memory.
 *
 * Limits: only the reading thread comes here.
 */
#include <stdio.h>

#include "cuda/cuda.h"

struct gt_accel_name *gt_cu_kernel(const char *mangled)
{
	return gt_accel_named(mangled && *mangled ? mangled : "kernel without a name", true, "CUDA_KERNEL",
			      GT_REGION_ROLE_FUNCTION);
}

void gt_cu_params_setup(void)
{
	struct gt_accel_param_names names = { { NULL }, { NULL } };

	if (gt_cu_options.kernel_detail >= 1) {
		names.size[0] = "grid";
		names.size[1] = "block";
	}
	if (gt_cu_options.kernel_detail >= 2) {
		names.number[0] = "static shared memory";
		names.number[1] = "dynamic shared memory";
		names.number[2] = "local memory per thread";
		names.number[3] = "registers per thread";
	}
	gt_accel_params_setup(&names);
}

gt_ref gt_cu_set_region(void)
{
	static gt_ref region;
	static bool made;

	if (!made)
		region = gt_accel_region("cudaMemset", "CUDA_MEMSET", GT_REGION_ROLE_DATA_TRANSFER);
	made = true;
	return region;
}

/* The host's memory decides how a copy is done: one of host_memories. */
enum { MIXED = CU_MEMORY_MANAGED + 1, HOST_MEMORIES };
static const char *const host_memories[HOST_MEMORIES] = {
	[CU_MEMORY_PAGEABLE] = " pageable",
	[CU_MEMORY_PINNED] = " pinned",
	[CU_MEMORY_MANAGED] = " managed",
	[MIXED] = " mixed",
};

static unsigned host_memory(unsigned copy, unsigned source, unsigned destination)
{
	unsigned memory = copy == CU_COPY_DTOH || copy == CU_COPY_ATOH ? destination : source;

	if (copy > CU_COPY_ATOH && copy != CU_COPY_HTOH)
		return 0;
	if (copy == CU_COPY_HTOH && source != destination)
		return MIXED;
	return memory < MIXED && host_memories[memory] ? memory : 0;
}

gt_ref gt_cu_copy_region(unsigned copy, unsigned source, unsigned destination)
{
	static const char *const directions[CU_COPY_PTOP + 1] = { "", " H2D", " D2H", " H2A", " A2H", " A2A",
								  " A2D", " D2A", " D2D", " H2H", " P2P" };
	static struct {
		gt_ref region;
		bool made;
	} regions[CU_COPY_PTOP + 1][HOST_MEMORIES], *r;
	unsigned memory = host_memory(copy, source, destination);
	char name[64];

	copy = copy <= CU_COPY_PTOP ? copy : 0;
	r = &regions[copy][memory];
	if (!r->made) {
		snprintf(name, sizeof(name), "cudaMemcpy%s%s", directions[copy],
			 memory ? host_memories[memory] : "");
		r->region = gt_accel_region(name, "CUDA_MEMCPY", GT_REGION_ROLE_DATA_TRANSFER);
		r->made = true;
	}
	return r->region;
}
