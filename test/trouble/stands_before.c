/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A preloaded library that stands before functions of libc and guards what it knows by a lock, which it holds
 * during a fork and releases in its own handlers, as uid_wrapper does: whoever calls one of them in an
 * earlier handler waits for ever.
 *
 * Limits: some functions, of those that are one system call.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "gputrace/syscall.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void take(void)
{
	pthread_mutex_lock(&lock);
}

static void give(void)
{
	pthread_mutex_unlock(&lock);
}

__attribute__((constructor)) static void begin(void)
{
	pthread_atfork(take, give, give);
}

static long locked(long n, long a, long b, long c, long d, long e, long f)
{
	long rc;

	take();
	rc = gt_raw_syscall(n, a, b, c, d, e, f);
	give();
	return rc;
}
#define LOCKED(...) LOCKED_CALL(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)
#define LOCKED_CALL(n, a, b, c, d, e, f, ...)                                                      \
	locked(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

long syscall(long n, ...)
{
	va_list list;
	long a[6];

	va_start(list, n);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	return locked(n, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int prctl(int option, ...)
{
	va_list list;
	long a[4];

	va_start(list, option);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	return (int)LOCKED(SYS_prctl, option, a[0], a[1], a[2], a[3]);
}

int open(const char *path, int flags, ...)
{
	va_list list;
	int mode;

	va_start(list, flags);
	mode = va_arg(list, int);
	va_end(list);
	return (int)LOCKED(SYS_openat, AT_FDCWD, path, flags, mode);
}

pid_t getpid(void)
{
	return (pid_t)LOCKED(SYS_getpid);
}

pid_t getppid(void)
{
	return (pid_t)LOCKED(SYS_getppid);
}

uid_t geteuid(void)
{
	return (uid_t)LOCKED(SYS_geteuid);
}

int close(int fd)
{
	return (int)LOCKED(SYS_close, fd);
}

ssize_t read(int fd, void *data, size_t bytes)
{
	return LOCKED(SYS_read, fd, data, bytes);
}

ssize_t write(int fd, const void *data, size_t bytes)
{
	return LOCKED(SYS_write, fd, data, bytes);
}

void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	return (void *)LOCKED(SYS_mmap, at, bytes, protection, flags, fd, offset);
}

int munmap(void *at, size_t bytes)
{
	return (int)LOCKED(SYS_munmap, at, bytes);
}

int nanosleep(const struct timespec *time, struct timespec *rest)
{
	return (int)LOCKED(SYS_nanosleep, time, rest);
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
	return (int)-LOCKED(SYS_rt_sigprocmask, how, set, before, 8);
}
