/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * As many calls as asked for, on as many threads: what buffers, policies, limits and full disks are
 * tried with.
 *
 * Limits: events CALLS [THREADS [FILE]]; FILE gets the counts, for runs that are killed.
 */
#include "trouble.h"

#include "counts.h"
#include <pthread.h>

static struct counts *counts;
static long calls;

CALLED int work(int x)
{
	HERE();
	return x + 1;
}

CALLED void *body(void *arg)
{
	long i;

	if (!counts) {
		for (i = 0; i < calls; i++)
			work((int)i);
		return arg;
	}
	for (i = 0; i < calls; i++) {
		work((int)i);
		*(volatile uint64_t *)&counts->thread[(long)arg].done = (uint64_t)i + 1;
	}
	return arg;
}

int main(int argc, char **argv)
{
	long threads = argc > 2 ? atol(argv[2]) : 1, i;
	pthread_t thread[COUNTS_THREADS];

	calls = argc > 1 ? atol(argv[1]) : 1000;
	MUST(threads >= 1 && threads <= COUNTS_THREADS);
	if (argc > 3)
		counts = counts_open(argv[3]);
	for (i = 1; i < threads; i++)
		MUST(!pthread_create(&thread[i], NULL, body, (void *)i));
	body(NULL);
	for (i = 1; i < threads; i++)
		pthread_join(thread[i], NULL);
	say("calls work %ld\ncalls body %ld\n", calls * threads, threads);
	return 0;
}
