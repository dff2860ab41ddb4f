/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits for children by each function that there is; says what each was told.
 *
 * Limits: the last child is killed, so that a status without an exit code is among them.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t child(int status)
{
	pid_t pid = fork();

	if (!pid) {
		if (!status)
			raise(SIGKILL);
		_exit(status);
	}
	return pid;
}

int main(void)
{
	struct rusage usage;
	siginfo_t info = { .si_pid = 0 };
	int status;
	pid_t pid = child(11);

	if (wait(&status) != pid || WEXITSTATUS(status) != 11)
		return 1;
	printf("wait 0x%x\n", (unsigned)status);
	pid = child(12);
	if (waitpid(pid, NULL, 0) != pid)
		return 2;
	printf("waitpid 0x%x\n", 12 << 8);
	pid = child(13);
	if (wait3(&status, 0, NULL) != pid || WEXITSTATUS(status) != 13)
		return 3;
	printf("wait3 0x%x\n", (unsigned)status);
	pid = child(14);
	if (wait4(pid, &status, 0, &usage) != pid || WEXITSTATUS(status) != 14 ||
	    usage.ru_maxrss <= 0)
		return 4;
	printf("wait4 0x%x\n", (unsigned)status);
	pid = child(15);
	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) || info.si_status != 15 ||
	    waitid(P_PID, (id_t)pid, NULL, WEXITED))
		return 5;
	printf("waitid 0x%x\n", 15 << 8);
	pid = child(0);
	if (waitid(P_ALL, 0, &info, WEXITED) || info.si_pid != pid || info.si_code != CLD_KILLED)
		return 6;
	printf("waitid 0x%x\n", SIGKILL);
	return 0;
}
