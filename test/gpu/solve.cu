/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Systems of equations by cuSOLVER: factors of Cholesky and of Gauss, solved; counts its calls.
 *
 * Limits: `solve [dry]`.
 */
#include "calls.h"

#include <cmath>
#include <cusolverDn.h>

#define N     200
#define TURNS 10

int main(int argc, char **argv)
{
	static double a[N * N], b[N], x[N];
	cusolverDnHandle_t handle = NULL;
	double *matrix = NULL, *side = NULL, *work = NULL, worst = 0, sum;
	int *info = NULL, *pivots = NULL, words = 0, more = 0;

	begin(argc, argv);
	for (int i = 0; i < N * N; i++)
		a[i] = i % (N + 1) ? 1.0 / (2 + abs(i / N - i % N)) : N;
	for (int i = 0; i < N; i++)
		b[i] = i;
	CU(cudaMalloc(&matrix, sizeof(a)));
	CU(cudaMalloc(&side, sizeof(b)));
	CU(cudaMalloc(&info, sizeof(*info)));
	CU(cudaMalloc(&pivots, N * sizeof(*pivots)));
	CALL(cusolverDnCreate, &handle);
	CALL(cusolverDnDpotrf_bufferSize, handle, CUBLAS_FILL_MODE_LOWER, N, matrix, N, &words);
	CALL(cusolverDnDgetrf_bufferSize, handle, N, N, matrix, N, &more);
	words = words > more ? words : more;
	CU(cudaMalloc(&work, (size_t)words * sizeof(*work)));
	for (int i = 0; i < TURNS; i++) {
		CU(cudaMemcpy(matrix, a, sizeof(a), cudaMemcpyHostToDevice));
		CU(cudaMemcpy(side, b, sizeof(b), cudaMemcpyHostToDevice));
		if (i % 2) {
			CALL(cusolverDnDpotrf, handle, CUBLAS_FILL_MODE_LOWER, N, matrix, N, work, words,
			     info);
			CALL(cusolverDnDpotrs, handle, CUBLAS_FILL_MODE_LOWER, N, 1, matrix, N, side, N,
			     info);
		} else {
			CALL(cusolverDnDgetrf, handle, N, N, matrix, N, work, pivots, info);
			CALL(cusolverDnDgetrs, handle, CUBLAS_OP_N, N, 1, matrix, N, pivots, side, N,
			     info);
		}
		CU(cudaMemcpy(x, side, sizeof(x), cudaMemcpyDeviceToHost));
		for (int row = 0; row < N; row++) {
			sum = 0;
			for (int column = 0; column < N; column++)
				sum += a[row + column * N] * x[column];
			worst = fmax(worst, fabs(sum - b[row]));
		}
	}
	CALL(cusolverDnDestroy, handle);
	return finish(worst < 1e-6);
}
