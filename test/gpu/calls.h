/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the programs on the CUDA libraries share: each call of a library is counted under its name, and
 * the counts are printed for the comparison with the trace.
 *
 * Limits: one thread, 64 names. With the argument "dry" what fails is not the end: on a machine without
 * a GPU the calls can be counted all the same.
 */
#ifndef GT_TEST_GPU_CALLS_H
#define GT_TEST_GPU_CALLS_H

#include "count.h"

#define MOST_NAMES 64

static struct { const char *name; uint64_t number; } calls_of[MOST_NAMES];
static bool dry;

static void count_call(const char *name)
{
	int i = 0;

	while (i < MOST_NAMES - 1 && calls_of[i].name && strcmp(calls_of[i].name, name))
		i++;
	calls_of[i].name = name;
	calls_of[i].number++;
}

static void must(int status, const char *what)
{
	if (!status || dry)
		return;
	fprintf(stderr, "%s: status %d\n", what, status);
	exit(3);
}

/* A call of the library, counted. */
#define CALL(f, ...) (count_call(#f), must((int)f(__VA_ARGS__), #f))

/* A call of CUDA itself: without a GPU it may fail. */
#define CU(call) must((int)(call), #call)

static void begin(int argc, char **argv)
{
	dry = argc > 1 && !strcmp(argv[1], "dry");
}

static int finish(bool right)
{
	for (int i = 0; i < MOST_NAMES && calls_of[i].name; i++)
		put_count(calls_of[i].name, calls_of[i].number);
	if (!right && !dry)
		fprintf(stderr, "the result is wrong\n");
	return right || dry ? 0 : 4;
}

#endif
