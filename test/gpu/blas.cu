/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matrix products by cuBLAS on four streams: a program that keeps the GPU busy.
 *
 * Limits: `blas SIZE NUMBER`; prints the seconds that it took.
 */
#include "count.h"

#include <cublas_v2.h>

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1024, count = argc > 2 ? atoi(argv[2]) : 40;
	cudaStream_t streams[4];
	cublasHandle_t handles[4];
	float *a[4], *b, *c[4], one = 1, zero = 0;
	uint64_t begin;

	CK(cudaMalloc(&b, (size_t)n * n * sizeof(*b)));
	CK(cudaMemset(b, 0, (size_t)n * n * sizeof(*b)));
	for (int i = 0; i < 4; i++) {
		CK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
		CK(cudaMalloc(&a[i], (size_t)n * n * sizeof(*b)));
		CK(cudaMalloc(&c[i], (size_t)n * n * sizeof(*b)));
		CK(cudaMemset(a[i], 0, (size_t)n * n * sizeof(*b)));
		if (cublasCreate(&handles[i]) || cublasSetStream(handles[i], streams[i]))
			return 3;
	}
	for (int i = -4; i < count; i++) {
		if (i == 0) { /* warm */
			CK(cudaDeviceSynchronize());
			begin = now_ns();
		}
		if (cublasSgemm(handles[i & 3], CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a[i & 3], n,
				b, n, &zero, c[i & 3], n))
			return 3;
	}
	CK(cudaDeviceSynchronize());
	printf("TIME seconds=%.9f\n", (double)(now_ns() - begin) / 1e9);
	put_count("products", (uint64_t)count + 4);
	return 0;
}
