/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Products of a sparse matrix and a vector by cuSPARSE; counts its calls.
 *
 * Limits: `sparse [dry]`. The matrix has two diagonals.
 */
#include "calls.h"

#include <cmath>
#include <cusparse.h>

#define N     1000
#define NNZ   (2 * N - 1)
#define TURNS 30

int main(int argc, char **argv)
{
	static int rows[N + 1], columns[NNZ];
	static float values[NNZ], x[N], y[N];
	int *d_rows = NULL, *d_columns = NULL;
	float *d_values = NULL, *d_x = NULL, *d_y = NULL, one = 1, zero = 0, worst = 0;
	cusparseHandle_t handle = NULL;
	cusparseSpMatDescr_t matrix = NULL;
	cusparseDnVecDescr_t from = NULL, to = NULL;
	void *work = NULL;
	size_t bytes = 0;
	int at = 0;

	begin(argc, argv);
	for (int i = 0; i < N; i++) {
		rows[i] = at;
		columns[at] = i;
		values[at++] = 2;
		x[i] = (float)i;
		if (i + 1 == N)
			break;
		columns[at] = i + 1;
		values[at++] = -1;
	}
	rows[N] = at;
	CU(cudaMalloc(&d_rows, sizeof(rows)));
	CU(cudaMalloc(&d_columns, sizeof(columns)));
	CU(cudaMalloc(&d_values, sizeof(values)));
	CU(cudaMalloc(&d_x, sizeof(x)));
	CU(cudaMalloc(&d_y, sizeof(y)));
	CU(cudaMemcpy(d_rows, rows, sizeof(rows), cudaMemcpyHostToDevice));
	CU(cudaMemcpy(d_columns, columns, sizeof(columns), cudaMemcpyHostToDevice));
	CU(cudaMemcpy(d_values, values, sizeof(values), cudaMemcpyHostToDevice));
	CU(cudaMemcpy(d_x, x, sizeof(x), cudaMemcpyHostToDevice));
	CALL(cusparseCreate, &handle);
	if (!handle) /* without a GPU, the rest would read what is not there */
		return finish(false);
	CALL(cusparseCreateCsr, &matrix, N, N, NNZ, d_rows, d_columns, d_values, CUSPARSE_INDEX_32I,
	     CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
	CALL(cusparseCreateDnVec, &from, N, d_x, CUDA_R_32F);
	CALL(cusparseCreateDnVec, &to, N, d_y, CUDA_R_32F);
	CALL(cusparseSpMV_bufferSize, handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, from, &zero,
	     to, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, &bytes);
	CU(cudaMalloc(&work, bytes ? bytes : 1));
	for (int i = 0; i < TURNS; i++)
		CALL(cusparseSpMV, handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, from, &zero, to,
		     CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, work);
	CU(cudaMemcpy(y, d_y, sizeof(y), cudaMemcpyDeviceToHost));
	for (int i = 0; i < N; i++)
		worst = fmaxf(worst, fabsf(y[i] - (2 * x[i] - (i + 1 < N ? x[i + 1] : 0))));
	CALL(cusparseDestroyDnVec, to);
	CALL(cusparseDestroyDnVec, from);
	CALL(cusparseDestroySpMat, matrix);
	CALL(cusparseDestroy, handle);
	return finish(worst < 1e-3f);
}
