/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints the lines of a summary, with the report's units.
 *
 * Limits: lines of at most 1,023 bytes.
 */
#ifndef GT_REPORT_PRINTER_H
#define GT_REPORT_PRINTER_H

#include "report/summary/summary.h"

#include <stdarg.h>
#include <stdio.h>

enum { GT_SUMMARY_ROWS = 10 }; /* of the table, at most */

struct printer {
	FILE *out;
	bool colour;
	unsigned width;
};

#define BOLD   "\033[1m"
#define RED    "\033[1;31m"
#define YELLOW "\033[33m"
#define NORMAL "\033[0m"

/* ---- text ------------------------------------------------------------------------------------ */

static inline const char *printed(char buffer[32], uint64_t value, enum gt_unit unit)
{
	return gt_cell_print(buffer, 32, (union gt_cell){ .count = value }, unit);
}

static inline const char *counted(char buffer[32], uint64_t value)
{
	return printed(buffer, value, GT_COUNT);
}

static inline const char *timed(char buffer[32], uint64_t ns)
{
	return printed(buffer, ns, GT_SECONDS);
}

static inline const char *sized(char buffer[32], uint64_t bytes)
{
	return printed(buffer, bytes, GT_BYTES);
}

/* One line: prefix, text, colour if wished. */
__attribute__((format(printf, 3, 4), unused)) static void line(const struct printer *p, const char *colour,
							       const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (p->colour && colour)
		fprintf(p->out, "[gputrace] %s%s%s\n", colour, text, NORMAL);
	else
		fprintf(p->out, "[gputrace] %s\n", text);
}

static inline const char *plural(uint64_t n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}

/* ---- figures of the report ------------------------------------------------------------------------ */

static inline const struct gt_section *section_of(const struct gt_summary_view *view, const char *key)
{
	return view->report ? gt_section_find(&view->report->figures, key) : NULL;
}

/* A figure of the run: the report's, or what the assembly knows where the events were not read. */
static inline uint64_t of_run(const struct gt_summary_view *view, const char *key, uint64_t known)
{
	const struct gt_section *section = section_of(view, "run");
	union gt_cell cell;

	if (!section)
		return known;
	cell = *gt_section_cell(section, 0, key);
	return gt_cell_given(cell, GT_COUNT) ? cell.count : view->report->unread ? known : 0;
}

/* The functions with the most time of their own, in `rows` lines, and how many others there are (table.c). */
void gt_summary_table(const struct printer *p, const struct gt_summary_view *view, unsigned rows);

#endif
