/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hooks of the I/O functions' wrappers: they record handles and the operations on them.
 *
 * Limits: included by the generated wrappers only. A `kind` says what a result means in bytes.
 */
#ifndef GT_IO_HOOKS_H
#define GT_IO_HOOKS_H

#include <gputrace/otf2_numbers.h>
#include <gputrace/wrap.h>

enum gt_io_kind {
	GT_IO_BYTES = 0,  /* a number of units */
	GT_IO_TEXT = 1,   /* a string, or NULL */
	GT_IO_ALL = 2,    /* not negative: all that was asked for */
	GT_IO_ONE = 3,    /* not negative: one byte */
};

#define GT_IO_OPERATION 2

/* One call. Zero but for gt_w at first. */
struct gt_io_hook {
	struct gt_wrap *gt_w;    /* NULL: not recorded */
	unsigned gt_handle;
	unsigned gt_other;
	int gt_kind;
	int gt_open;             /* 1: the region is entered; GT_IO_OPERATION: with an operation */
	unsigned long long gt_a, gt_b;
	unsigned long gt_id;
};

GT_HIDDEN void gt_hook_abandon(struct gt_io_hook *hook);
/* A call that is cancelled, or left by an exception, leaves its region. */
static inline void gt_hook_done(struct gt_io_hook *hook)
{
	if (gt_unlikely(hook->gt_open))
		gt_hook_abandon(hook);
}
/* The function, if it has a region; the first call asks everything, the others leave it to gt_io_begin,
 * because behind a system call each jump through a pointer is dear. */
static inline struct gt_wrap *gt_io_known(struct gt_wrap *w)
{
	if (gt_unlikely(__atomic_load_n(&w->gt_state, __ATOMIC_ACQUIRE) != 1))
		return gt_wrap_ready(w);
	return w->gt_region ? w : 0;
}

#define GT_HOOK(w) \
	struct gt_io_hook gt_hook __attribute__((cleanup(gt_hook_done))) = { .gt_w = gt_io_known(&(w)) }

/* Where nothing but gt_w is looked at before anything is recorded. */
static inline void gt_io_ask(struct gt_io_hook *hook)
{
	if (hook->gt_w && !gt_wrap_core_active())
		hook->gt_w = 0;
}

/* Reading, writing, flushing: (mode, kind, descriptor or FILE, bytes asked for, size of a unit). */
GT_WRAP_C unsigned long gt_io_begin(unsigned region, unsigned handle, unsigned mode, unsigned long bytes);
GT_WRAP_C void gt_io_end(unsigned region, unsigned handle, unsigned long bytes, unsigned long id);
GT_HIDDEN unsigned gt_io_of_fd(int fd);
#define GT_IO_FDS 65536u
extern GT_HIDDEN unsigned gt_io_fds[GT_IO_FDS]; /* 0: not known; atomic */
GT_HIDDEN unsigned gt_io_of_file(const void *file);

static inline void gt_io_go(struct gt_io_hook *hook, unsigned mode, unsigned long bytes)
{
	hook->gt_id = gt_io_begin(hook->gt_w->gt_region, hook->gt_handle, mode, bytes);
	if (gt_unlikely(hook->gt_id == ~0ul))
		hook->gt_w = 0; /* not recorded now */
	else
		hook->gt_open = GT_IO_OPERATION;
}

static inline void gt_io_result(struct gt_io_hook *hook, unsigned long long result)
{
	long long number = (long long)result;

	if (!hook->gt_w)
		return;
	switch (hook->gt_kind) {
	case GT_IO_BYTES:
		number = number > 0 ? number * (long long)hook->gt_b : 0;
		break;
	case GT_IO_TEXT:
		number = result ? (long long)__builtin_strlen((const char *)result) : 0;
		break;
	case GT_IO_ALL:
		number = number < 0 ? 0 : (long long)hook->gt_a;
		break;
	default:
		number = number >= 0;
		break;
	}
	gt_io_end(hook->gt_w->gt_region, hook->gt_handle, (unsigned long)number, hook->gt_id);
	hook->gt_open = 0;
}

static inline void gt_hook_fd_begin(struct gt_io_hook *hook, unsigned mode, int kind, int fd,
				    unsigned long long bytes)
{
	if (!hook->gt_w)
		return;
	hook->gt_kind = kind;
	hook->gt_a = bytes;
	hook->gt_b = 1;
	hook->gt_handle = gt_io_fds[fd & (GT_IO_FDS - 1)];
	if (gt_unlikely(!hook->gt_handle || (unsigned)fd >= GT_IO_FDS)) {
		gt_io_ask(hook);
		if (!hook->gt_w)
			return;
		hook->gt_handle = gt_io_of_fd(fd);
	}
	gt_io_go(hook, mode, bytes);
}

static inline void gt_hook_fd_end(struct gt_io_hook *hook, unsigned long long result)
{
	gt_io_result(hook, result);
}

/* pread and the like: with VT_IOTRACE_EXTENDED the offset is a parameter. */
extern GT_HIDDEN int gt_io_extended;
GT_HIDDEN void gt_io_offset(unsigned long long offset);

static inline void gt_hook_at_begin(struct gt_io_hook *hook, unsigned mode, int kind, int fd,
				    unsigned long long bytes, unsigned long long offset)
{
	gt_hook_fd_begin(hook, mode, kind, fd, bytes);
	if (gt_unlikely(gt_io_extended) && hook->gt_open)
		gt_io_offset(offset);
}

static inline void gt_hook_at_end(struct gt_io_hook *hook, unsigned long long result)
{
	gt_io_result(hook, result);
}

static inline void gt_hook_file_begin(struct gt_io_hook *hook, unsigned mode, int kind,
				      unsigned long long file, unsigned long long bytes,
				      unsigned long long unit)
{
	if (!hook->gt_w)
		return;
	hook->gt_kind = kind;
	hook->gt_a = bytes * unit;
	hook->gt_b = unit;
	gt_io_ask(hook);
	if (!hook->gt_w)
		return;
	hook->gt_handle = gt_io_of_file((const void *)file);
	gt_io_go(hook, mode, hook->gt_a);
}

static inline void gt_hook_file_end(struct gt_io_hook *hook, unsigned long long result)
{
	gt_io_result(hook, result);
}

/* fputs and the like: the bytes are those of a string. */
static inline void gt_hook_text_begin(struct gt_io_hook *hook, unsigned long long file,
				      unsigned long long text, unsigned long long more)
{
	if (hook->gt_w)
		gt_hook_file_begin(hook, GT_IO_OPERATION_MODE_WRITE, GT_IO_ALL, file,
				   __builtin_strlen((const char *)text) + more, 1);
}

static inline void gt_hook_text_end(struct gt_io_hook *hook, unsigned long long result)
{
	gt_io_result(hook, result);
}

/* Handles come and go; these are called whether or not the call is recorded, to know what is open. */
GT_HIDDEN void gt_hook_open_begin(struct gt_io_hook *hook, unsigned long long flags);
GT_HIDDEN void gt_hook_open_end(struct gt_io_hook *hook, unsigned long long result);
GT_HIDDEN void gt_hook_fopen_begin(struct gt_io_hook *hook, unsigned long long mode);
GT_HIDDEN void gt_hook_fopen_end(struct gt_io_hook *hook, unsigned long long result);
GT_HIDDEN void gt_hook_fdopen_begin(struct gt_io_hook *hook);
GT_HIDDEN void gt_hook_fdopen_end(struct gt_io_hook *hook, unsigned long long result);
GT_HIDDEN void gt_hook_recv_begin(struct gt_io_hook *hook, int fd, unsigned long long bytes, int flags);
GT_HIDDEN void gt_hook_recv_end(struct gt_io_hook *hook, unsigned long long result);
GT_HIDDEN void gt_hook_freopen_begin(struct gt_io_hook *hook, unsigned long long mode,
				     unsigned long long file);
GT_HIDDEN void gt_hook_freopen_end(struct gt_io_hook *hook, unsigned long long result);
GT_HIDDEN void gt_hook_close_begin(struct gt_io_hook *hook, int fd);
GT_HIDDEN void gt_hook_close_end(struct gt_io_hook *hook, unsigned long long result);
GT_HIDDEN void gt_hook_fclose_begin(struct gt_io_hook *hook, unsigned long long file);
GT_HIDDEN void gt_hook_fclose_end(struct gt_io_hook *hook, unsigned long long result);
GT_HIDDEN void gt_hook_pair_begin(struct gt_io_hook *hook, unsigned mode, unsigned long long fds);
GT_HIDDEN void gt_hook_pair_end(struct gt_io_hook *hook, unsigned long long result);
GT_HIDDEN void gt_hook_dup_begin(struct gt_io_hook *hook, int fd, int to);
GT_HIDDEN void gt_hook_dup_end(struct gt_io_hook *hook, unsigned long long result);
GT_HIDDEN void gt_hook_fcntl_begin(struct gt_io_hook *hook, int fd, int command);
GT_HIDDEN void gt_hook_fcntl_end(struct gt_io_hook *hook, unsigned long long result);
GT_HIDDEN void gt_hook_seek_begin(struct gt_io_hook *hook, int fd, unsigned long long offset,
				  unsigned whence);
GT_HIDDEN void gt_hook_seek_end(struct gt_io_hook *hook, unsigned long long result);
GT_HIDDEN void gt_hook_fseek_begin(struct gt_io_hook *hook, unsigned long long file,
				   unsigned long long offset, unsigned whence);
GT_HIDDEN void gt_hook_fseek_end(struct gt_io_hook *hook, unsigned long long result);
/* Calls that open, close and move nothing: a region. */
GT_HIDDEN void gt_hook_call_begin(struct gt_io_hook *hook);
GT_HIDDEN void gt_hook_call_end(struct gt_io_hook *hook, unsigned long long result);
GT_HIDDEN void gt_hook_opendir_begin(struct gt_io_hook *hook);
GT_HIDDEN void gt_hook_opendir_end(struct gt_io_hook *hook, unsigned long long result);
GT_HIDDEN void gt_hook_closedir_begin(struct gt_io_hook *hook, unsigned long long folder);
GT_HIDDEN void gt_hook_closedir_end(struct gt_io_hook *hook, unsigned long long result);
/* mmap: a region if a file is mapped. */
GT_HIDDEN void gt_hook_map_begin(struct gt_io_hook *hook, int fd);
GT_HIDDEN void gt_hook_map_end(struct gt_io_hook *hook, unsigned long long result);

#endif
