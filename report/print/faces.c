/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The faces of figures: text for people, JSON and CSV for programs.
 *
 * Limits: a text of more than 4,095 characters is cut in the middle in JSON.
 */
#include "config.h"

#include "lib/assemble/report/summary.h"
#include "lib/assemble/util/utf8.h"
#include "lib/assemble/util/shorten.h"
#include "report/print/table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static bool chosen(const struct gt_face *face, const struct gt_section *section)
{
	if (!face->sections)
		return true;
	for (size_t i = 0; face->sections[i]; i++)
		if (gt_section_is(section->kind, face->sections[i]))
			return true;
	return false;
}

static const union gt_cell *row_of(const struct gt_section *section, size_t row)
{
	return section->cells + row * section->kind->column_count;
}

/* ---- text ---------------------------------------------------------------------------------------- */

static size_t shown_rows(const struct gt_section *section, const struct gt_face *face)
{
	return face->rows && face->rows < section->rows ? face->rows : section->rows;
}

static void print_more(const struct gt_section *section, const struct gt_face *face, FILE *out)
{
	if (shown_rows(section, face) < section->rows)
		fprintf(out, "  ... %zu more: --all, or --section %s\n",
			section->rows - shown_rows(section, face), section->kind->key);
}

/* Is there another sentence behind this column? */
static bool names(const struct gt_section_kind *kind, unsigned column)
{
	for (unsigned i = column + 1; i < kind->column_count; i++)
		if (kind->columns[i].head && !*kind->columns[i].head)
			return true;
	return false;
}

/* Prints a value with its own heading on a line of its own. */
static void print_note(const struct gt_section *section, const union gt_cell *row, unsigned width, FILE *out)
{
	enum { INDENT = 12 };
	const struct gt_section_kind *kind = section->kind;
	const char *name = "";
	char cell[GT_CELL];

	gt_cell_print(cell, sizeof(cell), row[0], kind->columns[0].unit);
	gt_print_padded(out, cell, INDENT - 2 * GT_GAP, false);
	fprintf(out, "%*s", GT_GAP, "");
	for (unsigned i = 1; i < kind->column_count; i++) {
		const struct gt_column *column = &kind->columns[i];

		if (!column->head || column->unit != GT_TEXT || !row[i].text)
			continue;
		if (!*column->head && !*name && names(kind, i)) { /* the first text names it */
			name = row[i].text;
			fprintf(out, "%s: ", name);
			continue;
		}
		if (*column->head)
			fprintf(out, "%*s%s: ", INDENT, "", column->head);
		gt_print_wrapped(out, row[i].text,
				 INDENT + 2 + gt_columns_of(*column->head ? column->head : name), INDENT,
				 width);
	}
}

static void print_notes(const struct gt_section *section, const struct gt_face *face, FILE *out)
{
	for (size_t row = 0; row < shown_rows(section, face); row++)
		print_note(section, row_of(section, row), face->width ? face->width : 80, out);
	print_more(section, face, out);
}

static void print_object(const struct gt_section *section, FILE *out)
{
	const struct gt_section_kind *kind = section->kind;
	unsigned widest = 0;
	char cell[GT_CELL];

	for (unsigned i = 0; i < kind->column_count; i++)
		if (kind->columns[i].head && gt_columns_of(kind->columns[i].head) > widest)
			widest = gt_columns_of(kind->columns[i].head);
	for (unsigned i = 0; i < kind->column_count; i++) {
		if (!kind->columns[i].head || !gt_cell_given(section->cells[i], kind->columns[i].unit))
			continue;
		gt_print_padded(out, kind->columns[i].head, widest, true);
		gt_cell_print(cell, sizeof(cell), section->cells[i], kind->columns[i].unit);
		fprintf(out, "%*s%s\n", GT_GAP, "", cell);
	}
}

/* False: there is nothing in it. */
static bool print_section(const struct gt_section *section, const struct gt_face *face, bool *first,
			  FILE *out)
{
	if (!section->rows)
		return false;
	fprintf(out, "%s%s%s%s\n", *first ? "" : "\n", face->colour ? "\033[1m" : "", section->kind->title,
		face->colour ? "\033[0m" : "");
	*first = false;
	if (section->kind->shape == GT_ROWS) {
		gt_table_print(section, face, out);
		print_more(section, face, out);
	} else if (section->kind->shape == GT_NOTES) {
		print_notes(section, face, out);
	} else {
		print_object(section, out);
	}
	if (section->note) {
		fputs("  ", out);
		gt_print_wrapped(out, section->note, 2, 2, face->width ? face->width : 80);
	}
	return true;
}

/* Reports sections that were requested by name and are empty. */
static void print_nothing(const struct gt_section *section, bool *first, FILE *out)
{
	fprintf(out, "%s%s: %s\n", *first ? "" : "\n", section->kind->title,
		section->note ? section->note : "nothing in this archive");
	*first = false;
}

/* Is the section printed where `key` was asked for? Once, if both it and what it stands ahead of were. */
static bool is_shown(const struct gt_section_kind *kind, const char *key, const struct gt_face *face)
{
	if (gt_section_is(kind, key))
		return true;
	if (!kind->ahead || strcmp(kind->ahead, key))
		return false;
	for (size_t i = 0; face->sections[i]; i++)
		if (gt_section_is(kind, face->sections[i]))
			return false;
	return true;
}

static void print_asked(const struct gt_figures *figures, const char *key, const struct gt_face *face,
			bool *first, FILE *out)
{
	const struct gt_section *empty = NULL;
	bool any = false;

	for (size_t i = 0; i < figures->count; i++) {
		if (!is_shown(figures->sections[i]->kind, key, face))
			continue;
		if (!empty && gt_section_is(figures->sections[i]->kind, key))
			empty = figures->sections[i];
		any |= print_section(figures->sections[i], face, first, out);
	}
	if (!any && empty && face->details)
		print_nothing(empty, first, out);
}

/* In the order in which they were asked for. */
void gt_figures_print(const struct gt_figures *figures, const struct gt_face *face, FILE *out)
{
	bool first = true;

	for (size_t i = 0; !face->sections && i < figures->count; i++)
		print_section(figures->sections[i], face, &first, out);
	for (size_t k = 0; face->sections && face->sections[k]; k++)
		print_asked(figures, face->sections[k], face, &first, out);
}

/* ---- JSON ---------------------------------------------------------------------------------------- */

enum { TEXT_MOST = 4096 };

/* Names in archives can be any bytes; what a terminal would not show harmlessly is \xNN. */
static void json_text(const char *name, FILE *out)
{
	char text[TEXT_MOST];

	gt_summary_escape(text, sizeof(text), name, sizeof(text) - 1);
	gt_utf8_json_put(out, text);
}

/* With a point or an exponent, so that readers take it for a real number. JSON has no infinity. */
static void json_real(double number, FILE *out)
{
	char text[32] = "null";

	if (isfinite(number))
		snprintf(text, sizeof(text), "%.15g", number);
	fprintf(out, "%s%s", text, strpbrk(text, ".en") ? "" : ".0");
}

static void json_cell(union gt_cell cell, enum gt_unit unit, FILE *out)
{
	if (!gt_cell_given(cell, unit)) {
		fputs("null", out);
		return;
	}
	switch (unit) {
	case GT_TEXT:
	case GT_WORD:
		json_text(cell.text, out);
		return;
	case GT_COUNT:
	case GT_BYTES:
		fprintf(out, "%" PRIu64, cell.count);
		return;
	case GT_SECONDS:
		json_real((double)cell.count / 1e9, out);
		return;
	case GT_RATE:
	case GT_SHARE:
	case GT_NUMBER:
		break;
	}
	json_real(cell.number, out);
}

static void json_row(const struct gt_section *section, size_t row, const struct gt_face *face, FILE *out)
{
	const struct gt_column *columns = section->kind->columns;
	unsigned count = section->kind->column_count;

	if (section->kind->shape == GT_NOTES && face->json_notes && face->json_notes < count)
		count = face->json_notes;
	for (unsigned i = 0; i < count && columns[i].key; i++) {
		fprintf(out, "%s\"%s\":", i ? "," : "", columns[i].key);
		json_cell(row_of(section, row)[i], columns[i].unit, out);
	}
}

static void json_rows(const struct gt_section *section, const struct gt_face *face, FILE *out)
{
	size_t most = face->brief && section->kind->brief ? section->kind->brief : face->json_rows;
	size_t rows = most && most < section->rows ? most : section->rows;

	fputc('[', out);
	for (size_t row = 0; row < rows; row++) {
		fputs(row ? ",\n{" : "\n{", out);
		json_row(section, row, face, out);
		fputc('}', out);
	}
	fputc(']', out);
}

/* The sections "KEY.NAME", as members of the object that has been begun. */
static void json_members(const struct gt_figures *figures, const struct gt_section *section,
			 const struct gt_face *face, bool first, FILE *out)
{
	for (size_t i = 0; i < figures->count; i++) {
		const struct gt_section *member = figures->sections[i];
		const char *name = gt_section_member(member->kind, section->kind->key);

		if (!name)
			continue;
		fprintf(out, "%s\"%s\":", first ? "" : ",\n", name);
		first = false;
		json_rows(member, face, out);
	}
}

static void json_section(const struct gt_figures *figures, const struct gt_section *section,
			 const struct gt_face *face, FILE *out)
{
	if (section->kind->shape == GT_TOP) {
		json_row(section, 0, face, out);
		return;
	}
	fprintf(out, "\"%s\":", section->kind->key);
	if (section->kind->shape == GT_ROWS || section->kind->shape == GT_NOTES) {
		json_rows(section, face, out);
		return;
	}
	fputc('{', out);
	if (section->rows)
		json_row(section, 0, face, out);
	json_members(figures, section, face, !section->rows, out);
	fputc('}', out);
}

void gt_figures_json(const struct gt_figures *figures, const struct gt_face *face, FILE *out)
{
	bool first = true;

	fputc('{', out);
	for (size_t i = 0; i < figures->count; i++) {
		const struct gt_section *section = figures->sections[i];

		if (!chosen(face, section) || strchr(section->kind->key, '.') ||
		    (section->kind->shape == GT_TOP && !section->rows))
			continue;
		fputs(first ? "" : ",\n", out);
		first = false;
		json_section(figures, section, face, out);
	}
	fputs("}\n", out);
}

/* ---- CSV ----------------------------------------------------------------------------------------- */

/* Names in archives can be any bytes, and many a terminal shows this. */
static void csv_text(const char *name, FILE *out)
{
	char line[4 * 4096 + 1];
	const char *text = gt_utf8_line(line, sizeof(line), name);

	if (!strpbrk(text, ",\"")) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static void csv_cell(union gt_cell cell, enum gt_unit unit, FILE *out)
{
	if (!gt_cell_given(cell, unit))
		return;
	switch (unit) {
	case GT_TEXT:
	case GT_WORD:
		csv_text(cell.text, out);
		return;
	case GT_COUNT:
	case GT_BYTES:
		fprintf(out, "%" PRIu64, cell.count);
		return;
	case GT_SECONDS:
		fprintf(out, "%" PRIu64 ".%09" PRIu64, cell.count / 1000000000, cell.count % 1000000000);
		return;
	case GT_RATE:
	case GT_SHARE:
	case GT_NUMBER:
		break;
	}
	fprintf(out, "%.15g", cell.number);
}

static void csv_section(const struct gt_section *section, FILE *out)
{
	const struct gt_section_kind *kind = section->kind;

	for (unsigned i = 0; i < kind->column_count && kind->columns[i].key; i++)
		fprintf(out, "%s%s", i ? "," : "", kind->columns[i].key);
	fputc('\n', out);
	for (size_t row = 0; row < section->rows; row++) {
		for (unsigned i = 0; i < kind->column_count && kind->columns[i].key; i++) {
			fputs(i ? "," : "", out);
			csv_cell(row_of(section, row)[i], kind->columns[i].unit, out);
		}
		fputc('\n', out);
	}
}

void gt_figures_csv(const struct gt_figures *figures, const struct gt_face *face, FILE *out)
{
	bool one = face->sections && face->sections[0] && !face->sections[1];

	for (size_t i = 0; i < figures->count; i++) {
		if (!chosen(face, figures->sections[i]))
			continue;
		if (!one)
			fprintf(out, "# %s\n", figures->sections[i]->kind->key);
		csv_section(figures->sections[i], out);
	}
}
