/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A child of vfork() confines itself, so that every system call but the few of its own kills it, and ends,
 * or executes a program: confined_child exit|exec. Its parent goes on as before, for more events than fit
 * into memory. With full the child itself makes so many calls; with forked its parent is a child of fork()
 * that has done nothing yet. Status 77: this kernel has no such filters.
 *
 * Limits: Linux 4.14.
 */
#include "trouble.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define ALLOW(call)                                                                                \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

CALLED int work(int x)
{
	HERE();
	return x + 1;
}

UNSEEN static int confine(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(execve),
		ALLOW(exit_group),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };
	const struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_CORE, &none);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
	static char *const none[] = { NULL };
	int calls = argc > 1 && !strcmp(argv[1], "full") ? 100000 : 10, status, i;
	pid_t pid;

	work(0);
	if (argc > 1 && !strcmp(argv[1], "forked")) {
		MUST((pid = fork()) >= 0);
		if (pid) {
			MUST(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
			return WEXITSTATUS(status);
		}
	}
	pid = vfork();
	if (!pid) {
		if (confine())
			_exit(77);
		for (i = 0; i < calls; i++)
			work(i);
		execve("/nonexistent", argv, none);
		if (argc > 1 && !strcmp(argv[1], "exec"))
			execve("/bin/true", argv, none);
		_exit(6);
	}
	MUST(pid > 0 && waitpid(pid, &status, 0) == pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		return 77;
	say("the child: %s %d\n", WIFEXITED(status) ? "status" : "signal",
	    WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	for (i = 0; i < 100000; i++)
		work(i);
	say("calls work %d\n", 100001 + calls);
	return 5;
}
