/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * System calls straight into the kernel, by no function of libc: other preloaded libraries stand before
 * those, too, with locks of their own that are held during a fork (uid_wrapper). errno stays what it is, and
 * there is no cancellation point.
 *
 * Limits: not in a process that has confined itself: who calls knows that (gt_is_confined(),
 * or lib/common/sys.h, which asks).
 */
#ifndef GPUTRACE_SYSCALL_H
#define GPUTRACE_SYSCALL_H

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <errno.h>
#include <unistd.h>
#endif
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
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

/* gt_raw(SYS_x, ...): with up to six arguments of any integer or pointer type. */
#define gt_raw(...) GT_RAW_CALL(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)
#define GT_RAW_CALL(n, a, b, c, d, e, f, ...)                                                      \
	gt_raw_syscall(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

#ifdef MAP_ANONYMOUS /* not in strict ISO C */
/* Zeroed memory; `more`: flags of mmap() beside MAP_ANONYMOUS. NULL: there is none. */
static inline void *gt_raw_memory(size_t bytes, int more)
{
	long at = gt_raw(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | more, -1);

	return at < 0 && at > -4096 ? NULL : (void *)at;
}
#endif

/* The kernel's numbers, which strict modes of compilers leave out. */
enum { GT_RAW_FOLDER = -100 /* AT_FDCWD */, GT_RAW_CLOEXEC = 02000000 /* O_CLOEXEC */, GT_RAW_SETMASK = 2 };

/*
 * What an open file is, noted right after it was opened, for gt_raw_close_own(): another thread of the
 * program may close the descriptor meanwhile, and open a file that gets the number. 0 or a negative errno.
 */
static inline long gt_raw_note_own(long fd, struct stat *own)
{
	return fd < 0 ? fd : gt_raw(SYS_newfstatat, fd, "", own, 0x1000 /* AT_EMPTY_PATH */);
}

/* The same as gt_raw_close_own(), for who has little stack: `now` is memory that it needs. */
static inline long gt_raw_close_own_in(long fd, const struct stat *own, struct stat *now)
{
	long rc = gt_raw_note_own(fd, now);

	if (!rc && (own->st_ino != now->st_ino || own->st_dev != now->st_dev))
		rc = -1;
	return rc ? rc : gt_raw(SYS_close, fd);
}

/* Closes it if it still is that file: 0; else it stays open, and the result is negative. */
static inline long gt_raw_close_own(long fd, const struct stat *own)
{
	struct stat now;

	return gt_raw_close_own_in(fd, own, &now);
}

/*
 * The beginning of a file of /proc and the like as text: its length; "" on an error. A file of the program's
 * that has got the number stays open, and where it is.
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

/* All signals but the thread library's own two: a thread that blocks these makes setuid() wait for ever. */
#define GT_RAW_SIGNALS (~(UINT64_C(3) << 31))

/* Which the calling thread blocks from now on (bit n - 1: signal n); returns which it did before. */
static inline uint64_t gt_raw_sigmask(uint64_t mask)
{
	uint64_t before = 0;

	gt_raw(SYS_rt_sigprocmask, GT_RAW_SETMASK, &mask, &before, sizeof(mask));
	return before;
}

/*
 * Waits until the kernel has forgotten a thread that pthread_join() has seen end: some microseconds, in which
 * the process still has it for unshare() and setns().
 */
static inline void gt_raw_forgotten(long tid)
{
	const long pause[2] = { 0, 50000 }; /* struct timespec */
	long pid = gt_raw(SYS_getpid);

	for (int i = 0; i < 2000 && !gt_raw(SYS_tgkill, pid, tid, 0); i++)
		gt_raw(SYS_nanosleep, pause, 0);
}

#endif
