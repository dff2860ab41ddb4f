/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every way in which a process can end, chosen by the first argument, after 100 calls of work().
 *
 * Limits: the ways that dump core set RLIMIT_CORE to 0 first.
 */
#include "trouble.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

CALLED int work(int x)
{
	HERE();
	return x + 1;
}

CALLED void leaf_end(const char *way);

static volatile sig_atomic_t in_handler;
static const char *the_way;

CALLED void handler(int sig)
{
	in_handler = sig;
	work(1);
	if (!strcmp(the_way, "handler_exit"))
		exit(7);
	if (!strcmp(the_way, "handler__exit"))
		_exit(8);
	HERE();
}

CALLED void at_exit_handler(void)
{
	work(1);
	HERE();
}

CALLED void at_exit_exits(void)
{
	work(1);
	_exit(9);
}

CALLED void at_exit_exit_again(void)
{
	work(1);
	exit(10); /* undefined by C, works with glibc */
}

CALLED void *thread_main(void *arg)
{
	work(1);
	leaf_end(arg);
	return NULL;
}

CALLED void *thread_slow(void *arg)
{
	usleep(50000);
	work(1);
	HERE();
	return arg;
}

static volatile int zero;
static volatile int sink;

CALLED void leaf_end(const char *way)
{
	HERE();
	if (!strcmp(way, "exit"))
		exit(3);
	if (!strcmp(way, "_exit"))
		_exit(4);
	if (!strcmp(way, "_Exit"))
		_Exit(5);
	if (!strcmp(way, "quick_exit"))
		quick_exit(6);
	if (!strcmp(way, "raw_exit_group"))
		syscall(SYS_exit_group, 11);
	if (!strcmp(way, "abort"))
		abort();
	if (!strcmp(way, "segv"))
		*(volatile int *)16 = 1;
	if (!strcmp(way, "bus")) {
		FILE *f = tmpfile();
		volatile char *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fileno(f), 0);

		sink = page[0];
	}
	if (!strcmp(way, "fpe"))
		sink = 100 / zero;
	if (!strcmp(way, "ill"))
		__builtin_trap();
	if (!strcmp(way, "term"))
		kill(getpid(), SIGTERM);
	if (!strcmp(way, "int"))
		kill(getpid(), SIGINT);
	if (!strcmp(way, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(way, "pipe"))
		raise(SIGPIPE);
	HERE();
}

int main(int argc, char **argv)
{
	struct rlimit none = { 0, 0 };
	struct sigaction sa = { .sa_handler = handler };
	pthread_t thread;
	const char *way = argc > 1 ? argv[1] : "return";
	int i, extra = 0;

	the_way = way;
	setrlimit(RLIMIT_CORE, &none);
	for (i = 0; i < 100; i++)
		work(i);

	/* Say beforehand what will have happened. */
	if (!strncmp(way, "handler", 7) || !strncmp(way, "thread", 6) || !strcmp(way, "atexit") ||
	    !strncmp(way, "atexit_", 7) || !strcmp(way, "pthread_exit"))
		extra = 1;
	say("calls work %d\n", 100 + extra);
	if (!strcmp(way, "handler_exit") || !strcmp(way, "handler__exit")) {
		say("calls handler 1\n");
		sigaction(SIGUSR1, &sa, NULL);
		raise(SIGUSR1);
	}
	if (!strcmp(way, "handler_term")) {
		sigaction(SIGTERM, &sa, NULL);
		raise(SIGTERM);
		say("signal %d handled\n", in_handler);
		return 12;
	}
	if (!strcmp(way, "atexit"))
		atexit(at_exit_handler);
	if (!strcmp(way, "atexit__exit"))
		atexit(at_exit_exits);
	if (!strcmp(way, "atexit_exit"))
		atexit(at_exit_exit_again);
	if (!strcmp(way, "term_ignored")) {
		signal(SIGTERM, SIG_IGN);
		raise(SIGTERM);
		return 13;
	}
	if (!strcmp(way, "pthread_exit")) {
		MUST(!pthread_create(&thread, NULL, thread_slow, NULL));
		pthread_exit(NULL);
	}
	if (!strncmp(way, "thread_", 7)) {
		MUST(!pthread_create(&thread, NULL, thread_main, (void *)(way + 7)));
		pthread_join(thread, NULL);
		return 98;
	}
	say("calls leaf_end 1\n");
	leaf_end(way);
	return !strcmp(way, "return") ? 2 : 0;
}
