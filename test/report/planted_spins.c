/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread waits while the first one computes for a second: it uses a processor in a spin lock, or in
 * sched_yield() again and again, or it blocks ("condition"). Or it works as long, with a lock and a function
 * poll() of its own that nobody else uses ("free").
 *
 * Limits: the second is of the first thread's processor time, and longer if the other one got little.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

static pthread_spinlock_t spin;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static bool done;
static const char *how;

/* Until the other thread, unless it blocks, has used a processor for half a second, too. */
static void __attribute__((noinline)) compute(pthread_t other)
{
	struct timespec used, others = { .tv_sec = 1 };
	clockid_t clock;

	pthread_getcpuclockid(other, &clock);
	do {
		for (volatile int i = 0; i < 100000; i++)
			;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
		if (strcmp(how, "condition"))
			clock_gettime(clock, &others);
	} while (used.tv_sec < 1 || (!others.tv_sec && others.tv_nsec < 500000000));
}

static void __attribute__((noinline)) poll(void)
{
	static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;

	for (volatile int i = 0; i < 1000; i++) {
		pthread_mutex_lock(&own);
		pthread_mutex_unlock(&own);
	}
	for (volatile int i = 0; i < 20000; i++)
		;
}

static void __attribute__((noinline)) await(void)
{
	if (!strcmp(how, "lock")) {
		pthread_spin_lock(&spin);
		pthread_spin_unlock(&spin);
	} else if (!strcmp(how, "yield")) {
		while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE))
			sched_yield();
	} else if (!strcmp(how, "free")) {
		while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE))
			poll();
	} else {
		pthread_mutex_lock(&mutex);
		while (!done)
			pthread_cond_wait(&condition, &mutex);
		pthread_mutex_unlock(&mutex);
	}
	__asm__ volatile(""); /* no tail call */
}

static void *worker(void *unused)
{
	await();
	return unused;
}

static void let_go(void)
{
	if (!strcmp(how, "lock"))
		pthread_spin_unlock(&spin);
	if (!strcmp(how, "condition"))
		pthread_mutex_lock(&mutex);
	__atomic_store_n(&done, true, __ATOMIC_RELEASE);
	pthread_cond_signal(&condition);
	if (!strcmp(how, "condition"))
		pthread_mutex_unlock(&mutex);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	how = argc > 1 ? argv[1] : "condition";
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	if (!strcmp(how, "lock"))
		pthread_spin_lock(&spin);
	pthread_create(&thread, NULL, worker, NULL);
	compute(thread);
	let_go();
	pthread_join(thread, NULL);
	return 0;
}
