/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of rocprofiler-sdk's interface that the adapter uses, declared here, so that nothing of ROCm is
 * needed to build it. test/hip/abi.c compares it with the public headers where they are given.
 *
 * Limits: major version 1. A record may be longer than declared, never shorter: its first member says how
 * long it is. Numbers of kinds and operations differ between versions; they are found by name.
 */
#ifndef GT_HIP_ROCPROFILER_H
#define GT_HIP_ROCPROFILER_H

#include <stddef.h>
#include <stdint.h>

enum {
	ROCP_VERSION_UNIT = 10000, /* version / this: the major one */
	ROCP_SUCCESS = 0,
	ROCP_POLICY_LOSSLESS = 2,
	ROCP_CATEGORY_TRACING = 1,
	ROCP_PHASE_ENTER = 1,
	ROCP_PHASE_EXIT = 2,
	ROCP_AGENT_VERSION = 1,
	ROCP_AGENT_GPU = 2,
	ROCP_SYMBOL_REGISTER = 2, /* operations: of code objects */
	ROCP_STREAM_CREATE = 1,   /* of streams */
	ROCP_STREAM_SET = 3,
	ROCP_COPY_HOST_TO_HOST = 1, /* of copies */
	ROCP_COPY_TO_DEVICE = 2,
	ROCP_COPY_TO_HOST = 3,
	ROCP_COPY_DEVICES = 4,
	ROCP_ALLOCATE = 1, /* of allocations */
	ROCP_RELEASE = 3,
	ROCP_REQUEST_COPY = 10, /* kinds of requests for an external id */
	ROCP_REQUEST_KERNEL = 11,
};

/* Contexts, buffers, agents, queues and streams. */
struct rocp_id {
	uint64_t handle;
};

union rocp_user {
	uint64_t value;
	void *pointer;
};

/* Of a call; of what it made the device do. */
struct rocp_correlation {
	uint64_t internal;
	union rocp_user external;
	uint64_t ancestor;
};

struct rocp_async_correlation {
	uint64_t internal;
	union rocp_user external;
};

struct rocp_dim3 {
	uint32_t x, y, z;
};

/* ---- registration ------------------------------------------------------------------------------- */

struct rocp_client; /* its members have changed within a major version */
typedef void (*rocp_finalize)(struct rocp_client *client);

struct rocp_tool {
	size_t size;
	int (*initialize)(void *finalize, void *data);
	void (*finalize)(void *data);
	void *data;
};

/* ---- callbacks ---------------------------------------------------------------------------------- */

/* By value to each callback. */
struct rocp_call {
	struct rocp_id context;
	uint64_t thread;
	struct rocp_correlation correlation;
	uint32_t kind;
	int32_t operation;
	uint32_t phase;
	void *payload;
};
typedef void (*rocp_callback)(struct rocp_call call, union rocp_user *user, void *data);

/* The payloads: of a HIP call and of a marker; the arguments are a union, and the result is at the end. */
struct rocp_api {
	uint64_t size;
	union {
		const char *message;
		uint64_t range;
		struct {
			const char *name;
			const void *handle; /* the program's, of a stream */
		} named;
	} arguments;
};
enum { ROCP_HIP_RESULT_BYTES = 24, ROCP_MARKER_RESULT_BYTES = 8 };

struct rocp_symbol {
	uint64_t size;
	uint64_t kernel, code_object;
	const char *name;
};

struct rocp_stream {
	uint64_t size;
	struct rocp_id stream;
	uint64_t value; /* the program's handle */
};

typedef int (*rocp_request)(uint64_t thread, struct rocp_id context, uint32_t kind, int32_t operation,
			    uint64_t internal, union rocp_user *external, void *data);

/* ---- records in buffers ------------------------------------------------------------------------- */

struct rocp_header {
	uint32_t category, kind;
	void *payload;
};
typedef void (*rocp_buffer)(struct rocp_id context, struct rocp_id buffer, struct rocp_header **headers,
			    size_t count, void *data, uint64_t dropped);

struct rocp_copy {
	uint64_t size;
	uint32_t kind;
	int32_t operation;
	struct rocp_async_correlation correlation;
	uint64_t thread, start, end;
	struct rocp_id destination, source; /* agents */
	uint64_t bytes;
};

struct rocp_allocation {
	uint64_t size;
	uint32_t kind;
	int32_t operation;
	struct rocp_correlation correlation;
	uint64_t thread, start, end;
	struct rocp_id agent;
	uint64_t address, bytes;
};

struct rocp_dispatch {
	uint64_t size;
	struct rocp_id agent, queue;
	uint64_t kernel, dispatch;
	uint32_t private_segment, group_segment;
	struct rocp_dim3 workgroup, grid; /* grid: in work items */
	uint8_t reserved[56];
};

struct rocp_kernel {
	uint64_t size;
	uint32_t kind;
	int32_t operation;
	struct rocp_async_correlation correlation;
	uint64_t thread, start, end;
	struct rocp_dispatch dispatch;
};

/* ---- agents ------------------------------------------------------------------------------------- */

struct rocp_agent {
	uint64_t size;
	struct rocp_id id;
	uint32_t type;
	uint32_t counts[8]; /* cpu_cores_count to max_waves_per_simd, but for ids between them */
	uint32_t sizes[4];  /* lds_size_in_kb to wave_front_size */
	uint32_t shape[9];  /* num_xcc to gfx_target_version */
	uint16_t vendor, device;
	uint32_t location, domain; /* on the bus */
	uint32_t engines[7];       /* drm_render_minor to max_engine_clk_fcompute */
	uint32_t versions[3];      /* sdma_fw_version, fw_version, capability */
	uint32_t limits[5];        /* cu_per_engine to grid_max_size */
	uint64_t local_memory, hive, gpu;
	struct rocp_dim3 workgroup_most, grid_most;
	const void *banks, *caches, *links;
	const char *name, *vendor_name, *product, *model;
	uint32_t node;
	int32_t logical_node, logical_of_type;
	uint32_t visible;
	uint8_t uuid[16]; /* since 1.1 */
};
typedef int (*rocp_agents)(uint32_t version, const void **agents, size_t count, void *data);

/* ---- HSA's runtime, which is below HIP -------------------------------------------------------- */

enum {
	HSA_UNKNOWN_MEMORY = 0, /* of nobody's that it knows */
	HSA_ABOUT_DEVICE = 17,
	HSA_DEVICE_GPU = 1,
};

struct hsa_pointer {
	uint32_t size, type;
	void *device_base, *host_base;
	size_t bytes;
	void *user;
	uint64_t owner; /* an agent */
	uint32_t flags;
};

#endif
