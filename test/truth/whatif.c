/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that can be changed: whatif SHAPE A B [C]. What they do are sleeps of A, B and C ms that nobody
 * records inside of functions first(), second() and third(): no processor is needed for them.
 *
 * Limits: a sleep ends when there is a processor.
 */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef WITH_MPI
#include <mpi.h>
#endif

enum { ROUNDS = 6, ROOM = 2 };

static double ms[3];

static __attribute__((no_instrument_function)) void sleep_for(double of)
{
	struct timespec left = { (time_t)(of / 1000), (long)(of * 1e6) % 1000000000 };

	if (of > 0)
		syscall(SYS_nanosleep, &left, NULL);
}

#define WORKS(NAME, n)                                     \
	static __attribute__((noinline)) void NAME(void) \
	{                                                \
		sleep_for(ms[n]);                          \
	}

WORKS(first, 0)
WORKS(second, 1)
WORKS(third, 2)

/* second() in it, too. */
static __attribute__((noinline)) void outer(int depth)
{
	first();
	if (depth)
		outer(depth - 1);
	else
		second();
}

static void serial(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		first();
		second();
	}
}

static void nested(void)
{
	outer(ROUNDS);
	third();
}

static void *beside(void *unused)
{
	second();
	return unused;
}

/* Two threads of which the slower one counts, and a part that is serial. */
static void threads(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_t thread;

		third();
		pthread_create(&thread, NULL, beside, NULL);
		first();
		pthread_join(thread, NULL);
	}
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *critical(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		first();
		pthread_mutex_lock(&lock);
		second();
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

static void locks(void)
{
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, critical, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

static sem_t full, empty;

static void *consumes(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		sem_wait(&full);
		second();
		sem_post(&empty);
	}
	return unused;
}

/* The slower one of two stages counts. */
static void stages(void)
{
	pthread_t thread;

	sem_init(&full, 0, 0);
	sem_init(&empty, 0, ROOM);
	pthread_create(&thread, NULL, consumes, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		sem_wait(&empty);
		first();
		sem_post(&full);
	}
	pthread_join(thread, NULL);
}

static pthread_barrier_t barrier;

static void *meets(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		second();
		pthread_barrier_wait(&barrier);
	}
	return unused;
}

static void barriers(void)
{
	pthread_t thread;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, meets, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		first();
		pthread_barrier_wait(&barrier);
	}
	pthread_join(thread, NULL);
}

static void children(void)
{
	pid_t pid = fork();

	if (!pid) {
		second();
		exit(0);
	}
	first();
	waitpid(pid, NULL, 0);
	third();
}

#ifdef WITH_MPI
/* Rank 0 works for A ms, the others for B, and then all wait for each other. */
static void ranks(void)
{
	int rank, sum;

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < ROUNDS; i++) {
		if (rank)
			second();
		else
			first();
		MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	}
	MPI_Finalize();
}

/* A chain: each rank works for A ms on what it gets from the one before; the last one also for B. */
static void chain(void)
{
	int rank, size, what = 0;

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < ROUNDS; i++) {
		if (rank)
			MPI_Recv(&what, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		first();
		if (rank + 1 < size)
			MPI_Send(&what, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
		else
			second();
	}
	MPI_Finalize();
}
#endif

static const struct shape {
	const char *name;
	void (*runs)(void);
} shapes[] = {
	{ "serial", serial }, { "nested", nested }, { "threads", threads }, { "locks", locks },
	{ "stages", stages }, { "barriers", barriers }, { "children", children },
#ifdef WITH_MPI
	{ "ranks", ranks }, { "chain", chain },
#endif
};

int main(int argc, char **argv)
{
	for (int i = 2; i < argc && i < 5; i++)
		ms[i - 2] = strtod(argv[i], NULL);
	for (size_t i = 0; argc > 1 && i < sizeof(shapes) / sizeof(*shapes); i++)
		if (!strcmp(argv[1], shapes[i].name)) {
			shapes[i].runs();
			return 0;
		}
	return 2;
}
