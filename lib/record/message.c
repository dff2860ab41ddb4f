/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sentences to the user: one write to stderr each, signal-safe, errno untouched.
 * Limits: lines of 1,000 characters; control characters are shown as '?'.
 */
#include "lib/common/text.h"
#include "lib/record/record.h"

#include <stdarg.h>

static struct stat stderr_was;

/*
 * Many programs close stderr in their last exit handler, before gputrace has said what it recorded.
 * So the process that began a program keeps a copy, if it is a file or a terminal: a pipe or a socket that
 * stays open keeps somebody waiting who reads it to its end. Forked children keep none, and nobody where
 * `gputrace run` says what was recorded.
 */
static int kept_stderr = -1;

void gt_stderr_keep(void)
{
	if (gt_settings.verbose < 1 || gt_sys_fstat(2, &stderr_was) ||
	    (!S_ISREG(stderr_was.st_mode) && !S_ISCHR(stderr_was.st_mode)))
		return;
	kept_stderr = gt_sys_fcntl(2, F_DUPFD_CLOEXEC, 1000);
	if (kept_stderr < 0)
		kept_stderr = gt_sys_fcntl(2, F_DUPFD_CLOEXEC, 40);
}

/* Whoever closed it may have opened something else under that number. */
static bool still_stderr(void)
{
	struct stat st;

	return kept_stderr >= 0 && !gt_sys_fstat(kept_stderr, &st) &&
	       st.st_ino == stderr_was.st_ino && st.st_dev == stderr_was.st_dev;
}

void gt_stderr_drop(void)
{
	if (still_stderr())
		gt_sys_close(kept_stderr);
	kept_stderr = -1;
}

int gt_stderr_fd(void)
{
	if (gt_sys_fcntl(2, F_GETFD, 0) >= 0 || !still_stderr())
		return 2;
	return kept_stderr;
}

static void say(const char *format, va_list ap)
{
	char line[1024];
	size_t n = gt_text(line, sizeof(line) - 2, "[gputrace] ");

	n += gt_text_v(line + n, sizeof(line) - 2 - n, format, ap);
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
			line[i] = '?';
	line[n++] = '\n';
	gt_sys_write(gt_stderr_fd(), line, n);
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

void gt_warn_once(unsigned kind, const char *format, ...)
{
	static unsigned said;
	va_list ap;

	if (gt_settings.verbose < 1 ||
	    __atomic_fetch_or(&said, 1u << kind, __ATOMIC_RELAXED) & 1u << kind)
		return;
	if (kind != GT_WARN_USER && !gt_run_first_to_say(kind))
		return; /* hundreds of children may meet the same full disk */
	va_start(ap, format);
	say(format, ap);
	va_end(ap);
}
