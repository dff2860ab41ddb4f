/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the programs of test/gpu share: checking calls, counting what they ask the GPU to do, and
 * printing it for the comparison with the trace.
 *
 * Limits: the counters are for one thread, or atomic where several threads count.
 */
#ifndef GT_TEST_GPU_COUNT_H
#define GT_TEST_GPU_COUNT_H

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <cuda_runtime.h>

#define CK(call)                                                                                   \
	do {                                                                                       \
		cudaError_t error_ = (call);                                                       \
		if (error_ != cudaSuccess) {                                                       \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,              \
				cudaGetErrorString(error_));                                       \
			exit(3);                                                                   \
		}                                                                                  \
	} while (0)

static std::atomic<uint64_t> n_kernels{0}, n_h2d{0}, n_d2h{0}, n_d2d{0}, n_memset{0};
static std::atomic<uint64_t> b_h2d{0}, b_d2h{0}, b_d2d{0};

static inline void put_count(const char *name, uint64_t value)
{
	printf("COUNT %s=%llu\n", name, (unsigned long long)value);
}

static inline void put_counts(void)
{
	put_count("kernels", n_kernels);
	put_count("h2d", n_h2d);
	put_count("d2h", n_d2h);
	put_count("d2d", n_d2d);
	put_count("memsets", n_memset);
	put_count("h2d_bytes", b_h2d);
	put_count("d2h_bytes", b_d2h);
	put_count("d2d_bytes", b_d2d);
	fflush(stdout);
}

static inline uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

__global__ void k_empty() {}

/* Runs for that many nanoseconds of the GPU's own timer. */
__global__ void k_spin(uint64_t ns)
{
	uint64_t begin, now;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
	do
		asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	while (now - begin < ns);
}

__global__ void k_square(float *data, size_t n)
{
	size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;

	if (i < n)
		data[i] *= data[i];
}

/* k_name<<<...>>> with counting. */
#define LAUNCH(kernel, grid, block, shared, stream, ...)                                           \
	do {                                                                                       \
		kernel<<<grid, block, shared, stream>>>(__VA_ARGS__);                              \
		CK(cudaGetLastError());                                                            \
		n_kernels++;                                                                       \
	} while (0)

static inline void count_copy(cudaMemcpyKind kind, uint64_t bytes)
{
	if (kind == cudaMemcpyHostToDevice) {
		n_h2d++;
		b_h2d += bytes;
	} else if (kind == cudaMemcpyDeviceToHost) {
		n_d2h++;
		b_d2h += bytes;
	} else {
		n_d2d++;
		b_d2d += bytes;
	}
}

#endif
