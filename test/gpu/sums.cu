/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums over all GPUs of the machine by NCCL; counts its calls.
 *
 * Limits: `sums [dry]`; one process, up to eight GPUs. Without a GPU it asks for the version only.
 */
#include "calls.h"

#include <nccl.h>

#define N     10000
#define TURNS 12
#define MOST  8

int main(int argc, char **argv)
{
	static float ones[N], sums[N];
	ncclComm_t comms[MOST];
	float *data[MOST], *result[MOST];
	int devices = 0, version = 0;
	bool right = true;

	begin(argc, argv);
	for (int i = 0; i < N; i++)
		ones[i] = 1;
	CALL(ncclGetVersion, &version);
	cudaGetDeviceCount(&devices);
	devices = devices > MOST ? MOST : devices;
	if (!devices)
		return finish(false);
	CALL(ncclCommInitAll, comms, devices, NULL);
	for (int d = 0; d < devices; d++) {
		CU(cudaSetDevice(d));
		CU(cudaMalloc(&data[d], sizeof(ones)));
		CU(cudaMalloc(&result[d], sizeof(ones)));
		CU(cudaMemcpy(data[d], ones, sizeof(ones), cudaMemcpyHostToDevice));
	}
	for (int i = 0; i < TURNS; i++) {
		CALL(ncclGroupStart);
		for (int d = 0; d < devices; d++)
			CALL(ncclAllReduce, data[d], result[d], N, ncclFloat, ncclSum, comms[d], 0);
		CALL(ncclGroupEnd);
	}
	for (int d = 0; d < devices; d++) {
		CU(cudaSetDevice(d));
		CU(cudaMemcpy(sums, result[d], sizeof(sums), cudaMemcpyDeviceToHost));
		for (int i = 0; i < N; i++)
			right &= sums[i] == (float)devices;
	}
	for (int d = 0; d < devices; d++)
		CALL(ncclCommDestroy, comms[d]);
	return finish(right);
}
