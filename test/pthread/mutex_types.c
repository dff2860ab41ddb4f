// SPDX-License-Identifier: BSD-3-Clause
// Every kind of mutex through every operation: return codes and errno.
// Limits: PTHREAD_PRIO_PROTECT needs privileges for some ceilings; whatever it says is printed.
#define _GNU_SOURCE
#include "say.h"

static pthread_mutex_t m;
static pthread_barrier_t step;

static void *other(void *kind)
{
	struct timespec soon = after_ms(CLOCK_REALTIME, 5), soon_mono = after_ms(CLOCK_MONOTONIC, 5);
	struct timespec bad = { soon.tv_sec, 1000000000 }, negative = { soon.tv_sec, -1 };
	struct timespec past = { 1, 0 };
	int rc;

	(void)kind;
	pthread_barrier_wait(&step); /* held by main */
	SAY(pthread_mutex_trylock(&m));
	SAY(pthread_mutex_timedlock(&m, &soon));
	SAY(pthread_mutex_timedlock(&m, &past));
	SAY(pthread_mutex_timedlock(&m, &bad));
	SAY(pthread_mutex_timedlock(&m, &negative));
	SAY(pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &soon_mono));
	SAY(pthread_mutex_clocklock(&m, CLOCK_PROCESS_CPUTIME_ID, &soon_mono));
	pthread_barrier_wait(&step);
	rc = pthread_mutex_lock(&m); /* waits until main lets it go, or has done so */
	if (rc == 0)
		rc = pthread_mutex_unlock(&m) * 1000;
	pthread_barrier_wait(&step);
	printf("lock after waiting, unlock: %d\n", rc);
	pthread_barrier_wait(&step);
	return NULL;
}

static void one(const char *what, int type, int protocol, int robust, int shared)
{
	struct timespec soon = after_ms(CLOCK_REALTIME, 5), bad = { soon.tv_sec, 1000000000 };
	pthread_mutexattr_t a;
	pthread_t t;
	int rc;

	printf("-- %s protocol %d robust %d shared %d\n", what, protocol, robust, shared);
	MUST(pthread_mutexattr_init(&a));
	MUST(pthread_mutexattr_settype(&a, type));
	MUST(pthread_mutexattr_setprotocol(&a, protocol));
	MUST(pthread_mutexattr_setrobust(&a, robust));
	MUST(pthread_mutexattr_setpshared(&a, shared));
	SAY(rc = pthread_mutex_init(&m, &a));
	if (rc)
		return;
	SAY(rc = pthread_mutex_lock(&m));
	if (rc) /* priority protection without the privilege */
		return;
	SAY(pthread_mutex_trylock(&m));
	SAY(pthread_mutex_timedlock(&m, &soon));
	if (type == PTHREAD_MUTEX_RECURSIVE || type == PTHREAD_MUTEX_ERRORCHECK)
		SAY(pthread_mutex_lock(&m));
	SAY(pthread_mutex_destroy(&m));
	MUST(pthread_create(&t, NULL, other, NULL));
	pthread_barrier_wait(&step);
	pthread_barrier_wait(&step);
	if (type == PTHREAD_MUTEX_RECURSIVE) {
		SAY(pthread_mutex_unlock(&m));
		SAY(pthread_mutex_unlock(&m));
		SAY(pthread_mutex_unlock(&m));
	}
	printf("going\n");
	sleep_ms(2);
	rc = pthread_mutex_unlock(&m); /* silent: the other may speak first */
	pthread_barrier_wait(&step);
	pthread_barrier_wait(&step);
	MUST(pthread_join(t, NULL));
	printf("unlock: %s\n", name_of(rc));
	if (type != PTHREAD_MUTEX_NORMAL && type != PTHREAD_MUTEX_ADAPTIVE_NP)
		SAY(pthread_mutex_unlock(&m)); /* not held */
	SAY(pthread_mutex_timedlock(&m, &bad)); /* free: the time is not looked at */
	SAY(pthread_mutex_unlock(&m));
	SAY(pthread_mutex_clocklock(&m, CLOCK_PROCESS_CPUTIME_ID, &soon)); /* free, yet refused */
	SAY(pthread_mutex_trylock(&m));
	SAY(pthread_mutex_unlock(&m));
	SAY(pthread_mutex_destroy(&m));
}

int main(void)
{
	static const struct {
		const char *name;
		int type;
	} types[] = {
		{ "normal", PTHREAD_MUTEX_NORMAL },
		{ "recursive", PTHREAD_MUTEX_RECURSIVE },
		{ "errorcheck", PTHREAD_MUTEX_ERRORCHECK },
		{ "adaptive", PTHREAD_MUTEX_ADAPTIVE_NP },
	};

	setvbuf(stdout, NULL, _IOLBF, 0);
	MUST(pthread_barrier_init(&step, NULL, 2));
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		for (int protocol = 0; protocol <= 2; protocol++)
			for (int robust = 0; robust <= 1; robust++)
				for (int shared = 0; shared <= 1; shared++)
					one(types[i].name, types[i].type, protocol, robust, shared);
	return 0;
}
