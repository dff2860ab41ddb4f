// SPDX-License-Identifier: BSD-3-Clause
// Cancellation, deferred and asynchronous, in every call that waits; cleanup handlers, who owns the
// mutex then, and that nothing becomes a cancellation point that was none.
// Limits: the canceller sleeps to let the target block; a target that did not is caught all the same.
#define _GNU_SOURCE
#include <semaphore.h>

#include "say.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t b;
static sem_t s;
static pthread_t sleeper;
static volatile int stage, awake;

static void unlock(void *what)
{
	printf("cleanup: %s, trylock %s\n", (char *)what, name_of(pthread_mutex_trylock(&m)));
	SAY(pthread_mutex_unlock(&m));
}

static void tell(void *what)
{
	printf("cleanup: %s\n", (char *)what);
}

static void *cond_wait(void *unused)
{
	MUST(pthread_mutex_lock(&m));
	pthread_cleanup_push(unlock, "cond_wait");
	for (;;)
		pthread_cond_wait(&c, &m);
	pthread_cleanup_pop(0);
	return unused;
}

static void *cond_timedwait(void *unused)
{
	struct timespec late = after_ms(CLOCK_REALTIME, 100000);

	MUST(pthread_mutex_lock(&m));
	pthread_cleanup_push(unlock, "cond_timedwait");
	for (;;)
		pthread_cond_timedwait(&c, &m, &late);
	pthread_cleanup_pop(0);
	return unused;
}

static void *sem_blocked(void *unused)
{
	pthread_cleanup_push(tell, "sem_wait");
	sem_wait(&s);
	pthread_cleanup_pop(0);
	return unused;
}

/* The semaphore is free, and still sem_wait has to act upon the request that is pending. */
static void *sem_pending(void *unused)
{
	while (!stage)
		;
	pthread_cleanup_push(tell, "sem_wait with a value");
	sem_wait(&s);
	puts("not cancelled");
	pthread_cleanup_pop(0);
	return unused;
}

static void *join(void *unused)
{
	pthread_cleanup_push(tell, "join");
	pthread_join(sleeper, NULL);
	pthread_cleanup_pop(0);
	return unused;
}

/* None of these is a cancellation point. */
static void *no_points(void *unused)
{
	int old;

	while (!stage)
		;
	MUST(pthread_mutex_lock(&m)); /* main holds it for a while */
	MUST(pthread_mutex_unlock(&m));
	MUST(pthread_rwlock_rdlock(&rw));
	MUST(pthread_rwlock_unlock(&rw));
	MUST(pthread_rwlock_wrlock(&rw));
	MUST(pthread_rwlock_unlock(&rw));
	MUST(pthread_spin_lock(&spin));
	MUST(pthread_spin_unlock(&spin));
	MUST(pthread_cond_signal(&c));
	pthread_barrier_wait(&b);
	for (int i = 0; i < 20000; i++) { /* enough records to have a buffer spooled */
		MUST(pthread_mutex_lock(&m));
		MUST(pthread_mutex_unlock(&m));
	}
	MUST(sem_post(&s));
	MUST(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old));
	puts("no cancellation point so far");
	return unused;
}

/* Disables cancellation at once; the creator cancels it as early as it can. */
static void *shy(void *unused)
{
	int old;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	sleep_ms(1);
	return unused;
}

static void *asynchronous(void *unused)
{
	int old;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
	stage = 1;
	for (volatile unsigned long i = 0;; i++)
		;
	return unused;
}

/* As long as others are to wait for it, however slow they are. */
static void *sleep_long(void *unused)
{
	while (!awake)
		sleep_ms(10);
	return unused;
}

static void ended(const char *how, pthread_t t)
{
	void *result;

	MUST(pthread_join(t, &result));
	printf("%s: %s\n", how, result == PTHREAD_CANCELED ? "cancelled" : "returned");
}

static void cancel_blocked(const char *how, void *(*f)(void *))
{
	pthread_t t;

	MUST(pthread_create(&t, NULL, f, NULL));
	sleep_ms(20);
	MUST(pthread_cancel(t));
	ended(how, t);
}

static void cancel_running(const char *how, void *(*f)(void *), int hold)
{
	pthread_t t;

	stage = 0;
	if (hold)
		MUST(pthread_mutex_lock(&m));
	MUST(pthread_create(&t, NULL, f, NULL));
	MUST(pthread_cancel(t));
	stage = 1;
	if (hold) {
		sleep_ms(10);
		MUST(pthread_mutex_unlock(&m));
		pthread_barrier_wait(&b);
	}
	ended(how, t);
}

int main(void)
{
	pthread_t t;
	int returned = 0;
	void *result;

	setvbuf(stdout, NULL, _IOLBF, 0);
	MUST(sem_init(&s, 0, 0));
	MUST(pthread_spin_init(&spin, 0));
	MUST(pthread_barrier_init(&b, NULL, 2));
	MUST(pthread_create(&sleeper, NULL, sleep_long, NULL));
	cancel_blocked("cond_wait", cond_wait);
	cancel_blocked("cond_timedwait", cond_timedwait);
	cancel_blocked("sem_wait", sem_blocked);
	cancel_blocked("join", join);
	MUST(sem_post(&s));
	cancel_running("sem_wait with a value", sem_pending, 0);
	MUST(sem_wait(&s));
	cancel_running("no points", no_points, 1);
	for (int i = 0; i < 200; i++) {
		MUST(pthread_create(&t, NULL, shy, NULL));
		pthread_cancel(t);
		MUST(pthread_join(t, &result));
		returned += result != PTHREAD_CANCELED;
	}
	printf("shy: %d returned\n", returned);
	for (int i = 0; i < 20; i++) {
		stage = 0;
		MUST(pthread_create(&t, NULL, asynchronous, NULL));
		while (!stage)
			sleep_ms(1);
		MUST(pthread_cancel(t));
		MUST(pthread_join(t, &result));
		if (result != PTHREAD_CANCELED)
			puts("asynchronous: returned");
	}
	awake = 1;
	ended("sleeper", sleeper);
	return 0;
}
