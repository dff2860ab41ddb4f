/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Works for a while; so does a child that it forks, and a child of that one. Each says its process id.
 * Argument: "_exit": the children end by _exit(); "clone": they are made by a system call.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) static void work(void)
{
	const struct timespec some = { 0, 3000000 };

	nanosleep(&some, NULL);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int depth = 0;
	pid_t child;

	do
		child = strcmp(how, "clone") ? fork() : (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	while (!child && ++depth < 2);
	for (int i = 0; i < 20; i++)
		work();
	if (child > 0)
		waitpid(child, NULL, 0);
	printf("process %d\n", (int)getpid());
	fflush(stdout);
	if (depth && !strcmp(how, "_exit"))
		_exit(0);
	return 0;
}
