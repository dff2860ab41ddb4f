/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that the compiler has inlined: alpha and, in it, deep, and beta; and both, which is also called.
 * Prints the processor time of each.
 *
 * Usage: inlined [MILLISECONDS [N [left|right|both ...]]]
 *	left ...	each of these for so long, and nothing else
 *
 * Limits: for -O2.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define INLINED static inline __attribute__((always_inline))

static volatile unsigned sink;

static double clock_of_thread(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

INLINED void deep(unsigned n)
{
	for (unsigned i = 0; i < n; i++) sink = sink * 3 + i; /* DEEP */
}

INLINED void alpha(unsigned n)
{
	deep(n); /* CALL */
	for (unsigned i = 0; i < n; i++)
		sink = sink * 5 + i; /* ALPHA */
}

INLINED void beta(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink = sink * 7 + i; /* BETA */
}

INLINED void both(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink = sink * 9 + i; /* BOTH */
}

/* In one line, as functions of two files may be. */
#define SPIN(name, factor) INLINED void name(unsigned n) { for (; n; n--) sink = sink * (factor) + n; }
SPIN(left, 11) SPIN(right, 13)

__attribute__((noinline)) static void chosen(const char *which, double ms, unsigned n)
{
	double end = clock_of_thread() + ms;

	while (clock_of_thread() < end)
		if (*which == 'l')
			left(n);
		else if (*which == 'r')
			right(n);
		else
			both(n);
}

__attribute__((noinline)) static void work(double *ms, unsigned n)
{
	double at[4];

	at[0] = clock_of_thread();
	alpha(n); /* WORK */
	at[1] = clock_of_thread();
	beta(n);
	at[2] = clock_of_thread();
	both(n);
	at[3] = clock_of_thread();
	for (int i = 0; i < 3; i++)
		ms[i] += at[i + 1] - at[i];
}

int main(int argc, char **argv)
{
	unsigned n = argc > 2 ? (unsigned)atoi(argv[2]) : 20000;
	double ms[4] = { 0 }, end = clock_of_thread() + (argc > 1 ? atof(argv[1]) : 600), begin;
	void (*volatile call)(unsigned) = both;

	for (int i = 3; i < argc; i++)
		chosen(argv[i], atof(argv[1]), n);
	while (clock_of_thread() < end) {
		work(ms, n);
		begin = clock_of_thread();
		call(n);
		ms[3] += clock_of_thread() - begin;
	}
	printf("alpha %.3f\nbeta %.3f\nboth %.3f\nboth %.3f\n", ms[0], ms[1], ms[2], ms[3]);
	return 0;
}
