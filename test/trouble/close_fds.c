/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Closes every descriptor there may be, reuses all the numbers for files of its own, and checks
 * that nobody else has written into them. With "mark" it closes none, but has them closed when
 * something is executed, as Node.js does. With "count" it says which numbers are in use below the
 * limit, and how many it can get, before and after many calls, and in a child; with "beside" it does so after
 * it has closed all of them while another thread runs. With "beside newpid" its children get a PID namespace
 * then, and nothing is counted.
 *
 * Limits: 200 files; needs a writable current folder.
 */
#include "trouble.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>

CALLED int work(int x)
{
	HERE();
	return x + 1;
}

static void count(void)
{
	long limit = sysconf(_SC_OPEN_MAX);
	int fd, first = -1, last = -1, n = 0;

	for (fd = 0; fd < limit; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			say("%d is open\n", fd);
	for (; (fd = dup(1)) >= 0; n++, last = fd)
		first = first < 0 ? fd : first;
	say("%d of %ld are free\n", n, limit);
	while (last >= first)
		close(last--);
}

/* It inherits all descriptors, ours if it is open, and records by itself; names it has from its parent. */
static void in_child(void (*function)(void))
{
	pid_t pid = fork();

	MUST(pid >= 0);
	if (!pid) {
		work(1);
		if (function)
			function();
		dlclose(dlopen("libresolv.so.2", RTLD_NOW)); /* its own list of what is loaded begins */
		_exit(0);
	}
	MUST(waitpid(pid, NULL, 0) == pid);
}

static int idles;

static void *idle(void *arg)
{
	__atomic_store_n(&idles, 1, __ATOMIC_RELEASE);
	for (;;)
		pause();
	return arg;
}

static void work_often(void (*function)(void))
{
	int i;

	if (function)
		function();
	for (i = 0; i < 50000; i++)
		work(1);
	if (function)
		function();
	in_child(function);
	say("calls work 50001\n");
}

int main(int argc, char **argv)
{
	pthread_t thread;
	struct stat st;
	int i, fd, out, highest = argc > 1 ? atoi(argv[1]) : 1023;

	if (argc > 1 && !strcmp(argv[1], "count")) {
		work_often(count);
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "beside")) {
		MUST(!pthread_create(&thread, NULL, idle, NULL));
		while (!__atomic_load_n(&idles, __ATOMIC_ACQUIRE)) /* what it opens, a child would have */
			usleep(1000);
		for (fd = 3; fd < 65536; fd++)
			close(fd);
		if (argc > 2) /* the next child is init there: if one ends before, fork() fails */
			say("unshare %d\n", unshare(CLONE_NEWPID));
		work_often(argc > 2 ? NULL : count);
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "mark")) {
		for (i = 0; i < 64; i++)
			fcntl(i, F_SETFD, FD_CLOEXEC);
		work(1);
		say("calls work 1\n");
		return 0;
	}
	for (i = 0; i < 1000; i++)
		work(i);
	out = fcntl(1, F_DUPFD, 3);
	for (i = 0; i <= highest; i++)
		if (i != out)
			close(i);
	in_child(NULL);
	for (i = 0; i < 1000; i++)
		work(i);
	/* A file under each number, empty; ours must not be what gputrace writes to. */
	fd = open("mine", O_RDWR | O_CREAT | O_TRUNC, 0600);
	MUST(fd >= 0);
	for (i = 0; i <= highest; i++)
		if (i != out && i != fd)
			if (dup2(fd, i) != i)
				break;
	/* Enough events that gputrace has to spool. */
	for (i = 0; i < 300000; i++)
		work(i);
	MUST(!fstat(fd, &st));
	MUST(st.st_size == 0);
	MUST(write(fd, "hello\n", 6) == 6);
	dup2(out, 1);
	say("calls work 302001\n");
	say("the file holds %ld bytes\n", (long)lseek(fd, 0, SEEK_END));
	return 0;
}
