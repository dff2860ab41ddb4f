/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Does units of work in functions that call each other and themselves, on several threads, and keeps its own
 * sums: lines "FUNCTION CALLS INCLUSIVE EXCLUSIVE", as a reader of the archive must find them for the metric
 * "units" of units_plugin.c. That asks done() for the calling thread's units.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#define THREADS 3

enum { MAIN, WORK, OUTER, INNER, FACTORIAL, REGIONS };
static const char *const names[REGIONS] = { "main", "work", "outer", "inner", "factorial" };
static struct {
	uint64_t calls, inclusive, exclusive; /* atomic */
} sums[REGIONS];

static _Thread_local uint64_t units;
static _Thread_local uint64_t *children; /* of the function that runs: what those that it called did */

__attribute__((no_instrument_function)) uint64_t done(void)
{
	return units;
}

/* The body of a function, between its enter and its leave. */
#define BODY(region, ...)                                                                            \
	uint64_t begin_ = units, mine_ = 0, *parent_ = children;                                     \
	children = &mine_;                                                                           \
	__VA_ARGS__                                                                                  \
	children = parent_;                                                                          \
	if (parent_)                                                                                 \
		*parent_ += units - begin_;                                                          \
	__atomic_add_fetch(&sums[region].calls, 1, __ATOMIC_RELAXED);                                \
	__atomic_add_fetch(&sums[region].inclusive, units - begin_, __ATOMIC_RELAXED);               \
	__atomic_add_fetch(&sums[region].exclusive, units - begin_ - mine_, __ATOMIC_RELAXED);

__attribute__((noinline)) static void inner(unsigned n)
{
	BODY(INNER, units += n;)
}

__attribute__((noinline)) static void factorial(unsigned n)
{
	BODY(FACTORIAL, units += 2; if (n > 1) factorial(n - 1); units++;)
}

__attribute__((noinline)) static void outer(unsigned n)
{
	BODY(OUTER, inner(n); units += 100; factorial(n % 5 + 1); inner(3 * n); units += 7;)
}

__attribute__((noinline)) static void *work(void *number)
{
	BODY(WORK, for (unsigned i = 0; i < 40 + 3 * (unsigned)(uintptr_t)number; i++) outer(i);)
	return NULL;
}

__attribute__((noinline)) static void all(void)
{
	for (int i = 0; i < REGIONS; i++)
		printf("%s %llu %llu %llu\n", names[i], (unsigned long long)sums[i].calls,
		       (unsigned long long)sums[i].inclusive, (unsigned long long)sums[i].exclusive);
}

int main(void)
{
	pthread_t threads[THREADS];

	BODY(MAIN, for (uintptr_t i = 0; i < THREADS; i++)
			   if (pthread_create(&threads[i], NULL, work, (void *)i))
				   return 1;
	     units += 1000; work((void *)50); units += 5;
	     for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);)
	all();
	return 0;
}
