/* SPDX-License-Identifier: BSD-3-Clause */
/* levelzero/abi.h and calls.def against Level Zero's headers: it compiles if they agree. */
#include <layers/zel_tracing_api.h>
#include <layers/zel_tracing_ddi.h>
#include <level_zero/ze_api.h>

#include <stddef.h>

#include "levelzero/abi.h"

#define SAME(a, b) _Static_assert((long long)(a) == (long long)(b), #b)

SAME(GT_ZE_SUCCESS, ZE_RESULT_SUCCESS);
SAME(GT_ZE_VERSION_1_0, ZE_API_VERSION_1_0);
SAME(GT_ZE_ABI_DEVICE_PROPERTIES, ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES);
SAME(GT_ZE_ABI_COMMAND_LIST, ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC);
SAME(GT_ZE_ABI_EVENT_POOL, ZE_STRUCTURE_TYPE_EVENT_POOL_DESC);
SAME(GT_ZE_ABI_EVENT, ZE_STRUCTURE_TYPE_EVENT_DESC);
SAME(GT_ZE_ABI_HOST_MEMORY, ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC);
SAME(GT_ZE_ABI_MEMORY_PROPERTIES, ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES);
SAME(GT_ZE_ABI_DEVICE_PROPERTIES_1_2, ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2);
SAME(GT_ZE_ABI_TRACER, ZEL_STRUCTURE_TYPE_TRACER_DESC);
SAME(GT_ZE_POOL_HOST_VISIBLE, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
SAME(GT_ZE_POOL_TIMESTAMPS, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
SAME(GT_ZE_SCOPE_HOST, ZE_EVENT_SCOPE_FLAG_HOST);
SAME(GT_ZE_MEMORY_DEVICE, ZE_MEMORY_TYPE_DEVICE);
SAME(GT_ZE_MEMORY_SHARED, ZE_MEMORY_TYPE_SHARED);
SAME(GT_ZE_CALLBACKS, sizeof(ze_callbacks_t) / sizeof(void *));

#define MEMBER(ours, member, theirs, name) SAME(offsetof(struct ours, member), offsetof(theirs, name))
#define SIZE(ours, theirs)		   SAME(sizeof(struct ours), sizeof(theirs))

SIZE(gt_ze_abi_tracer, zel_tracer_desc_t);
MEMBER(gt_ze_abi_tracer, user, zel_tracer_desc_t, pUserData);
MEMBER(gt_ze_abi_tracing, create, zel_tracer_dditable_t, pfnCreate);
MEMBER(gt_ze_abi_tracing, set_prologues, zel_tracer_dditable_t, pfnSetPrologues);
MEMBER(gt_ze_abi_tracing, set_epilogues, zel_tracer_dditable_t, pfnSetEpilogues);
MEMBER(gt_ze_abi_tracing, set_enabled, zel_tracer_dditable_t, pfnSetEnabled);
SIZE(gt_ze_abi_pool, ze_event_pool_desc_t);
MEMBER(gt_ze_abi_pool, flags, ze_event_pool_desc_t, flags);
MEMBER(gt_ze_abi_pool, count, ze_event_pool_desc_t, count);
SIZE(gt_ze_abi_event, ze_event_desc_t);
MEMBER(gt_ze_abi_event, index, ze_event_desc_t, index);
MEMBER(gt_ze_abi_event, signal, ze_event_desc_t, signal);
MEMBER(gt_ze_abi_event, wait, ze_event_desc_t, wait);
SIZE(gt_ze_abi_list, ze_command_list_desc_t);
MEMBER(gt_ze_abi_list, ordinal, ze_command_list_desc_t, commandQueueGroupOrdinal);
SIZE(gt_ze_abi_queue, ze_command_queue_desc_t);
MEMBER(gt_ze_abi_queue, ordinal, ze_command_queue_desc_t, ordinal);
SIZE(gt_ze_abi_host_memory, ze_host_mem_alloc_desc_t);
SIZE(gt_ze_abi_kernel, ze_kernel_desc_t);
MEMBER(gt_ze_abi_kernel, name, ze_kernel_desc_t, pKernelName);
SIZE(gt_ze_abi_memory, ze_memory_allocation_properties_t);
MEMBER(gt_ze_abi_memory, type, ze_memory_allocation_properties_t, type);
SIZE(gt_ze_abi_device, ze_device_properties_t);
MEMBER(gt_ze_abi_device, resolution, ze_device_properties_t, timerResolution);
MEMBER(gt_ze_abi_device, clock_bits, ze_device_properties_t, timestampValidBits);
MEMBER(gt_ze_abi_device, timestamp_bits, ze_device_properties_t, kernelTimestampValidBits);
MEMBER(gt_ze_abi_device, uuid, ze_device_properties_t, uuid);
MEMBER(gt_ze_abi_device, name, ze_device_properties_t, name);
SIZE(gt_ze_abi_times, ze_kernel_timestamp_result_t);
MEMBER(gt_ze_abi_times, global.start, ze_kernel_timestamp_result_t, global.kernelStart);
MEMBER(gt_ze_abi_times, global.end, ze_kernel_timestamp_result_t, global.kernelEnd);
SIZE(gt_ze_abi_region, ze_copy_region_t);
MEMBER(gt_ze_abi_region, size, ze_copy_region_t, width);
SAME(3 * sizeof(uint32_t), sizeof(ze_group_count_t));

/* The places in the table of callbacks, and of the event in a command's arguments. */
#define GT_ZE_CALL(place, part, name, ...) \
	SAME(place, offsetof(ze_callbacks_t, part.pfn##name##Cb) / sizeof(void *));
#define GT_ZE_COMMAND(place, name, params, signal, ...)                                           \
	SAME(place, offsetof(ze_callbacks_t, CommandList.pfn##name##Cb) / sizeof(void *));        \
	SAME(signal, offsetof(ze_command_list_##params##_params_t, phSignalEvent) / sizeof(void *));
#include "levelzero/calls.def"

/* The functions: each takes as many arguments, of the same sizes. */
#define FUNCTION(name, arguments) static const void *const has_##name = (const void *)ze##name;
GT_ZE_FUNCTIONS(FUNCTION)
#undef FUNCTION
#define FUNCTION(name, arguments) has_##name,
const void *const all[] = { GT_ZE_FUNCTIONS(FUNCTION) };
