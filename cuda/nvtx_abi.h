/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NVTX as a tool sees it: the tables in which it puts its functions, and what those are called with.
 * test/cuda/nvtx_abi.c compares this with NVIDIA's headers.
 *
 * Limits: what is used here.
 */
#ifndef GT_CUDA_NVTX_ABI_H
#define GT_CUDA_NVTX_ABI_H

#include <stddef.h>
#include <stdint.h>

enum { NV_MODULE_CORE = 1, NV_MODULE_CUDA = 2, NV_MODULE_CUDART = 4, NV_MODULE_CORE2 = 5 };
enum { NV_TABLE_CALLBACKS = 1 };

enum {
	NV_CORE_MARK_EX = 1, NV_CORE_MARK_A, NV_CORE_MARK_W,
	NV_CORE_START_EX, NV_CORE_START_A, NV_CORE_START_W, NV_CORE_END,
	NV_CORE_PUSH_EX, NV_CORE_PUSH_A, NV_CORE_PUSH_W, NV_CORE_POP,
	NV_CORE_CATEGORY_A, NV_CORE_CATEGORY_W, NV_CORE_THREAD_A, NV_CORE_THREAD_W,
};

enum {
	NV_CORE2_MARK_EX = 1, NV_CORE2_START_EX, NV_CORE2_END, NV_CORE2_PUSH_EX, NV_CORE2_POP,
	NV_CORE2_RESOURCE_CREATE, NV_CORE2_RESOURCE_DESTROY,
	NV_CORE2_CATEGORY_A, NV_CORE2_CATEGORY_W, NV_CORE2_STRING_A, NV_CORE2_STRING_W,
	NV_CORE2_CREATE_A, NV_CORE2_CREATE_W, NV_CORE2_DESTROY,
};

enum { NV_CUDA_STREAM_A = 5, NV_CUDA_STREAM_W = 6, NV_CUDART_STREAM_A = 3, NV_CUDART_STREAM_W = 4 };

/* nvtxEventAttributes_t */
struct nv_attributes {
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type; /* 0 none, 1 u64, 2 i64, 3 double, 4 u32, 5 i32, 6 float */
	int32_t reserved;
	union {
		uint64_t u64;
		int64_t i64;
		double d;
		uint32_t u32;
		int32_t i32;
		float f;
	} payload;
	int32_t message_type; /* 0 none, 1 char, 2 wchar_t, 3 registered */
	union {
		const char *ascii;
		const void *wide;
		void *registered;
	} message;
};

typedef void (*nv_function)(void);

/* NvtxExportTableCallbacks */
struct nv_callbacks {
	size_t bytes;
	int (*module)(int module, nv_function ***table, unsigned *size);
};

typedef const void *(*nv_export)(uint32_t table);

/* The extension for payloads (nvToolsExtPayload.h): functions by number. */
enum { NV_EXTENSION_PAYLOAD = 2 };
enum {
	NV_PAYLOAD_PUSH = 3, NV_PAYLOAD_POP, NV_PAYLOAD_START, NV_PAYLOAD_END,
};

/* nvtxExtModuleSegment_t */
struct nv_segment {
	size_t id, slots;
	intptr_t *functions;
};

/* nvtxExtModuleInfo_t */
struct nv_extension {
	uint16_t version, bytes, module, compatible;
	size_t segment_count;
	struct nv_segment *segments;
	intptr_t (*get)(uint32_t function);
	const void *info;
};

#endif
