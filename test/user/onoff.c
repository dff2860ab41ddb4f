/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * VT_OFF of one thread: it alone is not recorded, and neither are its forked children; the next
 * thread that gets its location is.
 *
 *     onoff         the facts of the trace are known to user.test
 *
 * Limits: the threads take turns, so that counts are exact.
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "vt_user.h"

static void work(const char *name, int times)
{
	for (int i = 0; i < times; i++) {
		VT_USER_START(name);
		VT_USER_END(name);
	}
}

/* Ends switched off: the next thread begins on its location. */
static void *off_at_once(void *unused)
{
	VT_OFF();
	work("hidden", 5);
	return unused;
}

static void *beside(void *unused)
{
	if (!VT_IS_ON())
		puts("a thread is off because another is");
	work("beside", 70000); /* more than a half of its window: the hot path is taken again */
	VT_ON();
	work("beside", 3);
	return unused;
}

static void in_thread(void *(*what)(void *))
{
	pthread_t thread;

	pthread_create(&thread, NULL, what, NULL);
	pthread_join(thread, NULL);
}

int main(void)
{
	int status = 0;

	work("seen", 2);
	VT_OFF();
	if (VT_IS_ON())
		puts("on after VT_OFF");
	work("hidden", 100000);
	if (!fork()) {
		work("hidden", 10);
		VT_ON();
		work("child", 4);
		return 0;
	}
	wait(&status);
	in_thread(off_at_once);
	in_thread(beside);
	work("hidden", 10);
	VT_ON();
	work("seen", 5);
	return status;
}
