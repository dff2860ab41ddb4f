/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names on a terminal, and paths in commands that the user copies from there (word.h).
 *
 * Limits: where a path has control characters, commands are for shells that know $'...' (bash, zsh, ksh;
 * POSIX since 2024).
 */
#include "config.h"
#include "lib/assemble/report/word.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lib/assemble/util/utf8.h"

const char *gt_summary_escape(char *buffer, size_t size, const char *text, unsigned columns)
{
	const char *s;
	size_t total = 0, head, tail, at = 0, n = 0, length;

	for (s = text; *s; s += length ? length : 1) {
		length = gt_utf8_harmless(s);
		total += length ? 1 : 4;
	}
	head = total <= columns ? total : columns > 3 ? (columns - 3 + 1) / 2 : columns;
	tail = total <= columns ? 0 : columns > 3 ? columns - 3 - head : 0;
	for (s = text; *s; s += length ? length : 1) {
		size_t wide;

		length = gt_utf8_harmless(s);
		wide = length ? 1 : 4;
		if (at + wide <= head || at >= total - tail) {
			if (n + (length ? length : 4) >= size)
				break;
			if (length)
				memcpy(buffer + n, s, length);
			else
				snprintf(buffer + n, 5, "\\x%02x", (unsigned char)*s);
			n += length ? length : 4;
		} else if (columns > 3 && n + 3 < size) {
			/* The first that is left out: skip to the tail. */
			memcpy(buffer + n, "...", 3);
			n += 3;
			while (*s && at + wide < total - tail) {
				at += wide;
				s += length ? length : 1;
				length = gt_utf8_harmless(s);
				wide = length ? 1 : 4;
			}
		}
		at += wide;
	}
	if (size)
		buffer[n] = '\0';
	return buffer;
}

/* Does the shell leave it as it is? What is not ASCII is no concern of the shell's. */
static bool is_plain(const char *text)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./,:+@%=-";

	for (const char *c = text; *c; c++)
		if ((unsigned char)*c < 0x80 && !strchr(safe, *c))
			return false;
	return *text && *text != '-';
}

/* Of one character, between the quotes. */
static const char *quoted(char c, bool clean, char text[8])
{
	bool hidden = (unsigned char)c < 0x20 || (unsigned char)c >= 0x7f;

	if (clean)
		snprintf(text, 8, c == '\'' ? "'\\''" : "%c", c);
	else if (hidden)
		snprintf(text, 8, "\\x%02x", (unsigned char)c);
	else
		snprintf(text, 8, c == '\'' || c == '\\' ? "\\%c" : "%c", c);
	return text;
}

const char *gt_summary_word(char *buffer, size_t size, const char *text)
{
	char one[8];
	size_t n;
	bool clean;

	gt_summary_escape(buffer, size, text, (unsigned)size);
	clean = !strcmp(buffer, text);
	if (clean && is_plain(text))
		return buffer;
	n = (size_t)snprintf(buffer, size, clean ? "'" : "$'");
	for (; *text && n + 6 < size; text++)
		n += (size_t)snprintf(buffer + n, size - n, "%s", quoted(*text, clean, one));
	snprintf(buffer + n, size - n, "'");
	return buffer;
}
