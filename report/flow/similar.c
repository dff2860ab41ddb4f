/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups similar streams: clusters, each represented by its longest stream, and an order that has alike
 * ones beside each other. Each stream is compared with the leaders of clusters alone.
 *
 * Limits: see graph.h.
 */
#include "config.h"

#include "report/flow/graph.h"

static uint32_t column_of(const struct gt_flow_graph *graph, const struct gt_flow_item *item)
{
	return graph->states[item->state].column;
}

double gt_flow_similarity(const struct gt_flow_graph *graph, uint32_t a, uint32_t b)
{
	const struct gt_flow_stream *x = &graph->streams[a], *y = &graph->streams[b];
	double states = 0, work = 0;
	size_t i = 0, j = 0;

	while (i < x->count && j < y->count) {
		uint32_t at = column_of(graph, &x->items[i]), other = column_of(graph, &y->items[j]);

		if (at == other && x->items[i].state == y->items[j].state) {
			states += 2;
			work += x->items[i].work + y->items[j].work;
		}
		i += at <= other;
		j += other <= at;
	}
	states = x->count + y->count ? states / (double)(x->count + y->count) : 1;
	work = x->work + y->work > 0 ? work / (x->work + y->work) : states;
	return work < states ? work : states;
}

static const struct gt_flow_graph *sorted; /* by qsort() */

static int by_length(const void *a, const void *b)
{
	const struct gt_flow_stream *x = &sorted->streams[*(const uint32_t *)a];
	const struct gt_flow_stream *y = &sorted->streams[*(const uint32_t *)b];

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Clusters by size, largest first; in one, by likeness to what represents all. */
static int by_cluster(const void *a, const void *b)
{
	const struct gt_flow_stream *x = &sorted->streams[*(const uint32_t *)a];
	const struct gt_flow_stream *y = &sorted->streams[*(const uint32_t *)b];
	const struct gt_flow_cluster *of_x = &sorted->clusters[x->cluster];
	const struct gt_flow_cluster *of_y = &sorted->clusters[y->cluster];

	if (x->kept != y->kept)
		return x->kept ? -1 : 1;
	if (of_x != of_y && of_x->members != of_y->members)
		return of_x->members > of_y->members ? -1 : 1;
	if (of_x != of_y)
		return of_x < of_y ? -1 : 1;
	if (x->alike < y->alike || x->alike > y->alike)
		return x->alike > y->alike ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void join(struct gt_flow_graph *graph, uint32_t stream)
{
	double best = graph->similar > 0 ? graph->similar : 0.9;
	size_t of = graph->cluster_count;

	for (size_t c = 0; c < graph->cluster_count; c++) {
		double alike = gt_flow_similarity(graph, stream, graph->clusters[c].leader);

		if (alike < best || (of < graph->cluster_count && alike <= best))
			continue;
		best = alike;
		of = c;
	}
	if (of == graph->cluster_count)
		graph->clusters[graph->cluster_count++] = (struct gt_flow_cluster){ .leader = stream };
	graph->clusters[of].members++;
	graph->streams[stream].cluster = (uint32_t)of;
}

/* How many states, summed over all others, a stream and the others do not have together, but for a constant.
 */
static double distance(const struct gt_flow_graph *graph, uint32_t stream, size_t kept)
{
	const struct gt_flow_stream *s = &graph->streams[stream];
	double sum = 0;

	for (size_t i = 0; i < s->count; i++)
		sum += (double)kept - 2 * (double)graph->states[s->items[i].state].members;
	return sum;
}

/* Finds the stream of the largest cluster that is nearest to all others. */
static void find_centre(struct gt_flow_graph *graph)
{
	size_t largest = 0, kept = 0;
	double best = 0, away;
	bool any = false;

	for (size_t c = 0; c < graph->cluster_count; c++) {
		kept += graph->clusters[c].members;
		if (graph->clusters[c].members > graph->clusters[largest].members)
			largest = c;
	}
	for (size_t i = 0; i < graph->count; i++) {
		if (!graph->streams[i].kept || graph->streams[i].cluster != largest)
			continue;
		away = distance(graph, (uint32_t)i, kept);
		if (any && away >= best)
			continue;
		best = away;
		any = true;
		graph->centre = (uint32_t)i;
	}
}

void gt_flow_by_length(struct gt_flow_graph *graph)
{
	for (size_t i = 0; i < graph->count; i++)
		graph->order[i] = (uint32_t)i;
	sorted = graph;
	if (graph->count > 1)
		qsort(graph->order, graph->count, sizeof(*graph->order), by_length);
}

void gt_flow_make_clusters(struct gt_flow_graph *graph)
{
	uint32_t *order = graph->order;

	free(graph->clusters);
	graph->clusters = gt_flow_zeroed(graph->count, sizeof(*graph->clusters));
	graph->cluster_count = 0;
	gt_flow_by_length(graph);
	for (size_t i = 0; i < graph->count; i++)
		if (graph->streams[order[i]].kept)
			join(graph, order[i]);
	find_centre(graph);
	for (size_t i = 0; i < graph->count; i++)
		if (graph->streams[i].kept)
			graph->streams[i].alike = gt_flow_similarity(graph, graph->centre, (uint32_t)i);
	if (graph->count > 1)
		qsort(order, graph->count, sizeof(*order), by_cluster);
}
