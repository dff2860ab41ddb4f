/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams merged into a graph, one after the other.
 *
 * Limits: see graph.h.
 */
#include "config.h"

#include "report/flow/graph.h"

#include <string.h>

/* One stream that is aligned with the graph. */
struct merging {
	struct gt_flow_graph *graph;
	struct gt_flow_stream *stream;
	uint32_t number;		     /* of the stream */
	unsigned char *in_graph, *in_stream; /* by id: it is there */
	struct anchor *a, *b; /* subtrees of the stream, and of the graph, that the other one has */
	uint32_t *a_weights, *b_weights;
	size_t a_count, b_count;
	size_t item, column; /* of the part between anchors that is aligned */
	struct gt_flow_pair *pairs;
	uint32_t *columns; /* as they will be */
	size_t column_count;
};

struct anchor {
	uint32_t id, span;
	uint32_t stream, item; /* where it is */
};

/* ---- states -------------------------------------------------------------------------------------- */

static uint32_t new_state(struct gt_flow_graph *graph, const struct gt_flow_item *item)
{
	graph->states =
		gt_grown(graph->states, graph->state_count, &graph->state_room, sizeof(*graph->states));
	graph->states[graph->state_count] = (struct gt_flow_state){ .region = item->region,
								    .depth = item->depth,
								    .column = GT_FLOW_NONE,
								    .sibling = GT_FLOW_NONE,
								    .known = GT_FLOW_NONE };
	return (uint32_t)graph->state_count++;
}

static void remember(struct gt_flow_graph *graph, uint32_t state, uint32_t stream, uint32_t item)
{
	uint32_t id = graph->streams[stream].items[item].id;

	for (uint32_t k = graph->states[state].known; k != GT_FLOW_NONE; k = graph->known[k].next)
		if (graph->known[k].id == id)
			return;
	graph->known = gt_grown(graph->known, graph->known_count, &graph->known_room, sizeof(*graph->known));
	graph->known[graph->known_count] =
		(struct gt_flow_known){ id, stream, item, graph->states[state].known };
	graph->states[state].known = (uint32_t)graph->known_count++;
}

static uint32_t state_of_region(const struct gt_flow_graph *graph, size_t column, uint32_t region)
{
	uint32_t state = graph->columns[column];

	while (state != GT_FLOW_NONE && graph->states[state].region != region)
		state = graph->states[state].sibling;
	return state;
}

/* ---- high level: subtrees that both have ---------------------------------------------------------- */

static void find_in_stream(struct merging *m)
{
	const struct gt_flow_item *items = m->stream->items;

	for (size_t i = 0; i < m->stream->count;) {
		if (!m->in_graph[items[i].id]) {
			i++;
			continue;
		}
		m->a_weights[m->a_count] = items[i].span;
		m->a[m->a_count++] = (struct anchor){ items[i].id, items[i].span, m->number, (uint32_t)i };
		i += items[i].span;
	}
}

/* The subtree at a column that the stream has, too: the largest one. */
static const struct gt_flow_known *known_at(const struct merging *m, size_t column)
{
	const struct gt_flow_graph *graph = m->graph;
	const struct gt_flow_known *best = NULL;
	uint32_t span = 0;

	for (uint32_t s = graph->columns[column]; s != GT_FLOW_NONE; s = graph->states[s].sibling)
		for (uint32_t k = graph->states[s].known; k != GT_FLOW_NONE; k = graph->known[k].next) {
			const struct gt_flow_known *known = &graph->known[k];

			if (!m->in_stream[known->id] ||
			    graph->streams[known->stream].items[known->item].span <= span)
				continue;
			span = graph->streams[known->stream].items[known->item].span;
			best = known;
		}
	return best;
}

static void find_in_graph(struct merging *m)
{
	const struct gt_flow_graph *graph = m->graph;

	for (size_t c = 0; c < graph->column_count; c++) {
		const struct gt_flow_known *known = known_at(m, c);
		const struct gt_flow_item *items;
		uint32_t span;

		if (!known)
			continue;
		items = graph->streams[known->stream].items;
		span = items[known->item].span;
		m->b_weights[m->b_count] = span;
		m->b[m->b_count++] = (struct anchor){ known->id, span, known->stream, known->item };
		c = graph->states[items[known->item + span - 1].state].column;
	}
}

/* A subtree may be cut differently on another path. */
static bool same_anchor(const void *user, size_t a, size_t b)
{
	const struct merging *m = user;
	const struct anchor *x = &m->a[a], *y = &m->b[b];
	const struct gt_flow_item *mine = m->stream->items + x->item;
	const struct gt_flow_item *other = m->graph->streams[y->stream].items + y->item;

	if (x->id != y->id || x->span != y->span)
		return false;
	for (uint32_t i = 0; i < x->span; i++)
		if (mine[i].region != other[i].region)
			return false;
	return true;
}

/* ---- low level: what is between them -------------------------------------------------------------- */

static bool same_region(const void *user, size_t a, size_t b)
{
	const struct merging *m = user;

	return state_of_region(m->graph, m->column + b, m->stream->items[m->item + a].region) !=
	       GT_FLOW_NONE;
}

static void align_between(struct merging *m, size_t item_end, size_t column_end, struct gt_flow_pair *pairs)
{
	size_t n = gt_flow_align(item_end - m->item, column_end - m->column, NULL, NULL, same_region, m,
				 pairs, &m->graph->cells);

	for (size_t i = 0; i < n; i++) {
		struct gt_flow_item *item = &m->stream->items[m->item + pairs[i].a];

		item->state = state_of_region(m->graph, m->column + pairs[i].b, item->region);
	}
}

static void align_stream(struct merging *m)
{
	struct gt_flow_graph *graph = m->graph;
	struct gt_flow_pair *between = gt_flow_zeroed(m->stream->count, sizeof(*between));
	size_t n;

	find_in_stream(m);
	find_in_graph(m);
	n = gt_flow_align(m->a_count, m->b_count, m->a_weights, m->b_weights, same_anchor, m, m->pairs,
			  &graph->cells);
	for (size_t i = 0; i < n; i++) {
		const struct anchor *x = &m->a[m->pairs[i].a], *y = &m->b[m->pairs[i].b];
		const struct gt_flow_item *other = graph->streams[y->stream].items + y->item;

		align_between(m, x->item, graph->states[other->state].column, between);
		for (uint32_t k = 0; k < x->span; k++)
			m->stream->items[x->item + k].state = other[k].state;
		m->item = x->item + x->span;
		m->column = graph->states[other[x->span - 1].state].column + 1;
	}
	align_between(m, m->stream->count, graph->column_count, between);
	free(between);
}

/* ---- the graph with the stream --------------------------------------------------------------------- */

static void keep_column(struct merging *m, size_t column)
{
	m->columns[m->column_count++] = m->graph->columns[column];
}

/*
 * Items and columns that have no partner. Those that stand for each other get columns of their own first, so
 * that a later stream can have both.
 */
static void add_gap(struct merging *m, size_t item, size_t item_end, size_t column, size_t column_end)
{
	while (column < column_end)
		keep_column(m, column++);
	for (; item < item_end; item++) {
		m->stream->items[item].state = new_state(m->graph, &m->stream->items[item]);
		m->columns[m->column_count++] = m->stream->items[item].state;
	}
}

static void number_columns(struct gt_flow_graph *graph)
{
	for (size_t c = 0; c < graph->column_count; c++)
		for (uint32_t s = graph->columns[c]; s != GT_FLOW_NONE; s = graph->states[s].sibling)
			graph->states[s].column = (uint32_t)c;
}

static void add_stream(struct merging *m)
{
	struct gt_flow_graph *graph = m->graph;
	size_t item = 0, column = 0;

	for (size_t i = 0; i <= m->stream->count; i++) {
		bool last = i == m->stream->count;
		size_t at;

		if (!last && m->stream->items[i].state == GT_FLOW_NONE)
			continue;
		at = last ? graph->column_count : graph->states[m->stream->items[i].state].column;
		add_gap(m, item, i, column, at);
		if (!last)
			keep_column(m, at);
		item = i + 1;
		column = at + 1;
	}
	free(graph->columns);
	graph->columns = m->columns;
	graph->column_count = m->column_count;
	number_columns(graph);
	for (size_t i = 0; i < m->stream->count; i++) {
		remember(graph, m->stream->items[i].state, m->number, (uint32_t)i);
		m->in_graph[m->stream->items[i].id] = 1;
	}
}

/* False: there would be too many columns. */
static bool merge_stream(struct gt_flow_graph *graph, uint32_t number, unsigned char *in_graph)
{
	struct gt_flow_stream *stream = &graph->streams[number];
	struct merging m = { .graph = graph, .stream = stream, .number = number, .in_graph = in_graph };
	size_t n = stream->count, c = graph->column_count;

	m.in_stream = gt_flow_zeroed(graph->shared->count, 1);
	m.a = gt_flow_zeroed(n, sizeof(*m.a));
	m.b = gt_flow_zeroed(c, sizeof(*m.b));
	m.a_weights = gt_flow_zeroed(n, sizeof(*m.a_weights));
	m.b_weights = gt_flow_zeroed(c, sizeof(*m.b_weights));
	m.pairs = gt_flow_zeroed(n, sizeof(*m.pairs));
	m.columns = gt_flow_zeroed(n + c, sizeof(*m.columns));
	for (size_t i = 0; i < n; i++)
		m.in_stream[stream->items[i].id] = 1;
	align_stream(&m);
	add_stream(&m);
	free(m.in_stream);
	free(m.a);
	free(m.b);
	free(m.a_weights);
	free(m.b_weights);
	free(m.pairs);
	return graph->column_count <= 4 * graph->most;
}

/* ---- durations ------------------------------------------------------------------------------------- */

static void list_members(struct gt_flow_graph *graph)
{
	size_t all = 0, first = 0;

	for (size_t s = 0; s < graph->state_count; s++)
		graph->states[s].members = 0;
	for (size_t i = 0; i < graph->count; i++)
		for (size_t k = 0; graph->streams[i].kept && k < graph->streams[i].count; k++, all++)
			graph->states[graph->streams[i].items[k].state].members++;
	free(graph->members);
	graph->members = gt_flow_zeroed(all, sizeof(*graph->members));
	for (size_t s = 0; s < graph->state_count; s++) {
		graph->states[s].first = first;
		first += graph->states[s].members;
		graph->states[s].members = 0;
	}
	for (size_t i = 0; i < graph->count; i++)
		for (size_t k = 0; graph->streams[i].kept && k < graph->streams[i].count; k++) {
			struct gt_flow_state *state = &graph->states[graph->streams[i].items[k].state];

			graph->members[state->first + state->members++] =
				(struct gt_flow_member){ (uint32_t)i, (uint32_t)k };
		}
}

static const struct gt_flow_graph *sorted; /* by qsort() */

static uint64_t work_of(const struct gt_flow_graph *graph, const struct gt_flow_member *member)
{
	return (uint64_t)graph->streams[member->stream].items[member->item].work;
}

static int by_work(const void *a, const void *b)
{
	uint64_t x = work_of(sorted, a), y = work_of(sorted, b);

	return x < y ? -1 : x > y;
}

/* Members behind a step among the sorted durations are in a state of their own. */
static void part_state(struct gt_flow_graph *graph, uint32_t state)
{
	struct gt_flow_member *members = graph->members + graph->states[state].first;
	size_t count = graph->states[state].members;
	uint32_t at = state;

	sorted = graph;
	if (count > 1)
		qsort(members, count, sizeof(*members), by_work);
	for (size_t i = 1; i < count; i++) {
		struct gt_flow_item *item = &graph->streams[members[i].stream].items[members[i].item];

		if (gt_flow_differ(&graph->rule, work_of(graph, &members[i - 1]),
				   work_of(graph, &members[i]))) {
			at = new_state(graph, item);
			graph->states[at].column = graph->states[state].column;
			graph->states[at].sibling = graph->states[state].sibling;
			graph->states[state].sibling = at;
		}
		item->state = at;
	}
}

/* ---- columns --------------------------------------------------------------------------------------- */

/* The first column that is behind what all members of a column were in before. */
static uint32_t level_of(const struct gt_flow_graph *graph, size_t column, const uint32_t *levels)
{
	uint32_t level = 0;

	for (uint32_t s = graph->columns[column]; s != GT_FLOW_NONE; s = graph->states[s].sibling)
		for (size_t i = 0; i < graph->states[s].members; i++) {
			const struct gt_flow_member *m = &graph->members[graph->states[s].first + i];
			const struct gt_flow_item *item = &graph->streams[m->stream].items[m->item];
			uint32_t before = m->item ? levels[graph->states[item[-1].state].column] + 1 : 0;

			level = before > level ? before : level;
		}
	return level;
}

/* Columns between which no stream passes become one: states that stand for each other. */
static void lay_out(struct gt_flow_graph *graph)
{
	uint32_t *levels = gt_flow_zeroed(graph->column_count, sizeof(*levels));
	size_t count = 0;

	for (size_t c = 0; c < graph->column_count; c++) {
		levels[c] = level_of(graph, c, levels);
		count = levels[c] >= count ? levels[c] + 1 : count;
	}
	graph->column_count = count;
	if (count)
		memset(graph->columns, 0xff, count * sizeof(*graph->columns));
	for (size_t s = graph->state_count; s-- > 0;) {
		struct gt_flow_state *state = &graph->states[s];

		state->column = levels[state->column];
		state->sibling = graph->columns[state->column];
		graph->columns[state->column] = (uint32_t)s;
	}
	free(levels);
}

/* ---- the whole ------------------------------------------------------------------------------------- */

void gt_flow_add(struct gt_flow_graph *graph, struct gt_flow_tree *tree)
{
	struct gt_flow_stream *stream;

	graph->streams = gt_grown(graph->streams, graph->count, &graph->room, sizeof(*graph->streams));
	stream = &graph->streams[graph->count++];
	*stream = (struct gt_flow_stream){ .tree = *tree, .kept = true };
	memset(tree, 0, sizeof(*tree));
}

static bool merge_all(struct gt_flow_graph *graph)
{
	unsigned char *in_graph = gt_flow_zeroed(graph->shared->count, 1);
	bool fits = true;

	graph->state_count = graph->column_count = graph->known_count = 0;
	gt_flow_items(graph);
	gt_flow_by_length(graph);
	for (size_t i = 0; i < graph->count && fits; i++)
		fits = merge_stream(graph, graph->order[i], in_graph);
	free(in_graph);
	return fits;
}

/* Sums or omits in all trees the regions for which one tree had to. */
static void make_alike(struct gt_flow_graph *graph)
{
	for (size_t i = 1; i < graph->count; i++)
		gt_flow_like(&graph->streams[0].tree, &graph->streams[i].tree);
	for (size_t i = 0; i < graph->count; i++) {
		struct gt_flow_stream *s = &graph->streams[i];

		gt_flow_like(&s->tree, &graph->streams[0].tree);
		s->root = (uint32_t)s->tree.set.count - 1;
		s->shared = gt_flow_share(graph->shared, &s->tree);
	}
}

void gt_flow_merge(struct gt_flow_graph *graph)
{
	graph->order = gt_flow_zeroed(graph->count, sizeof(*graph->order));
	make_alike(graph);
	while (!merge_all(graph))
		graph->cut = 4 * graph->cut + graph->rule.floor / 64 + 1;
	list_members(graph);
	for (size_t s = graph->state_count; s-- > 0;)
		part_state(graph, (uint32_t)s);
	list_members(graph);
	lay_out(graph);
	for (size_t i = 0; i < graph->count; i++)
		gt_flow_tree_free(&graph->streams[i].tree);
	gt_flow_keep(graph, NULL);
}

void gt_flow_keep(struct gt_flow_graph *graph, const bool *selected)
{
	for (size_t i = 0; i < graph->count; i++)
		graph->streams[i].kept = !selected || selected[i];
	list_members(graph);
	gt_flow_make_clusters(graph);
}

void gt_flow_graph_free(struct gt_flow_graph *graph)
{
	for (size_t i = 0; i < graph->count; i++) {
		gt_flow_tree_free(&graph->streams[i].tree);
		free(graph->streams[i].shared);
		free(graph->streams[i].items);
	}
	free(graph->streams);
	free(graph->states);
	free(graph->columns);
	free(graph->known);
	free(graph->members);
	free(graph->clusters);
	free(graph->order);
}
