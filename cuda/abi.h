/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CUPTI as gputrace sees it: the numbers and the layouts that this adapter uses, in its own words, so
 * that it builds without NVIDIA's headers and one build serves every CUPTI from 11.8 on.
 *
 * CUPTI appends fields to its records and never moves those that are here; a record's real size is
 * the library's affair (gt_cupti_api.next_record). test/cuda/abi.test compares every number and
 * offset with the headers that it finds.
 *
 * Limits: Linux, 64 bit. Only what is used. What was added later than CUPTI 11.8 says so.
 */
#ifndef GT_CUDA_ABI_H
#define GT_CUDA_ABI_H

#include <stddef.h>
#include <stdint.h>

/* CUptiResult */
enum {
	CU_OK = 0,
	CU_ERROR_INVALID_PARAMETER = 1,
	CU_ERROR_INVALID_KIND = 21,
	CU_ERROR_OUT_OF_MEMORY = 8,
	CU_ERROR_MAX_LIMIT_REACHED = 12,
	CU_ERROR_NOT_READY = 13,
	CU_ERROR_NOT_COMPATIBLE = 14,
	CU_ERROR_NOT_INITIALIZED = 15,
	CU_ERROR_INVALID_METRIC_NAME = 17,
	CU_ERROR_HARDWARE_BUSY = 26,
	CU_ERROR_NOT_SUPPORTED = 27,
	CU_ERROR_INSUFFICIENT_PRIVILEGES = 35,
	CU_ERROR_OLD_PROFILER = 36,   /* OLD_PROFILER_API_INITIALIZED */
	CU_ERROR_LEGACY = 38,         /* LEGACY_PROFILER_NOT_SUPPORTED */
	CU_ERROR_SUBSCRIBER = 39, /* MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED */
	CU_ERROR_UNKNOWN = 999,
};

/* CUresult and cudaError_t, the same numbers in both */
enum {
	CU_CUDA_INVALID_VALUE = 1,
	CU_CUDA_INVALID_HANDLE = 400,
	CU_CUDA_NOT_READY = 600,
	CU_CUDA_CAPTURE_UNMATCHED = 903,
	CU_CUDA_CAPTURE_WRONG_THREAD = 908,
};

/* CUpti_CallbackDomain */
enum {
	CU_DOMAIN_DRIVER = 1,
	CU_DOMAIN_RUNTIME = 2,
	CU_DOMAIN_RESOURCE = 3,
	CU_DOMAIN_STATE = 6,
};

/* CUpti_CallbackIdResource, CUpti_CallbackIdState */
enum {
	CU_RESOURCE_CONTEXT_CREATED = 1,
	CU_RESOURCE_CONTEXT_DESTROY = 2,
	CU_RESOURCE_STREAM_CREATED = 3,
	CU_RESOURCE_STREAM_DESTROY = 4,
	CU_RESOURCE_INIT_FINISHED = 5,
	CU_RESOURCE_MODULE_LOADED = 6,
	CU_STATE_FATAL_ERROR = 1,
};

/* CUpti_CallbackData */
struct cu_call_data {
	int32_t site; /* 0 enter, 1 exit */
	const char *function;
	const void *params;
	void *result; /* of the call, at its exit: an int */
	const char *symbol;
	void *context;
	uint32_t context_uid;
	uint64_t *data;
	uint32_t correlation;
};

/* CUpti_ResourceData */
struct cu_resource_data {
	void *context;
	void *stream;
	void *descriptor;
};

/* CUpti_StateData */
struct cu_state_data {
	int32_t result;
	const char *message;
};

/* CUpti_SubscriberParams (13.0) */
struct cu_subscriber_params {
	size_t bytes;
	const char *name;
	char *old_name;
	size_t old_size;
};

/* CUpti_ActivityKind */
enum {
	CU_KIND_MEMCPY = 1,
	CU_KIND_MEMSET = 2,
	CU_KIND_KERNEL = 3,
	CU_KIND_DRIVER = 4,
	CU_KIND_RUNTIME = 5,
	CU_KIND_DEVICE = 8,
	CU_KIND_CONTEXT = 9,
	CU_KIND_CONCURRENT_KERNEL = 10,
	CU_KIND_OVERHEAD = 17,
	CU_KIND_MEMCPY2 = 22,
	CU_KIND_UNIFIED_MEMORY = 25,
	CU_KIND_CUDA_EVENT = 36,
	CU_KIND_STREAM = 37,
	CU_KIND_SYNCHRONIZATION = 38,
	CU_KIND_MEMORY2 = 49,
	CU_KIND_GRAPH_TRACE = 51,
	CU_KIND_JIT = 52,
};

/* CUpti_ActivityAttribute; flags of cuptiActivityFlushAll */
enum {
	CU_ATTR_ZEROED_BUFFERS = 5,
	CU_FLUSH_FORCED = 1,
};

/* CUpti_ActivityMemcpyKind, CUpti_ActivityMemoryKind */
enum {
	CU_COPY_HTOD = 1,
	CU_COPY_DTOH = 2,
	CU_COPY_HTOA = 3,
	CU_COPY_ATOH = 4,
	CU_COPY_ATOA = 5,
	CU_COPY_ATOD = 6,
	CU_COPY_DTOA = 7,
	CU_COPY_DTOD = 8,
	CU_COPY_HTOH = 9,
	CU_COPY_PTOP = 10,
	CU_MEMORY_PAGEABLE = 1,
	CU_MEMORY_PINNED = 2,
	CU_MEMORY_DEVICE = 3,
	CU_MEMORY_ARRAY = 4,
	CU_MEMORY_MANAGED = 5,
};

/* Records. They are packed to 8 bytes, and every field lies where it naturally would. */

struct cu_record {
	uint32_t kind;
};

/* CUpti_ActivityKernel4 and newer */
struct cu_kernel {
	uint32_t kind;
	uint8_t cache_config;
	uint8_t shared_config;
	uint16_t registers;
	uint32_t global_cache[2];
	uint64_t start, end, completed;
	uint32_t device, context, stream;
	int32_t grid[3], block[3];
	int32_t static_shared, dynamic_shared;
	uint32_t local_per_thread;
	uint32_t local_total; /* of 32 bits; 13.0 tells the rest in a later field */
	uint32_t correlation;
	int64_t grid_id;
	const char *name;
	void *reserved;
	uint64_t queued, submitted;
	uint8_t launch_type;
	uint8_t carveout[2];
	uint8_t padding;
	uint32_t shared_executed;
	uint64_t graph_node;
	uint32_t shmem_limit;
	uint32_t graph;
};

/* CUpti_ActivityMemcpy4 and newer */
struct cu_memcpy {
	uint32_t kind;
	uint8_t copy, source, destination, flags;
	uint64_t bytes;
	uint64_t start, end;
	uint32_t device, context, stream;
	uint32_t correlation, runtime_correlation;
	uint32_t padding;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph;
};

/* CUpti_ActivityMemcpyPtoP2 and newer */
struct cu_memcpy2 {
	uint32_t kind;
	uint8_t copy, source, destination, flags;
	uint64_t bytes;
	uint64_t start, end;
	uint32_t device, context, stream;
	uint32_t source_device, source_context;
	uint32_t destination_device, destination_context;
	uint32_t correlation;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph;
};

/* CUpti_ActivityMemset2 and newer */
struct cu_memset {
	uint32_t kind;
	uint32_t value;
	uint64_t bytes;
	uint64_t start, end;
	uint32_t device, context, stream;
	uint32_t correlation;
	uint16_t flags, memory;
	uint32_t padding;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph;
};

/* CUpti_ActivitySynchronization and newer */
struct cu_sync {
	uint32_t kind;
	uint32_t type; /* 1 event, 2 stream waits for event, 3 stream, 4 context */
	uint64_t start, end;
	uint32_t correlation, context, stream, event;
};

/* CUpti_ActivityGraphTrace and newer (11.7) */
struct cu_graph {
	uint32_t kind;
	uint32_t correlation;
	uint64_t start, end;
	uint32_t device;
	uint32_t graph;
	uint32_t context;
	uint32_t stream;
};

/* CUpti_ActivityMemory2 and newer (11.2) */
struct cu_memory {
	uint32_t kind;
	uint32_t operation; /* 1 allocation, 2 release */
	uint32_t memory;
	uint32_t correlation;
	uint64_t address, bytes, timestamp, pc;
	uint32_t process, device, context, stream;
	const char *name;
	uint32_t async;
};

/* CUpti_ActivityOverhead; 12.2 and newer add the correlation id and memory to free(). */
struct cu_overhead {
	uint32_t kind;
	uint32_t overhead;
	uint32_t object_kind;
	uint32_t process, thread; /* or device, context, stream */
	uint32_t object_padding;
	uint64_t start, end;
	uint32_t correlation;
	uint32_t reserved;
	void *data;
};

/* CUpti_ActivityJit and newer (11.6) */
struct cu_jit {
	uint32_t kind;
	uint32_t entry, operation;
	uint32_t device;
	uint64_t start, end;
	uint32_t correlation;
};

/* CUpti_ActivityUnifiedMemoryCounter2 and newer */
struct cu_unified {
	uint32_t kind;
	uint32_t counter; /* 1, 2 bytes to device, to host; 3 CPU faults; 4 GPU faults ... */
	uint64_t value;
	uint64_t start, end;
	uint64_t address;
	uint32_t source, destination;
	uint32_t stream;
	uint32_t process;
};

#endif
