/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts a program whose writes of a single byte fail: off_refused PROGRAM ARGUMENT...
 *
 * Limits: not traced itself; x86-64.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SIZE offsetof(struct seccomp_data, args[2])

int main(int argc, char **argv)
{
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pwrite64, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, SIZE),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(rules) / sizeof(rules[0]), rules };

	if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 125;
	execv(argv[1], argv + 1);
	perror(argv[1]);
	return 126;
}
