/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A graph joined to the space that there is: neighbouring columns are joined as long as there are more than
 * fit, those in which least time is spent first; in each, members that take the same way through it are one
 * box, and beyond `rows` the boxes with the fewest members are joined.
 *
 * Limits: see graph.h.
 */
#ifndef GT_REPORT_FLOW_DRAW_H
#define GT_REPORT_FLOW_DRAW_H

#include "report/flow/graph.h"

struct gt_flow_box {
	uint32_t segment, row;
	uint32_t region, others; /* in which most time is spent, and how many more there are */
	uint32_t members;
	size_t first;				     /* in draw->members */
	double calls, time_min, time_mean, time_max; /* of `region`, mean; of all, ns */
	double work_mean;
};

struct gt_flow_edge {
	uint32_t from, to; /* boxes; GT_FLOW_NONE: the begin, the end */
	uint32_t members;
};

/* Part of a graph: some of its columns, and of its streams. */
struct gt_flow_part {
	size_t first, end;     /* columns */
	const bool *selected; /* by stream; NULL: all that are kept */
};

struct gt_flow_draw {
	const struct gt_flow_graph *graph;
	struct gt_flow_part part;
	uint32_t *segments; /* by column; GT_FLOW_NONE: not in the part */
	size_t segment_count, row_count;
	struct gt_flow_box *boxes;
	size_t box_count, box_room;
	uint32_t *members; /* streams */
	size_t member_count, member_room;
	struct gt_flow_edge *edges;
	size_t edge_count, edge_room;
	uint32_t *ways; /* [stream * segment_count + segment]: box, or GT_FLOW_NONE */
};

void gt_flow_draw_graph(struct gt_flow_draw *draw, const struct gt_flow_graph *graph, size_t segments,
		  size_t rows);
void gt_flow_draw_part(struct gt_flow_draw *draw, const struct gt_flow_graph *graph,
		       const struct gt_flow_part *part, size_t segments, size_t rows);
void gt_flow_draw_free(struct gt_flow_draw *draw);

/* The items of a box's first member: the first of them, and how many. */
size_t gt_flow_box_items(const struct gt_flow_draw *draw, const struct gt_flow_box *box, size_t *count);
/* The first item of a stream that is at this column or behind it. */
size_t gt_flow_item_at(const struct gt_flow_graph *graph, uint32_t stream, size_t column);

/* The box of a state of a stream. */
static inline uint32_t gt_flow_box_of(const struct gt_flow_draw *draw, uint32_t stream, uint32_t column)
{
	return draw->ways[stream * draw->segment_count + draw->segments[column]];
}

#endif
