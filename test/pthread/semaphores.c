// SPDX-License-Identifier: BSD-3-Clause
// Semaphores and barriers: values, errno, interruption by signals, a handler that posts.
// Limits: named semaphores are the same code in the C library and are not opened here.
#define _GNU_SOURCE
#include <limits.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/time.h>

#include "say.h"

static sem_t s;
static pthread_barrier_t b;

static void post(int unused)
{
	(void)unused;
	sem_post(&s);
}

static void nothing(int unused)
{
	(void)unused;
}

static void alarm_in(long ms, void (*handler)(int))
{
	struct itimerval t = { { 0, 0 }, { 0, ms * 1000 } };
	struct sigaction a = { .sa_handler = handler };

	sigaction(SIGALRM, &a, NULL);
	setitimer(ITIMER_REAL, &t, NULL);
}

static void *waiter(void *unused)
{
	long serial = 0;

	(void)unused;
	for (int i = 0; i < 10; i++)
		serial += pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD;
	sem_wait(&s);
	return (void *)serial;
}

int main(void)
{
	struct timespec soon = after_ms(CLOCK_REALTIME, 5), mono = after_ms(CLOCK_MONOTONIC, 5);
	struct timespec bad = { soon.tv_sec, 1000000000 };
	pthread_t t[3];
	long serial = 0;
	void *result;
	int value;

	setvbuf(stdout, NULL, _IOLBF, 0);
	SAY_ERRNO(sem_init(&s, 0, 2));
	SAY_ERRNO(sem_wait(&s));
	SAY_ERRNO(sem_trywait(&s));
	SAY_ERRNO(sem_trywait(&s));
	SAY_ERRNO(sem_timedwait(&s, &soon));
	SAY_ERRNO(sem_clockwait(&s, CLOCK_MONOTONIC, &mono));
	SAY_ERRNO(sem_clockwait(&s, CLOCK_THREAD_CPUTIME_ID, &mono));
	SAY_ERRNO(sem_timedwait(&s, &bad));
	SAY_ERRNO(sem_post(&s));
	SAY_ERRNO(sem_timedwait(&s, &bad)); /* could be had, yet the time is refused */
	SAY_ERRNO(sem_getvalue(&s, &value));
	printf("value %d\n", value);
	SAY_ERRNO(sem_timedwait(&s, &soon));
	alarm_in(20, nothing);
	SAY_ERRNO(sem_wait(&s)); /* EINTR */
	alarm_in(20, post);
	SAY_ERRNO(sem_wait(&s) + (errno == EINTR ? sem_wait(&s) + 1 : 0));
	SAY_ERRNO(sem_init(&s, 0, SEM_VALUE_MAX));
	SAY_ERRNO(sem_post(&s)); /* EOVERFLOW */
	SAY_ERRNO(sem_init(&s, 0, 0));

	SAY(pthread_barrier_init(&b, NULL, 4));
	for (int i = 0; i < 3; i++)
		MUST(pthread_create(&t[i], NULL, waiter, NULL));
	for (int i = 0; i < 10; i++)
		serial += pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD;
	for (int i = 0; i < 3; i++)
		sem_post(&s);
	for (int i = 0; i < 3; i++) {
		MUST(pthread_join(t[i], &result));
		serial += (long)result;
	}
	printf("serial %ld\n", serial);
	SAY(pthread_barrier_destroy(&b));
	return 0;
}
