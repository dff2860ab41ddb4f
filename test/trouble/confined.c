/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that confines itself: of all system calls only those are left that it makes itself, every
 * other one kills it. confined WAY: end: returns from main; child: forks before it ends, the child works
 * too; many: works until all buffers are full; syscall: confines itself by syscall(), exit_group: and ends by
 * it. Status 77: this kernel has no such filters.
 *
 * Limits: x86-64 and arm64.
 */
#include "trouble.h"

#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define ALLOW(call)                                                                                \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

CALLED int work(int x)
{
	HERE();
	return x + 1;
}

CALLED int confined_work(int x)
{
	HERE();
	return x + 2;
}

UNSEEN static int confine(int by_syscall)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(write),
		ALLOW(exit_group),
		ALLOW(clone),
		ALLOW(set_robust_list),
		ALLOW(wait4),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	if (by_syscall) /* what fails confines nobody */
		MUST(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, ~0u, &program) == -1 && errno == EINVAL);
	return by_syscall ? (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)
			  : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
	int n = argc > 1 && !strcmp(argv[1], "many") ? 300000 : 1000;
	int child = argc > 1 && !strcmp(argv[1], "child"), status = 0, i;
	int ends = argc > 1 && !strcmp(argv[1], "exit_group");
	int by_syscall = ends || (argc > 1 && !strcmp(argv[1], "syscall"));
	void *open[3];

	for (i = 0; i < 1000; i++)
		work(i);
	for (i = 0; i < 3; i++)
		MUST((open[i] = dlopen("libm.so.6", RTLD_NOW)));
	if (confine(by_syscall))
		_exit(77);
	for (i = 0; i < 2; i++) /* one stays, so that the loader makes no system call */
		dlclose(open[i]);
	for (i = 0; i < n; i++)
		confined_work(i);
	if (child) {
		pid_t pid = fork();

		MUST(pid >= 0);
		if (pid == 0) {
			for (i = 0; i < 1000; i++)
				confined_work(i);
			_exit(4);
		}
		MUST(wait4(pid, &status, 0, NULL) == pid && WEXITSTATUS(status) == 4);
	}
	say("calls work 1000\n%s confined_work %d\n", n > 1000 ? "atleast" : "calls", 1000);
	if (ends)
		syscall(SYS_exit_group, 3);
	return 3;
}
