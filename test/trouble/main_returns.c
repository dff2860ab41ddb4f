/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * main returns while eight threads are in the middle of instrumented code. Each thread keeps count
 * in a shared file, so that the trace can be compared with the truth.
 *
 * Limits: at the end each thread may be one call ahead of or behind its count.
 */
#include "trouble.h"

#include "counts.h"
#include <pthread.h>

static struct counts *counts;

CALLED int work(int x)
{
	HERE();
	return x + 1;
}

CALLED void *busy(void *arg)
{
	volatile uint64_t *done = &counts->thread[(long)arg].done;

	for (;;) {
		work(1);
		++*done;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	long i;

	counts = counts_open(argc > 1 ? argv[1] : "counts");
	for (i = 0; i < 8; i++)
		MUST(!pthread_create(&thread, NULL, busy, (void *)i));
	usleep(argc > 2 ? (useconds_t)atoi(argv[2]) : 20000);
	return 0;
}
