/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Polling, memory, waiting, failing and a graph on the fake device.
 * Limits: the numbers are those that options.test expects.
 */
#include <stddef.h>

#include "fake.h"

int main(void)
{
	uint64_t a, b;

	cuMemAlloc_v2(&a, 1000000);
	cuMemAlloc_v2(&b, 500000);
	cudaLaunchKernel("_Z4workv", 300, 32, (void *)13);
	while (cudaEventQuery((void *)13))
		;
	cudaLaunchKernel("_Z4workv", 300, 32, (void *)13);
	while (cudaEventQuery((void *)13))
		;
	cudaLaunchKernel("_Z5cleanv", 50000, 32, (void *)13);
	cuMemFree_v2(b); /* waits for it */
	cudaLaunchKernel("_Z4workv", 0, 32, (void *)13); /* an empty grid is an error */
	cuGraphLaunch((void *)0x5000, (void *)14);
	cuGraphLaunch((void *)0x5000, (void *)14);
	cuMemcpyPeer(0x7000, (void *)0x2000, 0x8000, (void *)0x1000, 300000);
	cudaDeviceSynchronize();
	cuMemFree_v2(a);
	return 0;
}
