// SPDX-License-Identifier: BSD-3-Clause
// Reader-writer and spin locks through every operation: return codes and errno.
// Limits: fairness between readers and writers is not looked at.
#define _GNU_SOURCE
#include "say.h"

static pthread_rwlock_t l;
static pthread_spinlock_t s;
static pthread_barrier_t step;

static void *other(void *unused)
{
	struct timespec soon = after_ms(CLOCK_REALTIME, 5), mono = after_ms(CLOCK_MONOTONIC, 5);
	struct timespec bad = { soon.tv_sec, 1000000000 };

	(void)unused;
	pthread_barrier_wait(&step); /* main writes */
	SAY(pthread_rwlock_tryrdlock(&l));
	SAY(pthread_rwlock_trywrlock(&l));
	SAY(pthread_rwlock_timedrdlock(&l, &soon));
	SAY(pthread_rwlock_timedwrlock(&l, &soon));
	SAY(pthread_rwlock_clockrdlock(&l, CLOCK_MONOTONIC, &mono));
	SAY(pthread_rwlock_clockwrlock(&l, CLOCK_MONOTONIC, &mono));
	SAY(pthread_rwlock_timedrdlock(&l, &bad));
	SAY(pthread_rwlock_clockwrlock(&l, CLOCK_THREAD_CPUTIME_ID, &mono));
	pthread_barrier_wait(&step);
	MUST(pthread_rwlock_rdlock(&l)); /* waits for main */
	MUST(pthread_rwlock_unlock(&l));
	pthread_barrier_wait(&step); /* main reads */
	SAY(pthread_rwlock_tryrdlock(&l));
	SAY(pthread_rwlock_unlock(&l));
	SAY(pthread_rwlock_trywrlock(&l));
	pthread_barrier_wait(&step);
	MUST(pthread_rwlock_wrlock(&l)); /* waits for main */
	pthread_barrier_wait(&step);
	SAY(pthread_rwlock_unlock(&l));
	pthread_barrier_wait(&step); /* main spins */
	SAY(pthread_spin_trylock(&s));
	pthread_barrier_wait(&step);
	MUST(pthread_spin_lock(&s)); /* spins until main lets it go */
	MUST(pthread_spin_unlock(&s));
	return NULL;
}

static void kind(int kind)
{
	struct timespec soon = after_ms(CLOCK_REALTIME, 50), bad = { soon.tv_sec, 1000000000 };
	pthread_rwlockattr_t a;
	pthread_t t;

	printf("-- kind %d\n", kind);
	MUST(pthread_rwlockattr_init(&a));
	MUST(pthread_rwlockattr_setkind_np(&a, kind));
	MUST(pthread_rwlock_init(&l, &a));
	MUST(pthread_spin_init(&s, PTHREAD_PROCESS_PRIVATE));
	MUST(pthread_create(&t, NULL, other, NULL));
	SAY(pthread_rwlock_timedwrlock(&l, &bad)); /* free, yet refused */
	SAY(pthread_rwlock_timedrdlock(&l, &bad));
	SAY(pthread_rwlock_clockrdlock(&l, CLOCK_THREAD_CPUTIME_ID, &soon));
	SAY(pthread_rwlock_wrlock(&l));
	SAY(pthread_rwlock_wrlock(&l)); /* EDEADLK */
	SAY(pthread_rwlock_rdlock(&l));
	pthread_barrier_wait(&step);
	pthread_barrier_wait(&step);
	sleep_ms(2);
	SAY(pthread_rwlock_unlock(&l));
	SAY(pthread_rwlock_rdlock(&l));
	SAY(pthread_rwlock_rdlock(&l));
	SAY(pthread_rwlock_unlock(&l));
	pthread_barrier_wait(&step);
	pthread_barrier_wait(&step);
	sleep_ms(2);
	MUST(pthread_rwlock_unlock(&l));
	SAY(pthread_spin_trylock(&s));
	pthread_barrier_wait(&step);
	pthread_barrier_wait(&step);
	pthread_barrier_wait(&step);
	sleep_ms(2);
	MUST(pthread_spin_unlock(&s));
	MUST(pthread_join(t, NULL));
	SAY(pthread_rwlock_timedwrlock(&l, &soon));
	SAY(pthread_rwlock_unlock(&l));
	SAY(pthread_rwlock_clockrdlock(&l, CLOCK_REALTIME, &soon));
	SAY(pthread_rwlock_unlock(&l));
	SAY(pthread_rwlock_destroy(&l));
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	MUST(pthread_barrier_init(&step, NULL, 2));
	kind(PTHREAD_RWLOCK_PREFER_READER_NP);
	kind(PTHREAD_RWLOCK_PREFER_WRITER_NP);
	kind(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	return 0;
}
