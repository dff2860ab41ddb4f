/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits of threads, planted by sleeping: prints what it measured of them, as planted_mpi.c.
 * VT_PTHREAD_LOCKS=all records who holds a lock.
 *
 * Limits: two threads.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static double held, released, came, ready, posted, ended;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void rest(int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&t, NULL);
}

static void *worker(void *unused)
{
	pthread_mutex_lock(&mutex);
	held = now();
	pthread_barrier_wait(&barrier);
	rest(200);
	released = now();
	pthread_mutex_unlock(&mutex);
	rest(150);
	came = now();
	pthread_barrier_wait(&barrier);
	rest(120);
	pthread_mutex_lock(&mutex);
	ready = now();
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
	rest(110);
	posted = now();
	sem_post(&semaphore);
	rest(150);
	ended = now();
	return unused;
}

int main(void)
{
	pthread_t thread;
	double begun;

	pthread_barrier_init(&barrier, NULL, 2);
	sem_init(&semaphore, 0, 0);
	pthread_create(&thread, NULL, worker, NULL);
	pthread_barrier_wait(&barrier);
	rest(50);
	begun = now();
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	printf("lock contention,Master thread,%.9f\n", released - begun);
	begun = now();
	pthread_barrier_wait(&barrier);
	printf("wait at thread barrier,Master thread,%.9f\n", came - begun);
	pthread_mutex_lock(&mutex);
	begun = now();
	while (!ready)
		pthread_cond_wait(&condition, &mutex);
	pthread_mutex_unlock(&mutex);
	printf("condition wait,Master thread,%.9f\n", ready - begun);
	begun = now();
	sem_wait(&semaphore);
	printf("semaphore wait,Master thread,%.9f\n", posted - begun);
	begun = now();
	pthread_join(thread, NULL);
	printf("thread join,Master thread,%.9f\n", ended - begun);
	return 0;
}
