// SPDX-License-Identifier: BSD-3-Clause
// A program that intercepts the locks itself and finds the next definition with dlsym(), and whose
// malloc locks a mutex, also before main and before our constructor (EARLY library: early.c).
// Limits: its malloc never gives memory back.
#define _GNU_SOURCE
#include <dlfcn.h>

#include "say.h"

static int locks, unlocks;
static char heap[8 << 20] __attribute__((aligned(64)));
static size_t used;
static pthread_mutex_t heap_lock = PTHREAD_MUTEX_INITIALIZER;

int pthread_mutex_lock(pthread_mutex_t *m)
{
	static int (*next)(pthread_mutex_t *);

	if (!next)
		next = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_lock");
	__atomic_add_fetch(&locks, 1, __ATOMIC_RELAXED);
	return next(m);
}

int pthread_mutex_unlock(pthread_mutex_t *m)
{
	static int (*next)(pthread_mutex_t *);

	if (!next)
		next = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_unlock");
	__atomic_add_fetch(&unlocks, 1, __ATOMIC_RELAXED);
	return next(m);
}

void *malloc(size_t n)
{
	void *p;

	pthread_mutex_lock(&heap_lock);
	n = (n + 31) / 16 * 16;
	p = used + n <= sizeof(heap) ? heap + used + 16 : NULL;
	if (p) {
		*(size_t *)(heap + used) = n - 16;
		used += n;
	}
	pthread_mutex_unlock(&heap_lock);
	return p;
}

void free(void *p)
{
	(void)p;
}

void *calloc(size_t n, size_t m)
{
	return malloc(n * m); /* the heap is zero and never used twice */
}

void *realloc(void *p, size_t n)
{
	void *q = malloc(n);

	if (p && q)
		memcpy(q, p, ((size_t *)p)[-2] < n ? ((size_t *)p)[-2] : n);
	return q;
}

extern int early_calls(void);

static void *run(void *p)
{
	static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

	for (int i = 0; i < 1000; i++) {
		pthread_mutex_lock(&m);
		free(malloc(10));
		pthread_mutex_unlock(&m);
	}
	return p;
}

int main(void)
{
	pthread_t t[4];

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("early %d\n", early_calls());
	for (int i = 0; i < 4; i++)
		MUST(pthread_create(&t[i], NULL, run, NULL));
	for (int i = 0; i < 4; i++)
		MUST(pthread_join(t[i], NULL));
	printf("balanced %d, at least %d\n", locks == unlocks, locks >= 8000);
	return 0;
}
