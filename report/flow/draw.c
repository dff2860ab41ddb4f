/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Joining a graph to the space that there is.
 *
 * Limits: see draw.h.
 */
#include "config.h"

#include "report/flow/draw.h"

#include <string.h>

#include "lib/assemble/util/lookup.h"

static bool has(const struct gt_flow_draw *draw, size_t stream)
{
	return draw->graph->streams[stream].kept && (!draw->part.selected || draw->part.selected[stream]);
}

/* ---- columns -------------------------------------------------------------------------------------- */

/* The most time that a stream spends in a column; negative: nobody is there any more. */
static double column_time(const struct gt_flow_draw *draw, size_t column)
{
	const struct gt_flow_graph *graph = draw->graph;
	double most = -1;

	for (uint32_t s = graph->columns[column]; s != GT_FLOW_NONE; s = graph->states[s].sibling)
		for (size_t i = 0; i < graph->states[s].members; i++) {
			const struct gt_flow_member *m = &graph->members[graph->states[s].first + i];
			double own = graph->streams[m->stream].items[m->item].own;

			most = own > most && has(draw, m->stream) ? own : most;
		}
	return most;
}

/* Joins the two neighbours that take least; times[] of `count` runs of columns, ends[] where they end. */
static size_t join_shortest(double *times, uint32_t *ends, size_t count)
{
	size_t best = 0;

	for (size_t i = 1; i + 1 < count; i++)
		if (times[i] + times[i + 1] < times[best] + times[best + 1])
			best = i;
	times[best] += times[best + 1];
	memmove(times + best + 1, times + best + 2, (count - best - 2) * sizeof(*times));
	memmove(ends + best, ends + best + 1, (count - best - 1) * sizeof(*ends));
	return count - 1;
}

static void join_columns(struct gt_flow_draw *draw, size_t most)
{
	const struct gt_flow_graph *graph = draw->graph;
	double *times = gt_flow_zeroed(graph->column_count, sizeof(*times));
	uint32_t *ends = gt_flow_zeroed(graph->column_count, sizeof(*ends));
	const struct gt_flow_part *part = &draw->part;
	size_t count = 0;

	for (size_t c = part->first; c < part->end; c++) {
		double time = column_time(draw, c);

		if (time < 0 && count) {
			ends[count - 1] = (uint32_t)c + 1;
			continue;
		}
		times[count] = time < 0 ? 0 : time;
		ends[count++] = (uint32_t)c + 1;
	}
	while (count > most && count > 1)
		count = join_shortest(times, ends, count);
	for (size_t c = 0; c < graph->column_count; c++)
		draw->segments[c] = GT_FLOW_NONE;
	for (size_t c = part->first, s = 0; c < part->end; c++) {
		s += c >= ends[s];
		draw->segments[c] = (uint32_t)s;
	}
	draw->segment_count = count;
	free(times);
	free(ends);
}

/* ---- boxes ---------------------------------------------------------------------------------------- */

struct way {
	uint64_t states; /* hash of those that a stream has in the segment */
	uint32_t stream, size;
};

static int by_states(const void *a, const void *b)
{
	const struct way *x = a, *y = b;

	if (x->states != y->states)
		return x->states < y->states ? -1 : 1;
	return x->stream < y->stream ? -1 : x->stream > y->stream;
}

static int by_size(const void *a, const void *b)
{
	const struct way *x = a, *y = b;

	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return by_states(a, b);
}

/* Which items of each stream are in the segment: a range, since columns grow. */
static size_t segment_end(const struct gt_flow_draw *draw, const struct gt_flow_stream *s, size_t item,
			  size_t segment)
{
	const struct gt_flow_graph *graph = draw->graph;

	while (item < s->count && draw->segments[graph->states[s->items[item].state].column] == segment)
		item++;
	return item;
}

size_t gt_flow_box_items(const struct gt_flow_draw *draw, const struct gt_flow_box *box, size_t *count)
{
	const struct gt_flow_stream *s = &draw->graph->streams[draw->members[box->first]];
	size_t first = 0;

	while (draw->segments[draw->graph->states[s->items[first].state].column] < box->segment)
		first++;
	*count = segment_end(draw, s, first, box->segment) - first;
	return first;
}

static void measure(const struct gt_flow_draw *draw, struct gt_flow_box *box, const size_t *begins,
		    const size_t *ends)
{
	double best = -1, calls = 0, regions = 0;
	uint32_t with = 0;

	for (uint32_t i = 0; i < box->members; i++) {
		uint32_t stream = draw->members[box->first + i];
		const struct gt_flow_stream *s = &draw->graph->streams[stream];
		double time = 0, work = 0;

		for (size_t k = begins[stream]; k < ends[stream]; k++) {
			time += s->items[k].own;
			work += s->items[k].work;
			if (s->items[k].own > best)
				box->region = s->items[k].region, best = s->items[k].own;
		}
		regions += (double)(ends[stream] - begins[stream]);
		box->time_min = !i || time < box->time_min ? time : box->time_min;
		box->time_max = time > box->time_max ? time : box->time_max;
		box->time_mean += time / box->members;
		box->work_mean += work / box->members;
	}
	for (uint32_t i = 0; i < box->members; i++) {
		uint32_t stream = draw->members[box->first + i];
		const struct gt_flow_stream *s = &draw->graph->streams[stream];

		for (size_t k = begins[stream]; k < ends[stream]; k++)
			if (s->items[k].region == box->region)
				calls += s->items[k].calls, with++;
	}
	box->others = (uint32_t)(regions / box->members) - (regions >= box->members);
	box->calls = with ? calls / box->members : 0;
}

static void add_box(struct gt_flow_draw *draw, const struct way *ways, size_t count, size_t segment,
		    uint32_t row)
{
	struct gt_flow_box *box;

	draw->boxes = gt_grown(draw->boxes, draw->box_count, &draw->box_room, sizeof(*draw->boxes));
	box = &draw->boxes[draw->box_count];
	*box = (struct gt_flow_box){ .segment = (uint32_t)segment,
				     .row = row,
				     .members = (uint32_t)count,
				     .first = draw->member_count };
	for (size_t i = 0; i < count; i++) {
		draw->members = gt_grown(draw->members, draw->member_count, &draw->member_room,
					 sizeof(*draw->members));
		draw->members[draw->member_count++] = ways[i].stream;
		draw->ways[ways[i].stream * draw->segment_count + segment] = (uint32_t)draw->box_count;
	}
	draw->box_count++;
	if (row >= draw->row_count)
		draw->row_count = row + 1;
}

/* Runs of the same way, largest first; the last row has all that are left. */
static void add_boxes(struct gt_flow_draw *draw, struct way *ways, size_t count, size_t segment, size_t rows)
{
	uint32_t row = 0;

	if (count > 1)
		qsort(ways, count, sizeof(*ways), by_states);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && ways[end].states == ways[i].states; end++)
			;
		for (size_t k = i; k < end; k++)
			ways[k].size = (uint32_t)(end - i);
	}
	if (count > 1)
		qsort(ways, count, sizeof(*ways), by_size);
	for (size_t i = 0, end; i < count; i = end, row++) {
		for (end = i + 1; end < count && (row + 1 == rows || ways[end].states == ways[i].states);
		     end++)
			;
		add_box(draw, ways + i, end - i, segment, row);
	}
}

static void make_boxes(struct gt_flow_draw *draw, size_t rows)
{
	const struct gt_flow_graph *graph = draw->graph;
	struct way *ways = gt_flow_zeroed(graph->count, sizeof(*ways));
	size_t *begins = gt_flow_zeroed(graph->count, sizeof(*begins));
	size_t *ends = gt_flow_zeroed(graph->count, sizeof(*ends));

	for (size_t i = 0; i < graph->count; i++)
		ends[i] = gt_flow_item_at(graph, (uint32_t)i, draw->part.first);
	for (size_t segment = 0; segment < draw->segment_count; segment++) {
		size_t count = 0, box = draw->box_count;

		for (size_t i = 0; i < graph->count; i++) {
			const struct gt_flow_stream *s = &graph->streams[i];

			begins[i] = ends[i];
			ends[i] = has(draw, i) ? segment_end(draw, s, begins[i], segment) : begins[i];
			if (begins[i] == ends[i])
				continue;
			ways[count] = (struct way){ GT_HASH_START, (uint32_t)i, 0 };
			for (size_t k = begins[i]; k < ends[i]; k++)
				ways[count].states = gt_hash_mix(ways[count].states, s->items[k].state);
			count++;
		}
		add_boxes(draw, ways, count, segment, rows);
		for (; box < draw->box_count; box++)
			measure(draw, &draw->boxes[box], begins, ends);
	}
	free(ways);
	free(begins);
	free(ends);
}

/* ---- edges ---------------------------------------------------------------------------------------- */

static int by_ends(const void *a, const void *b)
{
	const struct gt_flow_edge *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

static void add_edge(struct gt_flow_draw *draw, uint32_t from, uint32_t to)
{
	draw->edges = gt_grown(draw->edges, draw->edge_count, &draw->edge_room, sizeof(*draw->edges));
	draw->edges[draw->edge_count++] = (struct gt_flow_edge){ from, to, 1 };
}

static void make_edges(struct gt_flow_draw *draw)
{
	size_t count = 0;

	for (size_t i = 0; i < draw->graph->count; i++) {
		uint32_t from = GT_FLOW_NONE;

		if (!has(draw, i))
			continue;
		for (size_t s = 0; s < draw->segment_count; s++) {
			uint32_t to = draw->ways[i * draw->segment_count + s];

			if (to == GT_FLOW_NONE)
				continue;
			add_edge(draw, from, to);
			from = to;
		}
		add_edge(draw, from, GT_FLOW_NONE);
	}
	if (draw->edge_count > 1)
		qsort(draw->edges, draw->edge_count, sizeof(*draw->edges), by_ends);
	for (size_t i = 0; i < draw->edge_count; i++) {
		if (count && !by_ends(&draw->edges[count - 1], &draw->edges[i]))
			draw->edges[count - 1].members++;
		else
			draw->edges[count++] = draw->edges[i];
	}
	draw->edge_count = count;
}

size_t gt_flow_item_at(const struct gt_flow_graph *graph, uint32_t stream, size_t column)
{
	const struct gt_flow_stream *s = &graph->streams[stream];
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (graph->states[s->items[middle].state].column < column)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void gt_flow_draw_graph(struct gt_flow_draw *draw, const struct gt_flow_graph *graph, size_t segments,
			size_t rows)
{
	gt_flow_draw_part(draw, graph, &(struct gt_flow_part){ .end = graph->column_count }, segments, rows);
}

void gt_flow_draw_part(struct gt_flow_draw *draw, const struct gt_flow_graph *graph,
		       const struct gt_flow_part *part, size_t segments, size_t rows)
{
	*draw = (struct gt_flow_draw){ .graph = graph, .part = *part };
	draw->segments = gt_flow_zeroed(graph->column_count, sizeof(*draw->segments));
	join_columns(draw, segments);
	draw->ways = gt_flow_zeroed(graph->count * draw->segment_count, sizeof(*draw->ways));
	if (draw->ways)
		memset(draw->ways, 0xff, graph->count * draw->segment_count * sizeof(*draw->ways));
	make_boxes(draw, rows);
	make_edges(draw);
}

void gt_flow_draw_free(struct gt_flow_draw *draw)
{
	free(draw->segments);
	free(draw->boxes);
	free(draw->members);
	free(draw->edges);
	free(draw->ways);
}
