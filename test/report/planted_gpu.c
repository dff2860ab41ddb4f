/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One problem of a program that uses a GPU, on the fake device: ID, or its twin without it: ID clean. Of two
 * that mpirun starts each waits for the other at the FIFO that PLANTED_MEET names.
 *
 * Limits: a kernel of the fake device takes a microsecond for each block, a copy one for each 10 kB. An
 * allocation, and the host after it has waited, sleep, so that their shares of the run are the same on a busy
 * machine.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fake.h"

enum { PART = 10000000 }; /* bytes that take a millisecond */

static char host[PART];
static void *first, *second;

static void kernel(unsigned blocks, void *stream)
{
	cudaLaunchKernel("_Z3addPfi", blocks, 128, stream);
}

static void blocking_copy(bool bad)
{
	for (int i = 0; i < 50; i++)
		if (bad)
			cudaMemcpy((void *)0x7000, host, PART, 1);
		else
			cuMemcpyHtoDAsync_v2(0x7000, host, PART, first);
}

static void pageable_copy(bool bad)
{
	fake_pageable(bad);
	for (int i = 0; i < 50; i++)
		cuMemcpyHtoDAsync_v2(0x7000, host, PART, first);
}

static void no_overlap(bool bad)
{
	for (int i = 0; i < 20; i++) {
		cuMemcpyHtoDAsync_v2(0x7000, host, PART, first);
		kernel(1000, bad ? first : second);
	}
}

static void tiny_kernels(bool bad)
{
	for (int i = 0; i < 3000; i++) {
		kernel(bad ? 1 : 50, first);
		if (bad) /* else they wait behind each other where the host is fast */
			cuStreamSynchronize(first);
	}
}

static void gpu_gaps(bool bad)
{
	if (!bad) /* the host may be interrupted while it runs */
		kernel(300000, first);
	for (int i = 0; i < 40; i++) {
		kernel(1000, first);
		if (bad && i % 8 == 7) {
			cudaDeviceSynchronize();
			nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
		}
	}
}

static void sync_each_launch(bool bad)
{
	for (int i = 0; i < 300; i++) {
		kernel(500, first);
		if (bad) {
			cudaDeviceSynchronize();
			nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
		}
	}
}

static void gpu_memory(bool bad)
{
	uint64_t memory;

	fake_allocation(500000);
	for (int i = 0; i < (bad ? 400 : 50); i++)
		cuMemAlloc_v2(&memory, 4096);
	kernel(1000, first);
}

static void one_stream(bool bad)
{
	for (int i = 0; i < 1000; i++)
		kernel(20, bad || i % 2 ? first : second);
}

static void meet(void)
{
	const char *path = getenv("PLANTED_MEET"), *rank = getenv("OMPI_COMM_WORLD_RANK");

	rank = rank ? rank : getenv("PMI_RANK");
	if (path && rank)
		close(open(path, atoi(rank) % 2 ? O_RDONLY : O_WRONLY));
}

int main(int argc, char **argv)
{
	static const struct {
		const char *id;
		void (*work)(bool bad);
	} all[] = {
		{ "blocking-copy", blocking_copy }, { "pageable-copy", pageable_copy },
		{ "no-overlap", no_overlap },
		{ "tiny-kernels", tiny_kernels },   { "gpu-gaps", gpu_gaps },
		{ "sync-each-launch", sync_each_launch }, { "gpu-memory", gpu_memory },
		{ "one-stream", one_stream },
	};

	cuInit(0);
	meet();
	cuStreamCreate(&first, 0);
	cuStreamCreate(&second, 0);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (argc < 2)
			puts(all[i].id);
		else if (!strcmp(argv[1], all[i].id))
			all[i].work(argc < 3);
	}
	if (argc > 1)
		cudaDeviceSynchronize();
	return 0;
}
