/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages to the user: one write to stderr each, signal-safe, errno untouched.
 * Limits: lines of 1,000 characters; control characters are shown as '?'.
 */
#include "lib/common/text.h"
#include "lib/record/record.h"

#include <stdarg.h>

static struct stat stderr_was;

/*
 * Many programs close stderr in their last exit handler, before gputrace has said what it recorded.
 * So the process that began a program knows where it led, if to a file or a terminal. Forked children do
 * not, and nobody where `gputrace run` says what was recorded.
 */
static char stderr_path[256];

void gt_stderr_keep(void)
{
	ssize_t n;

	if (gt_settings.verbose < 1 || gt_sys_fstat(2, &stderr_was) ||
	    (!S_ISREG(stderr_was.st_mode) && !S_ISCHR(stderr_was.st_mode)))
		return;
	n = gt_sys_readlink("/proc/self/fd/2", stderr_path, sizeof(stderr_path));
	stderr_path[n > 0 && n < (ssize_t)sizeof(stderr_path) ? n : 0] = 0;
}

void gt_stderr_drop(void)
{
	stderr_path[0] = 0;
}

int gt_stderr_open(void)
{
	struct stat st;
	int fd, high;

	if (!stderr_path[0] || gt_sys_fcntl(2, F_GETFD, 0) >= 0)
		return 2;
	fd = gt_sys_openat(AT_FDCWD, stderr_path, O_WRONLY | O_APPEND | O_NOCTTY | O_NONBLOCK | O_CLOEXEC, 0);
	if (fd < 0 || gt_sys_fstat(fd, &st))
		return 2;
	high = gt_sys_copy_own(fd, 3, &stderr_was);
	gt_sys_close_own(fd, &st);
	if (high < 0)
		return 2;
	gt_sys_fcntl(high, F_SETFL, O_APPEND); /* what inherits it may have to wait */
	return high;
}

void gt_stderr_close(int fd)
{
	if (fd != 2)
		gt_sys_close_own(fd, &stderr_was);
}

__attribute__((format(printf, 1, 0)))
static void say(const char *format, va_list ap)
{
	char line[1024];
	size_t n = gt_text(line, sizeof(line) - 2, "[gputrace] ");
	int fd = gt_stderr_open();

	n += gt_text_v(line + n, sizeof(line) - 2 - n, format, ap);
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
			line[i] = '?';
	line[n++] = '\n';
	gt_sys_write(fd, line, n);
	gt_stderr_close(fd);
}

void gt_message(int level, const char *format, ...)
{
	va_list ap;

	if (level > gt_settings.verbose)
		return;
	va_start(ap, format);
	say(format, ap);
	va_end(ap);
}

/* Has no process of this run said sentence `bit` yet? */
static bool first_to_say(unsigned bit)
{
	return !gt_run || !(__atomic_fetch_or(&gt_run->reported, 1u << bit, __ATOMIC_RELAXED) & 1u << bit);
}

void gt_warn_once(unsigned kind, const char *format, ...)
{
	static unsigned said;
	va_list ap;

	if (gt_settings.verbose < 1 ||
	    __atomic_fetch_or(&said, 1u << kind, __ATOMIC_RELAXED) & 1u << kind)
		return;
	if (kind != GT_WARN_USER && !first_to_say(kind))
		return; /* hundreds of children may meet the same full disk */
	va_start(ap, format);
	say(format, ap);
	va_end(ap);
}
