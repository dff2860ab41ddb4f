/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A child that shares its parent's memory and has no thread-local storage, as sandboxes make them: it gives
 * up rights, confines itself, executes or ends, all by syscall(). Linked with -z now, for the dynamic linker
 * needs such storage. Prints how far it came.
 *
 * Limits: nothing here is instrumented, as hooks have no other place for what belongs to a thread.
 */
#include "trouble.h"

#if defined(__x86_64__)
#include <asm/prctl.h>
#endif
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static char stack[65536] __attribute__((aligned(64)));
static volatile int done;

/* By its own instruction: the C library's functions set errno. */
UNSEEN static void drop_tls(void)
{
#if defined(__x86_64__)
	long rc;

	__asm__ volatile("syscall" : "=a"(rc) : "a"(SYS_arch_prctl), "D"(ARCH_SET_FS), "S"(0)
			 : "rcx", "r11", "memory");
#elif defined(__aarch64__)
	__asm__ volatile("msr tpidr_el0, xzr" ::: "memory");
#endif
}

UNSEEN static int child(void *way)
{
	static struct sock_filter allow[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	static struct sock_fprog program = { 1, allow };
	static char *const arguments[] = { "/bin/sh", "-c", "exit 5", NULL }, *const none[] = { NULL };

	drop_tls();
	done += syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
	done += syscall(SYS_unshare, CLONE_FS) == 0;
	if (*(char *)way == 's')
		done += syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
	if (*(char *)way == 'p')
		done += syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
	if (*(char *)way == 'e')
		syscall(SYS_execve, arguments[0], arguments, none);
	syscall(SYS_exit_group, 4);
	return 0;
}

UNSEEN int main(int argc, char **argv)
{
	int status = -1;
	pid_t pid = clone(child, stack + sizeof(stack), CLONE_VM | SIGCHLD, argv[argc - 1]);

	MUST(waitpid(pid, &status, 0) == pid);
	say("done %d, status %x\n", done, (unsigned)status);
	return 0;
}
