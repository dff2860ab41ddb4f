// SPDX-License-Identifier: BSD-3-Clause
// fork while locks are held and other threads run; the child unlocks, makes threads, waits.
// Limits: the child only uses locks that the forking thread holds, as POSIX has it.
#define _GNU_SOURCE
#include <sys/wait.h>

#include "say.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t r = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t around = PTHREAD_MUTEX_INITIALIZER;
static volatile int stop;

static void *busy(void *unused)
{
	while (!stop) {
		pthread_mutex_lock(&around);
		pthread_mutex_unlock(&around);
	}
	return unused;
}

static void before(void) { pthread_mutex_lock(&around); }
static void after(void) { pthread_mutex_unlock(&around); }

static void *in_child(void *p)
{
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	return p;
}

static int child(int n)
{
	pthread_t t;
	void *result;
	int bad = 0;

	bad |= pthread_mutex_unlock(&m);
	bad |= pthread_mutex_unlock(&r);
	bad |= pthread_mutex_unlock(&r);
	bad |= pthread_mutex_unlock(&r) != EPERM;
	bad |= pthread_create(&t, NULL, in_child, &t);
	bad |= pthread_join(t, &result) || result != &t;
	return bad ? 99 : n;
}

int main(void)
{
	pthread_t t[2];
	int status;

	setvbuf(stdout, NULL, _IOLBF, 0);
	MUST(pthread_atfork(before, after, after));
	for (int i = 0; i < 2; i++)
		MUST(pthread_create(&t[i], NULL, busy, NULL));
	for (int n = 1; n <= 20; n++) {
		pid_t pid;

		MUST(pthread_mutex_lock(&m));
		MUST(pthread_mutex_lock(&r));
		MUST(pthread_mutex_lock(&r));
		pid = fork();
		if (pid == 0)
			_exit(child(n));
		MUST(pthread_mutex_unlock(&r));
		MUST(pthread_mutex_unlock(&r));
		MUST(pthread_mutex_unlock(&m));
		waitpid(pid, &status, 0);
		printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
	}
	stop = 1;
	for (int i = 0; i < 2; i++)
		MUST(pthread_join(t[i], NULL));
	return 0;
}
