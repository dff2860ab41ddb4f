/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One thread with long stretches of plain calls between others that are full of locks, counters and
 * markers: for the thread that helps with a large location.
 *
 * Limits: none.
 */
#include <pthread.h>
#include <stdlib.h>

#include "vt_user.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline, noclone)) static int work(int x)
{
	__asm__ volatile("" ::: "memory");
	return x + 1;
}

int main(int argc, char **argv)
{
	int calls = argc > 1 ? atoi(argv[1]) : 1000, busy = argc > 2 ? atoi(argv[2]) : 1000;
	int counter = VT_COUNT_DEF("steps", "#", VT_COUNT_TYPE_UNSIGNED, VT_COUNT_DEFGROUP);
	int marker = VT_MARKER_DEF("turn", VT_MARKER_TYPE_HINT);

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < calls; i++)
			work(i);
		for (int i = 0; i < busy; i++) {
			pthread_mutex_lock(&mutex);
			VT_COUNT_UNSIGNED_VAL(counter, (unsigned)work(i));
			pthread_mutex_unlock(&mutex);
		}
		VT_MARKER(marker, "a round is done");
	}
	return 0;
}
