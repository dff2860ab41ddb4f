/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * To preload: tells on stderr how many threads a program made.
 *
 * Limits: only those made with pthread_create.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static int made;

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
		(int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(
			RTLD_NEXT, "pthread_create");

	__atomic_add_fetch(&made, 1, __ATOMIC_RELAXED);
	return real(thread, attr, start, arg);
}

__attribute__((destructor)) static void tell(void)
{
	fprintf(stderr, "threads made: %d\n", made);
}
