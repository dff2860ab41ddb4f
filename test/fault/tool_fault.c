/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded into the `gputrace` tool: fails the Nth call of a function of libc.
 *
 * GT_FAULT_TOOL=NAME:N:MODE:ERRNO   NAME one of the functions below, or "any" (all but the memory
 * functions), or "memory"; MODE "once", "on" (that call and every later one), "short" (a write that
 * takes only half) or "kill" (the process, before that call). GT_FAULT_LOG: a file that gets a line per
 * injection.
 *
 * Limits: active only in a program called gputrace; calls that libc makes inside itself are not seen.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char wanted[32], log_path[1024];
static long nth, error_number;
static enum { ONCE, ON, SHORT, KILL } mode;
static int active; /* 0: not read, 1: no plan, 2: a plan */
static atomic_long seen;

static void read_plan(void)
{
	const char *text = getenv("GT_FAULT_TOOL"), *log = getenv("GT_FAULT_LOG"), *colon;
	char *end;

	active = 1;
	if (!text || strcmp(program_invocation_short_name, "gputrace"))
		return;
	colon = strchr(text, ':');
	if (!colon || (size_t)(colon - text) >= sizeof(wanted))
		return;
	memcpy(wanted, text, (size_t)(colon - text));
	nth = strtol(colon + 1, &end, 10);
	mode = !strncmp(end, ":on:", 4)	     ? ON
	       : !strncmp(end, ":short:", 7) ? SHORT
	       : !strncmp(end, ":kill:", 6)  ? KILL
					     : ONCE;
	error_number = strtol(strrchr(text, ':') + 1, NULL, 10);
	if (log && strlen(log) < sizeof(log_path))
		strcpy(log_path, log);
	active = 2;
}

/* Is this call to fail? Then errno is set. */
static int fails(const char *name, int memory)
{
	char line[64];
	long n;
	int fd;

	if (active != 2) {
		if (active)
			return 0;
		read_plan();
		if (active != 2)
			return 0;
	}
	if (strcmp(wanted, name) && !(memory && !strcmp(wanted, "memory")) &&
	    !(!memory && !strcmp(wanted, "any")))
		return 0;
	n = ++seen;
	if (n < nth || (n > nth && mode != ON))
		return 0;
	if (log_path[0]) {
		int length = snprintf(line, sizeof(line), "%s %ld\n", name, n);

		fd = (int)syscall(SYS_openat, AT_FDCWD, log_path, O_WRONLY | O_CREAT | O_APPEND, 0600);
		if (fd >= 0) {
			syscall(SYS_write, fd, line, length);
			syscall(SYS_close, fd);
		}
	}
	if (mode == KILL)
		kill(getpid(), SIGKILL);
	errno = (int)error_number;
	return 1;
}

/* The real function; looked up without allocating anything that could fail. */
#define REAL(name)                                                                                 \
	static __typeof__(&name) real;                                                             \
	if (!real)                                                                                 \
	real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

void *malloc(size_t size)
{
	return fails("malloc", 1) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return fails("calloc", 1) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	return fails("realloc", 1) ? NULL : __libc_realloc(p, size);
}

void *mmap(void *where, size_t size, int prot, int flags, int fd, off_t offset)
{
	if (fails("mmap", 0))
		return MAP_FAILED;
	return (void *)syscall(SYS_mmap, where, size, prot, flags, fd, offset);
}

void *mmap64(void *where, size_t size, int prot, int flags, int fd, off_t offset)
{
	return mmap(where, size, prot, flags, fd, offset);
}

static int open_mode(int flags, va_list ap)
{
	return flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, int) : 0;
}

#define OPEN(name)                                                                                 \
	int name(const char *path, int flags, ...)                                                 \
	{                                                                                          \
		va_list ap;                                                                        \
		int m;                                                                             \
		va_start(ap, flags);                                                               \
		m = open_mode(flags, ap);                                                          \
		va_end(ap);                                                                        \
		return fails("open", 0) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, m);  \
	}
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                               \
	int name(int dir, const char *path, int flags, ...)                                        \
	{                                                                                          \
		va_list ap;                                                                        \
		int m;                                                                             \
		va_start(ap, flags);                                                               \
		m = open_mode(flags, ap);                                                          \
		va_end(ap);                                                                        \
		return fails("openat", 0) ? -1 : (int)syscall(SYS_openat, dir, path, flags, m);     \
	}
OPENAT(openat)
OPENAT(openat64)

FILE *fopen(const char *path, const char *how)
{
	REAL(fopen);
	return fails("fopen", 0) ? NULL : real(path, how);
}

FILE *fopen64(const char *path, const char *how)
{
	REAL(fopen64);
	return fails("fopen", 0) ? NULL : real(path, how);
}

FILE *fdopen(int fd, const char *how)
{
	REAL(fdopen);
	return fails("fdopen", 0) ? NULL : real(fd, how);
}

/* OTF2 writes its files through stdio. */
size_t fwrite(const void *data, size_t size, size_t n, FILE *f)
{
	REAL(fwrite);
	if (f != stderr && f != stdout && fails("fwrite", 0))
		return mode == SHORT ? real(data, size, n / 2, f) : 0;
	return real(data, size, n, f);
}

ssize_t write(int fd, const void *data, size_t size)
{
	if (fd > 2 && fails("write", 0)) {
		if (mode != SHORT)
			return -1;
		size /= 2;
	}
	return syscall(SYS_write, fd, data, size);
}

#define PWRITE(name)                                                                               \
	ssize_t name(int fd, const void *data, size_t size, off_t at)                              \
	{                                                                                          \
		if (fails("pwrite", 0)) {                                                          \
			if (mode != SHORT)                                                         \
				return -1;                                                         \
			size /= 2;                                                                 \
		}                                                                                  \
		return syscall(SYS_pwrite64, fd, data, size, at);                                  \
	}
PWRITE(pwrite)
PWRITE(pwrite64)

#define PREAD(name)                                                                                \
	ssize_t name(int fd, void *data, size_t size, off_t at)                                    \
	{                                                                                          \
		return fails("pread", 0) ? -1 : syscall(SYS_pread64, fd, data, size, at);           \
	}
PREAD(pread)
PREAD(pread64)

struct dirent *readdir(DIR *dir)
{
	REAL(readdir);
	return fails("readdir", 0) ? NULL : real(dir);
}

struct dirent64 *readdir64(DIR *dir)
{
	REAL(readdir64);
	return fails("readdir", 0) ? NULL : real(dir);
}

int fstat(int fd, struct stat *st)
{
	return fails("fstat", 0) ? -1 : (int)syscall(SYS_newfstatat, fd, "", st, AT_EMPTY_PATH);
}

int fstat64(int fd, struct stat64 *st)
{
	return fails("fstat", 0) ? -1 : (int)syscall(SYS_newfstatat, fd, "", st, AT_EMPTY_PATH);
}

int fstatat(int dir, const char *path, struct stat *st, int flags)
{
	return fails("fstatat", 0) ? -1 : (int)syscall(SYS_newfstatat, dir, path, st, flags);
}

int fstatat64(int dir, const char *path, struct stat64 *st, int flags)
{
	return fails("fstatat", 0) ? -1 : (int)syscall(SYS_newfstatat, dir, path, st, flags);
}

ssize_t read(int fd, void *data, size_t size)
{
	return fails("read", 0) ? -1 : syscall(SYS_read, fd, data, size);
}

int fallocate(int fd, int how, off_t at, off_t size)
{
	return fails("fallocate", 0) ? -1 : (int)syscall(SYS_fallocate, fd, how, at, size);
}

int posix_fallocate(int fd, off_t at, off_t size)
{
	REAL(posix_fallocate);
	return fails("posix_fallocate", 0) ? (int)error_number : real(fd, at, size);
}

int ftruncate(int fd, off_t size)
{
	return fails("ftruncate", 0) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

int fsync(int fd)
{
	return fails("fsync", 0) ? -1 : (int)syscall(SYS_fsync, fd);
}

int mkdir(const char *path, mode_t m)
{
	return fails("mkdir", 0) ? -1 : (int)syscall(SYS_mkdirat, AT_FDCWD, path, m);
}

int mkdirat(int dir, const char *path, mode_t m)
{
	return fails("mkdirat", 0) ? -1 : (int)syscall(SYS_mkdirat, dir, path, m);
}

int rename(const char *from, const char *to)
{
	return fails("rename", 0) ? -1
				  : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int renameat(int a, const char *from, int b, const char *to)
{
	return fails("renameat", 0) ? -1 : (int)syscall(SYS_renameat2, a, from, b, to, 0);
}

int linkat(int a, const char *from, int b, const char *to, int flags)
{
	return fails("linkat", 0) ? -1 : (int)syscall(SYS_linkat, a, from, b, to, flags);
}

/* As where no name server answers: nobody is to ask. */
long gethostid(void)
{
	if (active == 2)
		pause();
	return 0;
}

/* What cannot be removed is not a matter of "any", but where a kill may come it is a step. */
int unlinkat(int dir, const char *path, int flags)
{
	if (active != 1 && (mode == KILL || !strcmp(wanted, "unlinkat")) && fails("unlinkat", 0))
		return -1;
	return (int)syscall(SYS_unlinkat, dir, path, flags);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*body)(void *), void *arg)
{
	REAL(pthread_create);
	return fails("pthread_create", 0) ? (int)error_number : real(thread, attr, body, arg);
}
