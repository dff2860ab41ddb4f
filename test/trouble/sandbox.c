/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A child that locks itself in before it does anything, by a raw system call that nobody sees: no folder
 * can be made any more, as in the sandbox of man-db. Status 77: this kernel has no such filters.
 *
 * Limits: x86-64 and arm64, whose calls to make a folder are named below.
 */
#include "trouble.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

CALLED int work(int x)
{
	HERE();
	return x + 1;
}

CALLED int locked_work(int x)
{
	HERE();
	return x + 2;
}

UNSEEN static int lock_in(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mkdirat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

int main(void)
{
	int i, status;
	pid_t pid;

	for (i = 0; i < 3; i++)
		work(i);
	pid = fork();
	MUST(pid >= 0);
	if (pid == 0) {
		if (lock_in())
			_exit(77);
		for (i = 0; i < 5; i++)
			locked_work(i);
		return 4;
	}
	MUST(waitpid(pid, &status, 0) == pid);
	if (WEXITSTATUS(status) == 77)
		return 77;
	say("calls work 3\nthe child ended with %d\n", WEXITSTATUS(status));
	return 0;
}
