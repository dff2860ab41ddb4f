/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text without libc: formatting into a fixed buffer, numbers, paths.
 *
 * Limits: knows %s %c %d %u %ld %lu %x %lx %p %% with optional zero-padded width; async-signal-safe;
 * output that does not fit is cut, and always ends with a NUL.
 */
#ifndef GT_TEXT_H
#define GT_TEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* Like snprintf: returns the length of the (possibly cut) text in the buffer. */
size_t gt_text(char *buffer, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
size_t gt_text_v(char *buffer, size_t size, const char *format, va_list ap)
	__attribute__((format(printf, 3, 0)));

/*
 * Bytes that others wrote, made harmless for a terminal: printable ASCII as it is, quotation mark
 * and backslash with a backslash, all else as \xNN; "..." at the end if it does not fit.
 * Returns the buffer, which needs at least four bytes.
 */
const char *gt_text_escape(char *buffer, size_t size, const char *bytes, size_t length);

/* The part of a path after its last slash. */
const char *gt_text_base(const char *path);

/* The value of `name` in an environment, or NULL. */
const char *gt_text_env(char *const *envp, const char *name);

/* The sentence for an errno that the user can do something about ("No space left on device"). */
const char *gt_text_errno(int error);

#endif
