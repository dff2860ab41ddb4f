/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A server: does some work, then something after which the paths of before lead nowhere, then makes
 * threads and children, with children of their own. held WAY WAY...:
 *
 *   user    becomes the user and group 65534     root     the root is the folder "jail"
 *   move    the folder $MOVE gets the name       close    all descriptors are closed, before the next
 *           $MOVE.moved                                   ways
 *   full    all descriptors are in use, at the   moment   the same for a while, in which there are
 *           end                                           threads and children, too
 *   away    a child becomes the user by itself, before it has done anything
 *   start   first of all: executes itself with   few      the same, and none of them can be had back:
 *           the ways behind it, when all but              the hard limit, too
 *           one descriptor are in use
 *
 * Limits: user, root and away need root. Status 77: may not.
 */
#include "trouble.h"

#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define CALLS 3000
#define NOBODY 65534

static unsigned times; /* that calls() was called, in all processes */

CALLED int work(int x)
{
	HERE();
	return x + 1;
}

UNSEEN static void *calls(void *unused)
{
	for (int i = 0; i < CALLS; i++)
		work(i);
	return unused;
}

UNSEEN static void become_user(void)
{
	if (geteuid() == 0 && (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
			       setresuid(NOBODY, NOBODY, NOBODY)))
		_exit(77);
	if (geteuid() != NOBODY)
		_exit(77);
}

/* The lowest limit that can be reached, with every number below it in use. */
UNSEEN static int fill_descriptors(int *last, rlim_t hard)
{
	struct rlimit limit = { 64, hard };
	int fd, first = -1;

	MUST(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	while ((fd = dup(1)) >= 0) {
		first = first < 0 ? fd : first;
		*last = fd;
	}
	return first;
}

UNSEEN static void threads(void);
UNSEEN static void children(int away);

UNSEEN static void change(const char *way)
{
	char moved[1000];
	int first, last = -1;

	if (!strcmp(way, "user")) {
		become_user();
	} else if (!strcmp(way, "root")) {
		if (chroot("jail") || chdir("/"))
			_exit(77);
	} else if (!strcmp(way, "move")) {
		snprintf(moved, sizeof(moved), "%s.moved", getenv("MOVE"));
		MUST(rename(getenv("MOVE"), moved) == 0);
	} else if (!strcmp(way, "close")) {
		for (int fd = 3; fd < 2000; fd++)
			close(fd);
	} else if (!strcmp(way, "moment")) {
		first = fill_descriptors(&last, 64);
		threads();
		children(0);
		for (; first <= last; first++)
			close(first);
	} else {
		MUST(!strcmp(way, "full") || !strcmp(way, "away") || !strcmp(way, "started"));
	}
}

UNSEEN static void threads(void)
{
	pthread_t thread[8];

	for (int i = 0; i < 8; i++)
		MUST(pthread_create(&thread[i], NULL, calls, NULL) == 0);
	for (int i = 0; i < 8; i++)
		MUST(pthread_join(thread[i], NULL) == 0);
	times += 8;
}

UNSEEN static void children(int away)
{
	int status;

	for (int i = 0; i < 4; i++) {
		pid_t child = fork();

		MUST(child >= 0);
		if (child == 0) {
			if (away)
				become_user();
			calls(NULL);
			child = i ? 0 : fork();
			if (child == 0 && i == 0)
				calls(NULL);
			while (child > 0 && wait(&status) < 0)
				;
			exit(0);
		}
		times += i ? 1 : 2;
	}
	while (wait(&status) > 0)
		MUST(status == 0 || status == 77 << 8);
}

int main(int argc, char **argv)
{
	int away = 0, last = -1, full = 0;
	char *way = argc > 1 ? argv[1] : "";

	calls(NULL);
	if (!strcmp(way, "start") || !strcmp(way, "few")) {
		fill_descriptors(&last, *way == 's' ? 256 : 64);
		fcntl(last, F_SETFD, FD_CLOEXEC);
		argv[1] = "started";
		execv("/proc/self/exe", argv);
		_exit(99);
	}
	for (int i = 1; i < argc; i++) {
		change(argv[i]);
		away |= !strcmp(argv[i], "away");
		full |= !strcmp(argv[i], "full");
	}
	threads();
	children(away);
	calls(NULL);
	times += strcmp(way, "started") ? 2 : 3; /* and those of before */
	say("calls work %u\n", times * CALLS);
	if (full)
		fill_descriptors(&last, 64);
	return 0;
}
