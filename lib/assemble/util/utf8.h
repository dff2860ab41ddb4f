/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strings of an OTF2 archive are UTF-8; what a program calls its regions may be anything.
 *
 * Limits: control characters are legal in an archive; what is printed goes through gt_utf8_line().
 */
#ifndef GT_ASSEMBLE_UTIL_UTF8_H
#define GT_ASSEMBLE_UTIL_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Is all of `text` well-formed UTF-8 (no overlong forms, no surrogates)? */
bool gt_utf8_valid(const char *text);

/*
 * Copies `text`, each byte that is no part of a well-formed character as \xNN; cut where `size` ends,
 * never inside of a character. 4 * strlen(text) + 1 bytes always suffice. Returns buffer.
 */
const char *gt_utf8_clean(char *buffer, size_t size, const char *text);

/*
 * Length of the character at `text` that a terminal only shows; 0: it is no well-formed one, a control
 * character (C0, DEL, C1), or one that reorders text.
 */
size_t gt_utf8_harmless(const char *text);

/* As gt_utf8_clean(), and of characters that are not harmless each byte as \xNN too: for lines of text. */
const char *gt_utf8_line(char *buffer, size_t size, const char *text);

/*
 * What stands between the quotation marks of JSON: bytes that are no UTF-8 as gt_utf8_clean() has them, and
 * \uNNNN for what is not harmless. 6 * strlen(text) + 1 bytes always suffice. Returns buffer.
 */
const char *gt_utf8_json(char *buffer, size_t size, const char *text);

/* Prints the same, with the quotation marks. */
void gt_utf8_json_put(FILE *out, const char *text);

#endif
