/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits with known callers, while the threads are sampled: ten times a thread waits for a lock by one
 * function, which is called by two others, then twice for a pipe; and main() for it. Then main() has memory
 * moved. Compiled with -DMPI rank 1 waits for rank 0's messages instead.
 *
 * Limits: prints nothing. Who ends a wait looks whether the other one sleeps, and naps then, so that each
 * wait takes more than a millisecond.
 */
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef __clang__
#define ALONE __attribute__((noinline, optnone))
#else
#define ALONE __attribute__((noipa))
#endif
#define TURNS 10
#define STAT  "/proc/self/task/%d/stat"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t held, wanted;
static int ends[2], waits_as;
static volatile bool waits;

static void nap(void)
{
	syscall(SYS_nanosleep, &(struct timespec){ 0, 2000000 }, NULL);
}

static long cpu(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Something to be sampled. */
ALONE static void work(void)
{
	for (long until = cpu() + 3000000; cpu() < until;)
		for (volatile int i = 0; i < 20000; i++)
			;
}

/* By system calls of its own, which nobody records. */
static bool sleeps(void)
{
	char text[512] = "", name[64], state = 0;
	int fd;

	snprintf(name, sizeof(name), STAT, waits_as);
	fd = (int)syscall(SYS_openat, AT_FDCWD, name, O_RDONLY);
	syscall(SYS_read, fd, text, sizeof(text) - 1);
	syscall(SYS_close, fd);
	sscanf(text, "%*d %*s %c", &state);
	return state == 'S';
}

static void see_it_wait(void)
{
	while (!waits || !sleeps())
		nap();
	waits = false;
	nap();
}

/* Keeps registers that a walk has to restore. */
ALONE static int take(int n, int m)
{
	waits = true;
	pthread_mutex_lock(&lock); /* TAKE */
	pthread_mutex_unlock(&lock);
	return n + m;
}

ALONE static int frequent_caller(int n, int m)
{
	int sum = take(n, m); /* FREQUENT */

	return sum + n;
}

/* Its frame has a size that only its frame pointer knows. */
ALONE static int rare_caller(int n, int m)
{
	volatile char room[n + 32];

	room[n] = (char)m;
	return take(n, m) + room[n]; /* RARE */
}

ALONE static void *waiter(void *unused)
{
	char c;

	waits_as = (int)syscall(SYS_gettid);
	for (int i = 0; i < TURNS; i++) {
		work();
		sem_wait(&held);
		if (i % 5)
			frequent_caller(i, 1);
		else
			rare_caller(i, 2);
		sem_post(&wanted);
	}
	do
		waits = true;
	while (read(ends[0], &c, 1) > 0); /* READ */
	waits_as = (int)syscall(SYS_getpid);
	see_it_wait();
	return unused;
}

ALONE static void holder(void)
{
	for (int i = 0; i < TURNS; i++) {
		pthread_mutex_lock(&lock);
		sem_post(&held);
		see_it_wait();
		pthread_mutex_unlock(&lock);
		sem_wait(&wanted);
	}
	see_it_wait();
	if (write(ends[1], "x", 1) != 1)
		_exit(1);
	see_it_wait();
	close(ends[1]);
}

#ifdef MPI
#include <mpi.h>

ALONE static void receive(int i)
{
	MPI_Recv(&i, 1, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* RECEIVE */
	__asm__ volatile("");
}

/* MPI may spin: nobody sees whether the other one waits, but it was told to. */
ALONE static void exchange(int rank)
{
	for (int i = 0; i < TURNS; i++) {
		MPI_Barrier(MPI_COMM_WORLD);
		if (!rank) {
			for (int k = 0; k < 10; k++)
				nap();
			MPI_Send(&i, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
		} else {
			receive(i);
		}
	}
}

int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	exchange(rank);
	MPI_Finalize();
	return 0;
}
#else
/* All of it is moved, since there is something behind it. */
ALONE static void *grow(void)
{
	const size_t size = 16 << 20;
	char *block, *behind;

	mallopt(M_MMAP_THRESHOLD, 32 << 20);
	block = malloc(size);
	behind = malloc(100);
	if (!block || !behind)
		_exit(1);
	memset(block, 1, size);
	*behind = 1;
	block = realloc(block, size + size / 2); /* GROW */
	free(behind);
	return block;
}

int main(void)
{
	pthread_t thread;

	if (pipe(ends) || sem_init(&held, 0, 0) || sem_init(&wanted, 0, 0))
		return 1;
	pthread_create(&thread, NULL, waiter, NULL); /* CREATE */
	holder();
	waits = true;
	pthread_join(thread, NULL); /* JOIN */
	free(grow());
	return 0;
}
#endif
