/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text without libc; see text.h.
 * Limits: no floating point, no positional arguments.
 */
#include "lib/common/text.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

struct out {
	char *at, *end;
};

static void put(struct out *o, char c)
{
	if (o->at < o->end)
		*o->at++ = c;
}

static void put_number(struct out *o, uint64_t value, unsigned base, bool negative, unsigned width,
		       bool zero)
{
	char digits[24];
	unsigned n = 0;

	do {
		digits[n++] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	if (negative && zero)
		put(o, '-');
	while (n + (negative && !zero) < width && width <= 24) {
		put(o, zero ? '0' : ' ');
		width--;
	}
	if (negative && !zero)
		put(o, '-');
	while (n)
		put(o, digits[--n]);
}

size_t gt_text_v(char *buffer, size_t size, const char *format, va_list ap)
{
	struct out o = { buffer, buffer + (size ? size - 1 : 0) };

	for (const char *f = format; *f; f++) {
		unsigned width = 0;
		bool zero = false;
		int longs = 0;
		int64_t i;

		if (*f != '%') {
			put(&o, *f);
			continue;
		}
		f++;
		if (*f == '0') {
			zero = true;
			f++;
		}
		for (; *f >= '0' && *f <= '9'; f++)
			width = width * 10 + (unsigned)(*f - '0');
		for (; *f == 'l' || *f == 'z'; f++)
			longs++;
		switch (*f) {
		case 's': {
			const char *s = va_arg(ap, const char *);

			for (s = s ? s : "(none)"; *s; s++)
				put(&o, *s);
			break;
		}
		case 'c':
			put(&o, (char)va_arg(ap, int));
			break;
		case 'd':
			i = longs ? va_arg(ap, long) : va_arg(ap, int);
			put_number(&o, i < 0 ? -(uint64_t)i : (uint64_t)i, 10, i < 0, width, zero);
			break;
		case 'u':
			put_number(&o, longs ? va_arg(ap, unsigned long) : va_arg(ap, unsigned), 10,
				   false, width, zero);
			break;
		case 'x':
			put_number(&o, longs ? va_arg(ap, unsigned long) : va_arg(ap, unsigned), 16,
				   false, width, zero);
			break;
		case 'p':
			put(&o, '0');
			put(&o, 'x');
			put_number(&o, (uintptr_t)va_arg(ap, void *), 16, false, 0, false);
			break;
		case '%':
			put(&o, '%');
			break;
		default: /* not ours, or the end: show it as it stands */
			put(&o, '%');
			f--;
			break;
		}
	}
	if (size)
		*o.at = 0;
	return (size_t)(o.at - buffer);
}

size_t gt_text(char *buffer, size_t size, const char *format, ...)
{
	va_list ap;
	size_t n;

	va_start(ap, format);
	n = gt_text_v(buffer, size, format, ap);
	va_end(ap);
	return n;
}

/* One byte, escaped; returns the number of characters. */
static size_t escape_byte(char *out, unsigned char c)
{
	if (c == '"' || c == '\\')
		return gt_text(out, 5, "\\%c", c);
	return gt_text(out, 5, c >= 0x20 && c < 0x7f ? "%c" : "\\x%02x", c);
}

const char *gt_text_escape(char *buffer, size_t size, const char *bytes, size_t length)
{
	size_t used = 0, whole = 0; /* `whole`: the last end that leaves room for "..." */

	for (size_t i = 0; i < length; i++) {
		char one[5];
		size_t n = escape_byte(one, (unsigned char)bytes[i]);

		if (used + n >= size) {
			used = whole + gt_text(buffer + whole, size - whole, "...");
			break;
		}
		memcpy(buffer + used, one, n);
		used += n;
		if (used + 3 < size)
			whole = used;
	}
	buffer[used] = 0;
	return buffer;
}

const char *gt_text_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

const char *gt_text_env(char *const *envp, const char *name)
{
	size_t n = strlen(name);

	for (; envp && *envp; envp++)
		if (!strncmp(*envp, name, n) && (*envp)[n] == '=')
			return *envp + n + 1;
	return NULL;
}

const char *gt_text_errno(int error)
{
	static const char *const texts[] = {
		[EACCES] = "Permission denied",
		[EPERM] = "Operation not permitted",
		[EROFS] = "Read-only file system",
		[ENOENT] = "No such file or directory",
		[ENOTDIR] = "Not a directory",
		[EEXIST] = "It exists already",
		[ENOTEMPTY] = "The directory is not empty",
		[ENOSPC] = "No space left on device",
		[EDQUOT] = "Disk quota exceeded",
		[EFBIG] = "File size limit reached",
		[ENAMETOOLONG] = "Name too long",
		[ELOOP] = "It is a symbolic link",
		[EMFILE] = "Too many open files",
		[ENFILE] = "Too many open files",
		[ENOMEM] = "Out of memory",
		[EIO] = "Input/output error",
		[EBADF] = "The program closed the file",
		[EPROTO] = "The contents are not what gputrace wrote",
		[ENOSYS] = "The kernel or a sandbox does not allow the system call",
		[ESTALE] = "The run has ended",
	};
	size_t number = (size_t)(error < 0 ? -error : error);

	return number < sizeof(texts) / sizeof(*texts) && texts[number] ? texts[number]
									: "System call failed";
}
