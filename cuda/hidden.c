/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of our own in the program.
 * Limits: they are never joined, and end with the process.
 */
#include <pthread.h>
#include <signal.h>

#include "cuda/cuda.h"

static bool start(void *(*run)(void *))
{
	pthread_attr_t attributes;
	pthread_t thread;
	int rc;

	if (pthread_attr_init(&attributes))
		return false;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, 256 * 1024);
	rc = pthread_create(&thread, &attributes, run, NULL);
	pthread_attr_destroy(&attributes);
	return !rc;
}

bool gt_cu_start_hidden(void *(*run)(void *))
{
	sigset_t all, before;
	bool ok;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	gt_guard();
	ok = start(run);
	gt_unguard();
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return ok;
}
