/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread waits while the first one computes for a second: it uses a processor in a spin lock, or in
 * pthread_mutex_trylock() again and again, or it blocks ("condition").
 *
 * Limits: the second is of the first thread's processor time.
 */
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

static pthread_spinlock_t spin;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static bool done;
static const char *how;

static void __attribute__((noinline)) compute(void)
{
	struct timespec used;

	do {
		for (volatile int i = 0; i < 100000; i++)
			;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	} while (used.tv_sec < 1);
}

static void __attribute__((noinline)) await(void)
{
	if (!strcmp(how, "lock")) {
		pthread_spin_lock(&spin);
		pthread_spin_unlock(&spin);
	} else if (!strcmp(how, "try")) {
		while (pthread_mutex_trylock(&mutex))
			;
		pthread_mutex_unlock(&mutex);
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
	done = true;
	pthread_cond_signal(&condition);
	if (strcmp(how, "lock"))
		pthread_mutex_unlock(&mutex);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	how = argc > 1 ? argv[1] : "condition";
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	if (!strcmp(how, "lock"))
		pthread_spin_lock(&spin);
	if (!strcmp(how, "try"))
		pthread_mutex_lock(&mutex);
	pthread_create(&thread, NULL, worker, NULL);
	compute();
	let_go();
	pthread_join(thread, NULL);
	return 0;
}
