/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Classifies calls of the driver and the runtime by prefixes of their names.
 * Limits: a call that no rule matches is not recorded.
 */
#include <stdio.h>
#include <string.h>

#include "cuda/cuda.h"

/* The first that fits the beginning of a name decides. */
static const struct gt_cu_rule driver_rules[] = {
	{ "cuLaunchHostFunc", GT_CU_C_OTHER, GT_REGION_ROLE_FUNCTION },
	{ "cuLaunch", GT_CU_C_LAUNCH, GT_REGION_ROLE_FUNCTION },
	{ "cuGraphLaunch", GT_CU_C_GRAPH, GT_REGION_ROLE_FUNCTION },
	{ "cuGraphInstantiate", GT_CU_C_OTHER, GT_REGION_ROLE_FUNCTION },
	{ "cuMemcpy", GT_CU_C_COPY, GT_REGION_ROLE_DATA_TRANSFER },
	{ "cu64Memcpy", GT_CU_C_COPY, GT_REGION_ROLE_DATA_TRANSFER },
	{ "cuMemset", GT_CU_C_SET, GT_REGION_ROLE_DATA_TRANSFER },
	{ "cu64Memset", GT_CU_C_SET, GT_REGION_ROLE_DATA_TRANSFER },
	{ "cuCtxSynchronize", GT_CU_C_WAIT_ALL, GT_REGION_ROLE_IMPLICIT_BARRIER },
	{ "cuStreamSynchronize", GT_CU_C_WAIT, GT_REGION_ROLE_IMPLICIT_BARRIER },
	{ "cuEventSynchronize", GT_CU_C_WAIT, GT_REGION_ROLE_IMPLICIT_BARRIER },
	{ "cuStreamQuery", GT_CU_C_POLL, GT_REGION_ROLE_FUNCTION },
	{ "cuEventQuery", GT_CU_C_POLL, GT_REGION_ROLE_FUNCTION },
	{ "cuStreamWaitEvent", GT_CU_C_OTHER, GT_REGION_ROLE_FUNCTION },
	{ "cuEventRecord", GT_CU_C_OTHER, GT_REGION_ROLE_FUNCTION },
	{ "cuMemAlloc", GT_CU_C_ALLOC, GT_REGION_ROLE_ALLOCATE },
	{ "cuMemHostAlloc", GT_CU_C_ALLOC, GT_REGION_ROLE_ALLOCATE },
	{ "cuMemHostRegister", GT_CU_C_ALLOC, GT_REGION_ROLE_FUNCTION },
	{ "cuMemFreeAsync", GT_CU_C_OTHER, GT_REGION_ROLE_DEALLOCATE },
	{ "cuMemFree", GT_CU_C_FREE, GT_REGION_ROLE_DEALLOCATE },
	{ "cuArrayCreate", GT_CU_C_ALLOC, GT_REGION_ROLE_ALLOCATE },
	{ "cuArrayDestroy", GT_CU_C_FREE, GT_REGION_ROLE_DEALLOCATE },
	{ "cuMemPrefetchAsync", GT_CU_C_OTHER, GT_REGION_ROLE_FUNCTION },
	{ "cuModuleLoad", GT_CU_C_OTHER, GT_REGION_ROLE_FUNCTION },
	{ "cuLibraryLoad", GT_CU_C_OTHER, GT_REGION_ROLE_FUNCTION },
	{ "cuStreamBeginCapture", GT_CU_C_CAPTURE_BEGIN, GT_REGION_ROLE_FUNCTION },
	{ "cuStreamEndCapture", GT_CU_C_CAPTURE_END, GT_REGION_ROLE_FUNCTION },
	{ "cuStreamCreate", GT_CU_C_OTHER, GT_REGION_ROLE_FUNCTION },
	{ "cuStreamDestroy", GT_CU_C_STREAM_GONE, GT_REGION_ROLE_FUNCTION },
	{ "cuCtxCreate", GT_CU_C_OTHER, GT_REGION_ROLE_FUNCTION },
	{ "cuCtxDestroy", GT_CU_C_OTHER, GT_REGION_ROLE_FUNCTION },
};
static const struct gt_cu_rule runtime_rules[] = {
	{ "cudaLaunchHostFunc", GT_CU_C_OTHER, GT_REGION_ROLE_FUNCTION },
	{ "cudaLaunch", GT_CU_C_LAUNCH, GT_REGION_ROLE_FUNCTION },
	{ "__cudaLaunch", GT_CU_C_LAUNCH, GT_REGION_ROLE_FUNCTION },
	{ "cudaGraphLaunch", GT_CU_C_GRAPH, GT_REGION_ROLE_FUNCTION },
	{ "cudaGraphInstantiate", GT_CU_C_OTHER, GT_REGION_ROLE_FUNCTION },
	{ "cudaMemcpy", GT_CU_C_COPY, GT_REGION_ROLE_DATA_TRANSFER },
	{ "cudaMemset", GT_CU_C_SET, GT_REGION_ROLE_DATA_TRANSFER },
	{ "cudaDeviceSynchronize", GT_CU_C_WAIT_ALL, GT_REGION_ROLE_IMPLICIT_BARRIER },
	{ "cudaThreadSynchronize", GT_CU_C_WAIT_ALL, GT_REGION_ROLE_IMPLICIT_BARRIER },
	{ "cudaStreamSynchronize", GT_CU_C_WAIT, GT_REGION_ROLE_IMPLICIT_BARRIER },
	{ "cudaEventSynchronize", GT_CU_C_WAIT, GT_REGION_ROLE_IMPLICIT_BARRIER },
	{ "cudaStreamQuery", GT_CU_C_POLL, GT_REGION_ROLE_FUNCTION },
	{ "cudaEventQuery", GT_CU_C_POLL, GT_REGION_ROLE_FUNCTION },
	{ "cudaStreamWaitEvent", GT_CU_C_OTHER, GT_REGION_ROLE_FUNCTION },
	{ "cudaEventRecord", GT_CU_C_OTHER, GT_REGION_ROLE_FUNCTION },
	{ "cudaMalloc", GT_CU_C_ALLOC, GT_REGION_ROLE_ALLOCATE },
	{ "cudaHostAlloc", GT_CU_C_ALLOC, GT_REGION_ROLE_ALLOCATE },
	{ "cudaHostRegister", GT_CU_C_ALLOC, GT_REGION_ROLE_FUNCTION },
	{ "cudaFreeAsync", GT_CU_C_OTHER, GT_REGION_ROLE_DEALLOCATE },
	{ "cudaFree", GT_CU_C_FREE, GT_REGION_ROLE_DEALLOCATE },
	{ "cudaMemPrefetchAsync", GT_CU_C_OTHER, GT_REGION_ROLE_FUNCTION },
	{ "cudaStreamBeginCapture", GT_CU_C_CAPTURE_BEGIN, GT_REGION_ROLE_FUNCTION },
	{ "cudaStreamEndCapture", GT_CU_C_CAPTURE_END, GT_REGION_ROLE_FUNCTION },
	{ "cudaStreamCreate", GT_CU_C_OTHER, GT_REGION_ROLE_FUNCTION },
	{ "cudaStreamDestroy", GT_CU_C_STREAM_GONE, GT_REGION_ROLE_FUNCTION },
	{ "cudaDeviceReset", GT_CU_C_OTHER, GT_REGION_ROLE_FUNCTION },
};

void gt_cu_plain_call(const char *name, char *plain, size_t size)
{
	size_t n = strlen(name);
	bool cut = true;

	while (cut) {
		size_t digits = n;

		cut = false;
		while (digits && name[digits - 1] >= '0' && name[digits - 1] <= '9')
			digits--;
		if (digits < n && digits >= 2 && name[digits - 1] == 'v' && name[digits - 2] == '_') {
			n = digits - 2;
			cut = true;
		}
		if (n > 5 && (!strncmp(name + n - 5, "_ptsz", 5) || !strncmp(name + n - 5, "_ptds", 5))) {
			n -= 5;
			cut = true;
		}
	}
	snprintf(plain, size, "%.*s", (int)n, name);
}

const struct gt_cu_rule *gt_cu_rule_of(uint32_t domain, const char *name)
{
	const struct gt_cu_rule *rules = domain == CU_DOMAIN_DRIVER ? driver_rules : runtime_rules;
	size_t n = domain == CU_DOMAIN_DRIVER ? sizeof(driver_rules) / sizeof(driver_rules[0])
					      : sizeof(runtime_rules) / sizeof(runtime_rules[0]);

	for (size_t i = 0; i < n; i++)
		if (!strncmp(name, rules[i].prefix, strlen(rules[i].prefix)))
			return &rules[i];
	return NULL;
}
