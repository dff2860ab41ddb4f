/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text for people: tables of figures that fit the terminal, and words on lines.
 *
 * Limits: for faces.c.
 */
#ifndef GT_REPORT_TABLE_H
#define GT_REPORT_TABLE_H

#include "report/print/figures.h"

enum { GT_GAP = 2, GT_CELL = 256 };

/* The rows that the face wants, under a line of heads. */
void gt_table_print(const struct gt_section *section, const struct gt_face *face, FILE *out);

/* `left`: the text stands to the left of its padding. */
void gt_print_padded(FILE *out, const char *text, unsigned width, bool left);
/* Words of a text, on lines that begin with `indent` blanks; the first word begins at `column`. */
void gt_print_wrapped(FILE *out, const char *text, unsigned column, unsigned indent, unsigned width);

#endif
