/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds where a stream differs from the others: in each column of the graph its work is compared with the
 * mean of the others in the largest cluster, or of all others if that has fewer than half of the streams.
 *
 * Limits: what differs by less than the rule says is not listed.
 */
#include "config.h"

#include "report/flow/flow.h"

#include <math.h>

static bool is_other(const struct gt_flow_graph *graph, uint32_t other, uint32_t stream)
{
	uint32_t largest = graph->streams[graph->centre].cluster;

	return other != stream && graph->streams[other].kept &&
	       (graph->streams[other].cluster == largest ||
		2 * graph->clusters[largest].members < gt_flow_kept(graph));
}

/* Adds what a stream does at one column. */
struct sums {
	double work, calls, time;
	uint32_t count;
};

static void add(struct sums *sums, const struct gt_flow_item *item)
{
	sums->work += item->work;
	sums->calls += item->calls;
	sums->time += item->time;
	sums->count++;
}

/* States of one region at a column were one state before their durations were compared. */
static bool compare(const struct gt_flow_graph *graph, uint32_t column, uint32_t region, uint32_t stream,
		    uint32_t others, struct gt_flow_difference *d)
{
	struct sums mine = { .count = 0 }, theirs = { .count = 0 };
	bool same = false;

	*d = (struct gt_flow_difference){ .state = GT_FLOW_NONE, .region = region, .others = others };
	for (uint32_t s = graph->columns[column]; s != GT_FLOW_NONE; s = graph->states[s].sibling) {
		uint32_t with = 0;
		bool here = false;

		if (graph->states[s].region != region)
			continue;
		for (size_t i = 0; i < graph->states[s].members; i++) {
			const struct gt_flow_member *m = &graph->members[graph->states[s].first + i];
			const struct gt_flow_stream *of = &graph->streams[m->stream];

			if (m->stream == stream)
				add(&mine, &of->items[m->item]), d->state = s, here = true;
			else if (is_other(graph, m->stream, stream))
				add(&theirs, &of->items[m->item]), with++;
		}
		same |= here && 2 * with >= others;
	}
	d->calls = mine.calls;
	d->work = mine.work;
	d->time = mine.time;
	if (others && theirs.count) {
		d->other_calls = theirs.calls / theirs.count;
		d->other_work = theirs.work / others;
		d->other_time = theirs.time / theirs.count;
	}
	if (same || (!mine.count && 2 * theirs.count < others))
		return false;
	return (mine.count != 0) != (2 * theirs.count >= others) ||
	       gt_flow_differ(&graph->rule, (uint64_t)mine.work, (uint64_t)d->other_work);
}

static double size_of(const struct gt_flow_difference *d)
{
	return fabs(d->work - d->other_work);
}

/* Keeps the largest ones, sorted. */
static size_t insert(struct gt_flow_difference *differences, size_t count, size_t most,
		     const struct gt_flow_difference *d)
{
	size_t at = count;

	while (at && size_of(&differences[at - 1]) < size_of(d))
		at--;
	if (at == most)
		return count;
	count += count < most;
	for (size_t i = count - 1; i > at; i--)
		differences[i] = differences[i - 1];
	differences[at] = *d;
	return count;
}

size_t gt_flow_differences(const struct gt_flow_graph *graph, uint32_t stream,
			   struct gt_flow_difference *differences, size_t most)
{
	uint32_t others = 0;
	size_t count = 0;

	for (size_t i = 0; i < graph->count; i++)
		others += is_other(graph, (uint32_t)i, stream);
	for (uint32_t c = 0; others && c < graph->column_count; c++)
		for (uint32_t s = graph->columns[c], before; s != GT_FLOW_NONE;
		     s = graph->states[s].sibling) {
			struct gt_flow_difference d;

			for (before = graph->columns[c];
			     before != s && graph->states[before].region != graph->states[s].region;)
				before = graph->states[before].sibling;
			if (before == s && compare(graph, c, graph->states[s].region, stream, others, &d))
				count = insert(differences, count, most, &d);
		}
	return count;
}

double gt_flow_longer(const struct gt_flow_graph *graph, uint32_t stream)
{
	double work = 0;
	uint32_t others = 0;

	for (size_t i = 0; i < graph->count; i++)
		if (is_other(graph, (uint32_t)i, stream))
			work += graph->streams[i].work, others++;
	return others ? graph->streams[stream].work - work / others : 0;
}
