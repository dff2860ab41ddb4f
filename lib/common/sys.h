/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * System calls as the core makes them: straight into the kernel, negative errno as the result,
 * errno of the program untouched, and (other than libc's wrappers) no cancellation point.
 *
 * Limits: only what the core needs. Test builds (-DGT_TEST_HOOKS) let a test fail any call.
 */
#ifndef GT_SYS_H
#define GT_SYS_H

#include "gputrace/compiler.h"
#include "gputrace/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The C library has no number for it before 2.32; it is the same on all processors. */
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_faccessat2
#define SYS_faccessat2 439
#endif
#ifndef SYS_landlock_add_rule /* from Linux 5.13 on */
#define SYS_landlock_add_rule 445
#endif
#ifndef PR_SET_SYSCALL_USER_DISPATCH /* from Linux 5.11 on */
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif
#ifndef SYS_landlock_restrict_self
#define SYS_landlock_restrict_self 446
#endif

#ifdef GT_TEST_HOOKS
/* Returns 0 to let the call through, or the errno with which it shall fail. */
int gt_test_fault(const char *name);
#define GT_FAULT(name)                                                                             \
	do {                                                                                       \
		int fault_ = gt_test_fault(name);                                                  \
		if (fault_)                                                                        \
			return -fault_;                                                            \
	} while (0)
/* The time that a clock at `ns` shall show. */
int64_t gt_test_clock(clockid_t id, int64_t ns);
#define GT_TEST_CLOCK(id, ns) gt_test_clock(id, ns)
/* Pages are as large as the largest that Linux has. */
#define GT_TEST_PAGE(bytes) ((void)(bytes), (size_t)65536)
#else
#define GT_TEST_CLOCK(id, ns) (ns)
#define GT_TEST_PAGE(bytes)   (bytes)
#define GT_FAULT(name) ((void)0)
#endif

/*
 * The program has confined itself (seccomp): from now on no system call is made here, because any that
 * it does not make itself may end it. Only the core has this.
 */
extern GT_HIDDEN int gt_confined __attribute__((weak));

/* Has a child that shares this memory done so? Then it asks whether it is that child, or its thread. */
extern GT_HIDDEN int gt_confined_children __attribute__((weak));
GT_HIDDEN bool gt_confined_here(void) __attribute__((weak));

static inline int gt_sys_refused(void)
{
	if (!&gt_confined)
		return 0;
	return __atomic_load_n(&gt_confined, __ATOMIC_RELAXED) ||
	       (__atomic_load_n(&gt_confined_children, __ATOMIC_RELAXED) && gt_confined_here());
}

static inline long gt_syscall6(long n, long a, long b, long c, long d, long e, long f)
{
	return gt_sys_refused() && n != SYS_exit_group ? -EPERM : gt_raw_syscall(n, a, b, c, d, e, f);
}

#define GT_SYS1(n, a)          gt_syscall6(n, (long)(a), 0, 0, 0, 0, 0)
#define GT_SYS2(n, a, b)       gt_syscall6(n, (long)(a), (long)(b), 0, 0, 0, 0)
#define GT_SYS3(n, a, b, c)    gt_syscall6(n, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define GT_SYS4(n, a, b, c, d) gt_syscall6(n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define GT_SYS5(n, a, b, c, d, e) gt_syscall6(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)

/*
 * A write beyond RLIMIT_FSIZE sends SIGXFSZ to the thread, one into a pipe that nobody reads SIGPIPE:
 * both end a program by default. So they are blocked meanwhile, and ours is taken back when it has
 * come. One that was pending before is the program's own: standard signals do not queue, so there is
 * only the one, and it stays.
 */
static inline long gt_sys_unsignalled(long n, long a, long b, long c, long d)
{
	uint64_t both = UINT64_C(1) << (SIGXFSZ - 1) | UINT64_C(1) << (SIGPIPE - 1);
	uint64_t old = 0, pending = 0, ours = 0;
	struct timespec none = { 0, 0 };
	long ret;

	GT_SYS4(SYS_rt_sigprocmask, SIG_BLOCK, &both, &old, sizeof(both));
	if (old & both)
		GT_SYS2(SYS_rt_sigpending, &pending, sizeof(pending));
	ret = GT_SYS4(n, a, b, c, d);
	if (ret == -EFBIG)
		ours = UINT64_C(1) << (SIGXFSZ - 1);
	else if (ret == -EPIPE)
		ours = UINT64_C(1) << (SIGPIPE - 1);
	if (ours & ~pending)
		GT_SYS4(SYS_rt_sigtimedwait, &ours, NULL, &none, sizeof(ours));
	if (~old & both)
		GT_SYS4(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL, sizeof(old));
	return ret;
}

static inline int gt_sys_openat(int dir, const char *path, int flags, mode_t mode)
{
	GT_FAULT("openat");
	return (int)GT_SYS4(SYS_openat, dir, path, flags, mode);
}

static inline int gt_sys_close(int fd)
{
	return (int)GT_SYS1(SYS_close, fd);
}

static inline ssize_t gt_sys_read(int fd, void *buffer, size_t size)
{
	GT_FAULT("read");
	return GT_SYS3(SYS_read, fd, buffer, size);
}

static inline ssize_t gt_sys_write(int fd, const void *buffer, size_t size)
{
	GT_FAULT("write");
	return gt_sys_unsignalled(SYS_write, fd, (long)buffer, (long)size, 0);
}

static inline ssize_t gt_sys_pread(int fd, void *buffer, size_t size, uint64_t offset)
{
	GT_FAULT("pread");
	return GT_SYS4(SYS_pread64, fd, buffer, size, offset);
}

static inline ssize_t gt_sys_pwrite(int fd, const void *buffer, size_t size, uint64_t offset)
{
	GT_FAULT("pwrite");
	return gt_sys_unsignalled(SYS_pwrite64, fd, (long)buffer, (long)size, (long)offset);
}

static inline int gt_sys_fallocate(int fd, int mode, uint64_t offset, uint64_t size)
{
	GT_FAULT("fallocate");
	return (int)gt_sys_unsignalled(SYS_fallocate, fd, mode, (long)offset, (long)size);
}

static inline int gt_sys_ftruncate(int fd, uint64_t size)
{
	GT_FAULT("ftruncate");
	return (int)gt_sys_unsignalled(SYS_ftruncate, fd, (long)size, 0, 0);
}

/* For its owner alone, and for him in any case: a umask may take that away. */
static inline int gt_sys_mkdirat(int dir, const char *path)
{
	struct stat st;
	int rc;

	GT_FAULT("mkdirat");
	rc = (int)GT_SYS3(SYS_mkdirat, dir, path, 0700);
	if (!rc && !GT_SYS4(SYS_newfstatat, dir, path, &st, AT_SYMLINK_NOFOLLOW) && S_ISDIR(st.st_mode) &&
	    (st.st_mode & 0700) != 0700)
		GT_SYS3(SYS_fchmodat, dir, path, 0700);
	return rc;
}

static inline int gt_sys_unlinkat(int dir, const char *path, int flags)
{
	return (int)GT_SYS3(SYS_unlinkat, dir, path, flags);
}

static inline int gt_sys_linkat(int from, const char *name, int to, const char *other)
{
	GT_FAULT("linkat");
	return (int)gt_syscall6(SYS_linkat, from, (long)name, to, (long)other, 0, 0);
}

/* renameat2 with RENAME_NOREPLACE */
static inline int gt_sys_rename_new(int dir, const char *from, const char *to)
{
	GT_FAULT("renameat2");
	return (int)gt_syscall6(SYS_renameat2, dir, (long)from, dir, (long)to, 1, 0);
}

/* By name: a descriptor may be a file of the program's by now. */
static inline int gt_sys_fchmodat(int dir, const char *path, mode_t mode)
{
	GT_FAULT("fchmodat");
	return (int)GT_SYS3(SYS_fchmodat, dir, path, mode);
}

static inline int gt_sys_fchownat(int dir, const char *path, uid_t user, int flags)
{
	return (int)gt_syscall6(SYS_fchownat, dir, (long)path, user, -1, flags, 0);
}

static inline int gt_sys_fstat(int fd, struct stat *st)
{
	return (int)GT_SYS4(SYS_newfstatat, fd, "", st, AT_EMPTY_PATH);
}

static inline int gt_sys_fstatat(int dir, const char *path, struct stat *st, int flags)
{
	GT_FAULT("fstatat");
	return (int)GT_SYS4(SYS_newfstatat, dir, path, st, flags);
}

/*
 * A file that is open for a moment, in which another thread of the program may close its descriptor, and have
 * a file of its own in its place. gt_sys_open_own() notes in `own` what it is.
 */
static inline int gt_sys_open_own(int dir, const char *path, int flags, struct stat *own)
{
	int fd = gt_sys_openat(dir, path, O_RDONLY | O_CLOEXEC | flags, 0);
	int rc = fd < 0 ? fd : gt_sys_fstat(fd, own);

	return rc < 0 ? rc : fd;
}

static inline bool gt_sys_is_own(int fd, const struct stat *own)
{
	struct stat now;

	return fd >= 0 && !gt_sys_fstat(fd, &now) && now.st_ino == own->st_ino && now.st_dev == own->st_dev;
}

/* Writes if it is still ours, else -EBADF. */
static inline ssize_t gt_sys_pwrite_own(int fd, const void *buffer, size_t size, uint64_t offset,
					const struct stat *own)
{
	GT_FAULT("pwrite_own");
	if (!gt_sys_is_own(fd, own))
		return -EBADF;
	return gt_sys_unsignalled(SYS_pwrite64, fd, (long)buffer, (long)size, (long)offset);
}

/* 0, or -EBADF: it was not ours any more, and stays open. */
static inline int gt_sys_close_own(int fd, const struct stat *own)
{
	return gt_sys_is_own(fd, own) ? gt_sys_close(fd) : -EBADF;
}

/* Another descriptor of it, from `least` on; a copy of a file of the program's is closed at once: -EBADF. */
static inline int gt_sys_copy_own(int fd, int least, const struct stat *own)
{
	int copy = (int)GT_SYS3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, least);

	if (copy < 0 || gt_sys_is_own(copy, own))
		return copy;
	gt_sys_close(copy);
	return -EBADF;
}

/*
 * The same for one that was opened, or made, in another way: it is what has that name now. Asked right after
 * it was opened: later it may be renamed. False: nobody knows whose it is; it stays open.
 */
static inline bool gt_sys_note_named(int fd, int dir, const char *name, struct stat *own)
{
	return !gt_sys_fstatat(dir, name, own, AT_SYMLINK_NOFOLLOW) && gt_sys_is_own(fd, own);
}

static inline ssize_t gt_sys_readlink(const char *path, char *buffer, size_t size)
{
	return GT_SYS4(SYS_readlinkat, AT_FDCWD, path, buffer, size);
}

static inline int gt_sys_fcntl(int fd, int command, long argument)
{
	return (int)GT_SYS3(SYS_fcntl, fd, command, argument);
}

/*
 * Locks it if it is still ours, else -EBADF: a lock of a file of the program's would stay. One
 * that is put there between the two calls is locked.
 */
static inline int gt_sys_flock_own(int fd, int operation, const struct stat *own)
{
	GT_FAULT("flock");
	return gt_sys_is_own(fd, own) ? (int)GT_SYS2(SYS_flock, fd, operation) : -EBADF;
}

/* The kernel's clock, whatever clock_gettime by its name has become in this process. */
static inline int gt_sys_clock(clockid_t id, struct timespec *ts)
{
	return (int)GT_SYS2(SYS_clock_gettime, id, ts);
}

static inline int gt_sys_getdents(int fd, void *buffer, size_t size)
{
	GT_FAULT("getdents");
	return (int)GT_SYS3(SYS_getdents64, fd, buffer, size);
}

/* NULL on failure. */
static inline void *gt_sys_mmap_errno(size_t size, int prot, int flags, int fd, int *error)
{
	long ret;

#ifdef GT_TEST_HOOKS
	*error = gt_test_fault("mmap");
	if (*error)
		return NULL;
#endif
	ret = gt_syscall6(SYS_mmap, 0, (long)size, prot, flags, fd, 0);
	if (ret < 0 && ret > -4096) {
		*error = (int)-ret;
		return NULL;
	}
	*error = 0;
	return (void *)ret;
}

/* That part of a file, shared and there at once; NULL on failure. */
static inline void *gt_sys_map_file(int fd, uint64_t offset, size_t size, int *error)
{
	long ret;

#ifdef GT_TEST_HOOKS
	*error = gt_test_fault("mmap");
	if (!*error && offset % GT_TEST_PAGE(0))
		*error = EINVAL;
	if (*error)
		return NULL;
#endif
	ret = gt_syscall6(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd,
			  (long)offset);
	*error = ret < 0 && ret > -4096 ? (int)-ret : 0;
	if (*error)
		return NULL;
	/* If the program has all later mappings locked, its limit (RLIMIT_MEMLOCK) is left to its own
	 * memory. */
	GT_SYS2(SYS_munlock, ret, size);
	return (void *)ret;
}

static inline void *gt_sys_mmap(size_t size, int prot, int flags, int fd)
{
	int error;

	return gt_sys_mmap_errno(size, prot, flags, fd, &error);
}

/* Private zeroed memory that costs nothing until it is touched; NULL on failure. */
static inline void *gt_sys_memory(size_t size)
{
	return gt_sys_mmap(size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
}

static inline int gt_sys_munmap(void *address, size_t size)
{
	return (int)GT_SYS2(SYS_munmap, address, size);
}

static inline int gt_sys_madvise(void *address, size_t size, int advice)
{
	return (int)GT_SYS3(SYS_madvise, address, size, advice);
}

/* A resource's current soft limit; UINT64_MAX: unlimited or unknown. */
static inline uint64_t gt_sys_limit(int resource)
{
	uint64_t limit[2] = { UINT64_MAX, UINT64_MAX }; /* struct rlimit64 */

	GT_SYS4(SYS_prlimit64, 0, resource, NULL, limit);
	return limit[0];
}

/* User and system time. */
static inline uint64_t gt_sys_ns_used(const struct rusage *use)
{
	return (uint64_t)(use->ru_utime.tv_sec + use->ru_stime.tv_sec) * 1000000000 +
	       (uint64_t)(use->ru_utime.tv_usec + use->ru_stime.tv_usec) * 1000;
}

static inline int gt_sys_getpid(void)
{
	return (int)GT_SYS1(SYS_getpid, 0);
}

static inline int gt_sys_gettid(void)
{
	return (int)GT_SYS1(SYS_gettid, 0);
}

static inline uid_t gt_sys_geteuid(void)
{
	return (uid_t)GT_SYS1(SYS_geteuid, 0);
}

/* The first bytes of a file, of /proc and the like by one read. How many; a negative errno. */
static inline ssize_t gt_sys_read_file(const char *path, int flags, void *buffer, size_t size)
{
	struct stat own;
	int fd = gt_sys_open_own(AT_FDCWD, path, flags, &own), rc;
	ssize_t n;

	if (fd < 0)
		return fd;
	n = gt_sys_pread(fd, buffer, size, 0); /* the place in a file of the program's stays */
	rc = gt_sys_close_own(fd, &own);
	return rc ? rc : n;
}

/* The same as a string: its length, at most size - 1; "" on an error. */
static inline ssize_t gt_sys_read_text(const char *path, char *text, size_t size)
{
	ssize_t n = gt_sys_read_file(path, 0, text, size - 1);

	text[n < 0 ? 0 : n] = '\0';
	return n;
}

static inline int gt_sys_futex(uint32_t *word, int operation, uint32_t value)
{
	return (int)gt_syscall6(SYS_futex, (long)word, operation, value, 0, 0, 0);
}

static inline void gt_sys_sleep_us(long us)
{
	struct timespec ts = { us / 1000000, us % 1000000 * 1000 };

	GT_SYS2(SYS_nanosleep, &ts, NULL);
}

/* Can the 8 bytes at that multiple of 8, other than 0, be read? */
static inline bool gt_sys_readable(const void *at)
{
	return gt_sys_refused() || gt_raw_probe(at) != -EFAULT;
}

/* The kernel's signal set: 64 signals, the thread library's own included. */
#define GT_SIGMASK_ALL (~UINT64_C(0))

static inline uint64_t gt_sys_sigmask_set(uint64_t mask)
{
	uint64_t old = 0;

	GT_SYS4(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &mask, &old, sizeof(mask));
	return old;
}

#endif
