/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that take and leave a mutex while the main thread calls MPI: with EZTrace 2.0 this hangs
 * (its pthread module waits for a lock that its MPI module's first call holds).
 */
#include <mpi.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int stop;

static void *work(void *argument)
{
	const struct timespec pause = { 0, 20000 };

	/* At first as often as can be; then MPI_Init, which may take seconds, would fill the archive. */
	for (long i = 0; !stop; i++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
		if (i > 5000)
			nanosleep(&pause, NULL);
	}
	return argument;
}

int main(int argc, char **argv)
{
	pthread_t threads[4];
	int provided, v = 1, sum;

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
	for (int i = 0; i < 100; i++) {
		pthread_mutex_lock(&mutex);
		MPI_Allreduce(&v, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		pthread_mutex_unlock(&mutex);
	}
	stop = 1;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	MPI_Finalize();
	return 0;
}
