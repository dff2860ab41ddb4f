/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sections, rows and texts.
 *
 * Limits: see figures.h.
 */
#include "config.h"

#include "report/print/figures.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lib/assemble/util/memory.h"

struct gt_section *gt_section_add(struct gt_figures *figures, const struct gt_section_kind *kind)
{
	struct gt_section *section = gt_resized(NULL, 1, sizeof(*section));

	*section = (struct gt_section){ .kind = kind };
	figures->sections = gt_resized(figures->sections, figures->count + 1, sizeof(*figures->sections));
	figures->sections[figures->count++] = section;
	return section;
}

struct gt_section *gt_section_find(const struct gt_figures *figures, const char *key)
{
	for (size_t i = 0; i < figures->count; i++)
		if (!strcmp(figures->sections[i]->kind->key, key))
			return figures->sections[i];
	return NULL;
}

const char *gt_section_member(const struct gt_section_kind *kind, const char *key)
{
	size_t n = strlen(key);

	return !strncmp(kind->key, key, n) && kind->key[n] == '.' ? kind->key + n + 1 : NULL;
}

bool gt_section_is(const struct gt_section_kind *kind, const char *key)
{
	return !strcmp(kind->key, key) || gt_section_member(kind, key);
}

bool gt_figures_have(const struct gt_figures *figures, const char *key)
{
	for (size_t i = 0; i < figures->count; i++)
		if (gt_section_is(figures->sections[i]->kind, key))
			return true;
	return false;
}

static union gt_cell nothing(enum gt_unit unit)
{
	switch (unit) {
	case GT_TEXT:
	case GT_WORD:
		return (union gt_cell){ .text = NULL };
	case GT_COUNT:
	case GT_SECONDS:
	case GT_BYTES:
		return (union gt_cell){ .count = GT_NO_COUNT };
	case GT_RATE:
	case GT_SHARE:
	case GT_NUMBER:
		break;
	}
	return (union gt_cell){ .number = NAN };
}

union gt_cell *gt_row_add(struct gt_section *section)
{
	const struct gt_section_kind *kind = section->kind;
	union gt_cell *row;

	if (section->rows == section->room) {
		section->room = section->room ? 2 * section->room : 16;
		section->cells = gt_resized(section->cells, section->room,
					    kind->column_count * sizeof(*section->cells));
	}
	row = section->cells + section->rows++ * kind->column_count;
	for (unsigned i = 0; i < kind->column_count; i++)
		row[i] = nothing(kind->columns[i].unit);
	return row;
}

bool gt_cell_given(union gt_cell cell, enum gt_unit unit)
{
	switch (unit) {
	case GT_TEXT:
	case GT_WORD:
		return cell.text;
	case GT_COUNT:
	case GT_SECONDS:
	case GT_BYTES:
		return cell.count != GT_NO_COUNT;
	case GT_RATE:
	case GT_SHARE:
	case GT_NUMBER:
		break;
	}
	return !isnan(cell.number);
}

struct order {
	unsigned column;
	enum gt_unit unit;
};

static int larger_first(const void *a, const void *b, void *context)
{
	const struct order *order = context;
	union gt_cell x = ((const union gt_cell *)a)[order->column],
		      y = ((const union gt_cell *)b)[order->column];
	bool given_x = gt_cell_given(x, order->unit), given_y = gt_cell_given(y, order->unit);

	if (!given_x || !given_y)
		return given_y - given_x;
	if (order->unit == GT_COUNT || order->unit == GT_SECONDS || order->unit == GT_BYTES)
		return (x.count < y.count) - (x.count > y.count);
	return (x.number < y.number) - (x.number > y.number);
}

const union gt_cell *gt_section_cell(const struct gt_section *section, size_t row, const char *key)
{
	unsigned column = 0;

	while (!section->kind->columns[column].key || strcmp(section->kind->columns[column].key, key))
		column++;
	return section->cells + row * section->kind->column_count + column;
}

/* glibc's qsort_r is a merge sort while memory lasts: rows that are equal keep their order. */
void gt_rows_sort(struct gt_section *section, unsigned column)
{
	struct order order = { column, section->kind->columns[column].unit };

	if (section->rows)
		qsort_r(section->cells, section->rows, section->kind->column_count * sizeof(*section->cells),
			larger_first, &order);
}

static uint64_t rest(const union gt_cell *row, const unsigned *columns)
{
	uint64_t part = row[columns[1]].count == GT_NO_COUNT ? 0 : row[columns[1]].count;

	return row[columns[0]].count > part ? row[columns[0]].count - part : 0;
}

static int larger_rest_first(const void *a, const void *b, void *columns)
{
	uint64_t x = rest(a, columns), y = rest(b, columns);

	return (x < y) - (x > y);
}

/* What has the same rest is in the order of the whole. */
void gt_rows_sort_without(struct gt_section *section, unsigned column, unsigned without)
{
	unsigned columns[] = { column, without };

	gt_rows_sort(section, column);
	if (section->rows)
		qsort_r(section->cells, section->rows, section->kind->column_count * sizeof(*section->cells),
			larger_rest_first, columns);
}

const char *gt_figures_text(struct gt_figures *figures, const char *format, ...)
{
	char *text;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		gt_no_memory();
	va_end(args);
	figures->texts = gt_resized(figures->texts, figures->text_count + 1, sizeof(*figures->texts));
	figures->texts[figures->text_count++] = text;
	return text;
}

void gt_figures_free(struct gt_figures *figures)
{
	for (size_t i = 0; i < figures->count; i++) {
		free(figures->sections[i]->cells);
		free(figures->sections[i]);
	}
	for (size_t i = 0; i < figures->text_count; i++)
		free(figures->texts[i]);
	free(figures->sections);
	free(figures->texts);
	*figures = (struct gt_figures){0};
}
