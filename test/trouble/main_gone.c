/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * main() leaves by pthread_exit(). The thread that goes on waits for one whose destructors record in all
 * their rounds, and calls exit(): it is the only one then, beside main's remains.
 *
 * Limits: how many events are lost (in the rounds behind gputrace's own) is not said.
 */
#include "trouble.h"

#include <dirent.h>
#include <pthread.h>

static pthread_key_t key;
static pthread_t first;

CALLED int work(int x)
{
	HERE();
	return x + 1;
}

UNSEEN static void again(void *value)
{
	work(1);
	pthread_setspecific(key, value);
}

UNSEEN static void *brief(void *arg)
{
	work(2);
	pthread_setspecific(key, &key);
	return arg;
}

/* A thread that was joined may still be there for the kernel. */
UNSEEN static int threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	int n = -2;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

UNSEEN static void *last(void *arg)
{
	pthread_t thread;

	(void)arg;
	pthread_join(first, NULL);
	MUST(!pthread_create(&thread, NULL, brief, NULL));
	pthread_join(thread, NULL);
	while (threads() > 2)
		usleep(1000);
	exit(5);
}

int main(void)
{
	pthread_t thread;

	MUST(!pthread_key_create(&key, again));
	first = pthread_self();
	MUST(!pthread_create(&thread, NULL, last, NULL));
	pthread_exit(NULL);
}
