/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 60 threads that live at the same time; meanwhile main() opens 100 files.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>

#define THREADS 60

static pthread_barrier_t barrier;

static void *work(void *arg)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return arg;
}

int main(void)
{
	pthread_t threads[THREADS];
	int first = -1, count = 0;

	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 100; i++) {
		int fd = open("/dev/null", O_RDONLY);

		first = first < 0 ? fd : first;
		count += fd >= 0;
	}
	printf("opened %d, the first is %d\n", count, first);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
