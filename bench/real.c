/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A more real program: recursive fib, n queens, and a five-point stencil that two threads sweep
 * with one function call a row. usage: real FIB QUEENS GRID SWEEPS
 *
 * Limits: built with -fno-inline -fno-optimize-sibling-calls for every tool, because gcc otherwise
 * unrolls the recursion in the plain build and two different programs are compared.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "bench.h"

KEEP long fib(int k);
KEEP int place(int queens, unsigned columns, unsigned left, unsigned right);
KEEP void row(const double *in, double *out, int r);

KEEP long fib(int k)
{
	long a;

	if (k < 2)
		return k;
	a = fib(k - 1);
	return a + fib(k - 2);
}

KEEP int place(int queens, unsigned columns, unsigned left, unsigned right)
{
	unsigned all = (1u << queens) - 1;
	int found = 0;

	if (columns == all)
		return 1;
	for (unsigned open = all & ~(columns | left | right); open; open &= open - 1) {
		unsigned bit = open & -open;

		found += place(queens, columns | bit, (left | bit) << 1, (right | bit) >> 1);
	}
	return found;
}

static int grid, sweeps;
static double *current, *scratch;
static pthread_barrier_t both;

KEEP void row(const double *in, double *out, int r)
{
	const double *p = in + (long)r * grid;
	double *o = out + (long)r * grid;

	for (int i = 1; i < grid - 1; i++)
		o[i] = 0.2 * (p[i] + p[i - 1] + p[i + 1] + p[i - grid] + p[i + grid]);
}

static void *sweep_half(void *arg)
{
	long half = (long)arg;
	int from = half ? grid / 2 : 1, to = half ? grid - 1 : grid / 2;
	double *a = current, *b = scratch, *t;

	for (int s = 0; s < sweeps; s++) {
		for (int r = from; r < to; r++)
			row(a, b, r);
		pthread_barrier_wait(&both);
		t = a;
		a = b;
		b = t;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int f = argc > 1 ? atoi(argv[1]) : 32, q = argc > 2 ? atoi(argv[2]) : 11, queens;
	double t0, t1, t2, t3;
	pthread_t thread;
	long result;

	grid = argc > 3 ? atoi(argv[3]) : 1024;
	sweeps = argc > 4 ? atoi(argv[4]) : 400;
	if (grid < 4 || sweeps < 0 || q < 1 || q > 16)
		return 2;

	t0 = bench_now();
	result = fib(f);
	t1 = bench_now();
	queens = place(q, 0, 0, 0);
	t2 = bench_now();

	current = calloc((size_t)grid * (size_t)grid, sizeof(*current));
	scratch = calloc((size_t)grid * (size_t)grid, sizeof(*scratch));
	if (!current || !scratch)
		return 1;
	for (int i = 0; i < grid * grid; i++)
		current[i] = i % 17;
	pthread_barrier_init(&both, NULL, 2);
	t3 = bench_now();
	if (pthread_create(&thread, NULL, sweep_half, (void *)1) != 0)
		return 1;
	sweep_half(NULL);
	pthread_join(thread, NULL);
	printf("fib=%ld queens=%d sum=%.3f fib_s=%.4f queens_s=%.4f stencil_s=%.4f", result,
	       queens, current[grid + 1] + scratch[grid + 1], t1 - t0, t2 - t1,
	       bench_now() - t3);
	bench_end();
	return 0;
}
