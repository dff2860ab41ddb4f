/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 50 threads each of which takes a signal before it does anything else: it is pending for the process, and
 * they begin with a mask that lets it through. The handler calls a function.
 */
#include "trouble.h"

#include <pthread.h>
#include <signal.h>

#define THREADS 50

static volatile int handled;

CALLED int work(int x)
{
	HERE();
	return x + 1;
}

UNSEEN static void handler(int number)
{
	handled += number == SIGUSR1;
	work(number);
}

UNSEEN static void *thread(void *arg)
{
	work(1);
	return arg;
}

UNSEEN int main(void)
{
	pthread_attr_t attributes;
	sigset_t one, none;
	pthread_t t;

	sigemptyset(&none);
	sigemptyset(&one);
	sigaddset(&one, SIGUSR1);
	signal(SIGUSR1, handler);
	MUST(!pthread_sigmask(SIG_BLOCK, &one, NULL));
	MUST(!pthread_attr_init(&attributes) && !pthread_attr_setsigmask_np(&attributes, &none));
	for (int i = 0; i < THREADS; i++) {
		MUST(!kill(getpid(), SIGUSR1));
		MUST(!pthread_create(&t, &attributes, thread, NULL) && !pthread_join(t, NULL));
	}
	MUST(handled == THREADS);
	say("calls work %d\n", 2 * THREADS);
	return 0;
}
