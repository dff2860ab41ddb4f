/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A GPU that waits for its host: between launches the host computes, in pack() and for half as long in plan(). The
 * program says by its own clock how long.
 *
 *	host TURNS
 *
 * Limits: one thread; the driver's own processor time is in neither.
 */
#include "count.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static volatile double sum;

/* Asks the clock rarely: that is a system call. */
#define WORK(name)                                                                                 \
	extern "C" __attribute__((noinline)) double name(double seconds)                           \
	{                                                                                          \
		double begin = now(), at;                                                          \
												\
		do {                                                                               \
			for (int i = 0; i < 50000; i++)                                            \
				sum = sum + i * 1e-3;                                              \
			at = now();                                                                \
		} while (at < begin + seconds);                                                    \
		return at - begin;                                                                 \
	}
WORK(pack)
WORK(plan)

__global__ void k_turn(int *out)
{
	*out = 1;
}

int main(int argc, char **argv)
{
	int turns = argc > 1 ? atoi(argv[1]) : 100;
	double packed = 0, planned = 0;
	int *out;

	CK(cudaMalloc(&out, sizeof(*out)));
	for (int i = 0; i < turns; i++) {
		packed += pack(0.004);
		planned += plan(0.002);
		k_turn<<<1, 1>>>(out);
		n_kernels++;
		CK(cudaDeviceSynchronize());
	}
	put_count("kernels", n_kernels);
	put_count("pack_us", (uint64_t)(1e6 * packed));
	put_count("plan_us", (uint64_t)(1e6 * planned));
	return 0;
}
