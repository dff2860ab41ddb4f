/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that floods: tiny functions by the hundred thousand, beside some that must stay.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile unsigned long sink;

static __attribute__((noinline)) void tiny(unsigned long n)
{
	sink = sink + n;
}

namespace Mesh
{
template <typename T> __attribute__((noinline)) T next(T n)
{
	tiny((unsigned long)n);
	return n + 1;
}
} // namespace Mesh

static __attribute__((noinline)) unsigned fib(unsigned n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

/* Short and often, but something happens in it. */
static __attribute__((noinline)) void starts_thread(void *(*f)(void *))
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, f, NULL))
		pthread_join(thread, NULL);
}

static void *nothing(void *argument)
{
	return argument;
}

/* Often, but long. */
static __attribute__((noinline)) void works(void)
{
	for (int i = 0; i < 20000; i++)
		sink = sink + 1;
}

int main(void)
{
	for (unsigned long i = 0; i < 50000; i++)
		Mesh::next(i);
	for (int i = 0; i < 50000; i++)
		Mesh::next((double)i);
	for (int i = 0; i < 2000; i++)
		works();
	for (int i = 0; i < 1100; i++)
		starts_thread(nothing);
	printf("%u\n", fib(18));
	return 0;
}
