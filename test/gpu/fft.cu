/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transforms by cuFFT, there and back again; counts its calls.
 *
 * Limits: `fft [dry]`.
 */
#include "calls.h"

#include <cmath>
#include <cufft.h>

#define N     4096
#define TURNS 5

int main(int argc, char **argv)
{
	static cufftComplex in[N], out[N];
	cufftHandle there, real;
	cudaStream_t stream = NULL;
	cufftComplex *data = NULL;
	int version = 0;
	size_t bytes = 0;
	float worst = 0;

	begin(argc, argv);
	for (int i = 0; i < N; i++)
		in[i].x = (float)(i % 17);
	CU(cudaStreamCreate(&stream));
	CU(cudaMalloc(&data, sizeof(in) + 64));
	CU(cudaMemcpy(data, in, sizeof(in), cudaMemcpyHostToDevice));
	CALL(cufftGetVersion, &version);
	CALL(cufftPlan1d, &there, N, CUFFT_C2C, 1);
	CALL(cufftSetStream, there, stream);
	for (int i = 0; i < TURNS; i++) {
		CALL(cufftExecC2C, there, data, data, CUFFT_FORWARD);
		CALL(cufftExecC2C, there, data, data, CUFFT_INVERSE);
	}
	CU(cudaStreamSynchronize(stream));
	CU(cudaMemcpy(out, data, sizeof(out), cudaMemcpyDeviceToHost));
	for (int i = 0; i < N; i++)
		worst = fmaxf(worst, fabsf(out[i].x / powf(N, TURNS) - in[i].x));
	CALL(cufftCreate, &real);
	CALL(cufftMakePlan2d, real, 32, 64, CUFFT_R2C, &bytes);
	for (int i = 0; i < TURNS; i++)
		CALL(cufftExecR2C, real, (cufftReal *)data, data);
	CU(cudaDeviceSynchronize());
	CALL(cufftDestroy, real);
	CALL(cufftDestroy, there);
	return finish(worst < 0.01f);
}
