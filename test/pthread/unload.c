/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plug-in whose destructor cancels its thread and joins it, while dlclose() holds the loader's lock: the
 * thread must need nothing of the loader to end. Built twice, with -DPLUGIN as libunload.so.
 */
#define _GNU_SOURCE
#include "say.h"

#include <dlfcn.h>
#include <pthread.h>

#ifdef PLUGIN
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pthread_t waiter;

static void release(void *unused)
{
	(void)unused;
	pthread_mutex_unlock(&mutex);
}

static void *wait_for_ever(void *unused)
{
	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(release, NULL);
	for (;;)
		pthread_cond_wait(&never, &mutex);
	pthread_cleanup_pop(1);
	return unused;
}

__attribute__((constructor)) static void begin(void)
{
	pthread_create(&waiter, NULL, wait_for_ever, NULL);
}

__attribute__((destructor)) static void end(void)
{
	pthread_cancel(waiter);
	pthread_join(waiter, NULL);
}
#else
int main(void)
{
	void *plugin = dlopen("libunload.so", RTLD_NOW);

	if (!plugin)
		return 99;
	usleep(100000); /* until it waits */
	printf("closed: %d\n", dlclose(plugin));
	return 0;
}
#endif
