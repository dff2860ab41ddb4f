/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flow for Graphviz.
 *
 * Limits: of the states that are joined in a box, a tooltip has MOST_NAMES.
 */
#include "config.h"

#include "report/flow/flow.h"

#include <inttypes.h>

enum { MOST_NAMES = 24 };

/* Writes the states joined in a box, as its first member has them. */
static void put_content(const struct gt_flow *flow, const struct gt_flow_draw *draw,
			const struct gt_flow_box *box, FILE *out)
{
	const struct gt_flow_stream *s = &draw->graph->streams[draw->members[box->first]];
	size_t count, first = gt_flow_box_items(draw, box, &count);
	char time[32];

	for (size_t i = first; i < first + count && i < first + MOST_NAMES; i++) {
		gt_flow_put_quoted(out, gt_flow_region(flow, s->items[i].region), true);
		fprintf(out, " %s\\n", gt_flow_seconds(s->items[i].own, time));
	}
	if (count > MOST_NAMES)
		fprintf(out, "... and %zu more", count - MOST_NAMES);
}

static void put_box(const struct gt_flow *flow, unsigned kind, const struct gt_flow_draw *draw, size_t b,
		    FILE *out)
{
	const struct gt_flow_box *box = &draw->boxes[b];
	size_t kept = gt_flow_kept(draw->graph);
	char time[32], colour[8];

	fprintf(out, "\t\tg%u_%zu [label=\"", kind, b);
	gt_flow_put_quoted(out, gt_flow_region(flow, box->region), true);
	if (box->others)
		fprintf(out, " +%u", box->others);
	fprintf(out, "\\n%s", gt_flow_seconds(box->time_mean, time));
	if (box->calls > 1.5)
		fprintf(out, " x %.0f", box->calls);
	fprintf(out, "\\n%u of %zu\", fillcolor=\"%s\", tooltip=\"", box->members, kept,
		gt_flow_colour(flow, (double)box->members / (double)kept, colour));
	put_content(flow, draw, box, out);
	fputs("\"];\n", out);
}

static void put_kind(const struct gt_flow *flow, unsigned kind, const struct gt_flow_draw *draw, FILE *out)
{
	size_t kept = gt_flow_kept(draw->graph);

	char text[48];

	fprintf(out, "\tsubgraph cluster_%u {\n\t\tlabel=\"%s\";\n", kind,
		gt_flow_kind_text(kind, kept, text));
	for (size_t b = 0; b < draw->box_count; b++)
		put_box(flow, kind, draw, b, out);
	for (size_t e = 0; e < draw->edge_count; e++)
		if (draw->edges[e].from != GT_FLOW_NONE && draw->edges[e].to != GT_FLOW_NONE)
			fprintf(out, "\t\tg%u_%u -> g%u_%u [label=\"%u\", penwidth=%.1f];\n", kind,
				draw->edges[e].from, kind, draw->edges[e].to, draw->edges[e].members,
				1 + 4.0 * draw->edges[e].members / (double)kept);
	fputs("\t}\n", out);
}

static void put_links(const struct gt_flow *flow, const struct gt_flow_draw *draws, FILE *out)
{
	struct gt_flow_link *links = gt_flow_zeroed(flow->branch_count, sizeof(*links));
	size_t count = gt_flow_links(flow, draws, links);

	for (size_t i = 0; i < count; i++)
		fprintf(out,
			"\tg%u_%u -> g%u_%u [style=%s, color=\"%s\", constraint=false, "
			"edgetooltip=\"%s, %" PRIu64 " times\"];\n",
			links[i].from_kind, links[i].from, links[i].to_kind, links[i].to,
			links[i].dashed ? "dashed" : "solid", links[i].joins ? "#00798c" : "#7a5195",
			gt_branch_names[links[i].what], links[i].count);
	free(links);
}

void gt_flow_dot(struct gt_flow *flow, FILE *out)
{
	struct gt_flow_draw draws[GT_FLOW_KINDS];

	fputs("digraph flow {\n\trankdir=LR;\n\tnode [shape=box, style=filled, fontname=\"sans-serif\"];\n",
	      out);
	for (unsigned k = 0; k < GT_FLOW_KINDS; k++) {
		gt_flow_draw_graph(&draws[k], &flow->graphs[k], flow->options->columns, flow->options->rows);
		if (gt_flow_kept(&flow->graphs[k]))
			put_kind(flow, k, &draws[k], out);
	}
	put_links(flow, draws, out);
	fputs("}\n", out);
	for (unsigned k = 0; k < GT_FLOW_KINDS; k++)
		gt_flow_draw_free(&draws[k]);
}
