/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flow for Graphviz.
 *
 * Limits: names beyond 60 characters are cut.
 */
#include "config.h"

#include "report/flow/flow.h"

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
	fprintf(out, "\\n%u of %zu\", fillcolor=\"%s\"];\n", box->members, kept,
		gt_flow_colour(flow, (double)box->members / (double)kept, colour));
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

void gt_flow_dot(struct gt_flow *flow, FILE *out)
{
	struct gt_flow_draw draws[GT_FLOW_KINDS];

	fputs("digraph flow {\n\trankdir=LR;\n\tnode [shape=box, style=filled, fontname=\"sans-serif\"];\n",
	      out);
	for (unsigned k = 0; k < GT_FLOW_KINDS; k++) {
		gt_flow_draw(&draws[k], &flow->graphs[k], flow->options->columns, flow->options->rows);
		if (gt_flow_kept(&flow->graphs[k]))
			put_kind(flow, k, &draws[k], out);
	}
	for (size_t i = 0; i < flow->branch_count; i++) {
		const struct gt_flow_branch *b = &flow->branches[i];
		const struct gt_flow_place *from = &flow->places[b->from], *to = &flow->places[b->to];

		fprintf(out, "\tg%u_%u -> g%u_%u [style=%s, constraint=false];\n", from->kind,
			gt_flow_box_of(&draws[from->kind], from->stream,
				       flow->graphs[from->kind].states[b->from_state].column),
			to->kind,
			gt_flow_box_of(&draws[to->kind], to->stream,
				       flow->graphs[to->kind].states[b->to_state].column),
			b->what == GT_BRANCH_LAUNCH && !b->first ? "dashed" : "solid");
	}
	fputs("}\n", out);
	for (unsigned k = 0; k < GT_FLOW_KINDS; k++)
		gt_flow_draw_free(&draws[k]);
}
