/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flow as a picture: a row of boxes for each kind of streams, and below them a radial chart of how alike
 * the streams are. No script, nothing from elsewhere; text stays text.
 *
 * Limits: MOST_BRANCHES branches are drawn, MOST_NAMES members are named in a tooltip.
 */
#include "config.h"

#include "report/flow/flow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	STEP = 166,
	WIDTH = 140,
	HEIGHT = 42,
	ROW = 60,
	LEFT = 46,
	TOP = 40,
	HEAD = 62,
	CHART = 380,
	NAMES = 24, /* of a chart, at most */
	NAME_MOST = 22, /* letters */
	NAME_HIGH = 12,
	NAME_WIDE = 6, /* of a letter */
	MOST_BRANCHES = 400,
	MOST_NAMES = 24,
	NAME = 16
};

struct picture {
	struct gt_flow *flow;
	FILE *out;
	struct gt_flow_draw draws[GT_FLOW_KINDS];
	double tops[GT_FLOW_KINDS]; /* of the first row of boxes */
	size_t columns;
};

static double box_x(const struct gt_flow_box *box)
{
	return LEFT + (double)box->segment * STEP;
}

static double box_y(const struct picture *p, unsigned kind, const struct gt_flow_box *box)
{
	return p->tops[kind] + (double)box->row * ROW;
}

/* ---- edges ---------------------------------------------------------------------------------------- */

static void put_edge(const struct picture *p, unsigned kind, const struct gt_flow_edge *edge)
{
	const struct gt_flow_draw *draw = &p->draws[kind];
	const struct gt_flow_box *from = edge->from == GT_FLOW_NONE ? NULL : &draw->boxes[edge->from];
	const struct gt_flow_box *to = edge->to == GT_FLOW_NONE ? NULL : &draw->boxes[edge->to];
	double x = from ? box_x(from) + WIDTH : LEFT - 28,
	       y = (from ? box_y(p, kind, from) : p->tops[kind]) + HEIGHT / 2.0;
	double to_x = to ? box_x(to) : LEFT + (double)draw->segment_count * STEP;
	double to_y = (to ? box_y(p, kind, to) : p->tops[kind]) + HEIGHT / 2.0;
	size_t passed = (to ? to->segment : draw->segment_count) - (from ? from->segment + 1 : 0);
	double share = (double)edge->members / (double)gt_flow_kept(draw->graph);
	double up = passed ? fmin(26, 10 + 4 * (double)passed) : 0;

	fprintf(p->out, "<path d=\"M%.0f %.0f", x, y);
	if (passed)
		fprintf(p->out, "C%.0f %.0f %.0f %.0f %.0f %.0fL%.0f %.0fC%.0f %.0f %.0f %.0f ", x + 20, y,
			x + 6, p->tops[kind] - up, x + 30, p->tops[kind] - up, to_x - 30, p->tops[kind] - up,
			to_x - 6, p->tops[kind] - up, to_x - 20, to_y);
	else
		fprintf(p->out, "C%.0f %.0f %.0f %.0f ", x + 14, y, to_x - 14, to_y);
	fprintf(p->out, "%.0f %.0f\" stroke-width=\"%.1f\"><title>%u of %zu</title></path>\n", to_x, to_y,
		1 + 5 * share, edge->members, gt_flow_kept(draw->graph));
}

/* ---- branches ------------------------------------------------------------------------------------- */

/* From the launch down, and back to what waits. */
static const char *const colours[] = { "#7a5195", "#00798c" };

static void put_arrowheads(const struct picture *p)
{
	fputs("<defs>\n", p->out);
	for (int joins = 0; joins < 2; joins++)
		fprintf(p->out,
			"<marker id=\"to%d\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" "
			"markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">"
			"<path d=\"M0 1L7 4L0 7z\" fill=\"%s\"/></marker>\n",
			joins, colours[joins]);
	fputs("</defs>\n", p->out);
}

static void put_link(const struct picture *p, const struct gt_flow_link *link)
{
	const struct gt_flow_box *from = &p->draws[link->from_kind].boxes[link->from];
	const struct gt_flow_box *to = &p->draws[link->to_kind].boxes[link->to];
	bool down = link->from_kind < link->to_kind;
	double x = box_x(from) + WIDTH * (link->joins ? 0.6 : 0.4);
	double to_x = box_x(to) + WIDTH * (link->joins ? 0.6 : 0.4);
	double y = box_y(p, link->from_kind, from) + (down ? HEIGHT : 0);
	double to_y = box_y(p, link->to_kind, to) + (down ? 0 : HEIGHT), half = (y + to_y) / 2;

	fprintf(p->out,
		"<path d=\"M%.0f %.0fC%.0f %.0f %.0f %.0f %.0f %.0f\" stroke=\"%s\" "
		"marker-end=\"url(#to%d)\"%s><title>%s, %llu times</title></path>\n",
		x, y, x, half, to_x, half, to_x, to_y, colours[link->joins], link->joins,
		link->dashed ? " stroke-dasharray=\"4 4\" stroke-opacity=\".6\"" : "",
		gt_branch_names[link->what], (unsigned long long)link->count);
}

static void put_branches(const struct picture *p)
{
	struct gt_flow_link *links = gt_flow_zeroed(p->flow->branch_count, sizeof(*links));
	size_t count = gt_flow_links(p->flow, p->draws, links);

	fputs("<g fill=\"none\" stroke-width=\"1.3\">\n", p->out);
	for (size_t i = 0; i < count && i < MOST_BRANCHES; i++)
		put_link(p, &links[i]);
	fputs("</g>\n", p->out);
	free(links);
}

/* ---- boxes ---------------------------------------------------------------------------------------- */

/* Draws the states joined in a box, as its first member has them. */
static void put_content(const struct picture *p, unsigned kind, const struct gt_flow_box *box)
{
	const struct gt_flow_draw *draw = &p->draws[kind];
	const struct gt_flow_stream *s = &draw->graph->streams[draw->members[box->first]];
	size_t count, first = gt_flow_box_items(draw, box, &count);
	char time[32];

	for (size_t i = first; i < first + count && i < first + MOST_NAMES; i++) {
		const struct gt_flow_item *item = &s->items[i];

		fprintf(p->out, "%*s", (int)(2 * (item->depth - s->items[first].depth) % 40), "");
		gt_flow_put_xml(p->out, gt_flow_region(p->flow, item->region), 60);
		fprintf(p->out, " %s", gt_flow_seconds(item->own, time));
		fprintf(p->out, item->calls > 1.5 ? " ×%.0f\n" : "\n", item->calls);
	}
	if (count > MOST_NAMES)
		fprintf(p->out, "... and %zu more\n", count - MOST_NAMES);
}

static void put_tooltip(const struct picture *p, unsigned kind, const struct gt_flow_box *box)
{
	const struct gt_flow_draw *draw = &p->draws[kind];
	char least[32], mean[32], most[32];

	fputs("<title>", p->out);
	gt_flow_put_xml(p->out, gt_flow_region(p->flow, box->region), 500);
	if (box->others)
		fprintf(p->out, " and %u more", box->others);
	fprintf(p->out, "\n%s to %s, mean %s\n", gt_flow_seconds(box->time_min, least),
		gt_flow_seconds(box->time_max, most), gt_flow_seconds(box->time_mean, mean));
	if (box->others)
		put_content(p, kind, box);
	for (uint32_t i = 0; i < box->members && i < MOST_NAMES; i++) {
		fputs(i ? ", " : "", p->out);
		gt_flow_put_xml(p->out, gt_flow_stream_name(p->flow, kind, draw->members[box->first + i]),
				100);
	}
	fputs(box->members > MOST_NAMES ? ", ...</title>\n" : "</title>\n", p->out);
}

/* Capitals are wide, and fonts differ. */
#define SQUEEZED " textLength=\"132\" lengthAdjust=\"spacingAndGlyphs\""

static bool is_wide(const char *name, size_t most)
{
	double width = strlen(name) > most ? 12 : 0;

	for (size_t i = 0; name[i] && i < most; i++)
		width += (name[i] >= 'A' && name[i] <= 'Z') || name[i] == 'm' || name[i] == 'w' ? 10 : 7.4;
	return width > WIDTH - 8;
}

/* Of names with a line of the source ("omp for @a.c:12"), what is in the middle is left out. */
static void put_name(const struct picture *p, const char *name, size_t most)
{
	const char *colon = strchr(name, '@') ? strrchr(name, ':') : NULL;

	if (strlen(name) <= most || !colon || strlen(colon) > 6) {
		gt_flow_put_xml(p->out, name, most);
		return;
	}
	gt_flow_put_xml(p->out, name, most - strlen(colon));
	gt_flow_put_xml(p->out, colon, 0);
}

static void put_box(const struct picture *p, unsigned kind, const struct gt_flow_box *box)
{
	size_t kept = gt_flow_kept(p->draws[kind].graph);
	double share = (double)box->members / (double)kept, x = box_x(box), y = box_y(p, kind, box);
	char colour[8], time[32];

	fputs("<g>", p->out);
	put_tooltip(p, kind, box);
	fprintf(p->out,
		"<rect x=\"%.0f\" y=\"%.0f\" width=\"%d\" height=\"%d\" rx=\"5\" fill=\"%s\" "
		"stroke=\"#333\" "
		"stroke-width=\"%s\"/>\n<text x=\"%.0f\" y=\"%.0f\" font-weight=\"600\"%s>",
		x, y, WIDTH, HEIGHT, gt_flow_colour(p->flow, share, colour),
		2 * box->members < kept ? "2.5" : "1", x + WIDTH / 2.0, y + 17,
		is_wide(gt_flow_region(p->flow, box->region), NAME - (box->others ? 4 : 0)) ? SQUEEZED : "");
	put_name(p, gt_flow_region(p->flow, box->region), NAME - (box->others ? 4 : 0));
	if (box->others)
		fprintf(p->out, " +%u", box->others);
	fprintf(p->out, "</text><text x=\"%.0f\" y=\"%.0f\" font-size=\"11\">%s", x + WIDTH / 2.0, y + 33,
		gt_flow_seconds(box->time_mean, time));
	if (box->calls > 1.5)
		fprintf(p->out, " ×%.0f", box->calls);
	if (box->members < kept)
		fprintf(p->out, " · %u of %zu", box->members, kept);
	fputs("</text></g>\n", p->out);
}

static void put_kind(struct picture *p, unsigned kind)
{
	const struct gt_flow_draw *draw = &p->draws[kind];
	const struct gt_flow_graph *graph = draw->graph;
	char text[48];

	fprintf(p->out,
		"<text x=\"%d\" y=\"%.0f\" text-anchor=\"start\" font-size=\"15\" "
		"font-weight=\"600\">%s</text>\n",
		LEFT - 30, p->tops[kind] - HEAD + 24, gt_flow_kind_text(kind, gt_flow_kept(graph), text));
	fputs("<g fill=\"none\" stroke=\"#8a8a8a\">\n", p->out);
	for (size_t e = 0; e < draw->edge_count; e++)
		put_edge(p, kind, &draw->edges[e]);
	fputs("</g>\n", p->out);
	for (int end = 0; end < 2; end++)
		fprintf(p->out, "<circle cx=\"%.0f\" cy=\"%.0f\" r=\"5\" fill=\"#333\"/>\n",
			end ? LEFT + (double)draw->segment_count * STEP : LEFT - 28.0,
			p->tops[kind] + HEIGHT / 2.0);
}

/* ---- the radial chart ----------------------------------------------------------------------------- */

struct spot {
	uint32_t stream;
	double x, y, alike;
	bool left; /* its name is */
};

static struct spot spot_at(const struct gt_flow_graph *graph, double x, double y, size_t place, size_t kept)
{
	uint32_t stream = graph->order[place];
	double alike = graph->streams[stream].alike,
	       angle = 2 * M_PI * ((double)place / (double)kept - 0.25);
	double away = stream == graph->centre ? 0 : 14 + 116 * (1 - alike);

	return (struct spot){ stream, x + away * cos(angle), y + away * sin(angle), alike, cos(angle) < 0 };
}

static void put_spot(const struct picture *p, unsigned kind, const struct spot *spot)
{
	char colour[8];

	fprintf(p->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" fill=\"%s\" stroke=\"#333\"><title>",
		spot->x, spot->y, gt_flow_colour(p->flow, spot->alike, colour));
	gt_flow_put_xml(p->out, gt_flow_stream_name(p->flow, kind, spot->stream), 500);
	fprintf(p->out, ": %.0f %%</title></circle>\n", 100 * spot->alike);
}

/* Where a name stands, by about its width; and whether that of another one does, too. */
static double name_begin(const struct spot *spot, double width)
{
	return spot->left ? spot->x - 8 - width : spot->x + 8;
}

static bool overlap(const struct spot *a, const struct spot *b, const double *widths)
{
	double from = name_begin(a, widths[0]), other = name_begin(b, widths[1]);

	return fabs(a->y - b->y) < NAME_HIGH && from < other + widths[1] && other < from + widths[0];
}

static double name_width(const struct picture *p, unsigned kind, const struct spot *spot)
{
	return NAME_WIDE * fmin(NAME_MOST, (double)strlen(gt_flow_stream_name(p->flow, kind, spot->stream)));
}

static int by_alike(const void *a, const void *b)
{
	const struct spot *x = a, *y = b;

	return (x->alike > y->alike) - (x->alike < y->alike);
}

/* The least alike ones have their names, as far as these do not hide each other. Orders the spots. */
static void put_names(const struct picture *p, unsigned kind, struct spot *spots, size_t kept)
{
	const struct spot *named[NAMES];
	unsigned count = 0;

	qsort(spots, kept, sizeof(*spots), by_alike);
	for (size_t i = 0; i < kept && count < NAMES; i++) {
		const struct spot *spot = &spots[i];
		bool hidden = spot->stream == p->flow->graphs[kind].centre ||
			      (kept > 8 && spot->alike >= 0.9);

		for (unsigned k = 0; k < count && !hidden; k++)
			hidden = overlap(spot, named[k], (double[]){ name_width(p, kind, spot),
								     name_width(p, kind, named[k]) });
		if (hidden)
			continue;
		named[count++] = spot;
		fprintf(p->out, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"11\" text-anchor=\"%s\">",
			spot->x + (spot->left ? -8 : 8), spot->y + 4, spot->left ? "end" : "start");
		gt_flow_put_xml(p->out, gt_flow_stream_name(p->flow, kind, spot->stream), NAME_MOST);
		fputs("</text>\n", p->out);
	}
}

static void put_chart(const struct picture *p, unsigned kind, double x, double top)
{
	const struct gt_flow_graph *graph = &p->flow->graphs[kind];
	double y = top + 190;
	size_t kept = gt_flow_kept(graph);
	struct spot *spots;

	fprintf(p->out,
		"<text x=\"%.0f\" y=\"%.0f\" font-size=\"13\" font-weight=\"600\">How alike the %s "
		"are</text>\n",
		x, top + 12, gt_flow_kind_names[kind]);
	fprintf(p->out, "<text x=\"%.0f\" y=\"%.0f\" font-size=\"11\">in the centre: ", x, top + 28);
	gt_flow_put_xml(p->out, gt_flow_stream_name(p->flow, kind, graph->centre), 40);
	fputs("</text>\n<g fill=\"none\" stroke=\"#ccc\">\n", p->out);
	for (int ring = 0; ring <= 4; ring++)
		fprintf(p->out, "<circle cx=\"%.0f\" cy=\"%.0f\" r=\"%d\"/>\n", x, y, 14 + 29 * ring);
	fputs("</g>\n", p->out);
	for (int ring = 1; ring <= 4; ring++)
		fprintf(p->out, "<text x=\"%.0f\" y=\"%.0f\" font-size=\"9\" fill=\"#777\">%d %%</text>\n",
			x, y + 12 + 29 * ring, 100 - 25 * ring);
	spots = gt_zeroed(kept, sizeof(*spots));
	for (size_t i = 0; i < kept; i++) {
		spots[i] = spot_at(graph, x, y, i, kept);
		put_spot(p, kind, &spots[i]);
	}
	put_names(p, kind, spots, kept);
	free(spots);
}

static void put_legend(const struct picture *p, double y)
{
	char colour[8];

	fprintf(p->out,
		"<text x=\"%d\" y=\"%.0f\" text-anchor=\"start\" font-size=\"11\">share of the streams that "
		"do this, "
		"and in that time:</text>\n",
		LEFT - 30, y + 4);
	for (int i = 0; i <= 10; i++)
		fprintf(p->out, "<rect x=\"%d\" y=\"%.0f\" width=\"16\" height=\"12\" fill=\"%s\"/>\n",
			LEFT + 310 + 16 * i, y - 6, gt_flow_colour(p->flow, i / 10.0, colour));
	fprintf(p->out,
		"<text x=\"%d\" y=\"%.0f\" text-anchor=\"end\" font-size=\"11\">0 %%</text>"
		"<text x=\"%d\" y=\"%.0f\" text-anchor=\"start\" font-size=\"11\">100 %%</text>\n",
		LEFT + 304, y + 4, LEFT + 492, y + 4);
	for (int joins = 0; p->flow->branch_count && joins < 2; joins++)
		fprintf(p->out,
			"<path d=\"M%d %.0fh34\" stroke=\"%s\" stroke-width=\"1.3\" "
			"marker-end=\"url(#to%d)\"/>"
			"<text x=\"%d\" y=\"%.0f\" text-anchor=\"start\" font-size=\"11\">%s</text>\n",
			LEFT + 560 + 300 * joins, y, colours[joins], joins, LEFT + 602 + 300 * joins, y + 4,
			joins ? "is waited for" : "creates or launches (dashed: later work)");
}

/* ---- the whole ------------------------------------------------------------------------------------ */

static double lay_out(struct picture *p, unsigned *charts)
{
	double y = TOP;

	for (unsigned k = 0; k < GT_FLOW_KINDS; k++) {
		size_t kept = gt_flow_kept(&p->flow->graphs[k]);

		gt_flow_draw_graph(&p->draws[k], &p->flow->graphs[k], p->flow->options->columns,
			     p->flow->options->rows);
		p->tops[k] = y + HEAD;
		if (!kept)
			continue;
		p->columns = p->draws[k].segment_count > p->columns ? p->draws[k].segment_count : p->columns;
		y += HEAD + (double)p->draws[k].row_count * ROW + 10;
		*charts += kept > 1;
	}
	return y;
}

void gt_flow_svg(struct gt_flow *flow, FILE *out)
{
	struct picture p = { .flow = flow, .out = out };
	unsigned charts = 0;
	double y = lay_out(&p, &charts), width = LEFT + (double)p.columns * STEP + 30, x = LEFT + 150;

	width = fmax(width, fmax(LEFT + (flow->branch_count ? 990 : 560), charts * (double)CHART + LEFT));
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" "
		"height=\"%.0f\" "
		"font-family=\"system-ui, sans-serif\" font-size=\"12\" text-anchor=\"middle\">\n"
		"<title>Flow of the program</title>\n<rect width=\"100%%\" height=\"100%%\" "
		"fill=\"#fff\"/>\n",
		width, y + 30 + (charts ? CHART - 30 : 0), width, y + 30 + (charts ? CHART - 30 : 0));
	if (flow->branch_count)
		put_arrowheads(&p);
	put_legend(&p, 20);
	for (unsigned k = 0; k < GT_FLOW_KINDS; k++)
		if (gt_flow_kept(&flow->graphs[k]))
			put_kind(&p, k);
	put_branches(&p);
	for (unsigned k = 0; k < GT_FLOW_KINDS; k++)
		for (size_t b = 0; b < p.draws[k].box_count; b++)
			put_box(&p, k, &p.draws[k].boxes[b]);
	for (unsigned k = 0; k < GT_FLOW_KINDS; k++)
		if (gt_flow_kept(&flow->graphs[k]) > 1) {
			put_chart(&p, k, x, y + 20);
			x += CHART;
		}
	fputs("</svg>\n", out);
	for (unsigned k = 0; k < GT_FLOW_KINDS; k++)
		gt_flow_draw_free(&p.draws[k]);
}
