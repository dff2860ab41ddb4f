/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that hop from processor to processor between calls: the clock must not go back. Or, with an
 * argument, two naps with another between them.
 *
 * Limits: with one processor it is only a slow program.
 */
#include "trouble.h"

#include <pthread.h>
#include <sched.h>

CALLED int work(int x)
{
	HERE();
	return x + 1;
}

CALLED void *hop(void *arg)
{
	int cpus = (int)sysconf(_SC_NPROCESSORS_CONF), i, k;
	cpu_set_t set;

	for (i = 0; i < 500; i++) {
		CPU_ZERO(&set);
		CPU_SET((i + (int)(long)arg) % cpus, &set);
		sched_setaffinity(0, sizeof(set), &set); /* may be refused: then it stays */
		for (k = 0; k < 20; k++)
			work(k);
	}
	return NULL;
}

CALLED void nap(void)
{
	usleep(300000);
	HERE();
}

int main(int argc, char **argv)
{
	pthread_t thread[2];
	long i;

	(void)argv;
	if (argc > 1) {
		nap();
		usleep(600000);
		nap();
		say("calls nap 2\n");
		return 0;
	}
	for (i = 0; i < 2; i++)
		MUST(!pthread_create(&thread[i], NULL, hop, (void *)i));
	for (i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	say("calls work 20000\ncalls hop 2\n");
	return 0;
}
