/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The driver API alone: contexts on one device, kernels loaded from PTX, copies and sets.
 *
 * Limits: `driver [NUMBER [CONTEXTS]]`; two contexts if nothing else is said, at most 32.
 */
#include "count.h"

#include <cuda.h>

#define CU(call)                                                                                   \
	do {                                                                                       \
		CUresult result_ = (call);                                                         \
		if (result_ != CUDA_SUCCESS) {                                                     \
			fprintf(stderr, "%s:%d: %s: %d\n", __FILE__, __LINE__, #call,              \
				(int)result_);                                                     \
			exit(3);                                                                   \
		}                                                                                  \
	} while (0)

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
			  ".visible .entry ptx_kernel()\n{\nret;\n}\n";

static void in_context(CUcontext context, unsigned n)
{
	static char host[4096];
	CUdeviceptr device;
	CUfunction function;
	CUmodule module;
	CUstream stream;

	CU(cuCtxSetCurrent(context));
	CU(cuModuleLoadData(&module, ptx));
	CU(cuModuleGetFunction(&function, module, "ptx_kernel"));
	CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	CU(cuMemAlloc(&device, 4096));
	for (unsigned i = 0; i < n; i++) {
		CU(cuLaunchKernel(function, 3, 1, 1, 64, 1, 1, 0, stream, NULL, NULL));
		n_kernels++;
	}
	CU(cuMemcpyHtoD(device, host, 1000));
	count_copy(cudaMemcpyHostToDevice, 1000);
	CU(cuMemsetD8Async(device, 1, 4096, stream));
	n_memset++;
	CU(cuStreamSynchronize(stream));
	CU(cuMemcpyDtoH(host, device, 2000));
	count_copy(cudaMemcpyDeviceToHost, 2000);
	CU(cuCtxSynchronize());
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 100;
	unsigned contexts = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 2;
	CUcontext context[32];
	CUdevice device;

	contexts = contexts < 32 ? contexts : 32;
	CU(cuInit(0));
	CU(cuDeviceGet(&device, 0));
	for (unsigned i = 0; i < contexts; i++)
#if CUDA_VERSION >= 13000
		CU(cuCtxCreate(&context[i], NULL, 0, device));
#else
		CU(cuCtxCreate(&context[i], 0, device));
#endif
	for (unsigned i = 0; i < contexts; i++)
		in_context(context[i], (i + 1) * n);
	put_count("contexts", contexts);
	put_counts();
	for (unsigned i = contexts; i-- > 0;)
		CU(cuCtxDestroy(context[i]));
	return 0;
}
