/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls with known lines, of which one takes three times as long as the other: what samples must find. Also
 * in a thread, whose path begins elsewhere, and in a child.
 *
 * Limits: prints nothing. `work` is long enough to be sampled, about 0.3 s in each of the three.
 */
#include <pthread.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALONE __attribute__((noipa))

ALONE static void work(long n)
{
	for (volatile long i = 0; i < n; i++) /* WORK */
		;
}

ALONE static void often(void)
{
	work(3000000); /* OFTEN */
	__asm__ volatile("");
}

ALONE static void seldom(void)
{
	work(1000000); /* SELDOM */
	__asm__ volatile("");
}

ALONE static void down(int n)
{
	if (n)
		down(n - 1); /* DOWN */
	else
		seldom();
	__asm__ volatile("");
}

ALONE static void *turns(void *unused)
{
	for (int i = 0; i < 40; i++) {
		often();
		down(3);
	}
	return unused;
}

int main(void)
{
	pthread_t thread;
	pid_t child;

	turns(NULL);
	pthread_create(&thread, NULL, turns, NULL);
	pthread_join(thread, NULL);
	child = fork();
	if (!child) {
		turns(NULL);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	return 0;
}
