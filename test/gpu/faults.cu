/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One fault of GPU programs at a time, and its clean twin, which does the same work as it should be done:
 * what gputrace report must find, and must not find (gpu_findings.py).
 *
 *	faults ID [clean]
 *
 * Limits: kernels only wait, for a given time of the GPU's own timer. Everything is allocated, and every
 * kernel loaded, before the work begins, so that these make no gaps.
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MB = 1 << 20, BLOCKS = 128, STREAMS = 8 };

static cudaStream_t stream[STREAMS];
static char *pinned, *pageable, *device;
static bool clean;

#define MUST(call)                                                                                        \
	do {                                                                                              \
		cudaError_t rc = (call);                                                                  \
		if (rc != cudaSuccess) {                                                                  \
			fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(rc));                       \
			exit(1);                                                                          \
		}                                                                                         \
	} while (0)

static __device__ unsigned long long timer()
{
	unsigned long long t;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
	return t;
}

static __global__ void spin(unsigned long long ns)
{
	for (unsigned long long begin = timer(); timer() - begin < ns;)
		;
}

static void kernel(double us, int blocks = BLOCKS, int on = 0)
{
	spin<<<blocks, 32, 0, stream[on]>>>((unsigned long long)(us * 1000));
	MUST(cudaGetLastError());
}

static void host_works(double ms)
{
	struct timespec a, b;

	clock_gettime(CLOCK_MONOTONIC, &a);
	do
		clock_gettime(CLOCK_MONOTONIC, &b);
	while ((double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) * 1e-6 < ms);
}

static void copy(const char *from, size_t size, int on)
{
	MUST(cudaMemcpyAsync(device, from, size, cudaMemcpyHostToDevice, stream[on]));
}

static void blocking_copy()
{
	for (int i = 0; i < 150; i++) {
		kernel(3000);
		if (clean)
			copy(pinned, 128 * MB, 1);
		else
			MUST(cudaMemcpy(device, pinned, 128 * MB, cudaMemcpyHostToDevice));
	}
}

static void pageable_copy()
{
	for (int i = 0; i < 60; i++) {
		kernel(15000);
		copy(clean ? pinned : pageable, 64 * MB, 1);
	}
}

static void no_overlap()
{
	for (int i = 0; i < 150; i++) {
		copy(pinned, 128 * MB, clean);
		kernel(3000);
	}
}

static void tiny_kernels()
{
	for (int i = 0; i < (clean ? 1000 : 50000); i++)
		kernel(clean ? 200 : 2);
}

static void gpu_gaps()
{
	for (int i = 0; i < 20; i++) {
		kernel(20000);
		if (!clean)
			MUST(cudaDeviceSynchronize());
		host_works(18);
		if (clean)
			MUST(cudaDeviceSynchronize());
	}
}

static void sync_each_launch()
{
	for (int i = 0; i < 8000; i++) {
		kernel(20);
		if (!clean)
			MUST(cudaDeviceSynchronize());
	}
}

static void gpu_memory()
{
	void *more;

	for (int i = 0; i < 500; i++) {
		if (!clean)
			MUST(cudaMalloc(&more, 64 * MB));
		kernel(500);
		if (!clean)
			MUST(cudaFree(more));
	}
}

static void one_stream()
{
	for (int i = 0; i < 1000; i++)
		kernel(500, 8, clean ? i % STREAMS : 0);
}

/* Device 1 gets a tenth of what device 0 gets. */
static void unbalanced_gpus()
{
	for (int i = 0; i < 20; i++) {
		MUST(cudaSetDevice(0));
		spin<<<BLOCKS, 32>>>(20000000);
		if (!clean && i >= 2)
			continue;
		MUST(cudaSetDevice(1));
		spin<<<BLOCKS, 32>>>(20000000);
	}
	MUST(cudaDeviceSynchronize());
	MUST(cudaSetDevice(0));
}

static const struct {
	const char *id;
	void (*work)();
} faults[] = {
	{ "blocking-copy", blocking_copy }, { "pageable-copy", pageable_copy }, { "no-overlap", no_overlap },
	{ "tiny-kernels", tiny_kernels },   { "gpu-gaps", gpu_gaps }, { "sync-each-launch", sync_each_launch },
	{ "gpu-memory", gpu_memory },       { "one-stream", one_stream }, { "unbalanced-gpus", unbalanced_gpus },
};

int main(int argc, char **argv)
{
	int devices = 0;

	clean = argc > 2 && !strcmp(argv[2], "clean");
	for (size_t i = 0; argc > 1 && i < sizeof(faults) / sizeof(faults[0]); i++) {
		if (strcmp(argv[1], faults[i].id))
			continue;
		MUST(cudaGetDeviceCount(&devices));
		if (faults[i].work != unbalanced_gpus)
			devices = 1;    /* others would be idle */
		MUST(cudaMallocHost(&pinned, 128 * MB));
		pageable = (char *)malloc(64 * MB);
		memset(pageable, 1, 64 * MB);
		MUST(cudaMalloc(&device, 128 * MB));
		for (int s = 0; s < STREAMS; s++)
			MUST(cudaStreamCreateWithFlags(&stream[s], s ? cudaStreamNonBlocking : cudaStreamDefault));
		for (int d = devices; d-- > 0;) {
			MUST(cudaSetDevice(d));
			spin<<<BLOCKS, 32>>>(1000);
			MUST(cudaDeviceSynchronize());
		}
		faults[i].work();
		MUST(cudaDeviceSynchronize());
		return 0;
	}
	fprintf(stderr, "usage: faults ID [clean]\n");
	return 2;
}
