/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * main() leaves by pthread_exit(), and the process ends with its last threads. Arguments: how many threads,
 * and whether they end all at once ("together"), one after the other, or main is the only thread (0).
 *
 * Limits: the exit handler says who runs it, and who is left then.
 */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_barrier_t barrier;
static bool together;
static long count;
static __thread bool ours;

static void *work(void *n)
{
	ours = true;
	if (together)
		pthread_barrier_wait(&barrier);
	else
		usleep(20000 * (unsigned)(long)n);
	return NULL;
}

static void last(void)
{
	sigset_t blocked;

	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	printf("exit handler, %s, SIGTERM %s\n", ours || together ? "the program's thread" : "another thread",
	       sigismember(&blocked, SIGTERM) ? "blocked" : "open");
}

int main(int argc, char **argv)
{
	pthread_t thread;

	count = argc > 1 ? atol(argv[1]) : 0;
	together = argc > 2 && !strcmp(argv[2], "together");
	ours = true;
	atexit(last);
	pthread_barrier_init(&barrier, NULL, (unsigned)count + 1);
	for (long i = 0; i < count; i++)
		pthread_create(&thread, NULL, work, (void *)(i + 1));
	if (together)
		pthread_barrier_wait(&barrier);
	pthread_exit(NULL);
}
