/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thread-specific data whose destructor sets its key again, so that it runs in all four rounds,
 * with instrumented code each time: after every destructor that gputrace itself may have.
 *
 * Limits: what comes after the thread's location is closed may be missing, if it is counted.
 */
#include "trouble.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

static pthread_key_t key[8];
static atomic_int rounds;

CALLED int work(int x)
{
	HERE();
	return x + 1;
}

CALLED int late_work(int x)
{
	HERE();
	return x + 1;
}

CALLED void end_of_value(void *value)
{
	long left = (long)value;

	late_work(1);
	rounds++;
	if (left > 1)
		pthread_setspecific(key[0], (void *)(left - 1));
	HERE();
}

CALLED void *thread_main(void *arg)
{
	pthread_setspecific(key[0], (void *)(long)PTHREAD_DESTRUCTOR_ITERATIONS);
	work(1);
	HERE();
	return arg;
}

int main(void)
{
	pthread_t thread;
	int i;

	for (i = 0; i < 8; i++)
		MUST(!pthread_key_create(&key[i], end_of_value));
	for (i = 0; i < 100; i++) {
		MUST(!pthread_create(&thread, NULL, thread_main, NULL));
		MUST(!pthread_join(thread, NULL));
	}
	say("rounds %d\ncalls work 100\ncalls thread_main 100\n", rounds);
	/* Calls of late_work plus what the summary counts as lost. */
	say("late %d\n", rounds);
	return 0;
}
