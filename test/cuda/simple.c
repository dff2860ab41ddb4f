/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels and copies on the fake device, as many as asked for; prints what it did.
 * Limits: arguments: launches, copies, threads.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "fake.h"

static int launches = 10, copies = 4;

static void *run(void *number)
{
	void *stream = (void *)(13 + (uintptr_t)number);
	static char host[1 << 16];

	for (int i = 0; i < launches; i++)
		cudaLaunchKernel(i % 2 ? "_Z3addPfi" : "_Z5scalePff", 10 + (unsigned)(i % 3), 128, stream);
	for (int i = 0; i < copies; i++)
		cudaMemcpy(i % 2 ? host : (void *)0x7000, i % 2 ? (void *)0x7000 : host,
			   1000 * (size_t)(i + 1), i % 2 ? 2 : 1);
	cuMemcpyHtoDAsync_v2(0x7000, host, 5000, stream);
	cuMemsetD8Async(0x7000, 0, 4096, stream);
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 3 ? atoi(argv[3]) : 1;
	pthread_t others[64];

	if (argc > 1)
		launches = atoi(argv[1]);
	if (argc > 2)
		copies = atoi(argv[2]);
	for (int i = 1; i < threads && i < 64; i++)
		pthread_create(&others[i], NULL, run, (void *)(uintptr_t)i);
	run(NULL);
	for (int i = 1; i < threads && i < 64; i++)
		pthread_join(others[i], NULL);
	cudaDeviceSynchronize();
	printf("launches %d copies %d sets %d\n", launches * threads, (copies + 1) * threads, threads);
	return 0;
}
