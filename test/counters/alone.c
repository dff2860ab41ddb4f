/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program of one thread that does what needs that: "unshare" enters a user namespace of its own; "setns"
 * the mount namespace in which it is; "filter" lets the system calls that its end needs pass, and no others,
 * for all threads; "refused" asks for a filter that is none. It says what came of it, on stdout, and goes on
 * for a tenth of a second, except "filter".
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static long filter(unsigned short length)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = { length, code };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	long rc;

	usleep(50000);
	rc = !strcmp(what, "unshare") ? unshare(CLONE_NEWUSER)
	     : !strcmp(what, "setns") ? setns(open("/proc/self/ns/mnt", O_RDONLY), CLONE_NEWNS)
				      : filter(!strcmp(what, "filter") ? 5 : 0);
	if (strcmp(what, "filter"))
		usleep(100000);
	else /* our threads would run into the filter by then */
		for (volatile long i = 0; i < 100000000; i++)
			;
	(void)!write(1, rc == 0 ? "done\n" : "refused\n", rc == 0 ? 5 : 8);
	_exit(3);
}
