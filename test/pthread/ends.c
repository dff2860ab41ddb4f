// SPDX-License-Identifier: BSD-3-Clause
// The ways in which threads end and are awaited: return values, errors, destructors of every kind,
// and at last pthread_exit of the main thread while others run on.
// Limits: the program ends with the last thread; its exit status is 0 whatever that returns.
#define _GNU_SOURCE
#include "say.h"

static pthread_key_t key;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int rounds;

static void again(void *value)
{
	/* Asks for all rounds there are, and locks in each. */
	pthread_mutex_lock(&m);
	rounds++;
	pthread_mutex_unlock(&m);
	pthread_setspecific(key, value);
}

static void *by_return(void *p)
{
	pthread_setspecific(key, p);
	return p;
}

static void deep(int n, void *p)
{
	if (n == 0)
		pthread_exit(p);
	deep(n - 1, p);
}

static void handler(void *text)
{
	puts(text);
}

static void *by_exit(void *p)
{
	pthread_cleanup_push(handler, "handler of pthread_exit");
	deep(50, p);
	pthread_cleanup_pop(0);
	return NULL;
}

static void *slow(void *p)
{
	sleep_ms(40);
	return p;
}

static void *detaches_itself(void *p)
{
	SAY(pthread_detach(pthread_self()));
	sleep_ms(5);
	*(volatile int *)p = 1;
	return NULL;
}

static void *last(void *main_thread)
{
	void *result = NULL;

	MUST(pthread_join(*(pthread_t *)main_thread, &result));
	printf("main ended with %ld\n", (long)result);
	SAY(pthread_mutex_lock(&m));
	SAY(pthread_mutex_unlock(&m));
	return (void *)17;
}

int main(void)
{
	struct timespec soon, mono;
	static pthread_t self;
	static volatile int done;
	pthread_attr_t a;
	pthread_t t;
	void *result;

	setvbuf(stdout, NULL, _IOLBF, 0);
	MUST(pthread_key_create(&key, again));
	MUST(pthread_create(&t, NULL, by_return, &t));
	MUST(pthread_join(t, &result));
	printf("return: %d, %d rounds\n", result == &t, rounds);
	MUST(pthread_create(&t, NULL, by_exit, &t));
	MUST(pthread_join(t, &result));
	printf("exit: %d\n", result == &t);

	MUST(pthread_create(&t, NULL, slow, &t));
	soon = after_ms(CLOCK_REALTIME, 5);
	mono = after_ms(CLOCK_MONOTONIC, 5);
	SAY(pthread_tryjoin_np(t, &result));
	SAY(pthread_timedjoin_np(t, &result, &soon));
	SAY(pthread_clockjoin_np(t, &result, CLOCK_MONOTONIC, &mono));
	SAY(pthread_clockjoin_np(t, &result, CLOCK_THREAD_CPUTIME_ID, &mono));
	while (pthread_tryjoin_np(t, &result) == EBUSY)
		sleep_ms(5);
	printf("tryjoin: %d\n", result == &t);
	MUST(pthread_create(&t, NULL, slow, &t));
	soon = after_ms(CLOCK_REALTIME, 5000);
	SAY(pthread_timedjoin_np(t, &result, &soon));
	MUST(pthread_create(&t, NULL, slow, &t));
	mono = after_ms(CLOCK_MONOTONIC, 5000);
	SAY(pthread_clockjoin_np(t, &result, CLOCK_MONOTONIC, &mono));

	SAY(pthread_join(pthread_self(), NULL)); /* EDEADLK */
	MUST(pthread_attr_init(&a));
	MUST(pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED));
	MUST(pthread_create(&t, &a, slow, NULL));
	SAY(pthread_join(t, NULL)); /* EINVAL */
	SAY(pthread_detach(t));     /* EINVAL */
	MUST(pthread_create(&t, NULL, detaches_itself, (void *)&done));
	while (!done)
		sleep_ms(1);

	self = pthread_self();
	MUST(pthread_create(&t, NULL, last, &self));
	pthread_exit((void *)23);
}
