/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * syscall(), for those system calls that a wrapper of ours stands before: stress-ng, browsers and
 * libseccomp confine themselves by syscall(SYS_seccomp) and syscall(SYS_unshare), sandboxes make processes
 * by syscall(SYS_clone), and end by syscall(SYS_exit_group); nobody else has functions for Landlock and
 * pivot_root, and servers change the user of one thread by them. All others go on by a jump with registers
 * and stack as they came, because some return twice on one stack (SYS_vfork).
 *
 * Limits: a `syscall` instruction of the program's own is not seen, nor is SYS_clone3. On processors other
 * than x86-64 the jump is left to the compiler's tail call.
 */
#include "instrument/wrap_syscall.h"

#include "lib/common/sys.h"
#include "lib/record/record.h"

#if defined(__x86_64__)
#include <asm/prctl.h>
#endif
#include <errno.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>

#ifdef SYS_fork
#define IS_FORK(n) ((n) == SYS_clone || (n) == SYS_fork)
#else
#define IS_FORK(n) ((n) == SYS_clone)
#endif

gt_syscall_fn gt_real_syscall GT_HIDDEN;
GT_HIDDEN gt_syscall_fn gt_before_syscall(void);
GT_HIDDEN long gt_syscall_known(long n, long a, long b, long c, long d, long e, long f);

gt_syscall_fn gt_before_syscall(void)
{
	gt_syscall_fn real = __atomic_load_n(&gt_real_syscall, __ATOMIC_RELAXED);
	int saved = errno;

	if (!real) {
		real = (gt_syscall_fn)gt_next_symbol("syscall");
		__atomic_store_n(&gt_real_syscall, real, __ATOMIC_RELAXED);
	}
	errno = saved;
	return real;
}

/* It may be called first where nothing can be looked up: in a signal handler, or in a child. */
__attribute__((constructor(101))) static void look_up(void)
{
	gt_before_syscall();
}

static long confine(long operation, long flags, long arguments)
{
	bool sets = operation == SECCOMP_SET_MODE_STRICT || operation == SECCOMP_SET_MODE_FILTER;
	long rc;

	if (sets)
		gt_confine(true);
	rc = gt_before_syscall()(SYS_seccomp, operation, flags, arguments, 0, 0, 0);
	/* With TSYNC: the number of a thread that could not be confined. With a listener: its descriptor. */
	if (sets && (rc < 0 || (rc > 0 && flags & SECCOMP_FILTER_FLAG_TSYNC)))
		gt_confine(false);
	return rc;
}

/* Affects the calling thread only, unlike setuid() and the like. */
static long change_user(uid_t user, long n, long a, long b, long c)
{
	long rc;

	gt_user_changes(user);
	rc = gt_before_syscall()(n, a, b, c, 0, 0, 0);
	if (rc && !gt_sys_refused()) /* no system call of ours there */
		gt_user_changes((uid_t)GT_SYS1(SYS_geteuid, 0));
	return rc;
}

/* Calls by which a child that shares our memory affects only itself. */
static bool is_its_own(long n, long option)
{
	return n == SYS_setuid || n == SYS_setreuid || n == SYS_setresuid || n == SYS_setfsuid ||
	       n == SYS_chroot || n == SYS_pivot_root || n == SYS_landlock_restrict_self ||
	       n == SYS_unshare || n == SYS_setns ||
	       (n == SYS_prctl && option != PR_SET_SECCOMP && option != PR_SET_SYSCALL_USER_DISPATCH);
}

/* The protector's own value is there, too. */
#if __has_attribute(no_stack_protector)
#define UNPROTECTED __attribute__((no_stack_protector, noinline))
#else
#define UNPROTECTED __attribute__((optimize("no-stack-protector"), noinline))
#endif

#if defined(__x86_64__)
#define GET_TLS(base) GT_SYS2(SYS_arch_prctl, ARCH_GET_FS, &(base))
#elif defined(__aarch64__)
#define GET_TLS(base) __asm__("mrs %0, tpidr_el0" : "=r"(base))
#else
#define GET_TLS(base) ((void)0)
#endif

/* Has the caller no thread-local storage? Then not even errno may be looked at. */
UNPROTECTED static bool has_no_tls(void)
{
	uintptr_t base = 1;

	GET_TLS(base);
	return !base;
}

/* Chromium's zygote has a child that shares its memory, and has no such storage, change its root. */
long gt_syscall_known(long n, long a, long b, long c, long d, long e, long f)
{
	if (gt_real_syscall && !gt_is_our_process() && (is_its_own(n, a) || has_no_tls()))
		return gt_real_syscall(n, a, b, c, d, e, f);
	if (IS_FORK(n)) /* SYS_clone: without CLONE_VM */
		return gt_fork_raw(gt_before_syscall(), n, a, b, c, d, e);
	switch (n) {
	case SYS_seccomp:
		return confine(a, b, c);
	case SYS_prctl:
		return prctl((int)a, b, c, d, e);
	case SYS_unshare:
		return unshare((int)a);
	case SYS_setns:
		return setns((int)a, (int)b);
	case SYS_setuid:
		return change_user((uid_t)a, n, a, b, c);
	case SYS_setreuid:
	case SYS_setresuid:
		return change_user((uid_t)b, n, a, b, c);
	case SYS_setfsuid:
		return setfsuid((uid_t)a);
	case SYS_chroot:
	case SYS_pivot_root:
		gt_root_changes();
		break;
	case SYS_landlock_restrict_self:
		gt_landlock_restricts((int)a);
		break;
	case SYS_execve:
		return execve((const char *)a, (char *const *)b, (char *const *)c);
	case SYS_execveat:
		return execveat((int)a, (const char *)b, (char *const *)c, (char *const *)d, (int)e);
	case SYS_exit_group:
		_exit((int)a);
	}
	return gt_before_syscall()(n, a, b, c, d, e, f);
}

#if defined(__x86_64__)
#define TEXT_(number) #number
#define TEXT(number)  TEXT_(number)
#define KNOWN(call)   "	cmpq $" TEXT(call) ", %rdi\n	je gt_syscall_known\n"
__asm__(".text\n"
	".globl syscall\n"
	".type syscall, @function\n"
	"syscall:\n"
	".cfi_startproc\n"
	KNOWN(SYS_seccomp)
	KNOWN(SYS_prctl)
	KNOWN(SYS_unshare)
	KNOWN(SYS_setns)
	KNOWN(SYS_setuid)
	KNOWN(SYS_setreuid)
	KNOWN(SYS_setresuid)
	KNOWN(SYS_setfsuid)
	KNOWN(SYS_chroot)
	KNOWN(SYS_pivot_root)
	KNOWN(SYS_landlock_restrict_self)
	KNOWN(SYS_execve)
	KNOWN(SYS_execveat)
	KNOWN(SYS_exit_group)
	KNOWN(SYS_fork)
	"	cmpq $" TEXT(SYS_clone) ", %rdi\n"
	"	jne 0f\n"
	"	testq $" TEXT(CLONE_VM) ", %rsi\n"
	"	je gt_syscall_known\n"
	"0:\n"
	"	movq gt_real_syscall(%rip), %rax\n"
	"	testq %rax, %rax\n"
	"	je 1f\n"
	"	jmp *%rax\n"
	"1:	pushq %rdi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	pushq %rsi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	pushq %rdx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	pushq %rcx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	pushq %r8\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	pushq %r9\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	subq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	call gt_before_syscall\n"
	"	addq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq %r9\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq %r8\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq %rcx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq %rdx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq %rsi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq %rdi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	jmp *%rax\n"
	".cfi_endproc\n"
	".size syscall, .-syscall\n");
#else
/* The arguments are where a variadic call has put them. */
long gt_syscall(long n, long a, long b, long c, long d, long e, long f) __asm__("syscall");

GT_API long gt_syscall(long n, long a, long b, long c, long d, long e, long f)
{
	if (n == SYS_clone && a & CLONE_VM)
		return gt_before_syscall()(n, a, b, c, d, e, f);
	return gt_syscall_known(n, a, b, c, d, e, f);
}
#endif
