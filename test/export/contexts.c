/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that are recorded, a range of the user, and functions below them of which only samples tell.
 */
#include <math.h>
#include <stdlib.h>

#include "vt_user.h"

#define HIDDEN __attribute__((no_instrument_function, noinline))

HIDDEN static double inner(int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += sqrt(i) * sin(i);
	return sum;
}

HIDDEN static double outer(int n)
{
	return inner(n) + inner(n / 2);
}

__attribute__((noinline)) static double work(int depth, int n)
{
	double sum = outer(n);

	for (int i = 0; i < n; i++)
		sum += cos(i);
	return depth ? sum + work(depth - 1, n) : sum;
}

__attribute__((noinline)) static double range(int n)
{
	double sum;

	VT_USER_START("range");
	sum = outer(n);
	VT_USER_END("range");
	return sum;
}

HIDDEN static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(void)
{
	static double values[50000];
	double sum = 0;

	for (int round = 0; round < 10; round++) {
		sum += work(4, 50000) + range(150000);
		for (int i = 0; i < 50000; i++)
			values[i] = sin(i);
		qsort(values, 50000, sizeof(*values), compare);
	}
	return sum > 1e300;
}
