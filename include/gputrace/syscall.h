/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * System calls straight into the kernel: not by syscall(), which our own wrapper stands before; errno stays
 * what it is, and there is no cancellation point.
 *
 * Limits: not installed. Not in a process that has confined itself: who calls knows that (gt_is_confined(),
 * or lib/common/sys.h, which asks).
 */
#ifndef GPUTRACE_SYSCALL_H
#define GPUTRACE_SYSCALL_H

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <errno.h>
#include <unistd.h>
#endif
#include <sys/syscall.h>
#include <time.h>

/* Returns what the system call does, or its negative errno. */
#if defined(__x86_64__)
static inline long gt_raw_syscall(long n, long a, long b, long c, long d, long e, long f)
{
	long ret;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}
#elif defined(__aarch64__)
static inline long gt_raw_syscall(long n, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = n;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}
#else
static inline long gt_raw_syscall(long n, long a, long b, long c, long d, long e, long f)
{
	int saved = errno;
	long ret;

	ret = syscall(n, a, b, c, d, e, f);
	if (ret == -1)
		ret = -errno;
	errno = saved;
	return ret;
}
#endif

/*
 * Waits until the kernel has forgotten a thread that pthread_join() has seen end: some microseconds, in which
 * the process still has it for unshare() and setns().
 */
static inline void gt_raw_forgotten(long tid)
{
	const struct timespec pause = { 0, 50000 };
	long pid = gt_raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);

	for (int i = 0; i < 2000 && !gt_raw_syscall(SYS_tgkill, pid, tid, 0, 0, 0, 0); i++)
		gt_raw_syscall(SYS_nanosleep, (long)&pause, 0, 0, 0, 0, 0);
}

#endif
