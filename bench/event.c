/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost of an event: N calls of an empty function from one or more threads, next to the same
 * loop around a function that no tool sees. One line of key=value pairs:
 *
 *   event N [THREADS]   ns_per_pair: added by the tool (cpu_: processor time)
 *   event clocks        what reading the clock costs here
 *
 * Limits: a tight loop over one hot function: a lower bound for real code. With -DWORK_IN_LIB the
 * function lies in a library of its own (work.c), for tools that interpose library calls.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bench.h"
#ifdef __x86_64__
#include <x86intrin.h>
#else
#define __rdtsc() 0
#endif

#define MAX_THREADS 64

#ifdef WORK_IN_LIB
void bench_work(void);
#else
KEEP void bench_work(void)
{
	__asm__ volatile("");
}
#endif

KEEP NOINSTR static void bench_plain(void)
{
	__asm__ volatile("");
}

static long n = 1000000;
static pthread_barrier_t all_ready;
static double added_s[MAX_THREADS], plain_s[MAX_THREADS], cpu_s[MAX_THREADS];

/* The processor time of this thread: what is left of the figure when others use the cores too. */
NOINSTR static double cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The loop without a tool, n times: from the best of ten parts, because it is short. */
NOINSTR static double plain_loop(void)
{
	long part = n / 10 + 1;
	double best = 0;

	for (int k = 0; k < 10; k++) {
		double t0 = bench_now(), t;

		for (long i = 0; i < part; i++)
			bench_plain();
		t = bench_now() - t0;
		if (k == 0 || t < best)
			best = t;
	}
	return best / (double)part * (double)n;
}

NOINSTR static void *loop(void *arg)
{
	long me = (long)arg;
	double t0, t1, cpu0, cpu1;

	bench_work(); /* what happens once per thread does not belong into the figure */
	bench_plain();
	plain_s[me] = plain_loop();

	pthread_barrier_wait(&all_ready);
	cpu0 = cpu_now();
	t0 = bench_now();
	for (long i = 0; i < n; i++)
		bench_work();
	t1 = bench_now();
	cpu1 = cpu_now();
	cpu_s[me] = cpu1 - cpu0 - plain_s[me];
	added_s[me] = t1 - t0 - plain_s[me];
	return NULL;
}

NOINSTR static int clocks(void)
{
	unsigned long long sum = 0;
	struct timespec ts;
	double t0, tsc, mono;

	t0 = bench_now();
	for (long i = 0; i < n; i++)
		sum += __rdtsc();
	tsc = bench_now() - t0;
	t0 = bench_now();
	for (long i = 0; i < n; i++) {
		clock_gettime(CLOCK_MONOTONIC, &ts);
		sum += (unsigned long long)ts.tv_nsec;
	}
	mono = bench_now() - t0;
	printf("rdtsc_ns=%.3f clock_gettime_ns=%.3f sum=%llu", tsc / (double)n * 1e9,
	       mono / (double)n * 1e9, sum & 1);
	bench_end();
	return 0;
}

NOINSTR int main(int argc, char **argv)
{
	pthread_t thread[MAX_THREADS];
	int threads = argc > 2 ? atoi(argv[2]) : 1;
	double worst = 0, plain = 0, cpu = 0;

	if (argc > 1 && strcmp(argv[1], "clocks") == 0)
		return clocks();
	if (argc > 1)
		n = atol(argv[1]);
	if (n < 1 || threads < 1 || threads > MAX_THREADS) {
		fprintf(stderr, "usage: event N [THREADS] | event clocks\n");
		return 2;
	}
	pthread_barrier_init(&all_ready, NULL, (unsigned)threads);
	for (long i = 1; i < threads; i++)
		if (pthread_create(&thread[i], NULL, loop, (void *)i) != 0)
			return 1;
	loop((void *)0);
	for (int i = 1; i < threads; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < threads; i++) {
		worst = added_s[i] > worst ? added_s[i] : worst;
		plain = plain_s[i] > plain ? plain_s[i] : plain;
		cpu = cpu_s[i] > cpu ? cpu_s[i] : cpu;
	}
	printf("n=%ld threads=%d ns_per_pair=%.3f cpu_ns_per_pair=%.3f plain_ns=%.3f calls=%ld",
	       n, threads, worst / (double)n * 1e9, cpu / (double)n * 1e9, plain / (double)n * 1e9,
	       (n + 1) * threads);
	bench_end();
	return 0;
}
