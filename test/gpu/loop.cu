/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops of one operation, timed by the program: empty launches or 4 KB copies.
 *
 * Limits: `loop launch|copy NUMBER [REPORTS]`; with REPORTS the size of the process is printed so many
 * times on the way.
 */
#include "count.h"

#include <unistd.h>

static unsigned long long resident_kb(void)
{
	unsigned long long size = 0, resident = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (file && fscanf(file, "%llu %llu", &size, &resident) != 2)
		resident = 0;
	if (file)
		fclose(file);
	return resident * (unsigned long long)sysconf(_SC_PAGESIZE) / 1024;
}

int main(int argc, char **argv)
{
	bool copy = argc > 1 && !strcmp(argv[1], "copy");
	uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 100000;
	uint64_t reports = argc > 3 ? strtoull(argv[3], NULL, 10) : 0, begin;
	cudaStream_t stream;
	char *host, *device;

	CK(cudaMallocHost(&host, 4096));
	CK(cudaMalloc(&device, 4096));
	CK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (int i = 0; i < 5000; i++) {
		k_empty<<<1, 32, 0, stream>>>();
		CK(cudaMemcpyAsync(device, host, 4096, cudaMemcpyHostToDevice, stream));
	}
	CK(cudaStreamSynchronize(stream));
	begin = now_ns();
	for (uint64_t i = 0; i < n; i++) {
		if (copy)
			cudaMemcpyAsync(device, host, 4096, cudaMemcpyHostToDevice, stream);
		else
			k_empty<<<1, 32, 0, stream>>>();
		if (reports && (i + 1) % (n / reports) == 0)
			printf("RESIDENT at=%llu kb=%llu\n", (unsigned long long)i + 1, resident_kb());
	}
	CK(cudaStreamSynchronize(stream));
	printf("TIME ns=%.3f\n", (double)(now_ns() - begin) / (double)n);
	CK(cudaGetLastError());
	put_count("kernels", 5000 + (copy ? 0 : n));
	put_count("h2d", 5000 + (copy ? n : 0));
	return 0;
}
