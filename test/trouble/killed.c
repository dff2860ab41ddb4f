/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The victim of the kill loop: calls work() for ever, on several threads and in several processes,
 * and keeps count in a shared file.
 *
 * Limits: killed FILE THREADS FORKS; ends by itself after 20 seconds, in case nobody kills it.
 */
#include "trouble.h"

#include "counts.h"
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static struct counts *counts;

CALLED int work(int x)
{
	HERE();
	return x + 1;
}

CALLED void *busy(void *arg)
{
	long slot = (long)arg;
	volatile uint64_t *done = &counts->thread[slot].done;

	counts->thread[slot].pid = (uint64_t)getpid();
	counts->thread[slot].tid = (uint64_t)syscall(SYS_gettid);
	for (;;) {
		work(1);
		++*done;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long threads = argc > 2 ? atol(argv[2]) : 1, forks = argc > 3 ? atol(argv[3]) : 0, i;
	long slot = 0;
	pthread_t thread;

	counts = counts_open(argc > 1 ? argv[1] : "counts");
	alarm(20);
	for (i = 0; i < forks; i++) {
		if (!fork()) {
			alarm(20);
			slot = (i + 1) * threads;
			break;
		}
	}
	say("running\n");
	for (i = 1; i < threads; i++)
		MUST(!pthread_create(&thread, NULL, busy, (void *)(slot + i)));
	busy((void *)slot);
	return 0;
}
