/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A timeline as text: a line for each row, the names of regions inside of their bars where they fit.
 *
 * Limits: see timeline.h.
 */
#include "config.h"

#include "report/timeline/timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/assemble/util/memory.h"
#include "report/print/draw.h"
#include "report/print/figures.h"

enum { TICK_COLUMNS = 14 };

/* ---- labels and names -------------------------------------------------------------------------- */

static bool same_label(const struct gt_grid *grid, unsigned row)
{
	return row && gt_grid_row_at(grid, row)->location == gt_grid_row_at(grid, row - 1)->location;
}

/* The end of a name tells more than its middle. */
static void print_label(const char *name, unsigned width, FILE *out)
{
	char text[256];
	unsigned n = gt_grid_ascii(name, text, sizeof(text)), head = width > 2 ? (width - 2) / 2 : 0;

	if (n <= width)
		fprintf(out, "%-*s ", (int)width, text);
	else
		fprintf(out, "%.*s..%s ", (int)head, text, text + n - (width - 2 - head));
}

/* ---- a row -------------------------------------------------------------------------------------- */

static const char *block_of(const struct gt_timeline_look *look, const struct gt_grid_cell *cell, bool full,
			    bool half)
{
	static const char *const shades[] = { "\u2591", "\u2592", "\u2593", "\u2588" };
	static char letter[2];

	if (!look->unicode || !look->color) {
		letter[0] = cell->share < GT_GRID_FULL / 8 ? ':' : gt_paint_of(cell->class)->letter;
		return letter;
	}
	if (half)
		return "\u2584";
	return full ? " " : shades[cell->share / 64];
}

static unsigned basic(const struct gt_paint *paint)
{
	unsigned r = paint->rgb >> 16 & 255, g = paint->rgb >> 8 & 255, b = paint->rgb & 255;
	unsigned most = r > g ? r : g;

	most = most > b ? most : b;
	return (r * 4 > most * 3) | (g * 4 > most * 3) << 1 | (b * 4 > most * 3) << 2;
}

static void begin_color(const struct gt_timeline_look *look, const struct gt_paint *paint, bool back,
			FILE *out)
{
	bool dark = gt_rgb_dark(paint->rgb);

	if (!look->color)
		return;
	if (!look->many)
		fprintf(out, back ? "\033[30;%um" : "\033[%um", (back ? 40 : 30) + basic(paint));
	else if (back)
		fprintf(out, "\033[38;5;%u;48;5;%um", dark ? 231U : 16U, paint->color);
	else
		fprintf(out, "\033[38;5;%um", paint->color);
}

static void end_color(const struct gt_timeline_look *look, FILE *out)
{
	if (look->color)
		fputs("\033[0m", out);
}

/* Neighbors that belong to one bar: the same region, or nothing. */
static unsigned bar_end(const struct gt_grid *grid, unsigned row, unsigned column)
{
	const struct gt_grid_cell *first = gt_grid_cell_at(grid, row, column);

	while (++column < grid->columns) {
		const struct gt_grid_cell *cell = gt_grid_cell_at(grid, row, column);

		if (!cell->share != !first->share || (cell->share && cell->region != first->region))
			break;
	}
	return column;
}

static bool is_full(const struct gt_grid_cell *cell)
{
	return cell->share > GT_GRID_FULL * 9 / 10;
}

/* The bar before it has the same color: the name alone would not say where it begins. */
static bool joins_another(const struct gt_grid *grid, unsigned row, unsigned from)
{
	return from && gt_grid_cell_at(grid, row, from - 1)->share &&
	       gt_paint_of(gt_grid_cell_at(grid, row, from - 1)->class) ==
		       gt_paint_of(gt_grid_cell_at(grid, row, from)->class);
}

static void print_bar(const struct gt_grid *grid, const struct gt_timeline_look *look, unsigned row,
		      unsigned from, unsigned end, FILE *out)
{
	const struct gt_paint *paint = gt_paint_of(gt_grid_cell_at(grid, row, from)->class);
	bool back = false, half = gt_grid_row_at(grid, row)->samples;
	unsigned at, behind;
	char name[128];

	gt_grid_ascii(gt_grid_name(grid, gt_grid_cell_at(grid, row, from)), name, sizeof(name));
	at = gt_grid_place(grid, row, from, end, name);
	behind = at < end ? at + (unsigned)strlen(name) : end;
	for (unsigned i = from; i < end; i++) {
		const struct gt_grid_cell *cell = gt_grid_cell_at(grid, row, i);
		bool in_name = i + 1 >= at && i <= behind && at < end,
		     full = !half && (in_name || is_full(cell));

		if (i > from && full != back)
			end_color(look, out);
		if (i == from || full != back)
			begin_color(look, paint, full, out);
		back = full;
		if (in_name && i >= at && i < behind)
			fputc(name[i - at], out);
		else if (in_name && !look->color)
			fputc(i < at ? '[' : ']', out);
		else if (in_name && !half && i == from && look->unicode && joins_another(grid, row, from))
			fputs("\u258f", out);
		else
			fputs(block_of(look, cell, full, half), out);
	}
	end_color(look, out);
}

static void print_row(const struct gt_grid *grid, const struct gt_timeline_look *look, unsigned row,
		      FILE *out)
{
	unsigned column = 0, end;

	print_label(same_label(grid, row) ? "" : gt_grid_text(grid, gt_grid_row_at(grid, row)->label),
		    grid->label, out);
	for (; column < grid->columns; column = end) {
		end = bar_end(grid, row, column);
		if (gt_grid_cell_at(grid, row, column)->share)
			print_bar(grid, look, row, column, end, out);
		else
			fprintf(out, "%*s", (int)(end - column), "");
	}
	fputc('\n', out);
}

/* ---- around the rows ---------------------------------------------------------------------------- */

static void print_axis(const struct gt_grid *grid, FILE *out)
{
	uint64_t length = grid->part.to - grid->part.from;
	uint64_t step = gt_grid_step(length, grid->columns / TICK_COLUMNS + 1);
	char *line = gt_need(malloc(grid->columns + 64));
	unsigned room = 0;

	memset(line, ' ', grid->columns + 63);
	for (uint64_t t = (grid->part.from + step - 1) / step * step; t < grid->part.to; t += step) {
		unsigned column = (unsigned)((unsigned __int128)(t - grid->part.from) * grid->columns /
					     length);
		char text[48];
		unsigned n = (unsigned)strlen(gt_grid_tick(t, step, text, sizeof(text)));

		if (column < room || column + n + 1 > grid->columns)
			continue;
		line[column] = '|';
		memcpy(line + column + 1, text, n);
		room = column + n + 3;
	}
	for (room = grid->columns; room && line[room - 1] == ' ';)
		room--;
	line[room] = '\0';
	fprintf(out, "%*s%s\n", (int)grid->label + 1, "", line);
	free(line);
}

/* All time of a paint, by class. */
static uint64_t paint_time(const uint64_t times[GT_CLASSES], const struct gt_paint *paint)
{
	uint64_t sum = 0;

	for (unsigned class = 0; class < GT_CLASSES; class++)
		if (gt_paint_of(class) == paint)
			sum += times[class];
	return sum;
}

/* "code 52.1 %": the digits of gputrace report. The paint is that of a class. */
static unsigned print_share(const struct gt_grid *grid, unsigned class, char *text, size_t size)
{
	const struct gt_paint *paint = gt_paint_of(class);
	bool on_gpu = gt_class_times[class] == GT_TIME_ON_GPU;
	uint64_t time = paint_time(grid->counted, paint), whole = on_gpu ? grid->of_gpus : grid->lives;
	double share = (double)time / (double)whole;
	char digits[32] = "<0.1 %";

	if (!time || !whole)
		return (unsigned)snprintf(text, size, "%s", paint->name);
	if (share >= 0.0005)
		gt_cell_print(digits, sizeof(digits), (union gt_cell){ .number = share }, GT_SHARE);
	return (unsigned)snprintf(text, size, "%s %s%s", paint->name, digits, on_gpu ? " of GPUs" : "");
}

static void print_legend(const struct gt_grid *grid, const struct gt_timeline_look *look, FILE *out)
{
	unsigned used = 0;

	for (unsigned class = 0; class < GT_CLASSES; class++) {
		const struct gt_paint *paint = gt_paint_of(class);
		bool first = true;
		char text[96];
		unsigned n;

		for (unsigned i = 0; i < class; i++)
			first = first && gt_paint_of(i) != paint;
		if (!first || !paint_time(grid->times, paint))
			continue;
		n = print_share(grid, class, text, sizeof(text));
		if (used && used + n + 6 > grid->width) {
			fputc('\n', out);
			used = 0;
		}
		fputs(used ? "   " : "", out);
		begin_color(look, paint, true, out);
		fputc(look->unicode && look->color ? ' ' : paint->letter, out);
		end_color(look, out);
		fprintf(out, " %s", text);
		used += n + 5;
	}
	fputs(used ? "\n" : "", out);
	for (unsigned row = 0; row < grid->rows; row++)
		if (gt_grid_row_at(grid, row)->samples) {
			fputs("~ samples of call stacks, below what was recorded\n", out);
			break;
		}
}

void gt_timeline_notes(const struct gt_grid *grid, FILE *out)
{
	if (grid->idle)
		fprintf(out, "%u location%s without calls in this window %s left out\n", grid->idle,
			grid->idle > 1 ? "s" : "", grid->idle > 1 ? "are" : "is");
	if (grid->no_room)
		fprintf(out, "%u more location%s: select some with -l\n", grid->no_room,
			grid->no_room > 1 ? "s" : "");
	if (grid->more_lines)
		fprintf(out,
			"%" PRIu64 " more messages and launches are not drawn: choose a window with -t\n",
			grid->more_lines);
}

void gt_timeline_text(const struct gt_grid *grid, const struct gt_timeline_look *look, FILE *out)
{
	print_axis(grid, out);
	for (unsigned row = 0; row < grid->rows; row++)
		print_row(grid, look, row, out);
	print_legend(grid, look, out);
	gt_timeline_notes(grid, out);
}
