/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Eight threads that one lock makes take turns of 4 ms, so that each waits for longer than a time slice; or
 * (clean) that work with locks of their own, and before that wait once for a gate that the first thread
 * opens.
 *
 * Limits: who lets the lock go rests for a moment, or it would have it again at once.
 */
#include <pthread.h>
#include <stdbool.h>
#include <time.h>

enum { THREADS = 8, TURNS = 10 };

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER, locks[THREADS];
static bool clean;

static void rest(long us)
{
	nanosleep(&(struct timespec){ .tv_nsec = us * 1000 }, NULL);
}

static void *work(void *number)
{
	pthread_mutex_t *lock = clean ? &locks[(long)number] : locks;

	if (clean) {
		pthread_mutex_lock(&gate);
		pthread_mutex_unlock(&gate);
	}
	for (int i = 0; i < TURNS; i++) {
		pthread_mutex_lock(lock);
		rest(4000);
		pthread_mutex_unlock(lock);
		rest(300);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	(void)argv;
	clean = argc > 1;
	for (long i = 0; i < THREADS; i++)
		pthread_mutex_init(&locks[i], NULL);
	pthread_mutex_lock(&gate);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	if (clean)
		rest(200000);
	pthread_mutex_unlock(&gate);
	for (long i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
