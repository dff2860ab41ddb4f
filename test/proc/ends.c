/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ends in the way that its argument names; "wait" says who its parent is, and counts the signals that come.
 * Limits: see end.test.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile sig_atomic_t got, times;

static void count(int number)
{
	got = number;
	times++;
}

/* One signal, and then a moment in which another one would come. */
static int wait_for_signals(int send)
{
	for (int s = 1; s <= SIGRTMAX; s++)
		signal(s, count);
	signal(SIGCHLD, SIG_DFL);
	if (!send)
		printf("ready %d\n", (int)getppid());
	fflush(stdout);
	if (send)
		kill(0, send);
	for (int i = 0; !times && i < 300; i++)
		usleep(100000);
	for (int i = 0; i < 3; i++)
		usleep(100000);
	printf("got %d, %d time%s\n", (int)got, (int)times, times == 1 ? "" : "s");
	fflush(stdout);
	return 3;
}

static int signal_number(const char *name)
{
	for (int s = 1; s < 32; s++)
		if (sigabbrev_np(s) && !strcmp(sigabbrev_np(s), name))
			return s;
	return SIGRTMIN;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "return";

	if (!strcmp(how, "wait"))
		return wait_for_signals(0);
	if (!strcmp(how, "group")) {
		setpgid(0, 0);
		return wait_for_signals(SIGUSR1);
	}
	if (!strcmp(how, "HUP-ignored")) {
		raise(SIGHUP);
		puts("ignored");
		return 7;
	}
	if (!strcmp(how, "exit"))
		exit(7);
	if (!strcmp(how, "let-go")) { /* as a service does */
		printf("ready %d\n", (int)getpid());
		if (!freopen("/dev/null", "r", stdin) || !freopen("/dev/null", "w", stdout) ||
		    !freopen("/dev/null", "w", stderr))
			return 1;
		sleep(100);
		return 0;
	}
	if (!strcmp(how, "daemon")) /* the parent ends inside of it */
		return daemon(1, 1) ? 1 : 7;
	if (!strcmp(how, "negative"))
		_exit(-61);
	if (!strcmp(how, "_exit"))
		_exit(7);
	if (!strcmp(how, "later")) {
		ualarm(400000, 0);
		pause();
	}
	if (!strcmp(how, "raw"))
		syscall(SYS_exit_group, 7);
	if (!strcmp(how, "quick"))
		quick_exit(7);
	if (!strcmp(how, "abort"))
		abort();
	if (strcmp(how, "return"))
		raise(signal_number(how));
	return 7;
}
