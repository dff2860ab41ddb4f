/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A path as one word of a command that the user copies from a message, from the traced process.
 * Limits: not installed; where there are control characters it is for shells that know $'...' (bash, zsh,
 * ksh; POSIX since 2024).
 */
#ifndef GPUTRACE_WORD_H
#define GPUTRACE_WORD_H

#include <stddef.h>
#include <string.h>

static inline int gt_word_has_control(const char *text)
{
	while ((unsigned char)*text >= ' ' && *text != 0x7f)
		text++;
	return *text;
}

/* Does no shell find anything special in it? */
static inline int gt_word_is_plain(const char *text)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-+,:@%=";
	const char *at = text;

	while (*at && strchr(plain, *at))
		at++;
	return at > text && !*at;
}

/* One byte of a word in '...', or in $'...' if there are control characters; its length. */
static inline size_t gt_word_byte(char *to, unsigned char c, int control)
{
	static const char digits[] = "0123456789abcdef";
	const char *escaped = c == '\'' ? "'\\''" : NULL;

	if (control && (c == '\'' || c == '\\'))
		return memcpy(to, (char[]){ '\\', (char)c }, 2), 2u;
	if (control && (c < ' ' || c == 0x7f))
		return memcpy(to, (char[]){ '\\', 'x', digits[c >> 4], digits[c & 15] }, 4), 4u;
	if (escaped)
		return memcpy(to, escaped, 4), 4u;
	*to = (char)c;
	return 1;
}

/* Quoted if need be; as it is if the buffer is too small for that. [signal-safe] */
static inline const char *gt_word(char *buffer, size_t size, const char *text)
{
	int control = gt_word_has_control(text);
	size_t n = 0;

	if (gt_word_is_plain(text) || size < 8)
		return text;
	if (control)
		buffer[n++] = '$';
	buffer[n++] = '\'';
	for (const char *at = text; *at; at++) {
		if (n + 6 > size)
			return text;
		n += gt_word_byte(buffer + n, (unsigned char)*at, control);
	}
	memcpy(buffer + n, "'", 2);
	return buffer;
}

#endif
