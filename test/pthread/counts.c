// SPDX-License-Identifier: BSD-3-Clause
// Does a known number of every operation and prints what the archive must hold: "calls REGION N" for
// regions, "fact PATH N" for the rest. Argument: the value of VT_PTHREAD_LOCKS.
// Limits: whether a call has to wait is arranged by looking whether the thread sleeps (Linux: /proc);
// for the spin lock, by giving it time.
#define _GNU_SOURCE
#include <semaphore.h>
#include <sys/syscall.h>

#include "say.h"

#define ROUNDS 5  /* that have to wait */
#define FREE   40 /* that need not */

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, timed = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t b;
static sem_t s;

static volatile int stage, waiter_tid, signalled;

/* Main waits until the other thread sleeps in what it announced. */
static void until_blocked(int at)
{
	char path[64], text[256], *state;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", waiter_tid);
	for (;;) {
		sleep_ms(1);
		if (stage != at)
			continue;
		f = fopen(path, "r");
		state = f && fgets(text, sizeof(text), f) ? strrchr(text, ')') : NULL;
		if (f)
			fclose(f);
		if (state && state[2] == 'S')
			return;
	}
}

/* What one thread does while main holds, and then lets go. */
static void *waiter(void *p)
{
	struct timespec late;

	for (int i = 0; i < ROUNDS; i++) {
		late = after_ms(CLOCK_REALTIME, 100000);
		waiter_tid = (int)syscall(SYS_gettid);
		pthread_barrier_wait(&b); /* main holds everything */
		stage = 1;
		pthread_mutex_lock(&m);
		pthread_mutex_unlock(&m);
		stage = 2;
		pthread_mutex_timedlock(&timed, &late);
		pthread_mutex_unlock(&timed);
		stage = 3;
		pthread_mutex_lock(&recursive);
		pthread_mutex_lock(&recursive); /* one acquisition */
		pthread_mutex_unlock(&recursive);
		pthread_mutex_unlock(&recursive);
		stage = 4;
		pthread_rwlock_rdlock(&rw);
		pthread_rwlock_unlock(&rw);
		pthread_barrier_wait(&b);
		pthread_barrier_wait(&b); /* main reads, spins, and holds m again */
		stage = 5;
		pthread_rwlock_wrlock(&rw);
		pthread_rwlock_unlock(&rw);
		stage = 6;
		pthread_spin_lock(&spin);
		pthread_spin_unlock(&spin);
		stage = 7;
		sem_wait(&s);
		stage = 8;
		pthread_mutex_lock(&m); /* waits, so that cond_wait releases a recorded mutex */
		stage = 9;
		while (!signalled)
			pthread_cond_wait(&c, &m);
		signalled = 0;
		pthread_mutex_unlock(&m);
		pthread_barrier_wait(&b);
	}
	return p;
}

static void contended(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&m);
		pthread_mutex_lock(&timed);
		pthread_mutex_lock(&recursive);
		pthread_rwlock_wrlock(&rw);
		pthread_barrier_wait(&b);
		until_blocked(1);
		pthread_mutex_unlock(&m);
		until_blocked(2);
		pthread_mutex_unlock(&timed);
		until_blocked(3);
		pthread_mutex_unlock(&recursive);
		until_blocked(4);
		pthread_rwlock_unlock(&rw);
		pthread_barrier_wait(&b);
		pthread_rwlock_rdlock(&rw);
		pthread_spin_lock(&spin);
		pthread_mutex_lock(&m);
		pthread_barrier_wait(&b);
		until_blocked(5);
		pthread_rwlock_unlock(&rw);
		while (stage != 6)
			sleep_ms(1);
		sleep_ms(30);
		pthread_spin_unlock(&spin);
		until_blocked(7);
		sem_post(&s);
		until_blocked(8);
		pthread_mutex_unlock(&m);
		until_blocked(9);
		pthread_mutex_lock(&m);
		signalled = 1;
		pthread_cond_signal(&c);
		pthread_mutex_unlock(&m);
		pthread_barrier_wait(&b);
	}
}

static void uncontended(void)
{
	struct timespec past = { 1, 0 };

	for (int i = 0; i < FREE; i++) {
		pthread_mutex_lock(&m);
		pthread_mutex_unlock(&m);
		pthread_mutex_trylock(&m);
		pthread_mutex_trylock(&m); /* fails */
		pthread_mutex_unlock(&m);
		pthread_rwlock_rdlock(&rw);
		pthread_rwlock_unlock(&rw);
		pthread_rwlock_wrlock(&rw);
		pthread_rwlock_unlock(&rw);
		pthread_spin_lock(&spin);
		pthread_spin_unlock(&spin);
		sem_post(&s);
		sem_wait(&s);
		sem_trywait(&s);
		pthread_cond_signal(&c);
		pthread_cond_broadcast(&c);
		pthread_mutex_lock(&m);
		pthread_cond_timedwait(&c, &m, &past);
		pthread_mutex_unlock(&m);
	}
}

static void expect(const char *region, int n)
{
	printf("calls %s %d\n", region, n);
}

int main(int argc, char **argv)
{
	const char *locks = argc > 1 ? argv[1] : "contended";
	int all = strcmp(locks, "all") == 0, some = all || strcmp(locks, "contended") == 0;
	pthread_t t;

	MUST(pthread_spin_init(&spin, 0));
	MUST(sem_init(&s, 0, 0));
	MUST(pthread_barrier_init(&b, NULL, 2));
	MUST(pthread_create(&t, NULL, waiter, NULL));
	MUST(pthread_setname_np(t, "waiter"));
	contended();
	MUST(pthread_join(t, NULL));
	uncontended();

	expect("pthread_create", 1);
	expect("pthread_join", 1);
	expect("pthread_barrier_wait", some * 2 * 4 * ROUNDS);
	expect("pthread_cond_wait", some * ROUNDS);
	expect("pthread_cond_timedwait", some * FREE);
	expect("pthread_mutex_timedlock", some * ROUNDS);
	expect("pthread_mutex_lock", all ? 4 * ROUNDS + 5 * ROUNDS + 2 * FREE : some * 3 * ROUNDS);
	expect("pthread_rwlock_rdlock", all ? 2 * ROUNDS + FREE : some * ROUNDS);
	expect("pthread_rwlock_wrlock", all ? 2 * ROUNDS + FREE : some * ROUNDS);
	expect("pthread_spin_lock", all ? 2 * ROUNDS + FREE : some * ROUNDS);
	expect("sem_wait", all ? ROUNDS + FREE : some * ROUNDS);
	expect("pthread_mutex_trylock", all * 2 * FREE);
	expect("pthread_mutex_unlock", all * (5 * ROUNDS + 5 * ROUNDS + 3 * FREE));
	expect("pthread_rwlock_unlock", all * (4 * ROUNDS + 2 * FREE));
	expect("pthread_spin_unlock", all * (2 * ROUNDS + FREE));
	expect("sem_post", all * (ROUNDS + FREE));
	expect("sem_trywait", all * FREE);
	expect("pthread_cond_signal", all * (ROUNDS + FREE));
	expect("pthread_cond_broadcast", all * FREE);
	/* The waiter: mutex twice and once more after the condition, timed, recursive, write, spin. In
	 * `all` main as well: mutex three times, timed, recursive, write, spin; then the free ones, two
	 * of them released and acquired again by the timed wait. */
	printf("fact locks.acquire %d\n", all ? 7 * ROUNDS + 7 * ROUNDS + 6 * FREE : some * 7 * ROUNDS);
	printf("fact locks.release %d\n", all ? 7 * ROUNDS + 7 * ROUNDS + 6 * FREE : some * 7 * ROUNDS);
	printf("fact locks.held 0\n");
	printf("fact locks.ids %d\n", some * 5);
	printf("fact threads.create 1\nfact threads.begin 1\nfact threads.end 1\nfact threads.wait 1\n");
	return 0;
}
