/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * System calls made directly, without libc, whose functions other preloaded libraries intercept as well,
 * with locks of their own that are held during a fork (uid_wrapper). errno is preserved, and there is no
 * cancellation point.
 *
 * Limits: not for a process that has confined itself: the caller checks that (gt_is_confined(), or
 * lib/common/sys.h, which does).
 */
#ifndef GPUTRACE_SYSCALL_H
#define GPUTRACE_SYSCALL_H

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <unistd.h>
#endif
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

/* Returns the system call's result, or a negative errno. */
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

/* gt_raw(SYS_x, ...) takes up to six arguments of any integer or pointer type. */
#define gt_raw(...) GT_RAW_CALL(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)
#define GT_RAW_CALL(n, a, b, c, d, e, f, ...)                                                      \
	gt_raw_syscall(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/*
 * Does the program run under valgrind? Rotations that change nothing are a request to it, by which nothing
 * else happens (valgrind's manual, "The Client Request mechanism"). [signal-safe]
 */
static inline bool gt_raw_on_valgrind(void)
{
#if defined(__x86_64__)
	uint64_t request[6] = { 0x1001 }, answer = 0;

	__asm__ volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\t"
			 "xchgq %%rbx, %%rbx"
			 : "+d"(answer)
			 : "a"(request)
			 : "cc", "memory");
	return answer != 0;
#else
	return false;
#endif
}

/*
 * Can the 8 bytes at `at`, a multiple of 8 other than 0, be read? -EINVAL: yes, -EFAULT: no, anything else:
 * the kernel does not say. It reads a signal set before it finds that it is not told what to do with it.
 * Under valgrind, which would report that, it reads them as if they were another process's. [signal-safe]
 */
static inline long gt_raw_probe(const void *at)
{
	uint64_t word;
	struct {
		const void *at;
		size_t bytes;
	} here = { &word, sizeof(word) }, there = { at, sizeof(word) };

	if (!gt_raw_on_valgrind())
		return gt_raw(SYS_rt_sigprocmask, ~0, at, NULL, sizeof(word));
	if (gt_raw(SYS_process_vm_readv, gt_raw(SYS_getpid), &here, 1, &there, 1, 0) != sizeof(word))
		return -EFAULT;
	return -EINVAL;
}

#ifdef MAP_ANONYMOUS /* not in strict ISO C */
/* Zeroed memory, or NULL; `more`: flags of mmap() in addition to MAP_ANONYMOUS. */
static inline void *gt_raw_memory(size_t bytes, int more)
{
	long at = gt_raw(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | more, -1);

	return at < 0 && at > -4096 ? NULL : (void *)at;
}
#endif

/* The kernel's numbers, which libc's headers hide in strict modes. */
enum { GT_RAW_FOLDER = -100 /* AT_FDCWD */, GT_RAW_CLOEXEC = 02000000 /* O_CLOEXEC */, GT_RAW_SETMASK = 2 };

/*
 * Notes the identity of a file that was just opened, for gt_raw_close_own(): another thread of the program
 * may close the descriptor meanwhile and open a file that gets its number. 0 or a negative errno.
 */
static inline long gt_raw_note_own(long fd, struct stat *own)
{
	return fd < 0 ? fd : gt_raw(SYS_newfstatat, fd, "", own, 0x1000 /* AT_EMPTY_PATH */);
}

/* As gt_raw_close_own(), for callers with little stack: `now` is the memory that it uses. */
static inline long gt_raw_close_own_in(long fd, const struct stat *own, struct stat *now)
{
	long rc = gt_raw_note_own(fd, now);

	if (!rc && (own->st_ino != now->st_ino || own->st_dev != now->st_dev))
		rc = -1;
	return rc ? rc : gt_raw(SYS_close, fd);
}

/* Closes the descriptor if it still is that file and returns 0; otherwise returns a negative number. */
static inline long gt_raw_close_own(long fd, const struct stat *own)
{
	struct stat now;

	return gt_raw_close_own_in(fd, own, &now);
}

/*
 * Reads the beginning of a file of /proc and the like as text; returns its length; "" on an error. If a file
 * of the program has got the descriptor's number meanwhile, it stays open, and its position unchanged.
 */
static inline size_t gt_raw_read_text(const char *path, char *text, size_t size)
{
	struct stat own;
	long fd = gt_raw(SYS_openat, GT_RAW_FOLDER, path, O_RDONLY | GT_RAW_CLOEXEC);
	long n = 0;

	if (!gt_raw_note_own(fd, &own)) {
		n = gt_raw(SYS_pread64, fd, text, size - 1, 0);
		if (gt_raw_close_own(fd, &own))
			n = 0;
	}
	n = n < 0 ? 0 : n;
	text[n] = '\0';
	return (size_t)n;
}

/* All signals but the thread library's own two: if a thread blocks these, setuid() waits for ever. */
#define GT_RAW_SIGNALS (~(UINT64_C(3) << 31))

/* Sets the calling thread's mask of blocked signals (bit n - 1: signal n) and returns the previous one. */
static inline uint64_t gt_raw_sigmask(uint64_t mask)
{
	uint64_t before = 0;

	gt_raw(SYS_rt_sigprocmask, GT_RAW_SETMASK, &mask, &before, sizeof(mask));
	return before;
}

#ifdef SS_ONSTACK /* not in strict ISO C */
/* Bytes left on the alternate signal stack that the caller runs on; on any other stack SIZE_MAX. Programs
 * make such stacks just large enough for their own handlers. */
static inline size_t gt_raw_stack_left(void)
{
	stack_t stack;

	if (gt_raw(SYS_sigaltstack, NULL, &stack) || !(stack.ss_flags & SS_ONSTACK))
		return SIZE_MAX;
	return (uintptr_t)__builtin_frame_address(0) - (uintptr_t)stack.ss_sp;
}
#endif

/*
 * Waits until the kernel has released a thread that pthread_join() has seen end: some microseconds, in which
 * unshare() and setns() still count it as one of the process's.
 */
static inline void gt_raw_forgotten(long tid)
{
	const long pause[2] = { 0, 50000 }; /* struct timespec */
	long pid = gt_raw(SYS_getpid);

	for (int i = 0; i < 2000 && !gt_raw(SYS_tgkill, pid, tid, 0); i++)
		gt_raw(SYS_nanosleep, pause, 0);
}

#endif
