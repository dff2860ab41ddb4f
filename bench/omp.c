/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parallel loops on one thread, so that nothing waits, and what their records cost by themselves. Prints
 * one line of key=value pairs.
 *
 *	omp loops N    N times `parallel for`
 *	omp core N     N times the same records through adapter.h (under gputrace run)
 *
 * With -DEMPTY it is an OMPT tool in which nothing happens.
 *
 * Limits: the records are those of LLVM's runtime; with libgomp the loop with a static schedule is not
 * among them.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef EMPTY
#include <omp-tools.h>

static void nothing(void)
{
}

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *data)
{
	/* Those of openmp/adapter.c. */
	static const int events[] = { 1,  2,  3,  4,  5,  6,  7,  8,  9,  16,
				      17, 18, 19, 20, 21, 23, 26, 27, 28 };
	ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");

	(void)device;
	(void)data;
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		set((ompt_callbacks_t)events[i], (ompt_callback_t)nothing);
	return 1;
}

static void finalize(ompt_data_t *data)
{
	(void)data;
}

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
	static ompt_start_tool_result_t tool = { initialize, finalize, { 0 } };

	(void)version;
	(void)runtime;
	return &tool;
}
#else
#include "gputrace/adapter.h"

#pragma weak gt_now
#pragma weak gt_enter
#pragma weak gt_leave
#pragma weak gt_record
#pragma weak gt_def_record
#pragma weak gt_def_region
#pragma weak gt_def_parameter

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static volatile int work;

static void loops(long n)
{
	for (long i = 0; i < n; i++)
#pragma omp parallel for num_threads(1)
		for (int k = 0; k < 1; k++)
			work = k;
}

static gt_ref region(const char *name)
{
	const struct gt_region_info info = {
		.bytes = sizeof(info),
		.name = name,
		.group = "OpenMP",
		.paradigm = 3,
	};

	return gt_def_region(&info);
}

static void own(gt_ref record, uint64_t value)
{
	gt_record(GT_T_OWN, record, (uint64_t[2]){ value, 0 }, 1);
}

static void core(long n)
{
	gt_ref fork = gt_def_record("openmp", "fork"), join = gt_def_record("openmp", "join");
	gt_ref team = gt_def_record("openmp", "team");
	gt_ref iterations = gt_def_parameter("OMP_ITERATIONS", GT_VALUE_UINT);
	gt_ref parallel = region("omp parallel"), loop = region("omp for");

	for (long i = 0; i < n; i++) {
		own(fork, 1);
		own(team, 1);
		gt_enter(parallel);
		gt_enter(loop);
		gt_record(GT_T_PARAM_UINT, iterations, (uint64_t[2]){ 1, 0 }, 1);
		work = 0;
		gt_leave(loop);
		gt_leave(parallel);
		own(team, 0);
		own(join, 0);
	}
}

int main(int argc, char **argv)
{
	void (*what)(long) = argc > 1 && !strcmp(argv[1], "core") ? core : loops;
	long n = argc > 2 ? atol(argv[2]) : 1000000;
	double begin;

	what(1000);
	begin = now();
	what(n);
	printf("loops=%ld ns=%.2f\n", n, (now() - begin) / (double)n);
	return 0;
}
#endif
