/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables as text. Where a table is too wide, columns that can be spared go first, then names are shortened:
 * at first only by what they need not have, then all of them are cut. Where two names would look the same,
 * what they differ in stays.
 *
 * Limits: a table whose numbers alone are wider than the terminal overflows.
 */
#include "config.h"

#include "report/print/table.h"

#include <stdlib.h>
#include <string.h>

#include "lib/assemble/report/summary.h"
#include "lib/assemble/util/memory.h"
#include "lib/assemble/util/shorten.h"
#include "report/model/sums.h"

enum { LEAST_TEXT = 12, NAME = 30, LAST_NAME = 40, MOST_COLUMNS = 32 };

struct table {
	const struct gt_section *section;
	const struct gt_section_kind *kind;
	size_t rows;
	unsigned width, last;            /* last: of the columns that are printed */
	bool printed[MOST_COLUMNS];
	unsigned widths[MOST_COLUMNS];
	char **texts[MOST_COLUMNS];      /* of a column with GT_TEXT: of each row */
};

static const union gt_cell *row_of(const struct table *table, size_t row)
{
	return table->section->cells + row * table->kind->column_count;
}

static bool is_name(const struct table *table, unsigned column)
{
	return table->kind->columns[column].unit == GT_TEXT;
}

static bool is_left(const struct table *table, unsigned column)
{
	return is_name(table, column) || table->kind->columns[column].unit == GT_WORD;
}

/* Calls `visit` for each column that `keys` names up to a comma; returns what is behind it, or NULL. */
static const char *each_key(const struct gt_section_kind *kind, const char *keys,
			    void (*visit)(unsigned column, void *), void *argument)
{
	while (true) {
		size_t n = strcspn(keys, ",+");

		for (unsigned i = 0; i < kind->column_count; i++)
			if (kind->columns[i].key && strlen(kind->columns[i].key) == n &&
			    !strncmp(kind->columns[i].key, keys, n))
				visit(i, argument);
		if (keys[n] != '+')
			return keys[n] ? keys + n + 1 : NULL;
		keys += n + 1;
	}
}

/* ---- widths -------------------------------------------------------------------------------------- */

static void leave_out(unsigned column, void *table)
{
	((struct table *)table)->printed[column] = false;
}

static void find_last(struct table *table)
{
	for (table->last = table->kind->column_count; table->last && !table->printed[table->last - 1];)
		table->last--;
	table->last -= table->last != 0;
}

static void measure(struct table *table)
{
	char cell[GT_CELL];

	for (unsigned i = 0; i < table->kind->column_count; i++) {
		if (!table->printed[i])
			continue;
		table->widths[i] = gt_columns_of(table->kind->columns[i].head);
		for (size_t row = 0; row < table->rows; row++) {
			unsigned n = gt_columns_of(gt_cell_print(cell, sizeof(cell), row_of(table, row)[i],
								 table->kind->columns[i].unit));

			table->widths[i] = n > table->widths[i] ? n : table->widths[i];
		}
	}
}

/* Of the columns, where no name is wider than `most`, and the last one, if it is one, than `last`. */
static unsigned total(const struct table *table, unsigned most, unsigned last)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < table->kind->column_count; i++) {
		unsigned limit = i == table->last ? last : most;

		if (table->printed[i])
			sum += GT_GAP + (is_name(table, i) && table->widths[i] > limit ? limit
										       : table->widths[i]);
	}
	return sum;
}

/* Leaves out columns that no row has. */
static void leave_empty(struct table *table)
{
	for (unsigned i = 0; i < table->kind->column_count; i++) {
		bool given = !table->rows;

		for (size_t row = 0; row < table->rows && !given; row++)
			given = gt_cell_given(row_of(table, row)[i], table->kind->columns[i].unit);
		table->printed[i] = table->printed[i] && given;
	}
	find_last(table);
}

static void spare(struct table *table)
{
	const char *keys = table->kind->spare;

	while (keys && total(table, NAME, LAST_NAME) > table->width) {
		keys = each_key(table->kind, keys, leave_out, table);
		find_last(table);
	}
}

/* ---- names --------------------------------------------------------------------------------------- */

/* In `columns` (0: as short as it is without being cut), behind its blanks. The caller frees it. */
static char *cut(const char *text, unsigned columns, size_t keep)
{
	size_t blanks = strspn(text, " "), size;
	unsigned indented = columns > blanks + LEAST_TEXT ? columns - (unsigned)blanks : LEAST_TEXT;
	unsigned room = columns ? indented : 0;
	char buffer[GT_SHORTEN_MAX], *result;
	size_t kept = keep == GT_KEEP_NOTHING || keep < blanks ? GT_KEEP_NOTHING : keep - blanks;
	const char *brief = gt_shorten(buffer, text + blanks, room, kept);

	size = blanks + 4 * strlen(brief) + 1;
	result = gt_resized(NULL, size, 1);
	memset(result, ' ', blanks);
	gt_summary_escape(result + blanks, size - blanks, brief, room ? room : UINT32_MAX);
	return result;
}

struct name {
	const char *text;
	char **shown;
};

static int by_look(const void *va, const void *vb)
{
	const struct name *a = va, *b = vb;
	int order = strcmp(*a->shown, *b->shown);

	return order ? order : strcmp(a->text, b->text);
}

/* Those among which one differs from its neighbours look the same: each keeps where that begins. */
static void tell_apart(struct name *names, size_t count, unsigned columns)
{
	char **shown = gt_zeroed(count, sizeof(*shown));

	for (size_t i = 0; i < count; i++) {
		size_t keep = 0;

		for (size_t k = i; k-- > 0 && !keep;)
			if (strcmp(names[k].text, names[i].text))
				keep = gt_differ_at(names[k].text, names[i].text) + 1;
		for (size_t k = i + 1; k < count; k++)
			if (strcmp(names[k].text, names[i].text)) {
				size_t at = gt_differ_at(names[k].text, names[i].text) + 1;

				keep = at > keep ? at : keep;
				break;
			}
		shown[i] = cut(names[i].text, columns, keep - 1);
	}
	for (size_t i = 0; i < count; i++) {
		free(*names[i].shown);
		*names[i].shown = shown[i];
	}
	free(shown);
}

static void find_twins(struct name *names, size_t count, unsigned columns)
{
	if (count)
		qsort(names, count, sizeof(*names), by_look);
	for (size_t n, first = 0; first < count; first += n) {
		bool differ = false;

		for (n = 1; first + n < count && !strcmp(*names[first].shown, *names[first + n].shown); n++)
			differ = differ || strcmp(names[first].text, names[first + n].text);
		if (differ)
			tell_apart(names + first, n, columns);
	}
}

static char **make_names(const struct table *table, unsigned column, unsigned columns)
{
	char **texts = gt_zeroed(table->rows + 1, sizeof(*texts));
	struct name *names = gt_zeroed(table->rows + 1, sizeof(*names));

	for (size_t row = 0; row < table->rows; row++) {
		const char *text = row_of(table, row)[column].text;

		names[row] = (struct name){ .text = text ? text : "-", .shown = &texts[row] };
		texts[row] = cut(names[row].text, columns, GT_KEEP_NOTHING);
	}
	find_twins(names, table->rows, columns);
	free(names);
	return texts;
}

static void free_names(const struct table *table, char **texts)
{
	for (size_t row = 0; texts && row < table->rows; row++)
		free(texts[row]);
	free(texts);
}

/* The width that a column needs so that no name is cut. */
static unsigned need(const struct table *table, unsigned column)
{
	unsigned most = gt_columns_of(table->kind->columns[column].head);
	char **texts = make_names(table, column, 0);

	for (size_t row = 0; row < table->rows; row++) {
		unsigned n = gt_columns_of(texts[row]);

		most = n > most ? n : most;
	}
	free_names(table, texts);
	return most > LEAST_TEXT ? most : LEAST_TEXT;
}

/* The widest name that has more than `least` loses a column until the row fits. False: it does not. */
static bool give_way(struct table *table, const unsigned *least)
{
	unsigned sum = total(table, GT_CELL, GT_CELL);

	for (; sum > table->width; sum--) {
		unsigned widest = MOST_COLUMNS, most = 0;

		for (unsigned i = 0; i < table->kind->column_count; i++)
			if (table->printed[i] && is_name(table, i) && table->widths[i] > most &&
			    table->widths[i] > least[i]) {
				widest = i;
				most = table->widths[i];
			}
		if (widest == MOST_COLUMNS)
			return false;
		table->widths[widest]--;
	}
	return true;
}

static void narrow(struct table *table)
{
	unsigned least[MOST_COLUMNS] = { 0 };
	bool fits = total(table, GT_CELL, GT_CELL) <= table->width;

	if (fits)
		return;
	for (unsigned i = 0; i < table->kind->column_count; i++)
		least[i] = table->printed[i] && is_name(table, i) ? need(table, i) : 0;
	fits = give_way(table, least);
	if (!fits && table->kind->sinks) {
		each_key(table->kind, table->kind->sinks, leave_out, table);
		find_last(table);
		measure(table);
		fits = give_way(table, least);
	}
	for (unsigned i = 0; i < table->kind->column_count; i++) {
		const char *head = table->kind->columns[i].head;

		least[i] = head && gt_columns_of(head) > LEAST_TEXT ? gt_columns_of(head) : LEAST_TEXT;
	}
	if (!fits)
		give_way(table, least);
}

/* ---- printing ------------------------------------------------------------------------------------ */

void gt_print_padded(FILE *out, const char *text, unsigned width, bool left)
{
	unsigned n = gt_columns_of(text), pad = n < width ? width - n : 0;

	fprintf(out, "%*s%*s%s%*s", GT_GAP, "", left ? 0 : (int)pad, "", text, left ? (int)pad : 0, "");
}

void gt_print_wrapped(FILE *out, const char *text, unsigned column, unsigned indent, unsigned width)
{
	size_t size = 4 * strlen(text) + 1;
	char *escaped = gt_resized(NULL, size, 1);
	const char *at = gt_summary_escape(escaped, size, text, UINT32_MAX), *between = "";

	for (size_t n; *at; at += n + (at[n] != '\0')) {
		n = strcspn(at, " ");
		if (*between && column + 1 + n > width) {
			fprintf(out, "\n%*s", (int)indent, "");
			column = indent;
			between = "";
		}
		fprintf(out, "%s%.*s", between, (int)n, at);
		column += (unsigned)(strlen(between) + n);
		between = " ";
	}
	fputc('\n', out);
	free(escaped);
}

static void print_heads(FILE *out, const struct table *table)
{
	for (unsigned i = 0; i <= table->last; i++)
		if (table->printed[i])
			gt_print_padded(out, table->kind->columns[i].head,
					is_left(table, i) && i == table->last ? 0 : table->widths[i],
					is_left(table, i));
	fputc('\n', out);
}

static void print_row(FILE *out, const struct table *table, size_t row)
{
	char cell[GT_CELL];

	for (unsigned i = 0; i <= table->last; i++) {
		if (!table->printed[i])
			continue;
		gt_print_padded(out,
				table->texts[i] ? table->texts[i][row]
						: gt_cell_print(cell, sizeof(cell), row_of(table, row)[i],
								table->kind->columns[i].unit),
				is_left(table, i) && i == table->last ? 0 : table->widths[i],
				is_left(table, i));
	}
	fputc('\n', out);
}

struct below {
	const struct table *table;
	const union gt_cell *row;
	FILE *out;
};

static void print_below(unsigned column, void *argument)
{
	enum { INDENT = 6 };
	const struct below *below = argument;
	const char *head = below->table->kind->columns[column].head, *text = below->row[column].text;
	char brief[GT_SHORTEN_MAX];

	if (below->table->printed[column] || !text || !*text)
		return;
	fprintf(below->out, "%*s%s: ", INDENT, "", head);
	text = gt_shorten_path(brief, text, below->table->width - INDENT - gt_columns_of(head) - 2);
	gt_print_wrapped(below->out, text, INDENT + gt_columns_of(head) + 2, INDENT + 2, below->table->width);
}

void gt_table_print(const struct gt_section *section, const struct gt_face *face, FILE *out)
{
	const struct gt_section_kind *kind = section->kind;
	struct table table = { .section = section, .kind = kind,
			       .width = face->width ? face->width : 80, .rows = section->rows };

	if (face->rows && face->rows < section->rows)
		table.rows = face->rows;
	for (unsigned i = 0; i < kind->column_count; i++)
		table.printed[i] = kind->columns[i].head;
	if (kind->below)
		each_key(kind, kind->below, leave_out, &table);
	leave_empty(&table);
	measure(&table);
	spare(&table);
	narrow(&table);
	for (unsigned i = 0; i < kind->column_count; i++)
		if (table.printed[i] && is_name(&table, i))
			table.texts[i] = make_names(&table, i, table.widths[i]);
	print_heads(out, &table);
	for (size_t row = 0; row < table.rows; row++) {
		struct below below = { .table = &table, .row = row_of(&table, row), .out = out };

		print_row(out, &table, row);
		if (kind->sinks && face->details)
			each_key(kind, kind->sinks, print_below, &below);
		if (kind->below && face->details)
			each_key(kind, kind->below, print_below, &below);
	}
	for (unsigned i = 0; i < kind->column_count; i++)
		free_names(&table, table.texts[i]);
}
