/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strings of an OTF2 archive are UTF-8; what a program calls its regions may be anything.
 *
 * Limits: says nothing about control characters, which are legal in an archive.
 */
#ifndef GT_ASSEMBLE_UTIL_UTF8_H
#define GT_ASSEMBLE_UTIL_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Is all of `text` well-formed UTF-8 (no overlong forms, no surrogates)? */
bool gt_utf8_valid(const char *text);

/*
 * Copies `text`, each byte that is no part of a well-formed character as \xNN; cut where `size` ends,
 * never inside of a character. 4 * strlen(text) + 1 bytes always suffice. Returns buffer.
 */
const char *gt_utf8_clean(char *buffer, size_t size, const char *text);

/* The same, and control characters as \xNN too: for files of lines. */
const char *gt_utf8_line(char *buffer, size_t size, const char *text);

#endif
