/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every way in which a process can become, or start, another program, chosen by the first
 * argument. The other program is this one again, with the argument "child", or what OTHER names.
 *
 * Limits: needs /proc for execveat and fexecve.
 */
#include "trouble.h"

#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

extern char **environ;

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

static char self[4096];
static char *child_argv[] = { "exec_path_child", "child", NULL };

UNSEEN static int wait_for(pid_t pid)
{
	int status = -1;

	MUST(pid > 0);
	while (waitpid(pid, &status, 0) < 0)
		MUST(errno == EINTR);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

CALLED void *exec_in_thread(void *arg)
{
	work(1);
	execv(self, child_argv);
	return arg;
}

CALLED void by_fork(const char *way)
{
	pid_t pid;

	if (!strcmp(way, "fork_exec")) {
		pid = fork();
		if (!pid) {
			work(1);
			execv(self, child_argv);
			_exit(97);
		}
		say("calls work 1\n");
		say("child ended with %d\n", wait_for(pid));
	} else if (!strcmp(way, "vfork_exec")) {
		pid = vfork();
		if (!pid) {
			execv(self, child_argv);
			_exit(97);
		}
		say("child ended with %d\n", wait_for(pid));
	} else if (!strcmp(way, "vfork_work_exec")) {
		/* Calls instrumented code in the vfork child: those events are in our memory. */
		pid = vfork();
		if (!pid) {
			work(1);
			execv(self, child_argv);
			_exit(97);
		}
		say("child ended with %d\n", wait_for(pid));
	} else if (!strcmp(way, "vfork_exit")) {
		pid = vfork();
		if (!pid)
			_exit(21);
		say("child ended with %d\n", wait_for(pid));
	} else if (!strcmp(way, "vfork_fail")) {
		pid = vfork();
		if (!pid) {
			execl("/nonexistent/program", "x", (char *)NULL);
			_exit(22);
		}
		say("child ended with %d\n", wait_for(pid));
	} else if (!strcmp(way, "posix_spawn")) {
		MUST(!posix_spawn(&pid, self, NULL, NULL, child_argv, environ));
		say("child ended with %d\n", wait_for(pid));
	} else if (!strcmp(way, "posix_spawn_fail")) {
		int rc = posix_spawn(&pid, "/nonexistent/program", NULL, NULL, child_argv, environ);

		say("posix_spawn gave %d\n", rc);
	}
}

CALLED void by_libc(const char *way)
{
	char command[4200], line[256];
	FILE *f;

	if (!strcmp(way, "system")) {
		snprintf(command, sizeof(command), "'%s' child; exit 5", self);
		say("system gave %d\n", WEXITSTATUS(system(command)));
	} else if (!strcmp(way, "popen")) {
		snprintf(command, sizeof(command), "'%s' child", self);
		f = popen(command, "r");
		MUST(f);
		while (fgets(line, sizeof(line), f))
			say("%s", line);
		say("pclose gave %d\n", WEXITSTATUS(pclose(f)));
	}
}

CALLED void by_exec(const char *way)
{
	char *none[] = { NULL };
	pthread_t thread;
	int fd, i;

	if (!strcmp(way, "execv"))
		execv(self, child_argv);
	else if (!strcmp(way, "execve"))
		execve(self, child_argv, environ);
	else if (!strcmp(way, "execl"))
		execl(self, "exec_path_child", "child", (char *)NULL);
	else if (!strcmp(way, "execle"))
		execle(self, "exec_path_child", "child", (char *)NULL, environ);
	else if (!strcmp(way, "execvp"))
		execvp(self, child_argv);
	else if (!strcmp(way, "execlp"))
		execlp(self, "exec_path_child", "child", (char *)NULL);
	else if (!strcmp(way, "execvpe"))
		execvpe(self, child_argv, environ);
	else if (!strcmp(way, "fexecve")) {
		fd = open(self, O_RDONLY | O_CLOEXEC);
		fexecve(fd, child_argv, environ);
	} else if (!strcmp(way, "execveat_wrapper")) {
		execveat(AT_FDCWD, self, child_argv, environ, 0);
	} else if (!strcmp(way, "execveat")) {
		fd = open(self, O_PATH | O_CLOEXEC);
		syscall(SYS_execveat, fd, "", child_argv, environ, AT_EMPTY_PATH);
	} else if (!strcmp(way, "env_empty"))
		execve(self, child_argv, none);
	else if (!strcmp(way, "clearenv")) {
		clearenv();
		execv(self, child_argv);
	} else if (!strcmp(way, "thread")) {
		MUST(!pthread_create(&thread, NULL, exec_in_thread, NULL));
		pthread_join(thread, NULL);
	} else if (!strcmp(way, "fail")) {
		for (i = 0; i < 3; i++) {
			errno = 0;
			MUST(execv("/nonexistent/program", child_argv) == -1);
			MUST(errno == ENOENT);
			errno = 0;
			MUST(execl("/etc/passwd", "x", (char *)NULL) == -1);
			MUST(errno == EACCES);
			work(i);
		}
		say("still here\n");
	}
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "execv";
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int i, calls = 10;

	MUST(n > 0);
	if (getenv("OTHER"))
		snprintf(self, sizeof(self), "%s", getenv("OTHER"));
	if (!strcmp(way, "child")) {
		for (i = 0; i < 7; i++)
			child_work(i);
		say("calls child_work 7\n");
		return 33;
	}
	for (i = 0; i < 10; i++)
		work(i);
	if (!strcmp(way, "thread"))
		calls++;
	if (!strcmp(way, "fail"))
		calls += 3;
	if (!strcmp(way, "vfork_work_exec"))
		say("atleast work %d\n", calls);
	else
		say("calls work %d\n", calls);
	if (strstr(way, "fork") || strstr(way, "spawn"))
		by_fork(way);
	else if (!strcmp(way, "system") || !strcmp(way, "popen"))
		by_libc(way);
	else
		by_exec(way);
	say("calls child_work 0\n");
	return 34;
}
