/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The I/O-heavy program: N writes of one byte to /dev/null. usage: io N
 *
 * Limits: one thread; prints the time of a write, and nothing of what a tool adds: compare runs.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "bench.h"

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1000000;
	int fd = open("/dev/null", O_WRONLY);
	double t0;

	if (fd < 0 || write(fd, "x", 1) != 1)
		return 1;
	t0 = bench_now();
	for (long i = 0; i < n; i++)
		if (write(fd, "x", 1) != 1)
			return 1;
	printf("n=%ld ns_per_write=%.3f", n, (bench_now() - t0) / (double)n * 1e9);
	bench_end();
	return 0;
}
