/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs of rounds, whose threads and processes begin and end in each: lives NAME. What they do are sleeps
 * that nobody records inside of functions that are recorded: no processor is needed for them. On a busy
 * machine threads are late, and who waits for whom may be another one then: slow_part() is not over before
 * those that are to wait for it do, and those beside it have ended.
 *
 * Limits: a sleep ends when there is a processor: the functions have what comes on top. A thread that has
 * said that it waits has LAST_NAPS sleeps' time to do it.
 */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 4, SLOW_NAPS = 8, LAST_NAPS = 20 };
#define SLEEP(ms) syscall(SYS_nanosleep, &(struct timespec){ 0, (ms) * 1000000 }, NULL)
#define WORKS(NAME, ms)                                  \
	static __attribute__((noinline)) void NAME(void) \
	{                                                \
		SLEEP(ms);                               \
	}

WORKS(serial_part, 60)
WORKS(quick_part, 5)
WORKS(after_part, 30)
WORKS(early_part, 120)
WORKS(main_part, 160)

static sem_t done, work;
static bool stop;
static atomic_bool waits;  /* who is to wait for slow_part() does so now, or in a moment */
static atomic_int beside;  /* the thread that runs beside it; -1: not yet; 0: none */

static __attribute__((noinline)) void slow_part(void)
{
	for (int i = 0, last = 0; i < SLOW_NAPS || last < LAST_NAPS; i++) {
		int thread = beside;

		if (waits && thread >= 0 && (!thread || syscall(SYS_tgkill, getpid(), thread, 0)))
			last++;
		SLEEP(10);
	}
}

static void *slow(void *unused)
{
	slow_part();
	return unused;
}

static void *quick(void *unused)
{
	beside = (int)syscall(SYS_gettid);
	quick_part();
	return unused;
}

static void *slow_posts(void *unused)
{
	slow_part();
	sem_post(&done);
	return unused;
}

static void *outer(void *unused)
{
	pthread_t inner;

	quick_part();
	pthread_create(&inner, NULL, slow, NULL);
	waits = true;
	pthread_join(inner, NULL);
	after_part();
	return unused;
}

static void *joins(void *thread)
{
	waits = true;
	pthread_join(*(pthread_t *)thread, NULL);
	after_part();
	return NULL;
}

static void *pool(void *unused)
{
	sem_post(&done);
	for (;;) {
		sem_wait(&work);
		if (stop)
			return unused;
		slow_part();
		sem_post(&done);
	}
}

/* Two threads, one of which is slower. */
static void rounds(void)
{
	pthread_t one, other;

	beside = -1;
	pthread_create(&one, NULL, slow, NULL);
	pthread_create(&other, NULL, quick, NULL);
	waits = true;
	pthread_join(one, NULL);
	pthread_join(other, NULL);
}

static void *early(void *unused)
{
	sem_post(&done);
	early_part();
	return unused;
}

/* When a thread is joined another one has had its location since. */
static void outlived(void)
{
	pthread_t one, other;

	pthread_create(&one, NULL, early, NULL);
	sem_wait(&done);
	main_part();
	pthread_create(&other, NULL, quick, NULL);
	pthread_join(other, NULL);
	pthread_join(one, NULL);
}

/* Nobody joins the thread: it says that it has done its work. */
static void detached(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, slow_posts, NULL);
	pthread_detach(thread);
	waits = true;
	sem_wait(&done);
}

/* A thread that creates one and joins it. */
static void nested(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, outer, NULL);
	pthread_join(thread, NULL);
}

/* A thread is joined by another one than its creator. */
static void joiner(void)
{
	pthread_t thread, other;

	pthread_create(&thread, NULL, slow, NULL);
	pthread_create(&other, NULL, joins, &thread);
	pthread_join(other, NULL);
}

/* Each process has a thread, and both of them work. */
static void forks(void)
{
	pid_t child = fork();

	if (!child) {
		rounds();
		after_part();
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

/* The same, but the child has begun, and is at work, before fork() returns to its parent. */
static void fork_returns_late(void)
{
	SLEEP(20);
}

static void late_fork(void)
{
	static bool known;

	if (!known)
		pthread_atfork(NULL, fork_returns_late, NULL);
	known = true;
	forks();
}

/* A thread that lives on has the work. */
static void pooled(void)
{
	sem_post(&work);
	waits = true;
	sem_wait(&done);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*round)(void);
	} all[] = { { "rounds", rounds }, { "detached", detached }, { "nested", nested },
		    { "joiner", joiner }, { "forks", forks },       { "late_fork", late_fork },
		    { "pooled", pooled },           { "outlived", outlived } };
	pthread_t thread;
	bool pools = argc > 1 && !strcmp(argv[1], "pooled");

	sem_init(&done, 0, 0);
	sem_init(&work, 0, 0);
	if (pools) {
		pthread_create(&thread, NULL, pool, NULL);
		sem_wait(&done);
		SLEEP(50);
	}
	for (int i = 0; i < ROUNDS; i++) {
		serial_part();
		waits = false;
		for (size_t k = 0; k < sizeof(all) / sizeof(*all); k++)
			if (argc > 1 && !strcmp(argv[1], all[k].name))
				all[k].round();
	}
	stop = true;
	sem_post(&work);
	if (pools)
		pthread_join(thread, NULL);
	return 0;
}
