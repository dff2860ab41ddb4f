/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NVTX around work on a GPU, with NVIDIA's own header: ranges, a domain with categories and payloads, ranges
 * that overlap, names of streams and threads, marks.
 *
 * Limits: `nvtx [NUMBER]`, or `nvtx many NUMBER`.
 */
#include "count.h"

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

/* More names than are kept, each as a range and as a mark. */
static int many(unsigned n)
{
	nvtxEventAttributes_t a = {};
	char text[64];

	a.version = NVTX_VERSION;
	a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	a.messageType = NVTX_MESSAGE_TYPE_ASCII;
	a.message.ascii = text;
	for (unsigned i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "step number %u", i);
		nvtxRangePushEx(&a);
		if (i % 100 == 0)
			LAUNCH(k_empty, 1, 32, 0, 0);
		nvtxMarkEx(&a);
		nvtxRangePop();
	}
	CK(cudaDeviceSynchronize());
	put_count("steps", n);
	put_counts();
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 2)
		return many((unsigned)strtoul(argv[2], NULL, 10));

	unsigned n = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 100;
	nvtxDomainHandle_t domain = nvtxDomainCreateA("solver");
	nvtxEventAttributes_t a = {};
	nvtxRangeId_t before = 0, now = 0;
	cudaStream_t stream;

	CK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	nvtxNameCudaStreamA(stream, "the solver's stream");
	nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "main of nvtx");
	nvtxDomainNameCategoryA(domain, 3, "inner loop");
	a.version = NVTX_VERSION;
	a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	a.category = 3;
	a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	a.message.registered = nvtxDomainRegisterStringA(domain, "iterate");
	a.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
	for (unsigned i = 0; i < n; i++) {
		nvtxRangePushA("step");
		a.payload.ullValue = i;
		nvtxDomainRangePushEx(domain, &a);
		LAUNCH(k_empty, 1, 32, 0, stream);
		LAUNCH(k_spin, 1, 1, 0, stream, 1000);
		nvtxDomainRangePop(domain);
		nvtxRangePop();
		now = nvtxRangeStartA("in flight"); /* until after the next has begun */
		if (before)
			nvtxRangeEnd(before);
		before = now;
	}
	nvtxMarkA("all asked for");
	std::thread([now] { nvtxRangeEnd(now); }).join();
	CK(cudaDeviceSynchronize());
	put_count("steps", n);
	put_counts();
	return 0;
}
