/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares cuda/abi.h with NVIDIA's headers: compiles only if every number and offset agrees.
 * The names of the newest structures that the headers have are given with -D by abi.test.
 * Limits: headers from CUPTI 12.6 on (in 11.8 structures of PC sampling are shorter).
 */
#include <cupti.h>
#include <stddef.h>

#include "cuda/abi.h"

#define SAME(type, theirs, ours, mine) \
	_Static_assert(offsetof(type, theirs) == offsetof(struct ours, mine) && \
		       sizeof(((type *)0)->theirs) == sizeof(((struct ours *)0)->mine), #type "." #theirs)
#define NUMBER(theirs, mine) _Static_assert((int)(theirs) == (int)(mine), #theirs)

SAME(KERNEL, kind, cu_kernel, kind);
SAME(KERNEL, registersPerThread, cu_kernel, registers);
SAME(KERNEL, start, cu_kernel, start);
SAME(KERNEL, end, cu_kernel, end);
SAME(KERNEL, completed, cu_kernel, completed);
SAME(KERNEL, deviceId, cu_kernel, device);
SAME(KERNEL, contextId, cu_kernel, context);
SAME(KERNEL, streamId, cu_kernel, stream);
SAME(KERNEL, gridX, cu_kernel, grid[0]);
SAME(KERNEL, gridY, cu_kernel, grid[1]);
SAME(KERNEL, gridZ, cu_kernel, grid[2]);
SAME(KERNEL, blockX, cu_kernel, block[0]);
SAME(KERNEL, blockZ, cu_kernel, block[2]);
SAME(KERNEL, staticSharedMemory, cu_kernel, static_shared);
SAME(KERNEL, dynamicSharedMemory, cu_kernel, dynamic_shared);
SAME(KERNEL, localMemoryPerThread, cu_kernel, local_per_thread);
SAME(KERNEL, localMemoryTotal, cu_kernel, local_total);
SAME(KERNEL, correlationId, cu_kernel, correlation);
SAME(KERNEL, gridId, cu_kernel, grid_id);
SAME(KERNEL, name, cu_kernel, name);
SAME(KERNEL, queued, cu_kernel, queued);
SAME(KERNEL, submitted, cu_kernel, submitted);
SAME(KERNEL, launchType, cu_kernel, launch_type);
SAME(KERNEL, graphNodeId, cu_kernel, graph_node);
SAME(KERNEL, graphId, cu_kernel, graph);

SAME(MEMCPY, copyKind, cu_memcpy, copy);
SAME(MEMCPY, srcKind, cu_memcpy, source);
SAME(MEMCPY, dstKind, cu_memcpy, destination);
SAME(MEMCPY, flags, cu_memcpy, flags);
SAME(MEMCPY, bytes, cu_memcpy, bytes);
SAME(MEMCPY, start, cu_memcpy, start);
SAME(MEMCPY, end, cu_memcpy, end);
SAME(MEMCPY, deviceId, cu_memcpy, device);
SAME(MEMCPY, contextId, cu_memcpy, context);
SAME(MEMCPY, streamId, cu_memcpy, stream);
SAME(MEMCPY, correlationId, cu_memcpy, correlation);
SAME(MEMCPY, graphNodeId, cu_memcpy, graph_node);
SAME(MEMCPY, graphId, cu_memcpy, graph);

SAME(CUpti_ActivityMemcpyPtoP4, copyKind, cu_memcpy2, copy);
SAME(CUpti_ActivityMemcpyPtoP4, bytes, cu_memcpy2, bytes);
SAME(CUpti_ActivityMemcpyPtoP4, start, cu_memcpy2, start);
SAME(CUpti_ActivityMemcpyPtoP4, end, cu_memcpy2, end);
SAME(CUpti_ActivityMemcpyPtoP4, streamId, cu_memcpy2, stream);
SAME(CUpti_ActivityMemcpyPtoP4, srcDeviceId, cu_memcpy2, source_device);
SAME(CUpti_ActivityMemcpyPtoP4, srcContextId, cu_memcpy2, source_context);
SAME(CUpti_ActivityMemcpyPtoP4, dstDeviceId, cu_memcpy2, destination_device);
SAME(CUpti_ActivityMemcpyPtoP4, dstContextId, cu_memcpy2, destination_context);
SAME(CUpti_ActivityMemcpyPtoP4, correlationId, cu_memcpy2, correlation);
SAME(CUpti_ActivityMemcpyPtoP4, graphNodeId, cu_memcpy2, graph_node);
SAME(CUpti_ActivityMemcpyPtoP4, graphId, cu_memcpy2, graph);

SAME(CUpti_ActivityMemset4, value, cu_memset, value);
SAME(CUpti_ActivityMemset4, bytes, cu_memset, bytes);
SAME(CUpti_ActivityMemset4, start, cu_memset, start);
SAME(CUpti_ActivityMemset4, end, cu_memset, end);
SAME(CUpti_ActivityMemset4, deviceId, cu_memset, device);
SAME(CUpti_ActivityMemset4, contextId, cu_memset, context);
SAME(CUpti_ActivityMemset4, streamId, cu_memset, stream);
SAME(CUpti_ActivityMemset4, correlationId, cu_memset, correlation);
SAME(CUpti_ActivityMemset4, memoryKind, cu_memset, memory);
SAME(CUpti_ActivityMemset4, graphNodeId, cu_memset, graph_node);
SAME(CUpti_ActivityMemset4, graphId, cu_memset, graph);

SAME(SYNC, type, cu_sync, type);
SAME(SYNC, start, cu_sync, start);
SAME(SYNC, end, cu_sync, end);
SAME(SYNC, correlationId, cu_sync, correlation);
SAME(SYNC, contextId, cu_sync, context);
SAME(SYNC, streamId, cu_sync, stream);
SAME(SYNC, cudaEventId, cu_sync, event);

SAME(GRAPH, correlationId, cu_graph, correlation);
SAME(GRAPH, start, cu_graph, start);
SAME(GRAPH, end, cu_graph, end);
SAME(GRAPH, deviceId, cu_graph, device);
SAME(GRAPH, graphId, cu_graph, graph);
SAME(GRAPH, contextId, cu_graph, context);
SAME(GRAPH, streamId, cu_graph, stream);

SAME(MEMORY, memoryOperationType, cu_memory, operation);
SAME(MEMORY, memoryKind, cu_memory, memory);
SAME(MEMORY, correlationId, cu_memory, correlation);
SAME(MEMORY, address, cu_memory, address);
SAME(MEMORY, bytes, cu_memory, bytes);
SAME(MEMORY, timestamp, cu_memory, timestamp);
SAME(MEMORY, deviceId, cu_memory, device);
SAME(MEMORY, contextId, cu_memory, context);
SAME(MEMORY, streamId, cu_memory, stream);

SAME(OVERHEAD, overheadKind, cu_overhead, overhead);
SAME(OVERHEAD, objectKind, cu_overhead, object_kind);
SAME(OVERHEAD, objectId.pt.processId, cu_overhead, process);
SAME(OVERHEAD, objectId.pt.threadId, cu_overhead, thread);
SAME(OVERHEAD, start, cu_overhead, start);
SAME(OVERHEAD, end, cu_overhead, end);

SAME(JIT, jitEntryType, cu_jit, entry);
SAME(JIT, jitOperationType, cu_jit, operation);
SAME(JIT, deviceId, cu_jit, device);
SAME(JIT, start, cu_jit, start);
SAME(JIT, end, cu_jit, end);
SAME(JIT, correlationId, cu_jit, correlation);

SAME(UNIFIED, counterKind, cu_unified, counter);
SAME(UNIFIED, value, cu_unified, value);
SAME(UNIFIED, start, cu_unified, start);
SAME(UNIFIED, end, cu_unified, end);
SAME(UNIFIED, address, cu_unified, address);
SAME(UNIFIED, srcId, cu_unified, source);
SAME(UNIFIED, dstId, cu_unified, destination);
SAME(UNIFIED, streamId, cu_unified, stream);
SAME(UNIFIED, processId, cu_unified, process);

SAME(CUpti_CallbackData, callbackSite, cu_call_data, site);
SAME(CUpti_CallbackData, functionName, cu_call_data, function);
SAME(CUpti_CallbackData, functionParams, cu_call_data, params);
SAME(CUpti_CallbackData, functionReturnValue, cu_call_data, result);
SAME(CUpti_CallbackData, symbolName, cu_call_data, symbol);
SAME(CUpti_CallbackData, context, cu_call_data, context);
SAME(CUpti_CallbackData, contextUid, cu_call_data, context_uid);
SAME(CUpti_CallbackData, correlationData, cu_call_data, data);
SAME(CUpti_CallbackData, correlationId, cu_call_data, correlation);
SAME(CUpti_ResourceData, context, cu_resource_data, context);
SAME(CUpti_ResourceData, resourceHandle, cu_resource_data, stream);

NUMBER(CUPTI_SUCCESS, CU_OK);
NUMBER(CUPTI_ERROR_INVALID_PARAMETER, CU_ERROR_INVALID_PARAMETER);
NUMBER(CUPTI_ERROR_OUT_OF_MEMORY, CU_ERROR_OUT_OF_MEMORY);
NUMBER(CUPTI_ERROR_MAX_LIMIT_REACHED, CU_ERROR_MAX_LIMIT_REACHED);
NUMBER(CUPTI_ERROR_NOT_READY, CU_ERROR_NOT_READY);
NUMBER(CUPTI_ERROR_NOT_COMPATIBLE, CU_ERROR_NOT_COMPATIBLE);
NUMBER(CUPTI_ERROR_NOT_INITIALIZED, CU_ERROR_NOT_INITIALIZED);
NUMBER(CUPTI_ERROR_INVALID_KIND, CU_ERROR_INVALID_KIND);
NUMBER(CUPTI_ERROR_NOT_SUPPORTED, CU_ERROR_NOT_SUPPORTED);
NUMBER(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, CU_ERROR_INSUFFICIENT_PRIVILEGES);
NUMBER(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, CU_ERROR_SUBSCRIBER);
NUMBER(CUPTI_ERROR_UNKNOWN, CU_ERROR_UNKNOWN);
NUMBER(CUPTI_CB_DOMAIN_DRIVER_API, CU_DOMAIN_DRIVER);
NUMBER(CUPTI_CB_DOMAIN_RUNTIME_API, CU_DOMAIN_RUNTIME);
NUMBER(CUPTI_CB_DOMAIN_RESOURCE, CU_DOMAIN_RESOURCE);
NUMBER(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, CU_RESOURCE_CONTEXT_CREATED);
NUMBER(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, CU_RESOURCE_CONTEXT_DESTROY);
NUMBER(CUPTI_CBID_RESOURCE_STREAM_CREATED, CU_RESOURCE_STREAM_CREATED);
NUMBER(CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING, CU_RESOURCE_STREAM_DESTROY);
NUMBER(CUPTI_CBID_RESOURCE_CU_INIT_FINISHED, CU_RESOURCE_INIT_FINISHED);
NUMBER(CUPTI_ACTIVITY_KIND_MEMCPY, CU_KIND_MEMCPY);
NUMBER(CUPTI_ACTIVITY_KIND_MEMSET, CU_KIND_MEMSET);
NUMBER(CUPTI_ACTIVITY_KIND_KERNEL, CU_KIND_KERNEL);
NUMBER(CUPTI_ACTIVITY_KIND_DRIVER, CU_KIND_DRIVER);
NUMBER(CUPTI_ACTIVITY_KIND_RUNTIME, CU_KIND_RUNTIME);
NUMBER(CUPTI_ACTIVITY_KIND_DEVICE, CU_KIND_DEVICE);
NUMBER(CUPTI_ACTIVITY_KIND_CONTEXT, CU_KIND_CONTEXT);
NUMBER(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CU_KIND_CONCURRENT_KERNEL);
NUMBER(CUPTI_ACTIVITY_KIND_OVERHEAD, CU_KIND_OVERHEAD);
NUMBER(CUPTI_ACTIVITY_KIND_MEMCPY2, CU_KIND_MEMCPY2);
NUMBER(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER, CU_KIND_UNIFIED_MEMORY);
NUMBER(CUPTI_ACTIVITY_KIND_CUDA_EVENT, CU_KIND_CUDA_EVENT);
NUMBER(CUPTI_ACTIVITY_KIND_STREAM, CU_KIND_STREAM);
NUMBER(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CU_KIND_SYNCHRONIZATION);
NUMBER(CUPTI_ACTIVITY_KIND_MEMORY2, CU_KIND_MEMORY2);
NUMBER(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, CU_KIND_GRAPH_TRACE);
NUMBER(CUPTI_ACTIVITY_KIND_JIT, CU_KIND_JIT);
NUMBER(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, CU_ATTR_ZEROED_BUFFERS);
NUMBER(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED, CU_FLUSH_FORCED);
NUMBER(CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, CU_COPY_HTOD);
NUMBER(CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, CU_COPY_DTOH);
NUMBER(CUPTI_ACTIVITY_MEMCPY_KIND_HTOA, CU_COPY_HTOA);
NUMBER(CUPTI_ACTIVITY_MEMCPY_KIND_ATOH, CU_COPY_ATOH);
NUMBER(CUPTI_ACTIVITY_MEMCPY_KIND_ATOA, CU_COPY_ATOA);
NUMBER(CUPTI_ACTIVITY_MEMCPY_KIND_ATOD, CU_COPY_ATOD);
NUMBER(CUPTI_ACTIVITY_MEMCPY_KIND_DTOA, CU_COPY_DTOA);
NUMBER(CUPTI_ACTIVITY_MEMCPY_KIND_DTOD, CU_COPY_DTOD);
NUMBER(CUPTI_ACTIVITY_MEMCPY_KIND_HTOH, CU_COPY_HTOH);
NUMBER(CUPTI_ACTIVITY_MEMCPY_KIND_PTOP, CU_COPY_PTOP);
NUMBER(CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE, CU_MEMORY_PAGEABLE);
NUMBER(CUPTI_ACTIVITY_MEMORY_KIND_PINNED, CU_MEMORY_PINNED);
NUMBER(CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, CU_MEMORY_DEVICE);
NUMBER(CUPTI_ACTIVITY_MEMORY_KIND_ARRAY, CU_MEMORY_ARRAY);
NUMBER(CUPTI_ACTIVITY_MEMORY_KIND_MANAGED, CU_MEMORY_MANAGED);

/* CUPTI 12.6 and newer. */
#if CUPTI_API_VERSION >= 24 && __has_include(<cupti_pmsampling.h>)
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include "cuda/profiler_abi.h"

/* The size that CUPTI is told: as far as the last member. 13.1 has appended some. */
#define LAST(type, theirs, ours, mine) \
	SAME(type, theirs, ours, mine); \
	_Static_assert(offsetof(type, theirs) + sizeof(((type *)0)->theirs) == CU_BYTES_TO(ours, mine), #type)

LAST(CUpti_Profiler_Initialize_Params, pPriv, cu_profiler_plain, priv);
SAME(CUpti_Device_GetChipName_Params, deviceIndex, cu_profiler_chip, device);
LAST(CUpti_Device_GetChipName_Params, pChipName, cu_profiler_chip, name);
SAME(CUpti_Profiler_DeviceSupported_Params, cuDevice, cu_profiler_supported, device);
SAME(CUpti_Profiler_DeviceSupported_Params, isSupported, cu_profiler_supported, supported);
SAME(CUpti_Profiler_DeviceSupported_Params, architecture, cu_profiler_supported, architecture);
SAME(CUpti_Profiler_DeviceSupported_Params, sli, cu_profiler_supported, sli);
SAME(CUpti_Profiler_DeviceSupported_Params, vGpu, cu_profiler_supported, vgpu);
SAME(CUpti_Profiler_DeviceSupported_Params, confidentialCompute, cu_profiler_supported, confidential);
SAME(CUpti_Profiler_DeviceSupported_Params, cmp, cu_profiler_supported, cmp);
SAME(CUpti_Profiler_DeviceSupported_Params, wsl, cu_profiler_supported, wsl);
LAST(CUpti_Profiler_DeviceSupported_Params, api, cu_profiler_supported, api);
SAME(CUpti_Profiler_Host_GetSupportedChips_Params, numChips, cu_host_chips, count);
LAST(CUpti_Profiler_Host_GetSupportedChips_Params, ppChipNames, cu_host_chips, names);
SAME(CUpti_Profiler_Host_Initialize_Params, profilerType, cu_host_initialize, type);
SAME(CUpti_Profiler_Host_Initialize_Params, pChipName, cu_host_initialize, chip);
SAME(CUpti_Profiler_Host_Initialize_Params, pCounterAvailabilityImage, cu_host_initialize, availability);
LAST(CUpti_Profiler_Host_Initialize_Params, pHostObject, cu_host_initialize, object);
LAST(CUpti_Profiler_Host_Deinitialize_Params, pHostObject, cu_profiler_object, object);
SAME(CUpti_Profiler_Host_GetBaseMetrics_Params, pHostObject, cu_host_base, object);
SAME(CUpti_Profiler_Host_GetBaseMetrics_Params, metricType, cu_host_base, type);
SAME(CUpti_Profiler_Host_GetBaseMetrics_Params, ppMetricNames, cu_host_base, names);
LAST(CUpti_Profiler_Host_GetBaseMetrics_Params, numMetrics, cu_host_base, count);
SAME(CUpti_Profiler_Host_GetSubMetrics_Params, pHostObject, cu_host_sub, object);
SAME(CUpti_Profiler_Host_GetSubMetrics_Params, metricType, cu_host_sub, type);
SAME(CUpti_Profiler_Host_GetSubMetrics_Params, pMetricName, cu_host_sub, name);
SAME(CUpti_Profiler_Host_GetSubMetrics_Params, numOfSubmetrics, cu_host_sub, count);
LAST(CUpti_Profiler_Host_GetSubMetrics_Params, ppSubMetrics, cu_host_sub, names);
SAME(CUpti_Profiler_Host_GetMetricProperties_Params, pHostObject, cu_host_properties, object);
SAME(CUpti_Profiler_Host_GetMetricProperties_Params, pMetricName, cu_host_properties, name);
SAME(CUpti_Profiler_Host_GetMetricProperties_Params, pDescription, cu_host_properties, description);
SAME(CUpti_Profiler_Host_GetMetricProperties_Params, pHwUnit, cu_host_properties, hardware);
SAME(CUpti_Profiler_Host_GetMetricProperties_Params, pDimUnit, cu_host_properties, unit);
LAST(CUpti_Profiler_Host_GetMetricProperties_Params, metricType, cu_host_properties, type);
SAME(CUpti_Profiler_Host_ConfigAddMetrics_Params, pHostObject, cu_host_add, object);
SAME(CUpti_Profiler_Host_ConfigAddMetrics_Params, ppMetricNames, cu_host_add, names);
LAST(CUpti_Profiler_Host_ConfigAddMetrics_Params, numMetrics, cu_host_add, count);
SAME(CUpti_Profiler_Host_GetConfigImageSize_Params, pHostObject, cu_host_image, object);
LAST(CUpti_Profiler_Host_GetConfigImageSize_Params, configImageSize, cu_host_image, size);
SAME(CUpti_Profiler_Host_GetConfigImage_Params, pHostObject, cu_host_image, object);
SAME(CUpti_Profiler_Host_GetConfigImage_Params, configImageSize, cu_host_image, size);
LAST(CUpti_Profiler_Host_GetConfigImage_Params, pConfigImage, cu_host_image, image);
SAME(CUpti_Profiler_Host_GetNumOfPasses_Params, configImageSize, cu_host_passes, size);
SAME(CUpti_Profiler_Host_GetNumOfPasses_Params, pConfigImage, cu_host_passes, image);
LAST(CUpti_Profiler_Host_GetNumOfPasses_Params, numOfPasses, cu_host_passes, passes);
SAME(CUpti_Profiler_Host_EvaluateToGpuValues_Params, pHostObject, cu_host_evaluate, object);
SAME(CUpti_Profiler_Host_EvaluateToGpuValues_Params, pCounterDataImage, cu_host_evaluate, data);
SAME(CUpti_Profiler_Host_EvaluateToGpuValues_Params, counterDataImageSize, cu_host_evaluate, size);
SAME(CUpti_Profiler_Host_EvaluateToGpuValues_Params, rangeIndex, cu_host_evaluate, range);
SAME(CUpti_Profiler_Host_EvaluateToGpuValues_Params, ppMetricNames, cu_host_evaluate, names);
SAME(CUpti_Profiler_Host_EvaluateToGpuValues_Params, numMetrics, cu_host_evaluate, count);
LAST(CUpti_Profiler_Host_EvaluateToGpuValues_Params, pMetricValues, cu_host_evaluate, values);

SAME(CUpti_PmSampling_Enable_Params, deviceIndex, cu_pm_enable, device);
LAST(CUpti_PmSampling_Enable_Params, pPmSamplingObject, cu_pm_enable, object);
LAST(CUpti_PmSampling_Start_Params, pPmSamplingObject, cu_profiler_object, object);
LAST(CUpti_PmSampling_Stop_Params, pPmSamplingObject, cu_profiler_object, object);
LAST(CUpti_PmSampling_Disable_Params, pPmSamplingObject, cu_profiler_object, object);
SAME(CUpti_PmSampling_SetConfig_Params, pPmSamplingObject, cu_pm_config, object);
SAME(CUpti_PmSampling_SetConfig_Params, configSize, cu_pm_config, size);
SAME(CUpti_PmSampling_SetConfig_Params, pConfig, cu_pm_config, image);
SAME(CUpti_PmSampling_SetConfig_Params, hardwareBufferSize, cu_pm_config, hardware_bytes);
SAME(CUpti_PmSampling_SetConfig_Params, samplingInterval, cu_pm_config, interval);
SAME(CUpti_PmSampling_SetConfig_Params, triggerMode, cu_pm_config, trigger);
#if CUPTI_API_VERSION > 24
LAST(CUpti_PmSampling_SetConfig_Params, hwBufferAppendMode, cu_pm_config, append);
#endif
SAME(CUpti_PmSampling_GetCounterAvailability_Params, deviceIndex, cu_pm_availability, device);
SAME(CUpti_PmSampling_GetCounterAvailability_Params, counterAvailabilityImageSize, cu_pm_availability, size);
LAST(CUpti_PmSampling_GetCounterAvailability_Params, pCounterAvailabilityImage, cu_pm_availability, image);
SAME(CUpti_PmSampling_GetCounterDataSize_Params, pPmSamplingObject, cu_pm_data_size, object);
SAME(CUpti_PmSampling_GetCounterDataSize_Params, pMetricNames, cu_pm_data_size, names);
SAME(CUpti_PmSampling_GetCounterDataSize_Params, numMetrics, cu_pm_data_size, count);
SAME(CUpti_PmSampling_GetCounterDataSize_Params, maxSamples, cu_pm_data_size, most);
LAST(CUpti_PmSampling_GetCounterDataSize_Params, counterDataSize, cu_pm_data_size, size);
SAME(CUpti_PmSampling_CounterDataImage_Initialize_Params, pPmSamplingObject, cu_profiler_data, object);
SAME(CUpti_PmSampling_CounterDataImage_Initialize_Params, counterDataSize, cu_profiler_data, size);
LAST(CUpti_PmSampling_CounterDataImage_Initialize_Params, pCounterData, cu_profiler_data, data);
SAME(CUpti_PmSampling_DecodeData_Params, pPmSamplingObject, cu_pm_decode, object);
SAME(CUpti_PmSampling_DecodeData_Params, pCounterDataImage, cu_pm_decode, data);
SAME(CUpti_PmSampling_DecodeData_Params, counterDataImageSize, cu_pm_decode, size);
SAME(CUpti_PmSampling_DecodeData_Params, decodeStopReason, cu_pm_decode, reason);
LAST(CUpti_PmSampling_DecodeData_Params, overflow, cu_pm_decode, overflow);
SAME(CUpti_PmSampling_GetCounterDataInfo_Params, pCounterDataImage, cu_pm_info, data);
SAME(CUpti_PmSampling_GetCounterDataInfo_Params, counterDataImageSize, cu_pm_info, size);
SAME(CUpti_PmSampling_GetCounterDataInfo_Params, numTotalSamples, cu_pm_info, total);
SAME(CUpti_PmSampling_GetCounterDataInfo_Params, numPopulatedSamples, cu_pm_info, populated);
LAST(CUpti_PmSampling_GetCounterDataInfo_Params, numCompletedSamples, cu_pm_info, completed);
SAME(CUpti_PmSampling_CounterData_GetSampleInfo_Params, pPmSamplingObject, cu_pm_sample, object);
SAME(CUpti_PmSampling_CounterData_GetSampleInfo_Params, pCounterDataImage, cu_pm_sample, data);
SAME(CUpti_PmSampling_CounterData_GetSampleInfo_Params, counterDataImageSize, cu_pm_sample, size);
SAME(CUpti_PmSampling_CounterData_GetSampleInfo_Params, sampleIndex, cu_pm_sample, index);
SAME(CUpti_PmSampling_CounterData_GetSampleInfo_Params, startTimestamp, cu_pm_sample, start);
LAST(CUpti_PmSampling_CounterData_GetSampleInfo_Params, endTimestamp, cu_pm_sample, end);

SAME(CUpti_RangeProfiler_Enable_Params, ctx, cu_range_enable, context);
LAST(CUpti_RangeProfiler_Enable_Params, pRangeProfilerObject, cu_range_enable, object);
LAST(CUpti_RangeProfiler_Disable_Params, pRangeProfilerObject, cu_profiler_object, object);
LAST(CUpti_RangeProfiler_Start_Params, pRangeProfilerObject, cu_profiler_object, object);
LAST(CUpti_RangeProfiler_PopRange_Params, pRangeProfilerObject, cu_profiler_object, object);
SAME(CUpti_RangeProfiler_SetConfig_Params, pRangeProfilerObject, cu_range_config, object);
SAME(CUpti_RangeProfiler_SetConfig_Params, configSize, cu_range_config, size);
SAME(CUpti_RangeProfiler_SetConfig_Params, pConfig, cu_range_config, image);
SAME(CUpti_RangeProfiler_SetConfig_Params, counterDataImageSize, cu_range_config, data_size);
SAME(CUpti_RangeProfiler_SetConfig_Params, pCounterDataImage, cu_range_config, data);
SAME(CUpti_RangeProfiler_SetConfig_Params, range, cu_range_config, range);
SAME(CUpti_RangeProfiler_SetConfig_Params, replayMode, cu_range_config, replay);
SAME(CUpti_RangeProfiler_SetConfig_Params, maxRangesPerPass, cu_range_config, most);
SAME(CUpti_RangeProfiler_SetConfig_Params, numNestingLevels, cu_range_config, levels);
SAME(CUpti_RangeProfiler_SetConfig_Params, minNestingLevel, cu_range_config, least_level);
SAME(CUpti_RangeProfiler_SetConfig_Params, passIndex, cu_range_config, pass);
LAST(CUpti_RangeProfiler_SetConfig_Params, targetNestingLevel, cu_range_config, target_level);
SAME(CUpti_RangeProfiler_Stop_Params, pRangeProfilerObject, cu_range_stop, object);
SAME(CUpti_RangeProfiler_Stop_Params, passIndex, cu_range_stop, pass);
SAME(CUpti_RangeProfiler_Stop_Params, targetNestingLevel, cu_range_stop, target_level);
LAST(CUpti_RangeProfiler_Stop_Params, isAllPassSubmitted, cu_range_stop, all_passes);
SAME(CUpti_RangeProfiler_PushRange_Params, pRangeProfilerObject, cu_range_push, object);
LAST(CUpti_RangeProfiler_PushRange_Params, pRangeName, cu_range_push, name);
SAME(CUpti_RangeProfiler_DecodeData_Params, pRangeProfilerObject, cu_range_decode, object);
LAST(CUpti_RangeProfiler_DecodeData_Params, numOfRangeDropped, cu_range_decode, dropped);
SAME(CUpti_RangeProfiler_GetCounterDataSize_Params, pRangeProfilerObject, cu_range_data_size, object);
SAME(CUpti_RangeProfiler_GetCounterDataSize_Params, pMetricNames, cu_range_data_size, names);
SAME(CUpti_RangeProfiler_GetCounterDataSize_Params, numMetrics, cu_range_data_size, count);
SAME(CUpti_RangeProfiler_GetCounterDataSize_Params, maxNumOfRanges, cu_range_data_size, most);
SAME(CUpti_RangeProfiler_GetCounterDataSize_Params, maxNumRangeTreeNodes, cu_range_data_size, most_nodes);
LAST(CUpti_RangeProfiler_GetCounterDataSize_Params, counterDataSize, cu_range_data_size, size);
SAME(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, pRangeProfilerObject, cu_profiler_data, object);
SAME(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, counterDataSize, cu_profiler_data, size);
LAST(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, pCounterData, cu_profiler_data, data);
SAME(CUpti_RangeProfiler_GetCounterDataInfo_Params, pCounterDataImage, cu_range_info, data);
SAME(CUpti_RangeProfiler_GetCounterDataInfo_Params, counterDataImageSize, cu_range_info, size);
LAST(CUpti_RangeProfiler_GetCounterDataInfo_Params, numTotalRanges, cu_range_info, count);

NUMBER(CUPTI_AutoRange, CU_RANGE_AUTO);
NUMBER(CUPTI_UserRange, CU_RANGE_USER);
NUMBER(CUPTI_KernelReplay, CU_REPLAY_KERNEL);
NUMBER(CUPTI_UserReplay, CU_REPLAY_USER);
NUMBER(CUPTI_PROFILER_TYPE_RANGE_PROFILER, CU_PROFILER_RANGE);
NUMBER(CUPTI_PROFILER_TYPE_PM_SAMPLING, CU_PROFILER_PM);
NUMBER(CUPTI_METRIC_TYPE_COUNTER, CU_METRIC_COUNTER);
NUMBER(CUPTI_METRIC_TYPE_RATIO, CU_METRIC_RATIO);
NUMBER(CUPTI_METRIC_TYPE_THROUGHPUT, CU_METRIC_THROUGHPUT);
NUMBER(CUPTI_METRIC_TYPE__COUNT, CU_METRIC_TYPES);
NUMBER(CUPTI_PROFILER_CONFIGURATION_DISABLED, CU_PROFILER_DISABLED);
NUMBER(CUPTI_PROFILER_CONFIGURATION_SUPPORTED, CU_PROFILER_SUPPORTED);
NUMBER(CUPTI_PROFILER_RANGE_PROFILING, CU_API_RANGE);
NUMBER(CUPTI_PROFILER_PM_SAMPLING, CU_API_PM);
NUMBER(CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL, CU_PM_TRIGGER_CLOCK);
NUMBER(CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL, CU_PM_TRIGGER_TIME);
NUMBER(CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL, CU_PM_STOP_FULL);
NUMBER(CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS, CU_PM_STOP_END);
#if CUPTI_API_VERSION > 24
NUMBER(CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST, CU_PM_KEEP_OLDEST);
NUMBER(CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_LATEST, CU_PM_KEEP_LATEST);
#endif
#endif

/* PC sampling (11.3). Sizes, too: they are what CUPTI is told. */
#include <cupti_pcsampling.h>

#include "cuda/samples/pcsampling_abi.h"

#define SIZE(type, ours) _Static_assert(sizeof(type) == sizeof(struct ours), #type)

NUMBER(CUPTI_CBID_RESOURCE_MODULE_LOADED, CU_RESOURCE_MODULE_LOADED);
NUMBER(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD, CU_PC_PERIOD);
NUMBER(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON, CU_PC_REASONS);
NUMBER(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SCRATCH_BUFFER_SIZE, CU_PC_SCRATCH_BYTES);
NUMBER(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE, CU_PC_HARDWARE_BYTES);
NUMBER(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE, CU_PC_MODE);
NUMBER(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER, CU_PC_BUFFER);
NUMBER(CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS, CU_PC_CONTINUOUS);
NUMBER(CUPTI_PC_SAMPLING_COLLECTION_MODE_KERNEL_SERIALIZED, CU_PC_SERIALIZED);
NUMBER(CUPTI_STALL_REASON_STRING_SIZE, CU_PC_REASON_TEXT);
SIZE(CUpti_ModuleResourceData, cu_module);
SAME(CUpti_ModuleResourceData, cubinSize, cu_module, bytes);
SAME(CUpti_ModuleResourceData, pCubin, cu_module, cubin);
SIZE(CUpti_PCSamplingStallReason, cu_pc_stall);
SAME(CUpti_PCSamplingStallReason, pcSamplingStallReasonIndex, cu_pc_stall, reason);
SAME(CUpti_PCSamplingStallReason, samples, cu_pc_stall, samples);
SIZE(CUpti_PCSamplingPCData, cu_pc);
SAME(CUpti_PCSamplingPCData, size, cu_pc, bytes);
SAME(CUpti_PCSamplingPCData, cubinCrc, cu_pc, crc);
SAME(CUpti_PCSamplingPCData, pcOffset, cu_pc, offset);
SAME(CUpti_PCSamplingPCData, functionIndex, cu_pc, function);
SAME(CUpti_PCSamplingPCData, functionName, cu_pc, name);
SAME(CUpti_PCSamplingPCData, stallReasonCount, cu_pc, stalls);
SAME(CUpti_PCSamplingPCData, stallReason, cu_pc, stall);
SIZE(CUpti_PCSamplingData, cu_pc_data);
SAME(CUpti_PCSamplingData, collectNumPcs, cu_pc_data, room);
SAME(CUpti_PCSamplingData, totalSamples, cu_pc_data, total);
SAME(CUpti_PCSamplingData, droppedSamples, cu_pc_data, dropped);
SAME(CUpti_PCSamplingData, totalNumPcs, cu_pc_data, count);
SAME(CUpti_PCSamplingData, remainingNumPcs, cu_pc_data, remaining);
SAME(CUpti_PCSamplingData, pPcData, cu_pc_data, pcs);
SAME(CUpti_PCSamplingData, nonUsrKernelsTotalSamples, cu_pc_data, foreign);
SAME(CUpti_PCSamplingData, hardwareBufferFull, cu_pc_data, full);
SIZE(CUpti_PCSamplingConfigurationInfo, cu_pc_option);
SAME(CUpti_PCSamplingConfigurationInfo, attributeStatus, cu_pc_option, status);
SAME(CUpti_PCSamplingConfigurationInfo, attributeData.invalidData, cu_pc_option, value);
SAME(CUpti_PCSamplingConfigurationInfo, attributeData.stallReasonData.pStallReasonIndex, cu_pc_option,
     value.reasons.index);
SIZE(CUpti_PCSamplingConfigurationInfoParams, cu_pc_configure);
SAME(CUpti_PCSamplingConfigurationInfoParams, numAttributes, cu_pc_configure, count);
SIZE(CUpti_PCSamplingEnableParams, cu_pc_plain);
SIZE(CUpti_PCSamplingDisableParams, cu_pc_plain);
SIZE(CUpti_PCSamplingGetDataParams, cu_pc_get);
SIZE(CUpti_PCSamplingGetNumStallReasonsParams, cu_pc_count);
SIZE(CUpti_PCSamplingGetStallReasonsParams, cu_pc_names);
SAME(CUpti_PCSamplingGetStallReasonsParams, stallReasonIndex, cu_pc_names, index);
SIZE(CUpti_GetCubinCrcParams, cu_cubin_crc);
SAME(CUpti_GetCubinCrcParams, cubinCrc, cu_cubin_crc, crc);

#if __has_include(<cupti_sass_metrics.h>)
#include <cupti_sass_metrics.h>

#include "cuda/profiler_abi.h"

#define LAST(type, macro, ours, last) \
	_Static_assert(type##macro##_STRUCT_SIZE == CU_BYTES_TO(ours, last), #type)

SIZE(CUpti_SassMetrics_MetricDetails, cu_sass_metric);
SIZE(CUpti_SassMetrics_Config, cu_sass_config);
SAME(CUpti_SassMetrics_Config, outputGranularity, cu_sass_config, granularity);
NUMBER(CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_GPU, 0);
SIZE(CUpti_SassMetrics_InstanceValue, cu_sass_value);
SIZE(CUpti_SassMetrics_Data, cu_sass_data);
SAME(CUpti_SassMetrics_Data, cubinCrc, cu_sass_data, crc);
SAME(CUpti_SassMetrics_Data, functionIndex, cu_sass_data, function);
SAME(CUpti_SassMetrics_Data, functionName, cu_sass_data, name);
SAME(CUpti_SassMetrics_Data, pcOffset, cu_sass_data, offset);
SAME(CUpti_SassMetrics_Data, pInstanceValues, cu_sass_data, values);
LAST(CUpti_SassMetrics_GetNumOfMetrics, _Params, cu_sass_count, count);
LAST(CUpti_SassMetrics_GetMetrics, _Params, cu_sass_list, list);
LAST(CUpti_SassMetricsSetConfig, _Params, cu_sass_set, device);
SAME(CUpti_SassMetricsSetConfig_Params, pConfigs, cu_sass_set, configs);
LAST(CUpti_SassMetricsEnable, _Params, cu_sass_enable, lazy);
LAST(CUpti_SassMetricsDisable, _Params, cu_sass_disable, dropped);
LAST(CUpti_SassMetricsGetDataProperties, _Params, cu_sass_flush, instances);
LAST(CUpti_SassMetricsFlushData, _Params, cu_sass_flush, instances);
SAME(CUpti_SassMetricsFlushData_Params, numOfPatchedInstructionRecords, cu_sass_flush, records);
SAME(CUpti_SassMetricsFlushData_Params, pMetricsData, cu_sass_flush, data);
#endif
