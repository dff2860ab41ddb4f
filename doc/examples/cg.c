/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A conjugate-gradient solver on CBLAS, as one would write it; it knows nothing of gputrace and
 * measures its calls of BLAS with a clock of its own, so that a trace can be compared with it.
 *
 * Limits: a dense symmetric matrix; the timers cost a few dozen nanoseconds a call.
 *
 *   cc -O2 -o cg cg.c -lblas -lm
 *   ./cg [size]
 */
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double in_blas;
static long calls;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#define TIMED(call)                        \
	do {                               \
		double begin_ = now();     \
		call;                      \
		in_blas += now() - begin_; \
		calls++;                   \
	} while (0)

/* Something beside BLAS: a rod of springs, and a little of each with each. */
static void fill(int n, double *a)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j <= i; j++) {
			double v = i == j ? 2.001 : i == j + 1 ? -1 : 1e-6 * cos(0.01 * (i - j));

			a[(size_t)i * n + j] = a[(size_t)j * n + i] = v;
		}
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1500, steps = 0;
	double *a = malloc((size_t)n * n * sizeof(*a)), *x = calloc(n, sizeof(*x));
	double *r = malloc(n * sizeof(*r)), *p = malloc(n * sizeof(*p)), *q = malloc(n * sizeof(*q));
	double begin = now(), rr, pq, next = 0, first;

	if (n < 1 || !a || !x || !r || !p || !q)
		return 1;
	fill(n, a);
	for (int i = 0; i < n; i++)
		r[i] = 1 + i % 10;
	TIMED(cblas_dcopy(n, r, 1, p, 1));
	TIMED(rr = cblas_ddot(n, r, 1, r, 1));
	for (first = rr; steps < 500 && rr > 1e-30 * first; steps++) {
		TIMED(cblas_dsymv(CblasRowMajor, CblasUpper, n, 1, a, n, p, 1, 0, q, 1));
		TIMED(pq = cblas_ddot(n, p, 1, q, 1));
		TIMED(cblas_daxpy(n, rr / pq, p, 1, x, 1));
		TIMED(cblas_daxpy(n, -rr / pq, q, 1, r, 1));
		TIMED(next = cblas_ddot(n, r, 1, r, 1));
		TIMED(cblas_dscal(n, next / rr, p, 1));
		TIMED(cblas_daxpy(n, 1, r, 1, p, 1));
		rr = next;
	}
	printf("%d unknowns, %d steps, residual %.1e\n", n, steps, sqrt(rr / first));
	printf("%ld calls of BLAS, %.6f s of %.6f s\n", calls, in_blas, now() - begin);
	return 0;
}
