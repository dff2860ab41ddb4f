/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that end while threads of theirs still run: exits NAME. With another argument, `part` does
 * nothing: that is the run without it. What they do are sleeps that nobody records inside of functions that
 * are recorded: no processor is needed for them.
 *
 * Limits: a sleep ends when there is a processor: the functions have what comes on top.
 */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SLEEP(ms) syscall(SYS_nanosleep, &(struct timespec){ 0, (ms) * 1000000 }, NULL)
#define RECORDED static __attribute__((noinline))

static int without;

RECORDED void part(void)
{
	if (!without)
		SLEEP(300);
}

/* Who is to wait for this process does so then: one that uses no processor may else be taken to idle. */
RECORDED void begins(void)
{
	SLEEP(40);
}

RECORDED void before(void)
{
	SLEEP(60);
}

/* Until the process ends. */
RECORDED void background(void)
{
	for (;;)
		SLEEP(20);
}

RECORDED void short_work(void)
{
	SLEEP(150);
}

static void *runs(void *unused)
{
	background();
	return unused;
}

static void *works(void *unused)
{
	short_work();
	return unused;
}

static void *exits(void *unused)
{
	part();
	exit(0);
	return unused;
}

static void *exits_at_once(void *unused)
{
	part();
	_exit(0);
	return unused;
}

static void *lasts(void *unused)
{
	part();
	return unused;
}

static pthread_t start(void *(*function)(void *))
{
	pthread_t thread;

	pthread_create(&thread, NULL, function, NULL);
	return thread;
}

static void returns(void)
{
	start(runs);
	start(works);
	part();
}

static void calls_exit(void)
{
	returns();
	exit(0);
}

static void calls__exit(void)
{
	returns();
	_exit(0);
}

static void calls_quick_exit(void)
{
	returns();
	quick_exit(0);
}

/* The main thread waits for one that does not end. */
static void thread_exits(void)
{
	pthread_t thread = start(runs);

	start(exits);
	pthread_join(thread, NULL);
}

/* The main thread works on, as it would for a long time. */
static void thread__exits(void)
{
	start(exits_at_once);
	background();
}

/* The process ends with its last thread. */
static void main_leaves(void)
{
	start(lasts);
	short_work();
	pthread_exit(NULL);
}

/* A process ends with what its parent waits for, and so does the other. */
static void child(void (*ends)(void))
{
	pid_t pid = fork();

	if (!pid) {
		begins();
		ends();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void child_exits(void)
{
	child(calls__exit);
}

static void child_thread_exits(void)
{
	child(thread__exits);
}

static void child_main_leaves(void)
{
	child(main_leaves);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} all[] = { { "returns", returns },
		    { "calls_exit", calls_exit },
		    { "calls__exit", calls__exit },
		    { "calls_quick_exit", calls_quick_exit },
		    { "thread_exits", thread_exits },
		    { "thread__exits", thread__exits },
		    { "main_leaves", main_leaves },
		    { "child_exits", child_exits },
		    { "child_thread_exits", child_thread_exits },
		    { "child_main_leaves", child_main_leaves } };

	without = argc > 2;
	before();
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (argc > 1 && !strcmp(argv[1], all[i].name))
			all[i].run();
	return 0;
}
