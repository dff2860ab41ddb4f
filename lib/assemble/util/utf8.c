/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strings of an OTF2 archive are UTF-8; what a program calls its regions may be anything.
 *
 * Limits: see utf8.h.
 */
#include "lib/assemble/util/utf8.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Length of the well-formed character at `s`, 0 if there is none. */
static size_t character(const unsigned char *s)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t n, i;

	if (*s < 0x80)
		return *s ? 1 : 0;
	if (*s >= 0xc2 && *s <= 0xdf)
		n = 2;
	else if (*s >= 0xe0 && *s <= 0xef)
		n = 3;
	else if (*s >= 0xf0 && *s <= 0xf4)
		n = 4;
	else
		return 0;
	if (*s == 0xe0)
		low = 0xa0; /* shorter forms exist */
	else if (*s == 0xed)
		high = 0x9f; /* surrogates */
	else if (*s == 0xf0)
		low = 0x90;
	else if (*s == 0xf4)
		high = 0x8f; /* beyond U+10FFFF */
	if (s[1] < low || s[1] > high)
		return 0;
	for (i = 2; i < n; i++)
		if (s[i] < 0x80 || s[i] > 0xbf)
			return 0;
	return n;
}

bool gt_utf8_valid(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	while (*s) {
		size_t n = character(s);

		if (!n)
			return false;
		s += n;
	}
	return true;
}

static uint32_t code_point(const unsigned char *s, size_t n)
{
	uint32_t c = n == 1 ? *s : *s & (0x7fu >> n);

	for (size_t i = 1; i < n; i++)
		c = c << 6 | (s[i] & 0x3f);
	return c;
}

size_t gt_utf8_harmless(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n = character(s);
	uint32_t c = n ? code_point(s, n) : 0;

	if (c < ' ' || (c >= 0x7f && c < 0xa0) || c == 0x61c || (c >= 0x200e && c <= 0x200f) ||
	    (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069))
		return 0;
	return n;
}

static const char *copy(char *buffer, size_t size, const char *text, bool controls)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *s = (const unsigned char *)text;
	size_t at = 0;

	while (*s) {
		size_t n = controls ? character(s) : gt_utf8_harmless((const char *)s);

		if (at + (n ? n : 4) + 1 > size)
			break;
		if (n) {
			memcpy(buffer + at, s, n);
			at += n;
			s += n;
		} else {
			buffer[at++] = '\\';
			buffer[at++] = 'x';
			buffer[at++] = digits[*s >> 4];
			buffer[at++] = digits[*s++ & 15];
		}
	}
	buffer[at] = 0;
	return buffer;
}

const char *gt_utf8_clean(char *buffer, size_t size, const char *text)
{
	return copy(buffer, size, text, true);
}

const char *gt_utf8_line(char *buffer, size_t size, const char *text)
{
	return copy(buffer, size, text, false);
}

enum { JSON_ROOM = 7 }; /* of a character, with the end of the text */

/* One character of it; `text` goes on. */
static size_t put_json(char *buffer, const char **text)
{
	size_t n = character((const unsigned char *)*text);
	const char *c = *text;

	*text += n ? n : 1;
	if (!n)
		return (size_t)snprintf(buffer, JSON_ROOM, "\\\\x%02x", (unsigned char)*c);
	if (!gt_utf8_harmless(c))
		return (size_t)snprintf(buffer, JSON_ROOM, "\\u%04x",
					code_point((const unsigned char *)c, n));
	return (size_t)snprintf(buffer, JSON_ROOM, "%s%.*s", *c == '"' || *c == '\\' ? "\\" : "", (int)n, c);
}

const char *gt_utf8_json(char *buffer, size_t size, const char *text)
{
	size_t at = 0;

	while (*text && at + JSON_ROOM <= size)
		at += put_json(buffer + at, &text);
	buffer[at] = 0;
	return buffer;
}

void gt_utf8_json_put(FILE *out, const char *text)
{
	char buffer[JSON_ROOM];

	fputc('"', out);
	while (*text)
		fwrite(buffer, 1, put_json(buffer, &text), out);
	fputc('"', out);
}
