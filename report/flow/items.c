/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call graphs as sequences of items. Which call paths are items is decided for all streams alike, so that no
 * stream seems to lack what another one does for a moment longer.
 *
 * Limits: call paths of MOST_DEPTH regions; what is deeper is part of its caller.
 */
#include "config.h"

#include "report/flow/graph.h"

#include "lib/assemble/util/lookup.h"

enum { MOST_DEPTH = 256, MOST_VISITS = 1 << 20 };

/* A node of a stream's tree, as it is called at one place. */
struct place {
	const struct gt_flow_call *call;
	double calls, time; /* share of the node's calls and time that are at this place */
	uint64_t path;	    /* of the caller */
	uint32_t depth;
};

struct walk {
	struct gt_flow_graph *graph;
	struct gt_flow_stream *stream;
	struct gt_lookup paths;
	bool mark;     /* finds the paths; else makes items */
	bool *inside;  /* of nodes that are summed: recursion is part of the outermost call */
	size_t visits; /* of the stream: a tree that is not folded may be huge */
	bool full;
};

static void walk_calls(struct walk *w, uint32_t node, const struct place *place);

static bool on_path(struct walk *w, uint64_t path, double time)
{
	uint64_t word = path | 1;

	if (gt_lookup_find(&w->paths, word))
		return true;
	if (!w->mark || time < (double)w->graph->cut)
		return false;
	if (!gt_lookup_put(&w->paths, word, 0, 0))
		gt_no_memory();
	return true;
}

static struct gt_flow_item *add_item(struct walk *w, const struct place *place, uint32_t region)
{
	struct gt_flow_stream *s = w->stream;
	const struct gt_flow_call *call = place->call;

	s->items = gt_grown(s->items, s->count, &s->room, sizeof(*s->items));
	s->items[s->count] = (struct gt_flow_item){ .path = gt_flow_path(place->path, region),
						    .begin = call->begin,
						    .calls = (double)call->calls * place->calls,
						    .time = (double)call->time * place->time,
						    .own = (double)call->time * place->time,
						    .work = (double)call->work * place->time,
						    .id = s->shared[call->node],
						    .region = region,
						    .depth = place->depth,
						    .state = GT_FLOW_NONE };
	return &s->items[s->count++];
}

/* Subtracts the calls below an item from its own part. */
static void take_children(struct gt_flow_stream *s, size_t item)
{
	struct gt_flow_item *of = &s->items[item];

	of->span = (uint32_t)(s->count - item);
	for (size_t i = item + 1; i < s->count; i += s->items[i].span) {
		double work = 0;

		for (size_t k = i; k < i + s->items[i].span; k++)
			work += s->items[k].work;
		of->own -= s->items[i].time;
		of->work -= work;
	}
	of->own = of->own > 0 ? of->own : 0;
	of->work = of->work > 0.5 ? of->work : 0; /* shares are rounded */
}

static void walk_call(struct walk *w, const struct place *place)
{
	const struct gt_flow_set *set = &w->stream->tree.set;
	const struct gt_flow_node *node = &set->nodes[place->call->node];
	struct place below = {
		.calls = node->count ? place->calls * (double)place->call->calls / (double)node->count : 0,
		.path = place->path,
		.depth = place->depth
	};
	bool summed = node->region < w->stream->tree.sum_room && w->stream->tree.sums[node->region];
	size_t item = w->stream->count;

	if (w->inside[place->call->node])
		return;
	below.time = node->time ? place->time * (double)place->call->time / (double)node->time : below.calls;
	if (node->region == GT_FLOW_LOOP) {
		walk_calls(w, place->call->node, &below);
		return;
	}
	below.path = gt_flow_path(place->path, node->region);
	if (!on_path(w, below.path, (double)place->call->time * place->time))
		return;
	w->full |= w->stream->count >= w->graph->most || w->visits++ > MOST_VISITS;
	if (w->full)
		return;
	if (!w->mark)
		add_item(w, place, node->region);
	w->inside[place->call->node] = summed;
	if (++below.depth < MOST_DEPTH)
		walk_calls(w, place->call->node, &below);
	w->inside[place->call->node] = false;
	if (!w->mark)
		take_children(w->stream, item);
}

static void walk_calls(struct walk *w, uint32_t node, const struct place *place)
{
	const struct gt_flow_set *set = &w->stream->tree.set;
	struct place at = *place;

	for (uint32_t i = 0; i < set->nodes[node].children && !w->full; i++) {
		at.call = &set->calls[set->nodes[node].first + i];
		walk_call(w, &at);
	}
}

static void walk_all(struct walk *w)
{
	for (size_t i = 0; i < w->graph->count && !w->full; i++) {
		w->stream = &w->graph->streams[i];
		w->stream->count = w->visits = 0;
		w->inside = gt_flow_zeroed(w->stream->tree.set.count, sizeof(*w->inside));
		walk_calls(w, w->stream->root, &(struct place){ .calls = 1, .time = 1 });
		free(w->inside);
	}
}

void gt_flow_items(struct gt_flow_graph *graph)
{
	struct walk w = { .graph = graph, .full = true };

	while (w.full) {
		if (gt_lookup_init(&w.paths))
			gt_no_memory();
		w.full = false;
		w.mark = true;
		walk_all(&w);
		w.mark = false;
		walk_all(&w);
		free(w.paths.entries);
		if (w.full)
			graph->cut = 2 * graph->cut + graph->rule.floor / 64 + 1;
	}
	for (size_t i = 0; i < graph->count; i++) {
		struct gt_flow_stream *s = &graph->streams[i];

		s->time = s->work = 0;
		for (size_t k = 0; k < s->count; k++) {
			s->time += s->items[k].own;
			s->work += s->items[k].work;
		}
	}
}
