/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The driver API alone: two contexts on one device, kernels loaded from PTX, copies and sets.
 *
 * Limits: `driver [NUMBER]`.
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
	CUcontext first, second;
	CUdevice device;

	CU(cuInit(0));
	CU(cuDeviceGet(&device, 0));
#if CUDA_VERSION >= 13000
	CU(cuCtxCreate(&first, NULL, 0, device));
	CU(cuCtxCreate(&second, NULL, 0, device));
#else
	CU(cuCtxCreate(&first, 0, device));
	CU(cuCtxCreate(&second, 0, device));
#endif
	in_context(first, n);
	in_context(second, 2 * n);
	put_count("contexts", 2);
	put_counts();
	CU(cuCtxDestroy(second));
	CU(cuCtxDestroy(first));
	return 0;
}
