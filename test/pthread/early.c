// SPDX-License-Identifier: BSD-3-Clause
// A library whose constructor locks, waits and makes threads before gputrace's own constructors run.
// Limits: linked by own_wrapper.
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t s;
static int calls, ready;

static void *helper(void *p)
{
	pthread_mutex_lock(&m);
	ready = 1;
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
	sem_post(&s);
	return p;
}

static __attribute__((constructor)) void early(void)
{
	pthread_t t;
	void *result = NULL;

	sem_init(&s, 0, 0);
	pthread_spin_init(&spin, 0);
	calls += pthread_spin_lock(&spin) == 0;
	calls += pthread_spin_unlock(&spin) == 0;
	calls += pthread_rwlock_rdlock(&rw) == 0;
	calls += pthread_rwlock_unlock(&rw) == 0;
	calls += pthread_mutex_lock(&m) == 0;
	calls += pthread_create(&t, NULL, helper, &t) == 0;
	while (!ready)
		pthread_cond_wait(&c, &m);
	calls += pthread_mutex_unlock(&m) == 0;
	calls += sem_wait(&s) == 0;
	calls += pthread_join(t, &result) == 0;
	calls += result == &t;
}

int early_calls(void);
int early_calls(void)
{
	return calls;
}
