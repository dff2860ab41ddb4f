/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sentences to the user: one write to stderr each, signal-safe, errno untouched.
 * Limits: lines of 1,000 characters; control characters are shown as '?'.
 */
#include "lib/common/text.h"
#include "lib/record/record.h"

#include <stdarg.h>

static void say(const char *format, va_list ap)
{
	char line[1024];
	size_t n = gt_text(line, sizeof(line) - 2, "[gputrace] ");

	n += gt_text_v(line + n, sizeof(line) - 2 - n, format, ap);
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
			line[i] = '?';
	line[n++] = '\n';
	gt_sys_write(2, line, n);
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
	va_start(ap, format);
	say(format, ap);
	va_end(ap);
}
