/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small canvas: rectangles, lines and text, as an SVG in which text stays text, or as a PNG by libcairo,
 * which is loaded when it is needed.
 *
 * Limits: widths of text are estimated; names are cleaned of what XML does not allow.
 */
#ifndef GT_REPORT_DRAW_H
#define GT_REPORT_DRAW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct gt_canvas;

enum gt_anchor { GT_ANCHOR_START, GT_ANCHOR_MIDDLE, GT_ANCHOR_END };

/* Was gputrace built so that it can write PNG? */
bool gt_canvas_has_png(void);

/*
 * A white canvas that will be written to `path`: PNG if the name ends in .png, else SVG. `title` is what an
 * SVG is called. NULL after a sentence on standard error.
 */
struct gt_canvas *gt_canvas_open(const char *path, const char *title, double width, double height);
/* The same, an SVG on a stream that the caller writes out; gt_canvas_close() only ends it. */
struct gt_canvas *gt_canvas_on(FILE *svg, const char *title, double width, double height);
/* Writes it. 0, or 2 after a sentence on standard error; then there is no file. */
int gt_canvas_close(struct gt_canvas *canvas);

/* `title`: shown when the pointer rests on it (SVG only), or NULL. `opacity`: 0 to 1. */
void gt_canvas_rect(struct gt_canvas *canvas, double x, double y, double width, double height, uint32_t rgb,
		    double opacity, const char *title);
void gt_canvas_line(struct gt_canvas *canvas, double x1, double y1, double x2, double y2, uint32_t rgb,
		    double width, double opacity);
/* Dark stripes over a rectangle, in step with those of all others. `way`: 1 as "/", -1 as "\". */
void gt_canvas_stripes(struct gt_canvas *canvas, double x, double y, double width, double height, int way);
/* `y` is the base line. Text that is wider than `room` ends in "..."; nothing if not even that fits. */
void gt_canvas_text(struct gt_canvas *canvas, double x, double y, double size, uint32_t rgb,
		    enum gt_anchor anchor, double room, const char *text);
/* Whether white text has more contrast on it than black one: by about its luminance. */
static inline bool gt_rgb_dark(uint32_t rgb)
{
	double r = rgb >> 16 & 255, g = rgb >> 8 & 255, b = rgb & 255;

	return r * r * 0.2126 + g * g * 0.7152 + b * b * 0.0722 < 0.19 * 255 * 255;
}
/* Estimated. */
double gt_canvas_width(const char *text, double size);

#endif
