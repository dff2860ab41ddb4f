/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What NVIDIA's NVTX header does, as far as test/cuda/nvtx.c needs it.
 * Limits: one module; the functions that the test calls.
 */
#ifndef NVTX_LIKE_H
#define NVTX_LIKE_H

#include <dlfcn.h>

#include "cuda/nvtx_abi.h"

typedef void *nvtxDomainHandle_t;
typedef void *nvtxStringHandle_t;
typedef uint64_t nvtxRangeId_t;
typedef struct {
	uint16_t version, size;
	uint32_t category;
	int32_t colorType;
	uint32_t color;
	int32_t payloadType;
	int32_t reserved0;
	union {
		uint64_t ullValue;
		int64_t llValue;
		double dValue;
		uint32_t uiValue;
		int32_t iValue;
		float fValue;
	} payload;
	int32_t messageType;
	union {
		const char *ascii;
		nvtxStringHandle_t registered;
	} message;
} nvtxEventAttributes_t;

static nv_function slots[3][16];
static nv_function *pointers[3][16];

static int module_table(int module, nv_function ***table, unsigned *size)
{
	int which = module == NV_MODULE_CORE	   ? 0
		    : module == NV_MODULE_CORE2	   ? 1
		    : module == NV_MODULE_CUDART ? 2
						   : -1;

	if (which < 0)
		return 0;
	for (unsigned i = 0; i < 16; i++)
		pointers[which][i] = &slots[which][i];
	*table = pointers[which];
	*size = 16;
	return 1;
}

static const void *export_table(uint32_t id)
{
	static const struct nv_callbacks callbacks = { sizeof(callbacks), module_table };

	return id == NV_TABLE_CALLBACKS ? &callbacks : NULL;
}

static nv_function nvtx(int which, unsigned id)
{
	static int tried;

	if (!tried) {
		const char *path = getenv("NVTX_INJECTION64_PATH");
		void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
		int (*initialize)(nv_export) = NULL;

		tried = 1;
		if (library)
			*(void **)&initialize = dlsym(library, "InitializeInjectionNvtx2");
		if (!initialize || !initialize(export_table))
			memset(slots, 0, sizeof(slots));
	}
	return slots[which][id];
}

static intptr_t payload_slots[64];

static intptr_t nvtx_payload(unsigned id)
{
	static int tried;
	struct nv_segment segment = { 0, 63, payload_slots };
	struct nv_extension extension = { .version = 3,
					  .bytes = sizeof(extension),
					  .module = NV_EXTENSION_PAYLOAD,
					  .segment_count = 1,
					  .segments = &segment };

	if (!tried) {
		const char *path = getenv("NVTX_INJECTION64_PATH");
		void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
		int (*initialize)(const struct nv_extension *) = NULL;

		tried = 1;
		if (library)
			*(void **)&initialize = dlsym(library, "InitializeInjectionNvtxExtension");
		if (!initialize || !initialize(&extension))
			memset(payload_slots, 0, sizeof(payload_slots));
	}
	return payload_slots[id];
}

#define PAYLOAD_CALL(id, type, arguments, none) \
	(nvtx_payload(id) ? ((type)nvtx_payload(id)) arguments : none)

#define CALL(which, id, type, arguments, none) \
	(nvtx(which, id) ? ((type)nvtx(which, id)) arguments : none)
#define nvtxRangePushA(m) CALL(0, NV_CORE_PUSH_A, int (*)(const char *), (m), 0)
#define nvtxRangePushW(m) CALL(0, NV_CORE_PUSH_W, int (*)(const void *), (m), 0)
#define nvtxRangePop() CALL(0, NV_CORE_POP, int (*)(void), (), 0)
#define nvtxRangePushEx(a) CALL(0, NV_CORE_PUSH_EX, int (*)(const void *), (a), 0)
#define nvtxMarkEx(a) CALL(0, NV_CORE_MARK_EX, void (*)(const void *), (a), (void)0)
#define nvtxDomainMarkEx(d, a) \
	CALL(1, NV_CORE2_MARK_EX, void (*)(void *, const void *), (d, a), (void)0)
#define nvtxMarkA(m) CALL(0, NV_CORE_MARK_A, void (*)(const char *), (m), (void)0)
#define nvtxRangeStartA(m) CALL(0, NV_CORE_START_A, uint64_t (*)(const char *), (m), 0)
#define nvtxRangeEnd(r) CALL(0, NV_CORE_END, void (*)(uint64_t), (r), (void)0)
#define nvtxNameOsThreadA(t, n) \
	CALL(0, NV_CORE_THREAD_A, void (*)(uint32_t, const char *), (t, n), (void)0)
#define nvtxDomainCreateA(n) CALL(1, NV_CORE2_CREATE_A, void *(*)(const char *), (n), NULL)
#define nvtxDomainNameCategoryA(d, c, n) \
	CALL(1, NV_CORE2_CATEGORY_A, void (*)(void *, uint32_t, const char *), (d, c, n), (void)0)
#define nvtxDomainRegisterStringA(d, s) \
	CALL(1, NV_CORE2_STRING_A, void *(*)(void *, const char *), (d, s), NULL)
#define nvtxDomainRangePushEx(d, a) \
	CALL(1, NV_CORE2_PUSH_EX, int (*)(void *, const void *), (d, a), 0)
#define nvtxDomainRangeStartEx(d, a) \
	CALL(1, NV_CORE2_START_EX, uint64_t (*)(void *, const void *), (d, a), 0)
#define nvtxDomainRangeEnd(d, r) \
	CALL(1, NV_CORE2_END, void (*)(void *, uint64_t), (d, r), (void)0)
#define nvtxNameCudaStreamA(s, n) \
	CALL(2, NV_CUDART_STREAM_A, void (*)(void *, const char *), (s, n), (void)0)
#define nvtxNameCudaStreamW(s, n) \
	CALL(2, NV_CUDART_STREAM_W, void (*)(void *, const void *), (s, n), (void)0)
#define nvtxNameOsThreadW(t, n) \
	CALL(0, NV_CORE_THREAD_W, void (*)(uint32_t, const void *), (t, n), (void)0)
#define nvtxRangePushPayload(d, p, n) \
	PAYLOAD_CALL(NV_PAYLOAD_PUSH, int (*)(void *, const void *, size_t), (d, p, n), -2)
#define nvtxRangePopPayload(d, p, n) \
	PAYLOAD_CALL(NV_PAYLOAD_POP, int (*)(void *, const void *, size_t), (d, p, n), -2)
#define nvtxRangeStartPayload(d, p, n) \
	PAYLOAD_CALL(NV_PAYLOAD_START, uint64_t (*)(void *, const void *, size_t), (d, p, n), 0)
#define nvtxRangeEndPayload(d, r, p, n) \
	PAYLOAD_CALL(NV_PAYLOAD_END, void (*)(void *, uint64_t, const void *, size_t), (d, r, p, n), (void)0)
#define nvtxDomainRangePop(d) CALL(1, NV_CORE2_POP, int (*)(void *), (d), 0)

#endif
