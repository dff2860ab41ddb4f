/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The least that it costs to stand between a program and its locks: passes on what bench/locks.c calls most,
 * and does nothing else. To be preloaded.
 *
 * Limits: what is not named here goes to the C library directly.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>

static struct {
	int (*lock)(pthread_mutex_t *mutex);
	int (*unlock)(pthread_mutex_t *mutex);
	int (*rdlock)(pthread_rwlock_t *lock);
	int (*rwunlock)(pthread_rwlock_t *lock);
} real;

__attribute__((constructor)) static void begin(void)
{
	real.lock = (__typeof__(real.lock))dlsym(RTLD_NEXT, "pthread_mutex_lock");
	real.unlock = (__typeof__(real.unlock))dlsym(RTLD_NEXT, "pthread_mutex_unlock");
	real.rdlock = (__typeof__(real.rdlock))dlsym(RTLD_NEXT, "pthread_rwlock_rdlock");
	real.rwunlock = (__typeof__(real.rwunlock))dlsym(RTLD_NEXT, "pthread_rwlock_unlock");
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	return real.lock(mutex);
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	return real.unlock(mutex);
}

int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
	return real.rdlock(lock);
}

int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
	return real.rwunlock(lock);
}
