/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares cuda/abi.h with NVIDIA's headers: compiles only if every number and offset agrees.
 * The names of the newest structures that the headers have are given with -D by abi.test.
 * Limits: headers from CUPTI 11.8 on.
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
