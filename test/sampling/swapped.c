/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two libraries of the same layout and with frames of different sizes take turns at the same place in memory,
 * and with four threads at once while each thread is interrupted 10,000 times in a second: a walk that is
 * said to be complete has the frames that the program knows. Arguments: the libraries, rounds, and
 * microseconds between interruptions, if these are to be other than 100 (under an emulator threads would not
 * go on).
 */
#define _GNU_SOURCE
#include "gputrace/records.h"
#include "test/sampling/own_stack.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define THREADS 4
#define TURNS   8 /* frames of a library's function */

/* That of the timer's signals, and that of walks that the thread asks for. */
static __thread struct gt_walker *walker, *asked;
static __thread uint64_t root;
static atomic_ulong walks, demanded, whole, reloaded;
static atomic_ulong false_ones, misled; /* misled: false, but a frame was guessed */
static const char *library[2];
static int rounds;
static long period = 100;

static int has_guess(const struct gt_walker *w)
{
	for (unsigned i = 0; i < w->n; i++)
		if (GT_FRAME_FLAGS(w->frames[i]) & GT_FRAME_GUESSED)
			return 1;
	return 0;
}

static void on_timer(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	gt_walk(walker, context);

	atomic_fetch_add(&walks, 1);
	if (walker->flags || !root || has_guess(walker))
		return;
	if (walker->frames[walker->n - 1] != root)
		atomic_fetch_add(&false_ones, 1);
}

static void on_demand(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	gt_walk(asked, context);
}

/* The library's function calls this at its end: so many of its frames are on the stack. */
static void at_bottom(void *at)
{
	unsigned same = 0;
	Dl_info info, where;

	raise(SIGUSR2);
	dladdr(at, &info);
	for (unsigned i = 0; i < asked->n; i++)
		same += dladdr((void *)(GT_FRAME_ADDRESS(asked->frames[i]) - 1), &where) &&
			where.dli_fbase == info.dli_fbase;
	atomic_fetch_add(&demanded, 1);
	atomic_fetch_add(&whole, same == TURNS && !asked->flags);
	if (same != TURNS && !asked->flags)
		atomic_fetch_add(has_guess(asked) ? &misled : &false_ones, 1);
}

static void turn(int which)
{
	static void *_Atomic last;
	void *handle = dlopen(library[which], RTLD_NOW), *at;
	int (*call)(int, void (*)(void *), void *);

	gt_unwind_changed();
	if (!handle)
		abort();
	at = dlsym(handle, "call");
	if (atomic_exchange(&last, at) == at)
		atomic_fetch_add(&reloaded, 1);
	memcpy(&call, &at, sizeof(call));
	call(TURNS, at_bottom, at);
	dlclose(handle);
	gt_unwind_changed();
}

static void arm(timer_t *timer)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 };
	struct itimerspec often = { { 0, period * 1000 }, { 0, period * 1000 } };

	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	timer_create(CLOCK_MONOTONIC, &event, timer);
	timer_settime(*timer, 0, &often, NULL);
}

static void *thread(void *number)
{
	int alone = number == NULL;
	timer_t timer;

	walker = calloc(1, sizeof(*walker));
	asked = calloc(1, sizeof(*asked));
	walk_own_stack(walker);
	walk_own_stack(asked);
	raise(SIGUSR2);
	root = asked->flags ? 0 : asked->frames[asked->n - 1];
	if (!alone)
		arm(&timer);
	for (int i = 0; i < rounds; i++)
		turn(alone ? i & 1 : rand() & 1);
	if (!alone)
		timer_delete(timer);
	return NULL;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = on_timer, .sa_flags = SA_SIGINFO };
	pthread_t other[THREADS];

	if (argc < 4 || !gt_unwind_ready())
		return 2;
	library[0] = argv[1];
	library[1] = argv[2];
	rounds = atoi(argv[3]);
	if (argc > 4)
		period = atol(argv[4]);
	sigaction(SIGUSR1, &action, NULL);
	action.sa_sigaction = on_demand;
	sigaction(SIGUSR2, &action, NULL);
	pthread_create(&other[0], NULL, thread, NULL);
	pthread_join(other[0], NULL);
	printf("alone %lu\nwhole %lu\nreloaded %lu\n", demanded, whole, reloaded);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&other[i], NULL, thread, (void *)(i + 1));
	for (int i = 0; i < THREADS; i++)
		pthread_join(other[i], NULL);
	printf("walks %lu\ndemanded %lu\nall whole %lu\n", walks, demanded, whole);
	printf("false %lu\nmisled %lu\n", false_ones, misled);
	return 0;
}
