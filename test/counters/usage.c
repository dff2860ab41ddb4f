/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Touches fresh pages in a region of its own, on two threads, and says how many page faults the kernel
 * counted for that from outside: the archive must have about the same.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define PAGES 500

static long faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_minflt;
}

/* Each page once; returns how many faults that took. */
__attribute__((noinline)) static long touch(int pages)
{
	long before = faults();
	volatile char *at = mmap(NULL, (size_t)pages * 4096, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise((void *)at, (size_t)pages * 4096, MADV_NOHUGEPAGE);
	for (int i = 0; i < pages; i++)
		at[i * 4096] = 1;
	munmap((void *)at, (size_t)pages * 4096);
	return faults() - before;
}

__attribute__((noinline)) static int quiet(int n)
{
	return n * 2;
}

static void *work(void *pages)
{
	long n = touch(*(int *)pages);

	for (int i = 0; i < 20; i++)
		quiet(i);
	printf("faults %d %ld\n", *(int *)pages, n);
	return NULL;
}

int main(void)
{
	int mine = PAGES, other = 2 * PAGES;
	pthread_t thread;

	work(&mine);
	if (pthread_create(&thread, NULL, work, &other))
		return 1;
	pthread_join(thread, NULL);
	return 0;
}
