/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of functions in a summary.
 *
 * Limits: names are taken to be one column a character wide.
 */
#include "config.h"

#include "report/summary/printer.h"

#include "lib/assemble/util/shorten.h"

#include <string.h>

enum { ROWS = GT_SUMMARY_ROWS, MIN_NAME = 16 };

struct row {
	const char *name;
	uint64_t calls, exclusive, inclusive, idle;
	double share;
};

/* The measurement's writing of its buffer has a line of its own. */
static bool is_flush(const char *name)
{
	return !strcmp(name, "TRACE BUFFER FLUSH");
}

/* The first rows of the report's table. Returns how many; `more`: how many there are behind them. */
static unsigned top_rows(const struct gt_section *section, struct row *top, unsigned rows, uint64_t *more)
{
	unsigned n = 0;

	*more = 0;
	for (size_t i = 0; section && i < section->rows; i++) {
		const char *name = gt_section_cell(section, i, "name")->text;
		union gt_cell idle = *gt_section_cell(section, i, "idle_s");

		if (is_flush(name))
			continue;
		*more += n == rows;
		if (n == rows)
			continue;
		top[n++] = (struct row){ .name = name,
					 .calls = gt_section_cell(section, i, "count")->count,
					 .exclusive = gt_section_cell(section, i, "exclusive_s")->count,
					 .inclusive = gt_section_cell(section, i, "inclusive_s")->count,
					 .idle = gt_cell_given(idle, GT_COUNT) ? idle.count : 0,
					 .share = gt_section_cell(section, i, "share")->number };
	}
	return n;
}

enum { NAME_ROOM = 512 };

static void put_name(char *name, const char *of, unsigned room, size_t keep)
{
	char buffer[GT_SHORTEN_MAX];

	gt_summary_escape(name, NAME_ROOM, gt_shorten(buffer, of, room, keep), room);
}

/* Keeps the part of names that distinguishes functions, also of two that would look the same. */
static void put_names(char names[][NAME_ROOM], const struct row *top, unsigned n, unsigned room)
{
	size_t keep[ROWS] = { 0 };

	for (unsigned i = 0; i < n; i++)
		put_name(names[i], top[i].name, room, GT_KEEP_NOTHING);
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < n; k++) {
			size_t at;

			if (k == i || strcmp(names[k], names[i]) || !strcmp(top[k].name, top[i].name))
				continue;
			at = gt_differ_at(top[k].name, top[i].name) + 1;
			keep[i] = at > keep[i] ? at : keep[i];
		}
	for (unsigned i = 0; i < n; i++)
		if (keep[i])
			put_name(names[i], top[i].name, room, keep[i] - 1);
}

static bool has_idle(const struct row *top, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (top[i].idle)
			return true;
	return false;
}

/* A column that is there only if one of the rows needs it. */
static const char *idle_of(char buffer[32], bool shown, const struct row *row)
{
	char time[32];

	if (!shown)
		return "";
	snprintf(buffer, 32, " %10.15s", row->idle ? timed(time, row->idle) : "-");
	return buffer;
}

void gt_summary_table(const struct printer *p, const struct gt_summary_view *view, unsigned rows)
{
	struct row top[ROWS];
	uint64_t more;
	unsigned n = top_rows(section_of(view, "regions"), top, rows, &more);
	bool idle = has_idle(top, n);
	unsigned used = 11 + 12 + 11 + 11 + 9 + 11 * idle; /* prefix and columns */
	unsigned room = p->width > used + MIN_NAME ? p->width - used : MIN_NAME;
	char a[32], b[32], c[32], d[32], e[32], names[ROWS][NAME_ROOM];

	if (!n)
		return;
	line(p, NULL, "%11s %10s%s %10s  %% of run, function", "calls", "exclusive",
	     idle ? "       idle" : "", "inclusive");
	put_names(names, top, n, room);
	for (unsigned i = 0; i < n; i++)
		line(p, NULL, "%11s %10s%s %10s %7s  %s", counted(a, top[i].calls),
		     timed(b, top[i].exclusive), idle_of(e, idle, &top[i]), timed(c, top[i].inclusive),
		     gt_cell_print(d, sizeof(d), (union gt_cell){ .number = top[i].share }, GT_SHARE),
		     names[i]);
	if (more)
		line(p, NULL, "%11s %s more %s", "...", counted(a, more),
		     plural(more, "function", "functions"));
}
