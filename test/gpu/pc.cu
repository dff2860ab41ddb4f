/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels for PC samples (gpu_pc.py). Compiled with -lineinfo.
 *
 *   pc two N        N launches of a kernel whose two lines have chains of 24 and of 72 dependent instructions
 *   pc paths N      N launches of it in the NVTX range "left", 2 * N in "right"
 *   pc product N    N matrix products of 12288 x 128 x 2048
 *   pc long MS      a kernel of MS milliseconds
 *   pc many N       N empty kernels; pc reset N: as two, with a cudaDeviceReset() in the middle
 *
 * Limits: prints COUNT lines as all programs of test/gpu; "ns": of the launches until they are over.
 */
#include <nvtx3/nvToolsExt.h>

#include "count.h"

#define CHAIN8(x, y) x = x * y + x; x = x * y + x; x = x * y + x; x = x * y + x; x = x * y + x; \
	x = x * y + x; x = x * y + x; x = x * y + x
#define CHAIN24(x, y) CHAIN8(x, y); CHAIN8(x, y); CHAIN8(x, y)
static __device__ __forceinline__ float scaled(float x, float y)
{
	CHAIN24(x, y);
	return x;
}

__global__ void two_lines(float *out, float y, int n)
{
	float x = threadIdx.x;

	for (int i = 0; i < n; i++) {
		x = scaled(x, y);
		CHAIN24(x, y); CHAIN24(x, y); CHAIN24(x, y);
	}
	out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

#define SIDE 16

__global__ void product(float *c, const float *a, const float *b, int n, int k)
{
	__shared__ float as[SIDE][4 * SIDE + 1], bs[SIDE][4 * SIDE + 1];
	int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE, row = blockIdx.y * 64, column = blockIdx.x * 64;
	float sum[4][4] = {};

	for (int p = 0; p < k; p += SIDE) {
		for (int i = 0; i < 4; i++) {
			as[x][y + i * SIDE] = a[(size_t)(row + y + i * SIDE) * k + p + x];
			bs[y][x + i * SIDE] = b[(size_t)(p + y) * n + column + x + i * SIDE];
		}
		__syncthreads();
		for (int q = 0; q < SIDE; q++)
			for (int i = 0; i < 4; i++)
				for (int j = 0; j < 4; j++)
					sum[i][j] += as[q][y + i * SIDE] * bs[q][x + j * SIDE];
		__syncthreads();
	}
	for (int i = 0; i < 4; i++)
		for (int j = 0; j < 4; j++)
			c[(size_t)(row + y + i * SIDE) * n + column + x + j * SIDE] = sum[i][j];
}

static float *a, *b, *c;

static void launch(const char *what, int n)
{
	for (int i = 0; i < n; i++, n_kernels++) {
		if (*what == 'p')
			product<<<dim3(128 / 64, 12288 / 64), 256>>>(c, a, b, 128, 2048);
		else if (*what == 't')
			two_lines<<<264, 256>>>(c, 0.25f, 2000);
		else
			k_empty<<<1, 1>>>();
	}
}

static void allocate(void)
{
	CK(cudaMalloc(&a, sizeof(float) * 12288 * 2048));
	CK(cudaMalloc(&b, sizeof(float) * 2048 * 128));
	CK(cudaMalloc(&c, sizeof(float) * 12288 * 128));
	CK(cudaMemset(a, 0, sizeof(float) * 12288 * 2048));
	CK(cudaMemset(b, 0, sizeof(float) * 2048 * 128));
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "two";
	int n = argc > 2 ? atoi(argv[2]) : 10;
	uint64_t begin;

	allocate();
	launch(!strcmp(what, "paths") ? "empty" : !strcmp(what, "reset") ? "two" : what, 1); /* the module is loaded */
	CK(cudaDeviceSynchronize());
	begin = now_ns();
	if (!strcmp(what, "long")) {
		k_spin<<<4, 64>>>((uint64_t)n * 1000000u);
		n_kernels++;
	} else if (!strcmp(what, "paths")) {
		nvtxRangePushA("left");
		launch("two", n);
		nvtxRangePop();
		nvtxRangePushA("right");
		launch("two", 2 * n);
		nvtxRangePop();
	} else if (!strcmp(what, "reset")) {
		launch("two", n / 2);
		CK(cudaDeviceReset());
		allocate();
		launch("two", n - n / 2);
	} else {
		launch(what, n);
	}
	CK(cudaDeviceSynchronize());
	put_count("ns", now_ns() - begin);
	put_counts();
	return 0;
}
