/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Figures: what is computed from an archive, as sections of rows and columns, which every face (text, JSON,
 * CSV) prints. What computes them does not know how they are printed.
 *
 *	static const struct gt_column columns[] = {
 *		{ "name", "region", GT_TEXT }, { "count", "calls", GT_COUNT },
 *		{ "inclusive_s", "time", GT_SECONDS },
 *	};
 *	static const struct gt_section_kind regions = GT_SECTION("regions", "Regions", GT_ROWS, columns);
 *
 *	struct gt_section *section = gt_section_add(figures, &regions);
 *	union gt_cell *row = gt_row_add(section);
 *
 *	row[0].text = region->name, row[1].count = 3, row[2].count = nanoseconds;
 *
 * Keys are those of the JSON (gputrace-report(1)). Rows are printed in the order in which they were added;
 * text prints the first ones of each section.
 *
 * Limits: everything is kept until gt_figures_free(). Memory that cannot be had ends the process, which is
 * that of a tool or of the assembly's report and never the traced one.
 */
#ifndef GT_REPORT_FIGURES_H
#define GT_REPORT_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum gt_unit {
	GT_TEXT,    /* text; NULL: there is none */
	GT_WORD,    /* text of a fixed vocabulary, which is never cut */
	GT_COUNT,   /* count; GT_NO_COUNT: there is none */
	GT_SECONDS, /* count, in ns; printed in seconds (JSON, CSV) or as people read it */
	GT_BYTES,   /* count */
	GT_RATE,    /* number, bytes per second; NAN: there is none, as below */
	GT_SHARE,   /* number from 0 to 1 */
	GT_NUMBER,  /* number */
};

#define GT_NO_COUNT (~UINT64_C(0))

union gt_cell {
	const char *text; /* lives as long as the figures: a definition's, or of gt_figures_text() */
	uint64_t count;
	double number;
};

struct gt_column {
	const char *key;  /* in JSON and CSV; NULL: this and those behind it are not there */
	const char *head; /* in text; NULL: not printed there */
	enum gt_unit unit;
};

enum gt_shape {
	GT_ROWS,   /* an array of objects; a table */
	GT_NOTES,  /* an array of objects; the first column and a sentence, others with their head below it */
	GT_OBJECT, /* one row: an object; a line for each column */
	GT_TOP,    /* as GT_OBJECT, but its columns are keys of the whole JSON document */
};

struct gt_section_kind {
	const char *key;   /* "messages.matrix": a member of the object "messages" in JSON */
	const char *title;
	enum gt_shape shape;
	const struct gt_column *columns;
	unsigned column_count;
	/* Text only: */
	const char *spare; /* keys of columns that a narrow table goes without, first ones first: "a,b+c" */
	const char *below; /* keys of columns that stand below their row, if it was asked for: "d+e" */
	const char *sinks; /* the same, if names would have to be cut otherwise */
	unsigned brief;    /* JSON: rows where a face is brief; 0: as others */
	const char *ahead; /* it stands ahead of the section with this key, as a part of it */
};

/* Further members, as `.spare = "group"`, may follow. */
#define GT_SECTION(key_, title_, shape_, columns_, ...)                                               \
	{ .key = key_, .title = title_, .shape = shape_, .columns = columns_,                          \
	  .column_count = sizeof(columns_) / sizeof((columns_)[0]), __VA_ARGS__ }

struct gt_section {
	const struct gt_section_kind *kind;
	union gt_cell *cells; /* row after row */
	size_t rows, room;
	const char *note;     /* a sentence below the table, or NULL */
	bool left_out;        /* it would have rows, but nobody asked for it */
};

struct gt_figures {
	struct gt_section **sections;
	size_t count;
	char **texts;
	size_t text_count;
};

struct gt_section *gt_section_add(struct gt_figures *figures, const struct gt_section_kind *kind);
/* The section of that key, or NULL. */
struct gt_section *gt_section_find(const struct gt_figures *figures, const char *key);
/* Is there a section of that key, or a member of it? */
bool gt_figures_have(const struct gt_figures *figures, const char *key);
/* Is it of that key, or a member of it? */
bool gt_section_is(const struct gt_section_kind *kind, const char *key);
/* Its name as a member of the object `key`, or NULL. */
const char *gt_section_member(const struct gt_section_kind *kind, const char *key);
/* A new row with `column_count` cells, all of which say that there is nothing. Valid until the next one. */
union gt_cell *gt_row_add(struct gt_section *section);
/* The cell of a row in the column with that key, which there is. */
const union gt_cell *gt_section_cell(const struct gt_section *section, size_t row, const char *key);
/* Sorts rows by a numeric column, largest first. */
void gt_rows_sort(struct gt_section *section, unsigned column);
/* The same by what is left of it without another column. */
void gt_rows_sort_without(struct gt_section *section, unsigned column, unsigned without);
/* Does the cell hold something? */
bool gt_cell_given(union gt_cell cell, enum gt_unit unit);
/* A text that lives as long as the figures. */
const char *gt_figures_text(struct gt_figures *figures, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void gt_figures_free(struct gt_figures *figures);

/* ---- a cell (cells.c) ----------------------------------------------------------------------------- */

/* "1.234 s", "1.6 MB", "12.3 %", "-": as text has it. Returns buffer. */
const char *gt_cell_print(char *buffer, size_t size, union gt_cell cell, enum gt_unit unit);

/* ---- faces (faces.c) ----------------------------------------------------------------------------- */

struct gt_face {
	const char *const *sections; /* keys of those to print, NULL at the end; NULL: all */
	size_t rows;                 /* of a table, in text; 0: all */
	size_t json_rows;            /* of a table, in JSON; 0: all */
	bool brief;                  /* kinds may have fewer, in JSON */
	unsigned json_notes;         /* columns of notes, in JSON; 0: all */
	unsigned width;              /* columns that tables have; 0: 80 */
	bool colour;
	bool details;                /* sections were asked for by name: what stands below their rows, too */
};

void gt_figures_print(const struct gt_figures *figures, const struct gt_face *face, FILE *out);
void gt_figures_json(const struct gt_figures *figures, const struct gt_face *face, FILE *out);
/* A table after the other, each with a line of keys; with several sections, a line "# key" above each. */
void gt_figures_csv(const struct gt_figures *figures, const struct gt_face *face, FILE *out);

#endif
