/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that make processes, chosen by the first argument: plain and nested forks, forks of a
 * threaded program, forks that bypass libc, daemons, orphans, killed children.
 *
 * Limits: children tell their counts themselves, through the inherited stdout.
 */
#include "trouble.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

CALLED int work(int x)
{
	HERE();
	return x + 1;
}

CALLED int child_work(int x)
{
	HERE();
	return x + 2;
}

static volatile int stop;
static long thread_calls[4];

/* Calls in bursts: in the middle of one when others fork, but not a trace of millions on a slow machine. */
CALLED void *busy(void *arg)
{
	long *calls = arg;

	while (!stop) {
		work(1);
		if (++*calls % 100 == 0)
			usleep(500);
	}
	return NULL;
}

UNSEEN static int wait_for(pid_t pid)
{
	int status = -1;

	MUST(pid > 0);
	while (waitpid(pid, &status, 0) < 0)
		MUST(errno == EINTR);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

UNSEEN static void child_does(int n)
{
	int i;

	for (i = 0; i < n; i++)
		child_work(i);
	say("calls child_work %d\n", n);
}

UNSEEN static int cloned(void *what)
{
	if (strcmp(what, "works"))
		return 5;
	child_does(20);
	_exit(6);
}

CALLED void threaded_fork(void)
{
	pthread_t thread[4];
	long total = 0;
	int i;

	for (i = 0; i < 4; i++)
		MUST(!pthread_create(&thread[i], NULL, busy, &thread_calls[i]));
	for (i = 0; i < 20; i++) {
		pid_t pid = fork();

		if (!pid) {
			child_does(5);
			if (i & 1)
				_exit(i);
			exit(i);
		}
		MUST(wait_for(pid) == i);
	}
	stop = 1;
	for (i = 0; i < 4; i++) {
		pthread_join(thread[i], NULL);
		total += thread_calls[i];
	}
	/* How many calls differs from run to run: not on stdout, for the differential run. */
	dprintf(2, "calls work %ld\n", total);
}

CALLED void nested(int depth)
{
	pid_t pid;

	child_does(3);
	if (!depth)
		return;
	pid = fork();
	if (!pid) {
		nested(depth - 1);
		exit(0);
	}
	MUST(wait_for(pid) == 0);
}

CALLED void daemonise(int close_all, int late)
{
	pid_t pid = fork();
	int i, out = 1;

	if (pid) {
		MUST(wait_for(pid) == 0);
		return;
	}
	setsid();
	pid = fork();
	if (pid)
		_exit(0);
	if (close_all) {
		/* Daemons close everything; this one keeps only its stdout, elsewhere. */
		out = fcntl(1, F_DUPFD, 700);
		for (i = 0; i < 1024; i++)
			if (i != out)
				close(i);
		MUST(open("/dev/null", O_RDWR) == 0);
		dup2(out, 1);
		dup2(0, 2);
		close(out);
	} else {
		MUST(chdir("/") == 0);
	}
	if (late) /* the parent is long gone when this one records for the first time */
		usleep(400000);
	child_does(50);
	exit(0);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "fork";
	pid_t pid, pids[20];
	int i;

	for (i = 0; i < 10; i++)
		work(i);
	if (!strcmp(way, "threaded")) {
		threaded_fork();
		dprintf(2, "calls work 10\n");
		return 0;
	}
	say("calls work 10\n");
	if (!strcmp(way, "fork") || !strcmp(way, "fork__exit") || !strcmp(way, "fork_killed") ||
	    !strcmp(way, "fork_abort")) {
		pid = fork();
		if (!pid) {
			child_does(20);
			if (!strcmp(way, "fork__exit"))
				_exit(3);
			if (!strcmp(way, "fork_killed"))
				raise(SIGKILL);
			if (!strcmp(way, "fork_abort"))
				raise(SIGABRT);
			return 4;
		}
		say("child ended with %d\n", wait_for(pid));
	} else if (!strcmp(way, "nested")) {
		nested(3);
	} else if (!strcmp(way, "many")) {
		for (i = 0; i < 20; i++) {
			pids[i] = fork();
			if (!pids[i]) {
				child_does(i + 1);
				return i;
			}
		}
		for (i = 0; i < 20; i++)
			MUST(wait_for(pids[i]) == i);
	} else if (!strcmp(way, "orphan")) {
		pid = fork();
		if (!pid) {
			usleep(400000);
			child_does(20);
		}
	} else if (!strcmp(way, "zombie")) {
		/* Nobody waits for the child, which is killed: it is a zombie when we end. */
		pid = fork();
		if (!pid) {
			child_does(20);
			raise(SIGKILL);
		}
		usleep(100000);
	} else if (!strcmp(way, "_Fork")) {
		pid = _Fork();
		if (!pid) {
			for (i = 0; i < 20; i++)
				child_work(i);
			_exit(5);
		}
		say("child ended with %d\n", wait_for(pid));
	} else if (!strcmp(way, "_Fork_of_fork")) {
		/* The first child has recorded nothing when it makes others, which no handler sees. */
		pid = fork();
		if (!pid) {
			for (i = 0; i < 3; i++) {
				pids[i] = _Fork();
				if (!pids[i]) {
					child_does(20);
					_exit(5);
				}
			}
			for (i = 0; i < 3; i++)
				MUST(wait_for(pids[i]) == 5);
			_exit(6);
		}
		say("child ended with %d\n", wait_for(pid));
	} else if (!strcmp(way, "raw_clone") || !strcmp(way, "raw_clone_locked")) {
		/* The child sets free what its parent has locked, before anything else happens in it. */
		static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
		int locked = !strcmp(way, "raw_clone_locked");

		if (locked)
			pthread_mutex_lock(&mutex);
		pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
		if (locked)
			pthread_mutex_unlock(&mutex);
		if (!pid) {
			for (i = 0; i < 20; i++)
				child_work(i);
			_exit(6);
		}
		say("child ended with %d\n", wait_for(pid));
	} else if (!strcmp(way, "clone")) {
		static _Alignas(64) char stack[1 << 18];
		static char nothing[] = "nothing", works[] = "works";

		pid = clone(cloned, stack + sizeof(stack), SIGCHLD, nothing);
		say("child ended with %d\n", wait_for(pid));
		pid = clone(cloned, stack + sizeof(stack), SIGCHLD, works);
		say("child ended with %d\n", wait_for(pid));
		MUST(clone(NULL, stack + sizeof(stack), SIGCHLD, works) == -1 && errno == EINVAL);
	} else if (!strcmp(way, "daemon")) {
		daemonise(0, 0);
	} else if (!strcmp(way, "daemon_close")) {
		daemonise(1, 0);
	} else if (!strcmp(way, "daemon_late")) {
		daemonise(1, 1);
	} else {
		bad("unknown way");
	}
	return 0;
}
