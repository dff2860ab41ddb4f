/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names and paths as a terminal and a shell can take them.
 *
 * Limits: none of its own; the caller's buffer is what it is.
 */
#ifndef GT_WORD_H
#define GT_WORD_H

#include <stddef.h>

/*
 * Copies `text` to `buffer` as something a terminal shows harmlessly: control characters, DEL and
 * bytes that are not UTF-8 become \xNN. Cut to `columns` with "..." in the middle. Returns buffer.
 */
const char *gt_summary_escape(char *buffer, size_t size, const char *text, unsigned columns);

/* Copies `text` to `buffer` as one word of a shell's command, as harmless to a terminal: quoted if need
 * be. */
const char *gt_summary_word(char *buffer, size_t size, const char *text);

#endif
