/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A timeline as a picture.
 *
 * Limits: a column of the grid is a pixel.
 */
#include "config.h"

#include "report/timeline/timeline.h"

#include <stdio.h>

#include "report/print/draw.h"

enum { TOP = 44, ROW = 16, BAR = 13, FOOT = 40, FONT = 10, INK = 0x222222, GREY = 0x888888, TICK = 90 };

struct picture {
	const struct gt_grid *grid;
	struct gt_canvas *canvas;
	double width, bottom;
};

static double x_of(const struct picture *picture, uint64_t time)
{
	const struct gt_grid *grid = picture->grid;
	double length = (double)(grid->part.to - grid->part.from);

	return GT_PICTURE_LABEL + ((double)time - (double)grid->part.from) / length * grid->columns;
}

static double y_of(unsigned row)
{
	return TOP + (double)row * ROW;
}

/* Samples have half of it. */
static double height_of(const struct picture *picture, unsigned row)
{
	return gt_grid_row_at(picture->grid, row)->samples ? BAR / 2 : BAR;
}

static void draw_axis(const struct picture *picture, const char *title)
{
	const struct gt_grid *grid = picture->grid;
	uint64_t step = gt_grid_step(grid->part.to - grid->part.from, grid->columns / TICK + 1);

	gt_canvas_text(picture->canvas, 8, 18, FONT + 3, INK, GT_ANCHOR_START, picture->width - 16, title);
	for (uint64_t t = (grid->part.from + step - 1) / step * step; t <= grid->part.to; t += step) {
		double x = x_of(picture, t);
		char text[48];

		gt_canvas_line(picture->canvas, x, TOP - 6, x, picture->bottom, GREY, 0.5, 0.5);
		if (x + 20 < picture->width)
			gt_canvas_text(picture->canvas, x, TOP - 9, FONT, INK, GT_ANCHOR_MIDDLE, TICK,
				       gt_grid_tick(t, step, text, sizeof(text)));
	}
}

static void draw_bar(const struct picture *picture, unsigned row, unsigned from, unsigned end)
{
	const struct gt_grid_cell *cell = gt_grid_cell_at(picture->grid, row, from);
	bool named = end - from > 3 || gt_grid_row_at(picture->grid, row)->samples;

	gt_canvas_rect(picture->canvas, GT_PICTURE_LABEL + (double)from, y_of(row), (double)(end - from),
		       height_of(picture, row), gt_paint_of(cell->class)->rgb,
		       0.25 + 0.75 * (double)cell->share / GT_GRID_FULL,
		       named ? gt_grid_name(picture->grid, cell) : NULL);
}

static void draw_name(const struct picture *picture, unsigned row, unsigned from, unsigned end)
{
	const struct gt_grid *grid = picture->grid;
	const struct gt_grid_cell *cell = gt_grid_cell_at(grid, row, from);
	const struct gt_paint *paint = gt_paint_of(cell->class);
	double x = GT_PICTURE_LABEL + (double)from;
	bool dark = gt_rgb_dark(paint->rgb);

	if (cell->share > GT_GRID_FULL / 2)
		gt_canvas_text(picture->canvas, x + 3, y_of(row) + BAR - 3, FONT, dark ? 0xffffff : 0,
			       GT_ANCHOR_START, (double)(end - from) - 6, gt_grid_name(grid, cell));
}

/* Stripes of a wait, through bars that differ in their share only. Returns where it ends. */
static unsigned draw_stripes(const struct picture *picture, unsigned row, unsigned from)
{
	const struct gt_grid *grid = picture->grid;
	const struct gt_paint *paint = gt_paint_of(gt_grid_cell_at(grid, row, from)->class);
	unsigned end = from + 1;

	while (end < grid->columns && gt_grid_cell_at(grid, row, end)->share &&
	       gt_paint_of(gt_grid_cell_at(grid, row, end)->class) == paint)
		end++;
	if (paint->stripes && gt_grid_cell_at(grid, row, from)->share)
		gt_canvas_stripes(picture->canvas, GT_PICTURE_LABEL + (double)from, y_of(row),
				  (double)(end - from), height_of(picture, row), paint->stripes);
	return end;
}

/* Bars, stripes on them, names on these. */
static void draw_row(const struct picture *picture, unsigned row)
{
	const struct gt_grid *grid = picture->grid;
	unsigned end;

	for (unsigned column = 0; column < grid->columns; column = end) {
		end = gt_grid_run(grid, row, column);
		if (gt_grid_cell_at(grid, row, column)->share)
			draw_bar(picture, row, column, end);
	}
	for (unsigned column = 0; column < grid->columns; column = draw_stripes(picture, row, column))
		;
	if (gt_grid_row_at(grid, row)->samples)
		return;
	for (unsigned column = 0; column < grid->columns; column = end) {
		end = gt_grid_run(grid, row, column);
		if (gt_grid_cell_at(grid, row, column)->share)
			draw_name(picture, row, column, end);
	}
}

static void draw_rows(const struct picture *picture)
{
	const struct gt_grid *grid = picture->grid;

	for (unsigned row = 0; row < grid->rows; row++) {
		const struct gt_grid_row *of = gt_grid_row_at(grid, row);
		if (!row || of->location != of[-1].location)
			gt_canvas_text(picture->canvas, 8, y_of(row) + BAR - 3, FONT, INK, GT_ANCHOR_START,
				       GT_PICTURE_LABEL - 16, gt_grid_text(grid, of->label));
		draw_row(picture, row);
	}
}

/* Messages are dark, launches grey. */
static void draw_lines(const struct picture *picture)
{
	const struct gt_grid *grid = picture->grid;

	for (unsigned i = 0; i < grid->lines; i++) {
		const struct gt_grid_line *line = gt_grid_line_at(grid, i);
		uint64_t from = line->from > grid->part.from ? line->from : grid->part.from;
		uint64_t to = line->to < grid->part.to ? line->to : grid->part.to;

		gt_canvas_line(picture->canvas, x_of(picture, from), y_of(line->from_row) + BAR / 2.,
			       x_of(picture, to), y_of(line->to_row) + BAR / 2., line->launch ? GREY : 0,
			       line->launch ? 0.5 : 0.8, line->launch ? 0.35 : 0.6);
	}
}

static void draw_legend(const struct picture *picture)
{
	double x = 8, y = picture->bottom + 22;

	for (unsigned class = 0; class < GT_CLASSES; class++) {
		const struct gt_paint *paint = gt_paint_of(class);
		uint64_t time = 0;
		bool first = true;

		for (unsigned i = 0; i < GT_CLASSES; i++) {
			first = first && (i >= class || gt_paint_of(i) != paint);
			time += gt_paint_of(i) == paint ? picture->grid->times[i] : 0;
		}
		if (!first || !time)
			continue;
		gt_canvas_rect(picture->canvas, x, y - 9, 10, 10, paint->rgb, 1, NULL);
		if (paint->stripes)
			gt_canvas_stripes(picture->canvas, x, y - 9, 10, 10, paint->stripes);
		gt_canvas_text(picture->canvas, x + 14, y, FONT, INK, GT_ANCHOR_START, 200, paint->name);
		x += 14 + gt_canvas_width(paint->name, FONT) + 14;
	}
}

bool gt_timeline_has_png(void)
{
	return gt_canvas_has_png();
}

int gt_timeline_picture(const struct gt_grid *grid, const char *title, const char *path)
{
	struct picture picture = { .grid = grid };

	picture.width = GT_PICTURE_LABEL + grid->columns + GT_PICTURE_EDGE;
	picture.bottom = y_of(grid->rows);
	picture.canvas = gt_canvas_open(path, title, picture.width, picture.bottom + FOOT);
	if (!picture.canvas)
		return 2;
	draw_axis(&picture, title);
	draw_rows(&picture);
	draw_lines(&picture);
	draw_legend(&picture);
	return gt_canvas_close(picture.canvas);
}
