/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The canvas.
 *
 * Limits: see draw.h.
 */
#include "config.h"

#include "report/print/draw.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/assemble/util/memory.h"
#include "lib/assemble/util/utf8.h"
#include "report/print/output.h"

#ifdef HAVE_CAIRO
#include <cairo.h>

/* The functions of libcairo that are used. */
#define CAIRO_FUNCTIONS(F)                                                                             \
	F(image_surface_create) F(create) F(set_source_rgba) F(rectangle) F(fill) F(move_to) F(line_to) \
	F(set_line_width) F(stroke) F(select_font_face) F(set_font_size) F(show_text) F(text_extents)   \
	F(surface_write_to_png) F(status_to_string) F(destroy) F(surface_destroy) F(paint)

#define MEMBER(name) __typeof__(cairo_##name) *name;
struct cairo {
	CAIRO_FUNCTIONS(MEMBER)
};
#undef MEMBER
#endif

struct gt_canvas {
	const char *path;
	char *part;      /* its temporary name */
	FILE *svg;
#ifdef HAVE_CAIRO
	struct cairo cairo;
	cairo_surface_t *surface;
	cairo_t *context; /* NULL: an SVG */
#endif
};

static void complain(const char *path, const char *reason)
{
	fprintf(stderr, "gputrace: %s cannot be written: %s\n", path, reason);
}

/* ---- PNG ---------------------------------------------------------------------------------------- */

#ifdef HAVE_CAIRO
bool gt_canvas_has_png(void)
{
	return true;
}

static bool load(struct cairo *cairo)
{
	void *library = dlopen("libcairo.so.2", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return false;
#define LOAD(name)                                                   \
	*(void **)&cairo->name = dlsym(library, "cairo_" #name);     \
	if (!cairo->name)                                            \
		return false;
	CAIRO_FUNCTIONS(LOAD)
#undef LOAD
	return true;
}

static void set_rgb(const struct gt_canvas *canvas, uint32_t rgb, double opacity)
{
	canvas->cairo.set_source_rgba(canvas->context, (rgb >> 16 & 255) / 255., (rgb >> 8 & 255) / 255.,
				      (rgb & 255) / 255., opacity);
}

static bool open_png(struct gt_canvas *canvas, double width, double height)
{
	if (!load(&canvas->cairo)) {
		complain(canvas->path, "PNG needs libcairo.so.2, which is not installed; SVG does not");
		return false;
	}
	canvas->surface = canvas->cairo.image_surface_create(CAIRO_FORMAT_RGB24, (int)width, (int)height);
	canvas->context = canvas->cairo.create(canvas->surface);
	canvas->cairo.select_font_face(canvas->context, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
				       CAIRO_FONT_WEIGHT_NORMAL);
	set_rgb(canvas, 0xffffff, 1);
	canvas->cairo.paint(canvas->context);
	return true;
}

static bool close_png(struct gt_canvas *canvas)
{
	cairo_status_t status = canvas->cairo.surface_write_to_png(canvas->surface, canvas->part);

	if (status != CAIRO_STATUS_SUCCESS)
		complain(canvas->path, canvas->cairo.status_to_string(status));
	canvas->cairo.destroy(canvas->context);
	canvas->cairo.surface_destroy(canvas->surface);
	return status == CAIRO_STATUS_SUCCESS;
}

static void png_rect(const struct gt_canvas *canvas, double x, double y, double width, double height,
		     uint32_t rgb, double opacity)
{
	set_rgb(canvas, rgb, opacity);
	canvas->cairo.rectangle(canvas->context, x, y, width, height);
	canvas->cairo.fill(canvas->context);
}

static void png_line(const struct gt_canvas *canvas, const double *points, uint32_t rgb, double width,
		     double opacity)
{
	set_rgb(canvas, rgb, opacity);
	canvas->cairo.set_line_width(canvas->context, width);
	canvas->cairo.move_to(canvas->context, points[0], points[1]);
	canvas->cairo.line_to(canvas->context, points[2], points[3]);
	canvas->cairo.stroke(canvas->context);
}

static void png_text(const struct gt_canvas *canvas, double x, double y, double size, uint32_t rgb,
		     enum gt_anchor anchor, const char *text)
{
	cairo_text_extents_t extents;

	set_rgb(canvas, rgb, 1);
	canvas->cairo.set_font_size(canvas->context, size);
	canvas->cairo.text_extents(canvas->context, text, &extents);
	x -= anchor == GT_ANCHOR_MIDDLE ? extents.width / 2 : anchor == GT_ANCHOR_END ? extents.width : 0;
	canvas->cairo.move_to(canvas->context, x, y);
	canvas->cairo.show_text(canvas->context, text);
}

static bool is_png(const struct gt_canvas *canvas)
{
	return canvas->context;
}
#else
bool gt_canvas_has_png(void)
{
	return false;
}

static bool open_png(struct gt_canvas *canvas, double width, double height)
{
	(void)width;
	(void)height;
	complain(canvas->path, "this gputrace was built without cairo, which PNG needs; SVG does not");
	return false;
}

static bool is_png(const struct gt_canvas *canvas)
{
	(void)canvas;
	return false;
}

#define close_png(canvas) false
#define png_rect(...)     ((void)0)
#define png_line(...)     ((void)0)
#define png_text(...)     ((void)0)
#endif

/* ---- SVG ---------------------------------------------------------------------------------------- */

/* Text of XML: no markup, and no control characters (gt_utf8_line() has taken them). */
static void print_xml(FILE *svg, const char *text)
{
	size_t size = 4 * strlen(text) + 1;
	char *clean = gt_need(malloc(size));

	gt_utf8_line(clean, size, text);
	for (const char *c = clean; *c; c++) {
		if (*c == '<')
			fputs("&lt;", svg);
		else if (*c == '>')
			fputs("&gt;", svg);
		else if (*c == '&')
			fputs("&amp;", svg);
		else
			fputc(*c, svg);
	}
	free(clean);
}

static void begin_svg(struct gt_canvas *canvas, const char *title, double width, double height)
{
	fprintf(canvas->svg,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f "
		"%.0f\" "
		"font-family=\"sans-serif\">\n<title>",
		width, height, width, height);
	print_xml(canvas->svg, title);
	fprintf(canvas->svg, "</title>\n<rect width=\"%.0f\" height=\"%.0f\" fill=\"#ffffff\"/>\n", width,
		height);
}

static bool open_svg(struct gt_canvas *canvas, const char *title, double width, double height)
{
	canvas->svg = gt_output_open(canvas->part, canvas->path);
	if (canvas->svg)
		begin_svg(canvas, title, width, height);
	else
		complain(canvas->path, strerror(errno));
	return canvas->svg;
}

static bool close_svg(struct gt_canvas *canvas)
{
	bool failed;

	fputs("</svg>\n", canvas->svg);
	if (!canvas->path)
		return true;
	failed = ferror(canvas->svg);
	failed = fclose(canvas->svg) || failed;
	if (failed)
		complain(canvas->path, strerror(errno));
	return !failed;
}

/* ---- both --------------------------------------------------------------------------------------- */

struct gt_canvas *gt_canvas_open(const char *path, const char *title, double width, double height)
{
	struct gt_canvas *canvas = gt_zeroed(1, sizeof(*canvas));
	size_t length = strlen(path);

	canvas->path = path;
	canvas->part = gt_output_part(path);
	if (length > 4 && !strcmp(path + length - 4, ".png") ? open_png(canvas, width, height)
							      : open_svg(canvas, title, width, height))
		return canvas;
	free(canvas->part);
	free(canvas);
	return NULL;
}

struct gt_canvas *gt_canvas_on(FILE *svg, const char *title, double width, double height)
{
	struct gt_canvas *canvas = gt_zeroed(1, sizeof(*canvas));

	canvas->svg = svg;
	begin_svg(canvas, title, width, height);
	return canvas;
}

int gt_canvas_close(struct gt_canvas *canvas)
{
	bool done = is_png(canvas) ? close_png(canvas) : close_svg(canvas);

	if (canvas->path && done && !gt_output_keep(canvas->part, canvas->path)) {
		complain(canvas->path, strerror(errno));
		done = false;
	}
	if (!done)
		gt_output_discard(canvas->path);
	free(canvas->part);
	free(canvas);
	return done ? 0 : 2;
}

void gt_canvas_rect(struct gt_canvas *canvas, double x, double y, double width, double height, uint32_t rgb,
		    double opacity, const char *title)
{
	if (is_png(canvas)) {
		png_rect(canvas, x, y, width, height, rgb, opacity);
		return;
	}
	fprintf(canvas->svg, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"#%06x\"", x,
		y, width, height, rgb);
	if (opacity < 1)
		fprintf(canvas->svg, " fill-opacity=\"%.2f\"", opacity);
	if (!title) {
		fputs("/>\n", canvas->svg);
		return;
	}
	fputs("><title>", canvas->svg);
	print_xml(canvas->svg, title);
	fputs("</title></rect>\n", canvas->svg);
}

void gt_canvas_line(struct gt_canvas *canvas, double x1, double y1, double x2, double y2, uint32_t rgb,
		    double width, double opacity)
{
	if (is_png(canvas)) {
		png_line(canvas, (const double[]){ x1, y1, x2, y2 }, rgb, width, opacity);
		return;
	}
	fprintf(canvas->svg,
		"<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"#%06x\" "
		"stroke-width=\"%.2f\" "
		"stroke-opacity=\"%.2f\"/>\n",
		x1, y1, x2, y2, rgb, width, opacity);
}

static bool is_letter(const char *byte)
{
	return ((unsigned char)*byte & 0xc0) != 0x80;
}

double gt_canvas_width(const char *text, double size)
{
	unsigned letters = 0;

	for (; *text; text++)
		letters += is_letter(text);
	return letters * size * 0.6;
}

/*
 * Stripes are the lines x + way * y = k * STRIPE. One path has them all, as a wide bar has hundreds.
 */
enum { STRIPE = 6 };

void gt_canvas_stripes(struct gt_canvas *canvas, double x, double y, double width, double height, int way)
{
	double least = x + (way > 0 ? y : -y - height), most = least + width + height;
	double k = ceil(least / STRIPE) * STRIPE;
	bool any = false;

	for (; k < most; k += STRIPE) {
		/* Where it crosses the upper and the lower edge, cut at the sides. */
		double top = fmin(fmax(k - way * y, x), x + width);
		double bottom = fmin(fmax(k - way * (y + height), x), x + width);
		double points[] = { top, way * (k - top), bottom, way * (k - bottom) };

		if (top == bottom)
			continue;
		if (is_png(canvas))
			png_line(canvas, points, 0x10141a, 1, 0.2);
		else
			fprintf(canvas->svg, any ? "M%g %gL%g %g" : "<path d=\"M%g %gL%g %g",
				points[0], points[1], points[2], points[3]);
		any = true;
	}
	if (any && !is_png(canvas))
		fputs("\" stroke=\"#10141a\" stroke-opacity=\"0.2\"/>\n", canvas->svg);
}

void gt_canvas_text(struct gt_canvas *canvas, double x, double y, double size, uint32_t rgb,
		    enum gt_anchor anchor, double room, const char *text)
{
	static const char *const anchors[] = { "start", "middle", "end" };
	unsigned letters = (unsigned)(room / (size * 0.6)), seen = 0;
	size_t length = strlen(text), bytes = 0;
	char *cut = gt_need(malloc(length + 4));

	memcpy(cut, text, length + 1);
	if (gt_canvas_width(text, size) > room) {
		for (; bytes < length && (seen += is_letter(text + bytes)) + 2 <= letters; bytes++)
			;
		memcpy(cut + bytes, "..", 3);
	}
	if (*cut && letters >= 5 - 2 * !bytes) {
		if (is_png(canvas)) {
			png_text(canvas, x, y, size, rgb, anchor, cut);
		} else {
			fprintf(canvas->svg, "<text x=\"%.2f\" y=\"%.2f\" font-size=\"%.1f\" fill=\"#%06x\" "
					     "text-anchor=\"%s\">",
				x, y, size, rgb, anchors[anchor]);
			print_xml(canvas->svg, cut);
			fputs("</text>\n", canvas->svg);
		}
	}
	free(cut);
}
