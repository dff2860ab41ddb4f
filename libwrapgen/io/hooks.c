/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The meaning of the I/O wrappers: which handle a descriptor or a FILE is, and the records of what is
 * done with it.
 *
 * A handle is defined when it is opened, or when it is first used if that was not seen. What is known
 * of a descriptor is dropped before it is closed, because another thread may get its number at once.
 *
 * Limits: descriptors from 65,536 on and more than about 4,000 FILEs at once have regions only; a FILE
 * that was opened by someone who is not wrapped keeps its name until it is closed by someone who is.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <gputrace/io.h>
#include <gputrace/syscall.h>

#include "find.h"
#include "hooks.h"

#define FDS    GT_IO_FDS
#define FILES  4096u
#define PROBES 16u
#define NEW    ~0u /* being made */

#define fds gt_io_fds
uint32_t fds[FDS];
/* The descriptor's last handle, reused when the same file is opened again. */
static struct { uint32_t name, handle; } last[FDS];
static struct { uintptr_t file; uint32_t handle; } files[FILES];
static uint32_t highest; /* descriptor in use */
static bool files_used;

static uint64_t flags_of_mode(const char *mode)
{
	uint64_t flags = *mode == 'r' ? O_RDONLY : *mode == 'w' ? O_WRONLY | O_CREAT | O_TRUNC
							       : O_WRONLY | O_CREAT | O_APPEND;

	for (; *mode && *mode != ','; mode++) {
		if (*mode == '+')
			flags = (flags & ~(uint64_t)O_ACCMODE) | O_RDWR;
		else if (*mode == 'e')
			flags |= O_CLOEXEC;
		else if (*mode == 'x')
			flags |= O_EXCL;
	}
	return flags;
}

/* OTF2's numbers. */
static unsigned access_mode(uint64_t flags)
{
	return (flags & O_ACCMODE) == O_RDONLY ? 0 : (flags & O_ACCMODE) == O_WRONLY ? 1 : 2;
}

static unsigned creation(uint64_t flags)
{
	return (flags & O_CREAT ? 1u : 0) | (flags & O_TRUNC ? 2u : 0) |
	       ((flags & O_DIRECTORY) == O_DIRECTORY ? 4u : 0) | (flags & O_EXCL ? 8u : 0) |
	       (flags & O_NOCTTY ? 16u : 0) | (flags & O_NOFOLLOW ? 32u : 0) |
	       (flags & O_PATH ? 64u : 0) | ((flags & O_TMPFILE) == O_TMPFILE ? 128u : 0);
}

static unsigned status(uint64_t flags)
{
	return (flags & O_CLOEXEC ? 1u : 0) | (flags & O_APPEND ? 2u : 0) |
	       (flags & O_NONBLOCK ? 4u : 0) | ((flags & O_SYNC) == O_SYNC ? 16u : 0) |
	       ((flags & O_SYNC) == O_DSYNC ? 32u : 0) | (flags & O_DIRECT ? 64u : 0) |
	       (flags & O_NOATIME ? 128u : 0);
}

/* ---- processes ------------------------------------------------------------------------------- */

static uint32_t *owner; /* whose memory this is; a child that gets memory of its own finds 0 there */

/*
 * Is this a child of vfork (posix_spawn, subprocess)? It has its parent's memory, but descriptors of its own:
 * what it opens, closes and moves changes nothing that is known here, and is not recorded.
 */
static bool is_guest(void)
{
	uint32_t pid;

	if (!owner || gt_is_confined())
		return false;
	pid = (uint32_t)gt_raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
	if (!__atomic_load_n(owner, __ATOMIC_RELAXED))
		__atomic_store_n(owner, pid, __ATOMIC_RELAXED);
	return __atomic_load_n(owner, __ATOMIC_RELAXED) != pid;
}

static void learn_owner(void)
{
	uint32_t *page = gt_memory(4096);

	if (page && !gt_raw_syscall(SYS_madvise, (long)page, 4096, MADV_WIPEONFORK, 0, 0, 0))
		owner = page;
	is_guest(); /* we are the owner; a child of vfork may be the first to ask */
}

/* ---- handles --------------------------------------------------------------------------------- */

/* Eventfds have one name; since Linux 5.2 it is known which one it is. */
static void number_eventfd(int fd, char *name, size_t size)
{
	static const char key[] = "eventfd-id:";
	char path[64], text[512], *id;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	gt_raw_read_text(path, text, sizeof(text));
	id = strstr(text, key);
	if (!id)
		return;
	id += strlen(key);
	id += strspn(id, " \t");
	snprintf(name, size, "eventfd:[%.*s]", (int)strspn(id, "0123456789"), id);
}

/* The name that the kernel has for a descriptor; a program that has confined itself does not ask. */
static void name_of(int fd, char *name, size_t size)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = gt_is_confined() ? -1 : gt_raw(SYS_readlinkat, AT_FDCWD, path, name, size - 1);
	if (n < 0)
		n = snprintf(name, size, "descriptor %d", fd);
	name[n] = '\0';
	if (!strcmp(name, "anon_inode:[eventfd]"))
		number_eventfd(fd, name, size);
}

/* A new handle on a descriptor's file; `found`: it was open already. */
static uint32_t define(int fd, unsigned paradigm, bool found, uint64_t flags)
{
	char name[4096];
	uint32_t marks, text;
	gt_ref handle;

	name_of(fd, name, sizeof(name));
	marks = *name == '/' ? GT_HANDLE_FILE : 0;
	if (found)
		marks |= GT_HANDLE_FOUND | access_mode(flags) << GT_HANDLE_MODE_SHIFT |
			 status(flags) << GT_HANDLE_STATUS_SHIFT;
	if (found || paradigm != GT_IO_PARADIGM_POSIX || (unsigned)fd >= FDS)
		return gt_def_handle(name, paradigm, marks);
	text = gt_def_string(name);
	if (text && last[fd].name == text)
		return last[fd].handle;
	handle = gt_def_handle(name, paradigm, marks);
	last[fd].handle = handle;
	last[fd].name = text;
	return handle;
}

static uint32_t find_fd(int fd)
{
	int saved = errno;
	uint32_t none = 0, handle;
	long flags;

	if (is_guest())
		return 0; /* its descriptor is not its parent's of that number */
	flags = gt_is_confined() ? -1 : gt_raw(SYS_fcntl, fd, F_GETFL);
	if (flags < 0) {
		errno = saved;
		return 0; /* the call will fail, or nobody may ask */
	}
	handle = define(fd, GT_IO_PARADIGM_POSIX, true, (uint64_t)flags);
	if ((uint32_t)fd > __atomic_load_n(&highest, __ATOMIC_RELAXED))
		__atomic_store_n(&highest, (uint32_t)fd, __ATOMIC_RELAXED);
	/* Pairs with gt_io_of_fd() and forget_fd(). */
	if (!__atomic_compare_exchange_n(&fds[fd], &none, handle, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		handle = none;
	errno = saved;
	return handle;
}

unsigned gt_io_of_fd(int fd)
{
	uint32_t handle;

	if ((unsigned)fd >= FDS)
		return 0;
	handle = __atomic_load_n(&fds[fd], __ATOMIC_ACQUIRE);
	return gt_likely(handle != 0) ? handle : find_fd(fd);
}

/* The FILE's slot, or a new one if `make`. */
static uint32_t *slot_of(const void *file, bool make)
{
	uint32_t at = (uint32_t)((uint64_t)(uintptr_t)file * UINT64_C(0x9e3779b97f4a7c15) >> 40);

	for (unsigned i = 0; i < PROBES; i++)
		if (__atomic_load_n(&files[(at + i) % FILES].file, __ATOMIC_ACQUIRE) == (uintptr_t)file)
			return &files[(at + i) % FILES].handle;
	for (unsigned i = 0; make && i < PROBES; i++) {
		uintptr_t none = 0;

		/* Pairs with the acquire in this function. */
		if (__atomic_compare_exchange_n(&files[(at + i) % FILES].file, &none, (uintptr_t)file,
						false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
			files_used = true;
			return &files[(at + i) % FILES].handle;
		}
	}
	return NULL;
}

/* Small numbers stand for the standard streams, which printf and others have without being told. */
static FILE *real_file(const void *file)
{
	return (uintptr_t)file == 3   ? stdin
	       : (uintptr_t)file == 1 ? stdout
	       : (uintptr_t)file == 2 ? stderr
				      : (FILE *)(uintptr_t)file;
}

unsigned gt_io_of_file(const void *given)
{
	FILE *file = real_file(given);
	uint32_t *slot = file ? slot_of(file, true) : NULL, handle;
	int saved = errno, fd;
	long flags;

	if (!slot) /* fflush(NULL), or no room */
		return 0;
	handle = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
	if (gt_likely(handle != 0))
		return handle == NEW ? 0 : handle;
	/* Pairs with forget_file(). */
	if (!__atomic_compare_exchange_n(slot, &handle, NEW, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return handle == NEW ? 0 : handle;
	fd = fileno_unlocked(file);
	flags = fd < 0 || gt_is_confined() ? O_RDWR : gt_raw(SYS_fcntl, fd, F_GETFL);
	handle = define(fd, GT_IO_PARADIGM_ISO_C, true, flags < 0 ? O_RDWR : (uint64_t)flags);
	__atomic_store_n(slot, handle, __ATOMIC_RELEASE); /* pairs with forget_file() */
	errno = saved;
	return handle;
}

static uint32_t forget_file(const void *file)
{
	uint32_t *slot = is_guest() ? NULL : slot_of(file, false), handle;

	if (!slot)
		return 0;
	handle = __atomic_exchange_n(slot, 0, __ATOMIC_ACQ_REL); /* pairs with gt_io_of_file() */
	__atomic_store_n((uintptr_t *)((char *)slot - offsetof(__typeof__(files[0]), handle)), 0,
			 __ATOMIC_RELEASE);
	return handle == NEW ? 0 : handle;
}

static uint32_t forget_fd(int fd)
{
	/* Pairs with find_fd() and gt_io_of_fd(). */
	return (unsigned)fd < FDS && !is_guest() ? __atomic_exchange_n(&fds[fd], 0, __ATOMIC_ACQ_REL) : 0;
}

/* In a forked child all handles are found anew: those of the parent are the parent's. */
static void child(void)
{
	size_t used = __atomic_load_n(&highest, __ATOMIC_RELAXED) + 1;

	memset(fds, 0, used * sizeof(*fds));
	memset(last, 0, used * sizeof(*last));
	if (files_used)
		memset(files, 0, sizeof(files));
	is_guest(); /* as in learn_owner() */
}

int gt_io_extended;
static gt_ref offset_parameter;

void gt_io_offset(unsigned long long offset)
{
	gt_record(GT_T_PARAM_INT, offset_parameter, (uint64_t[2]){ offset, 0 }, 1);
}

__attribute__((constructor)) static void begin_io(void)
{
	const char *extended = gt_setting("VT_IOTRACE_EXTENDED");
	int saved = errno;

	gt_wrap_early();
	if (extended && !strcmp(extended, "yes"))
		offset_parameter = gt_def_parameter("offset", GT_VALUE_INT);
	gt_io_extended = offset_parameter != GT_NONE;
	learn_owner();
	pthread_atfork(NULL, NULL, child);
	errno = saved;
}

static void keep_fd(int fd, uint32_t handle)
{
	/* Pairs with find_fd(), gt_io_of_fd() and forget_fd(). */
	__atomic_store_n(&fds[fd], handle, __ATOMIC_RELEASE);
	/* Two threads may both raise it, and one be lost: the next use of the higher one raises it again. */
	if ((uint32_t)fd > __atomic_load_n(&highest, __ATOMIC_RELAXED))
		__atomic_store_n(&highest, (uint32_t)fd, __ATOMIC_RELAXED);
}

/* ---- records --------------------------------------------------------------------------------- */

static void record(unsigned type, uint32_t handle, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
		   uint64_t tick)
{
	const uint64_t data[4] = { a, b, c, d };

	if (handle)
		gt_record_at(type, handle, data, 2, tick);
}

static void enter(struct gt_io_hook *hook, uint64_t tick)
{
	gt_enter_at(hook->gt_w->gt_region, tick);
	hook->gt_open = 1;
}

static void leave(struct gt_io_hook *hook, uint64_t tick)
{
	gt_leave_at(hook->gt_w->gt_region, tick);
	hook->gt_open = 0;
}

void gt_hook_abandon(struct gt_io_hook *hook)
{
	if (hook->gt_open == GT_IO_OPERATION)
		gt_io_end(hook->gt_w->gt_region, hook->gt_handle, 0, hook->gt_id);
	else
		leave(hook, gt_now());
	hook->gt_open = 0;
}

/* Of calls that change what is open. */
static void ask(struct gt_io_hook *hook)
{
	gt_io_ask(hook);
	if (hook->gt_w && is_guest())
		hook->gt_w = NULL;
}

static void begin(struct gt_io_hook *hook)
{
	ask(hook);
	if (hook->gt_w)
		enter(hook, gt_now());
}

/* The handle of a descriptor that was just opened, and the record of that. */
static void opened(struct gt_io_hook *hook, int fd, uint64_t flags, uint64_t tick)
{
	uint32_t handle;

	if (fd < 0 || (unsigned)fd >= FDS)
		return;
	forget_fd(fd); /* closed by someone whom nobody saw */
	if (!hook->gt_w)
		return;
	handle = define(fd, GT_IO_PARADIGM_POSIX, false, flags);
	keep_fd(fd, handle);
	record(GT_T_IO_OPEN, handle,
	       access_mode(flags) | (uint64_t)(creation(flags) | status(flags) << 16) << 32, 0, 0, 0, tick);
}

void gt_hook_open_begin(struct gt_io_hook *hook, unsigned long long flags)
{
	hook->gt_a = flags;
	begin(hook);
}

void gt_hook_open_end(struct gt_io_hook *hook, unsigned long long result)
{
	int saved = errno;
	uint64_t tick = gt_now();

	opened(hook, (int)result, hook->gt_a, tick);
	if (hook->gt_w)
		leave(hook, tick);
	errno = saved;
}

void gt_hook_fopen_begin(struct gt_io_hook *hook, unsigned long long mode)
{
	hook->gt_a = mode ? flags_of_mode((const char *)mode) : O_RDWR;
	begin(hook);
}

void gt_hook_fopen_end(struct gt_io_hook *hook, unsigned long long result)
{
	FILE *file = (FILE *)result;
	int saved = errno;
	uint64_t tick = gt_now();
	uint32_t *slot, handle;

	if (file)
		forget_file(file);
	slot = file && hook->gt_w ? slot_of(file, true) : NULL;
	if (slot) {
		handle = define(fileno_unlocked(file), GT_IO_PARADIGM_ISO_C, false, hook->gt_a);
		/* Pairs with gt_io_of_file() and forget_file(). */
		__atomic_store_n(slot, handle, __ATOMIC_RELEASE);
		record(GT_T_IO_OPEN, handle,
		       access_mode(hook->gt_a) |
			       (uint64_t)(creation(hook->gt_a) | status(hook->gt_a) << 16) << 32,
		       0, 0, 0, tick);
	}
	if (hook->gt_w)
		leave(hook, tick);
	errno = saved;
}

/* The file was open already: the FILE has a handle of its own, as has one that is found open. */
void gt_hook_fdopen_begin(struct gt_io_hook *hook)
{
	begin(hook);
}

void gt_hook_fdopen_end(struct gt_io_hook *hook, unsigned long long result)
{
	FILE *file = (FILE *)result;

	if (file)
		forget_file(file);
	if (!hook->gt_w)
		return;
	if (file)
		gt_io_of_file(file);
	leave(hook, gt_now());
}

void gt_hook_freopen_begin(struct gt_io_hook *hook, unsigned long long mode, unsigned long long file)
{
	hook->gt_handle = forget_file((const void *)file);
	gt_hook_fopen_begin(hook, mode);
}

void gt_hook_freopen_end(struct gt_io_hook *hook, unsigned long long result)
{
	if (hook->gt_w)
		record(GT_T_IO_CLOSE, hook->gt_handle, 0, 0, 0, 0, gt_now());
	gt_hook_fopen_end(hook, result);
}

static void closed(struct gt_io_hook *hook, unsigned long long result)
{
	uint64_t tick;

	if (!hook->gt_w)
		return;
	tick = gt_now();
	/* After an error the descriptor is gone as well, unless it never was one. */
	if ((int)result == 0 || errno != EBADF)
		record(GT_T_IO_CLOSE, hook->gt_handle, 0, 0, 0, 0, tick);
	leave(hook, tick);
}

void gt_hook_close_begin(struct gt_io_hook *hook, int fd)
{
	ask(hook);
	if (hook->gt_w)
		gt_io_of_fd(fd); /* what was found open is closed, too */
	hook->gt_handle = forget_fd(fd);
	begin(hook);
}

void gt_hook_close_end(struct gt_io_hook *hook, unsigned long long result)
{
	closed(hook, result);
}

void gt_hook_fclose_begin(struct gt_io_hook *hook, unsigned long long file)
{
	ask(hook);
	if (hook->gt_w && file)
		gt_io_of_file((const void *)file);
	hook->gt_handle = forget_file((const void *)file);
	begin(hook);
}

void gt_hook_fclose_end(struct gt_io_hook *hook, unsigned long long result)
{
	closed(hook, result);
}

/* pipe (mode 0), socketpair (mode 1). */
void gt_hook_pair_begin(struct gt_io_hook *hook, unsigned mode, unsigned long long pair)
{
	hook->gt_kind = (int)mode;
	hook->gt_a = pair;
	begin(hook);
}

void gt_hook_pair_end(struct gt_io_hook *hook, unsigned long long result)
{
	const int *pair = (const int *)hook->gt_a;
	int saved = errno;
	uint64_t tick = gt_now();

	if ((int)result == 0) {
		opened(hook, pair[0], hook->gt_kind ? O_RDWR : O_RDONLY, tick);
		opened(hook, pair[1], hook->gt_kind ? O_RDWR : O_WRONLY, tick);
	}
	if (hook->gt_w)
		leave(hook, tick);
	errno = saved;
}

void gt_hook_dup_begin(struct gt_io_hook *hook, int fd, int to)
{
	ask(hook);
	if (hook->gt_w)
		hook->gt_handle = gt_io_of_fd(fd);
	hook->gt_other = 0;
	if (to != fd)
		hook->gt_other = forget_fd(to);
	hook->gt_kind = to;
	hook->gt_a = (unsigned)fd;
	begin(hook);
}

void gt_hook_dup_end(struct gt_io_hook *hook, unsigned long long result)
{
	int fd = (int)result, saved = errno;
	uint32_t handle;
	uint64_t tick;

	if (!hook->gt_w) {
		if (fd >= 0 && fd != (int)hook->gt_a)
			forget_fd(fd);
		return;
	}
	tick = gt_now();
	if (fd >= 0 && (unsigned)fd < FDS && fd != (int)hook->gt_a) {
		record(GT_T_IO_CLOSE, hook->gt_other, 0, 0, 0, 0, tick);
		handle = define(fd, GT_IO_PARADIGM_POSIX, false, 0);
		keep_fd(fd, handle);
		if (hook->gt_handle && handle)
			record(GT_T_IO_DUP, hook->gt_handle, 0, handle, 0, 0, tick);
	}
	leave(hook, tick);
	errno = saved;
}

void gt_hook_fcntl_begin(struct gt_io_hook *hook, int fd, int command)
{
	hook->gt_kind = command == F_DUPFD || command == F_DUPFD_CLOEXEC;
	if (hook->gt_kind)
		gt_hook_dup_begin(hook, fd, FDS);
	else
		hook->gt_w = NULL; /* not worth a region */
	hook->gt_b = command == F_DUPFD || command == F_DUPFD_CLOEXEC;
}

void gt_hook_fcntl_end(struct gt_io_hook *hook, unsigned long long result)
{
	if (hook->gt_b)
		gt_hook_dup_end(hook, result);
}

/* Data that are only peeked at (MSG_PEEK) will be read later. */
void gt_hook_recv_begin(struct gt_io_hook *hook, int fd, unsigned long long bytes, int flags)
{
	gt_hook_fd_begin(hook, GT_IO_OPERATION_MODE_READ, GT_IO_BYTES, fd, bytes);
	if (flags & MSG_PEEK)
		hook->gt_b = 0;
}

/* With MSG_TRUNC the result is the datagram's length, whatever there is room for. */
void gt_hook_recv_end(struct gt_io_hook *hook, unsigned long long result)
{
	gt_io_result(hook, (long long)result > 0 && result > hook->gt_a ? hook->gt_a : result);
}

static void begin_seek(struct gt_io_hook *hook, uint32_t handle, uint64_t offset, unsigned whence)
{
	hook->gt_handle = handle;
	hook->gt_a = offset;
	hook->gt_b = whence;
	enter(hook, gt_now());
}

static void end_seek(struct gt_io_hook *hook, bool done, uint64_t offset)
{
	uint64_t tick;

	if (!hook->gt_w)
		return;
	tick = gt_now();
	if (done && hook->gt_b <= 4)
		record(GT_T_IO_SEEK, hook->gt_handle, hook->gt_b, hook->gt_a, 0, offset, tick);
	leave(hook, tick);
}

void gt_hook_seek_begin(struct gt_io_hook *hook, int fd, unsigned long long offset, unsigned whence)
{
	gt_io_ask(hook);
	if (hook->gt_w)
		begin_seek(hook, gt_io_of_fd(fd), offset, whence);
}

void gt_hook_seek_end(struct gt_io_hook *hook, unsigned long long result)
{
	end_seek(hook, (long long)result >= 0, result);
}

void gt_hook_fseek_begin(struct gt_io_hook *hook, unsigned long long file, unsigned long long offset,
			 unsigned whence)
{
	gt_io_ask(hook);
	if (hook->gt_w)
		begin_seek(hook, gt_io_of_file((const void *)file), offset, whence);
}

/* A FILE's new offset is known when it was counted from the start; else it is not asked for. */
void gt_hook_fseek_end(struct gt_io_hook *hook, unsigned long long result)
{
	end_seek(hook, (int)result == 0, hook->gt_b == SEEK_SET ? hook->gt_a : UINT64_MAX);
}

void gt_hook_call_begin(struct gt_io_hook *hook)
{
	begin(hook);
}

void gt_hook_call_end(struct gt_io_hook *hook, unsigned long long result)
{
	(void)result;
	if (hook->gt_w)
		leave(hook, gt_now());
}

void gt_hook_opendir_begin(struct gt_io_hook *hook)
{
	begin(hook);
}

void gt_hook_opendir_end(struct gt_io_hook *hook, unsigned long long result)
{
	DIR *folder = (DIR *)result;
	int saved = errno;
	uint64_t tick = gt_now();

	if (folder)
		opened(hook, dirfd(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC, tick);
	if (hook->gt_w)
		leave(hook, tick);
	errno = saved;
}

/* A descriptor that fdopendir() has got is closed, too. */
void gt_hook_closedir_begin(struct gt_io_hook *hook, unsigned long long folder)
{
	hook->gt_handle = folder ? forget_fd(dirfd((DIR *)folder)) : 0;
	begin(hook);
}

void gt_hook_closedir_end(struct gt_io_hook *hook, unsigned long long result)
{
	closed(hook, result);
}

void gt_hook_map_begin(struct gt_io_hook *hook, int fd)
{
	if (fd < 0)
		hook->gt_w = NULL; /* memory, not a file */
	begin(hook);
}

void gt_hook_map_end(struct gt_io_hook *hook, unsigned long long result)
{
	(void)result;
	if (hook->gt_w)
		leave(hook, gt_now());
}
