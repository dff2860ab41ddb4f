/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares cuda/nvtx_abi.h with NVIDIA's header: compiles only if every number and offset agrees.
 * Limits: NVTX 3.
 */
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include "cuda/nvtx_abi.h"

#define SAME(theirs, mine) \
	_Static_assert(offsetof(nvtxEventAttributes_t, theirs) == offsetof(struct nv_attributes, mine) && \
		       sizeof(((nvtxEventAttributes_t *)0)->theirs) == \
			       sizeof(((struct nv_attributes *)0)->mine), #theirs)
#define NUMBER(theirs, mine) _Static_assert((int)(theirs) == (int)(mine), #theirs)

_Static_assert(sizeof(nvtxEventAttributes_t) == sizeof(struct nv_attributes), "size");
SAME(version, version);
SAME(size, size);
SAME(category, category);
SAME(payloadType, payload_type);
SAME(payload, payload);
SAME(messageType, message_type);
SAME(message, message);
NUMBER(NVTX_MESSAGE_TYPE_ASCII, 1);
NUMBER(NVTX_MESSAGE_TYPE_UNICODE, 2);
NUMBER(NVTX_MESSAGE_TYPE_REGISTERED, 3);
NUMBER(NVTX_PAYLOAD_TYPE_UNSIGNED_INT64, 1);
NUMBER(NVTX_PAYLOAD_TYPE_INT64, 2);
NUMBER(NVTX_PAYLOAD_TYPE_DOUBLE, 3);
NUMBER(NVTX_PAYLOAD_TYPE_UNSIGNED_INT32, 4);
NUMBER(NVTX_PAYLOAD_TYPE_INT32, 5);
NUMBER(NVTX_PAYLOAD_TYPE_FLOAT, 6);
NUMBER(NVTX_CB_MODULE_CORE, NV_MODULE_CORE);
NUMBER(NVTX_CB_MODULE_CORE2, NV_MODULE_CORE2);
NUMBER(NVTX_CB_MODULE_CUDA, NV_MODULE_CUDA);
NUMBER(NVTX_CB_MODULE_CUDART, NV_MODULE_CUDART);
NUMBER(NVTX_CBID_CORE_MarkEx, NV_CORE_MARK_EX);
NUMBER(NVTX_CBID_CORE_RangeStartEx, NV_CORE_START_EX);
NUMBER(NVTX_CBID_CORE_RangeEnd, NV_CORE_END);
NUMBER(NVTX_CBID_CORE_RangePushEx, NV_CORE_PUSH_EX);
NUMBER(NVTX_CBID_CORE_RangePop, NV_CORE_POP);
NUMBER(NVTX_CBID_CORE_NameCategoryA, NV_CORE_CATEGORY_A);
NUMBER(NVTX_CBID_CORE_NameOsThreadW, NV_CORE_THREAD_W);
NUMBER(NVTX_CBID_CORE2_DomainMarkEx, NV_CORE2_MARK_EX);
NUMBER(NVTX_CBID_CORE2_DomainRangePop, NV_CORE2_POP);
NUMBER(NVTX_CBID_CORE2_DomainNameCategoryA, NV_CORE2_CATEGORY_A);
NUMBER(NVTX_CBID_CORE2_DomainRegisterStringA, NV_CORE2_STRING_A);
NUMBER(NVTX_CBID_CORE2_DomainCreateA, NV_CORE2_CREATE_A);
NUMBER(NVTX_CBID_CORE2_DomainDestroy, NV_CORE2_DESTROY);
NUMBER(NVTX_CBID_CUDA_NameCuStreamA, NV_CUDA_STREAM_A);
NUMBER(NVTX_CBID_CUDART_NameCudaStreamA, NV_CUDART_STREAM_A);
NUMBER(NVTX_ETID_CALLBACKS, NV_TABLE_CALLBACKS);
#ifdef NVTX3EXT_CBID_nvtxRangePopPayload
NUMBER(NVTX_EXT_PAYLOAD_MODULEID, NV_EXTENSION_PAYLOAD);
NUMBER(NVTX3EXT_CBID_nvtxRangePushPayload, NV_PAYLOAD_PUSH);
NUMBER(NVTX3EXT_CBID_nvtxRangePopPayload, NV_PAYLOAD_POP);
NUMBER(NVTX3EXT_CBID_nvtxRangeStartPayload, NV_PAYLOAD_START);
NUMBER(NVTX3EXT_CBID_nvtxRangeEndPayload, NV_PAYLOAD_END);
_Static_assert(sizeof(nvtxExtModuleInfo_t) == sizeof(struct nv_extension), "size of the extension");
#define AT(type, theirs, ours, mine) \
	_Static_assert(offsetof(type, theirs) == offsetof(struct ours, mine), #theirs)
AT(nvtxExtModuleInfo_t, structSize, nv_extension, bytes);
AT(nvtxExtModuleInfo_t, moduleId, nv_extension, module);
AT(nvtxExtModuleInfo_t, segments, nv_extension, segments);
AT(nvtxExtModuleSegment_t, slotCount, nv_segment, slots);
AT(nvtxExtModuleSegment_t, functionSlots, nv_segment, functions);
#endif
