/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library with a thread that it ends before each fork and starts again behind it, as OpenBLAS does.
 * Its handlers are registered in its constructor, which runs before gputrace's own.
 *
 * Limits: goes with fork_handlers.c.
 */
#include "trouble.h"

#include <pthread.h>

static pthread_t server;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wanted = PTHREAD_COND_INITIALIZER;
static int stop, running, calls;

CALLED void serve(void)
{
	calls++;
}

UNSEEN static void *serving(void *arg)
{
	pthread_mutex_lock(&lock);
	while (!stop)
		pthread_cond_wait(&wanted, &lock);
	pthread_mutex_unlock(&lock);
	serve(); /* while the thread that forks is in its handlers, and waits for this one */
	return arg;
}

UNSEEN void server_start(void)
{
	stop = 0;
	MUST(pthread_create(&server, NULL, serving, NULL) == 0);
	running = 1;
}

UNSEEN void server_end(void)
{
	if (!running)
		return;
	pthread_mutex_lock(&lock);
	stop = 1;
	pthread_cond_signal(&wanted);
	pthread_mutex_unlock(&lock);
	MUST(pthread_join(server, NULL) == 0);
	running = 0;
}

UNSEEN int server_calls(void)
{
	return calls;
}

UNSEEN static void in_child(void)
{
	calls = 0;
}

UNSEEN __attribute__((constructor)) static void begin(void)
{
	MUST(pthread_atfork(server_end, server_start, in_child) == 0);
}
