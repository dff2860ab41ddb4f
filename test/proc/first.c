/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first event of the process is another thread's, the second the main thread's.
 *
 * Limits: to be run without the adapter for threads, which records that the thread is made.
 */
#include <pthread.h>
#include <stddef.h>

#include "vt_user.h"

static void *other(void *unused)
{
	VT_USER_START("other thread");
	VT_USER_END("other thread");
	return unused;
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, other, NULL) || pthread_join(thread, NULL))
		return 1;
	VT_USER_START("main thread");
	VT_USER_END("main thread");
	return 0;
}
