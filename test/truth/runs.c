/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a program and waits for it: runs PROGRAM ... It is linked statically, so nobody records it.
 *
 * Limits: as children.c.
 */
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	pid_t pid = argc > 1 ? fork() : -1;
	int status = -1;

	if (!pid) {
		execv(argv[1], argv + 1);
		_exit(1);
	}
	return pid < 0 || waitpid(pid, &status, 0) != pid || status;
}
