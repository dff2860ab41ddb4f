/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ten small programs in one, each with kernels of another kind: their times are compared with what
 * an independent tool measures.
 *
 * Limits: `kernels MODE`, 0 to 9.
 */
#include "count.h"

__global__ void k_add(const float *a, const float *b, float *c, size_t n)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
	     i += (size_t)gridDim.x * blockDim.x)
		c[i] = a[i] + b[i];
}

__global__ void k_fma(float *c, int n)
{
	float x = threadIdx.x, y = 1.0001f, z = blockIdx.x;

	for (int i = 0; i < n; i++) {
		x = x * y + z;
		z = z * y + x;
	}
	if (x == 12345.678f)
		c[0] = x + z;
}

__global__ void k_multiply(const float *a, const float *b, float *c, int n)
{
	int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;

	for (int i = 0; i < n; i++)
		sum += a[row * n + i] * b[i * n + col];
	c[row * n + col] = sum;
}

__global__ void k_sum(const float *a, float *out, size_t n)
{
	float sum = 0;

	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
	     i += (size_t)gridDim.x * blockDim.x)
		sum += a[i];
	atomicAdd(out, sum);
}

__global__ void k_chase(const unsigned *next, unsigned *out, int n)
{
	unsigned at = 0;

	for (int i = 0; i < n; i++)
		at = next[at];
	*out = at;
}

/* Brings the clocks up; not compared. */
__global__ void k_warm(float *c, int n)
{
	float x = threadIdx.x;

	for (int i = 0; i < n; i++)
		x = x * 1.0001f + 1;
	if (x == 12345.678f)
		c[0] = x;
}

int main(int argc, char **argv)
{
	int mode = argc > 1 ? atoi(argv[1]) : 0;
	const size_t n = 64 << 20;
	float *a, *b, *c;

	CK(cudaMalloc(&a, n * sizeof(*a)));
	CK(cudaMalloc(&b, n * sizeof(*a)));
	CK(cudaMalloc(&c, n * sizeof(*a)));
	CK(cudaMemset(a, 0, n * sizeof(*a)));
	CK(cudaMemset(b, 0, n * sizeof(*a)));
	for (int i = 0; i < 50; i++)
		k_warm<<<1056, 256>>>(c, 40000);
	CK(cudaDeviceSynchronize());
	for (int i = 0; i < 60; i++)
		switch (mode) {
		case 0:
			LAUNCH(k_spin, 1, 1, 0, 0, 1000000);
			break;
		case 1:
			LAUNCH(k_spin, 132, 128, 0, 0, 3000000);
			break;
		case 2:
			LAUNCH(k_spin, 1, 1, 0, 0, 10000000);
			break;
		case 3:
			LAUNCH(k_add, 2112, 256, 0, 0, a, b, c, n);
			break;
		case 4:
			LAUNCH(k_fma, 1056, 256, 0, 0, c, 40000);
			break;
		case 5:
			LAUNCH(k_multiply, dim3(128, 128), dim3(16, 16), 0, 0, a, b, c, 2048);
			break;
		case 6:
			LAUNCH(k_sum, 2112, 256, 0, 0, a, c, n);
			break;
		case 7:
			LAUNCH(k_chase, 1, 1, 0, 0, (const unsigned *)a, (unsigned *)c, 20000);
			break;
		case 8:
			LAUNCH(k_square, (unsigned)(n / 256), 256, 0, 0, a, n);
			break;
		default:
			LAUNCH(k_spin, 1, 1, 0, 0, 2000000);
			LAUNCH(k_fma, 1056, 256, 0, 0, c, 20000);
			break;
		}
	CK(cudaDeviceSynchronize());
	n_kernels += 50;
	put_counts();
	return 0;
}
