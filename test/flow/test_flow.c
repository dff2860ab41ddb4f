/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of report/flow/: alignments against a naive implementation, and what must hold of any graph, on
 * random streams.
 *
 * Limits: GT_THOROUGH=1 takes more of them, GT_SEED=N others.
 */
#include "report/flow/graph.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t dice_state;

static uint32_t dice(uint32_t sides)
{
	dice_state = dice_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(dice_state >> 33) % sides;
}

static unsigned turns(unsigned usual)
{
	const char *seed = getenv("GT_SEED");

	dice_state = seed ? strtoull(seed, NULL, 10) : 1;
	return getenv("GT_THOROUGH") ? 20 * usual : usual;
}

/* ---- alignments ---------------------------------------------------------------------------------- */

struct words {
	uint32_t a[16], b[16];
	size_t n, m;
};

static bool same_word(const void *user, size_t a, size_t b)
{
	const struct words *w = user;

	return w->a[a] == w->b[b];
}

/* Every way to align what is left, without a table. */
static unsigned naive(const struct words *w, size_t i, size_t j)
{
	unsigned a, b;

	if (i == w->n || j == w->m) {
		unsigned rest = 0;

		for (; i < w->n; i++)
			rest += w->a[i];
		for (; j < w->m; j++)
			rest += w->b[j];
		return rest;
	}
	a = w->a[i] + naive(w, i + 1, j);
	b = w->b[j] + naive(w, i, j + 1);
	b = b < a ? b : a;
	if (w->a[i] != w->b[j])
		return b;
	a = naive(w, i + 1, j + 1);
	return a < b ? a : b;
}

/* What the pairs leave over; fails if they cross, or pair what is not the same. */
static unsigned left_over(const struct words *w, const struct gt_flow_pair *pairs, size_t count)
{
	unsigned left = 0;

	for (size_t i = 0; i < w->n; i++)
		left += w->a[i];
	for (size_t i = 0; i < w->m; i++)
		left += w->b[i];
	for (size_t i = 0; i < count; i++) {
		cr_assert(w->a[pairs[i].a] == w->b[pairs[i].b]);
		cr_assert(!i || (pairs[i].a > pairs[i - 1].a && pairs[i].b > pairs[i - 1].b));
		left -= 2 * w->a[pairs[i].a];
	}
	return left;
}

/* A word weighs as much as its number. */
Test(align, is_what_a_naive_one_finds)
{
	for (unsigned turn = turns(3000); turn; turn--) {
		struct words w = { .n = dice(9), .m = dice(9) };
		struct gt_flow_pair pairs[16];
		uint32_t letters = 1 + dice(5);
		uint64_t cells = 0;

		for (size_t i = 0; i < 16; i++)
			w.a[i] = 1 + dice(letters), w.b[i] = 1 + dice(letters);
		cr_assert_eq(left_over(&w, pairs,
				       gt_flow_align(w.n, w.m, w.a, w.b, same_word, &w, pairs, &cells)),
			     naive(&w, 0, 0));
		cr_assert_leq(cells, w.n * w.m);
	}
}

/* ---- streams -------------------------------------------------------------------------------------- */

enum { MOST_WORDS = 400 };

/* A program: enters (region) and leaves (0), with the time since the event before. */
struct program {
	uint32_t regions[MOST_WORDS], times[MOST_WORDS];
	size_t count;
};

static void add_event(struct program *p, uint32_t region, uint32_t time)
{
	cr_assert_lt(p->count, MOST_WORDS);
	p->regions[p->count] = region;
	p->times[p->count++] = time;
}

static void add_calls(struct program *p, uint32_t depth, uint32_t regions)
{
	for (uint32_t n = 1 + dice(4); n && p->count < MOST_WORDS - 40; n--) {
		uint32_t turns = dice(4) ? 1 : 1 + dice(5), region = 1 + dice(regions);

		for (; turns && p->count < MOST_WORDS - 40; turns--) {
			add_event(p, region, dice(3) ? 10 : 10 + dice(30));
			if (depth < 3 && dice(2))
				add_calls(p, depth + 1, regions);
			add_event(p, 0, 1 + dice(100));
		}
	}
}

/* Another program that is much like it: some calls are longer, other, or missing. */
static void vary(struct program *to, const struct program *from, uint32_t often)
{
	uint32_t leaf;

	to->count = 0;
	for (size_t i = 0; i < from->count; i++) {
		leaf = i + 1 < from->count && from->regions[i] && !from->regions[i + 1];
		if (leaf && !dice(often)) {
			if (dice(2) && to->count < MOST_WORDS - 100) {
				add_event(to, 1 + dice(9), 5);
				add_event(to, 0, 5);
			}
			i += 1;
			continue;
		}
		add_event(to, from->regions[i], from->times[i] * (dice(often) ? 1 : 3));
	}
}

static void play(struct gt_flow_tree *tree, const struct program *p)
{
	uint64_t now = 1000;

	gt_flow_start(tree, now);
	for (size_t i = 0; i < p->count; i++) {
		now += p->times[i];
		if (p->regions[i])
			gt_flow_enter(tree, p->regions[i], now);
		else
			gt_flow_leave(tree, now, false);
	}
	gt_flow_finish(tree, now);
}

static const struct gt_flow_rule rule = { 0.2, 50 };

static void add_program(struct gt_flow_graph *graph, const struct program *p)
{
	struct gt_flow_tree tree = { .rule = rule, .limit = 100000 };

	play(&tree, p);
	gt_flow_add(graph, &tree);
}

static size_t states(const struct gt_flow_graph *graph)
{
	size_t count = 0;

	for (size_t s = 0; s < graph->state_count; s++)
		count += graph->states[s].members > 0;
	return count;
}

/* The tree has all calls and all time of the program, and the graph each stream in its order. */
static void check_stream(const struct gt_flow_graph *graph, uint32_t stream, const struct program *p)
{
	const struct gt_flow_stream *s = &graph->streams[stream];
	double calls[16] = { 0 }, time = 0, all = 0;
	unsigned enters[16] = { 0 };
	size_t depth = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct gt_flow_state *state = &graph->states[s->items[i].state];

		cr_assert(state->region == s->items[i].region);
		cr_assert(!i || state->column > graph->states[s->items[i - 1].state].column);
		calls[s->items[i].region] += s->items[i].calls;
		time += s->items[i].own;
	}
	for (size_t i = 0; i < p->count; i++) {
		all += depth ? p->times[i] : 0;
		depth += p->regions[i] ? 1 : -1ul;
		enters[p->regions[i]]++;
	}
	for (unsigned r = 1; r < 16; r++)
		cr_assert_float_eq(calls[r], enters[r], 0.001, "region %u: %g calls of %u", r, calls[r],
				   enters[r]);
	cr_assert_float_eq(time, all, 0.5 + all / 1e6, "%g ns of %g", time, all);
}

struct family {
	struct program programs[8];
	struct gt_flow_set set;
	struct gt_flow_graph graph;
};

static struct family *make_family(uint32_t count, bool identical, uint32_t leave_out)
{
	static struct family f;

	gt_flow_graph_free(&f.graph);
	gt_flow_set_free(&f.set);
	f.graph = (struct gt_flow_graph){ .rule = rule, .shared = &f.set, .most = 4096 };
	if (leave_out == GT_FLOW_NONE) {
		f.programs[0].count = 0;
		add_calls(&f.programs[0], 0, 2 + dice(8));
		for (uint32_t i = 1; i < count; i++)
			if (identical)
				f.programs[i] = f.programs[0];
			else
				vary(&f.programs[i], &f.programs[dice(i)], 2 + dice(20));
	}
	for (uint32_t i = 0; i < count; i++)
		if (i != leave_out)
			add_program(&f.graph, &f.programs[i]);
	gt_flow_merge(&f.graph);
	return &f;
}

Test(graph, has_every_stream_in_its_order)
{
	for (unsigned turn = turns(1500); turn; turn--) {
		uint32_t count = 1 + dice(8);
		struct family *f = make_family(count, false, GT_FLOW_NONE);

		for (uint32_t i = 0; i < count; i++)
			check_stream(&f->graph, i, &f->programs[i]);
	}
}

Test(graph, of_identical_streams_is_a_chain)
{
	for (unsigned turn = turns(2000); turn; turn--) {
		uint32_t count = 1 + dice(8);
		const struct gt_flow_graph *graph = &make_family(count, true, GT_FLOW_NONE)->graph;

		cr_assert_eq(graph->state_count, graph->column_count);
		cr_assert_eq(graph->state_count, graph->streams[0].count);
		for (size_t s = 0; s < graph->state_count; s++)
			cr_assert_eq(graph->states[s].members, count);
		cr_assert_eq(graph->cluster_count, 1);
		for (uint32_t i = 0; i < count; i++)
			cr_assert_eq(graph->streams[i].alike, 1.0);
	}
}

/* Those of an archive (gputrace flow -l): never. Without the stream alignments may be others (ADR 19):
 * seldom. */
Test(graph, of_fewer_streams_has_no_more_states)
{
	unsigned more = 0, all = 0;

	for (unsigned turn = turns(2000); turn; turn--) {
		uint32_t count = 2 + dice(7);
		struct family *f = make_family(count, false, GT_FLOW_NONE);
		bool kept[8] = { 0 };
		size_t before = states(&f->graph), whole = before;

		for (uint32_t i = 0; i < count; i++)
			kept[i] = true;
		for (uint32_t left = count; left > 1; left--) {
			uint32_t gone = dice(count);

			while (!kept[gone])
				gone = (gone + 1) % count;
			kept[gone] = false;
			gt_flow_keep(&f->graph, kept);
			cr_assert_leq(states(&f->graph), before);
			before = states(&f->graph);
		}
		/* And if the archive never had it? */
		f = make_family(count, false, dice(count));
		more += states(&f->graph) > whole;
		all++;
	}
	printf("# made anew without one of them, %u of %u graphs have more states\n", more, all);
	cr_assert_leq(more, all / 10);
}

Test(graph, of_two_streams_is_symmetric_in_its_similarity)
{
	for (unsigned turn = turns(500); turn; turn--) {
		const struct gt_flow_graph *graph = &make_family(5, false, GT_FLOW_NONE)->graph;

		for (uint32_t a = 0; a < 5; a++)
			for (uint32_t b = 0; b < 5; b++) {
				double alike = gt_flow_similarity(graph, a, b);

				cr_assert_float_eq(alike, gt_flow_similarity(graph, b, a), 1e-12);
				cr_assert(alike >= 0 && alike <= 1);
				cr_assert(a != b || alike == 1);
			}
	}
}

/* Ten streams of which one takes longer at one place: that one, and there. */
Test(graph, shows_the_one_that_is_slower)
{
	for (unsigned turn = turns(300); turn; turn--) {
		struct program p = { .count = 0 };
		struct gt_flow_set set = { .count = 0 };
		struct gt_flow_graph graph = { .rule = { 0.2, 20 }, .shared = &set, .most = 4096 };
		uint32_t slow = dice(10), where = dice(20);
		size_t found = 0;

		for (uint32_t i = 0; i < 20; i++) {
			add_event(&p, 1 + i % 3, 5);
			add_event(&p, 4 + i % 5, 5);
			add_event(&p, 0, 100);
			add_event(&p, 0, 5);
		}
		for (uint32_t i = 0; i < 10; i++) {
			p.times[4 * where + 2] = i == slow ? 300 : 100;
			add_program(&graph, &p);
		}
		gt_flow_merge(&graph);
		for (size_t s = 0; s < graph.state_count; s++) {
			if (graph.states[s].members == 10)
				continue;
			found++;
			cr_assert(graph.states[s].members == 1 || graph.states[s].members == 9);
			cr_assert(graph.states[s].members == 9 ||
				  graph.members[graph.states[s].first].stream == slow);
			cr_assert_eq(graph.states[s].region, 4 + where % 5);
		}
		cr_assert_eq(found, 2);
		gt_flow_graph_free(&graph);
		gt_flow_set_free(&set);
	}
}

/* ---- memory --------------------------------------------------------------------------------------- */

Test(tree, folds_a_million_events_of_a_loop)
{
	struct gt_flow_tree tree = { .rule = { 0.5, 1000000 }, .limit = 4096 };
	uint64_t now = 0;

	gt_flow_enter(&tree, 1, now);
	for (unsigned i = 0; i < 100000; i++) {
		static const uint32_t body[] = { 2, 3, 3, 4, 3 };

		for (unsigned k = 0; k < 5; k++) {
			gt_flow_enter(&tree, body[k], now += 3);
			gt_flow_leave(&tree, now += 10 + dice(5), false);
		}
	}
	gt_flow_leave(&tree, now, false);
	gt_flow_finish(&tree, now);
	cr_assert_lt(tree.set.count + tree.set.call_count, 40);
	cr_assert_eq(tree.small, 0);
	gt_flow_tree_free(&tree);
}

Test(tree, stays_in_its_limit)
{
	for (unsigned turn = turns(3); turn; turn--) {
		struct gt_flow_tree tree = { .rule = { 0.2, 100 }, .limit = 1024 + dice(1000) };
		uint64_t now = 0;

		gt_flow_start(&tree, now);
		for (unsigned i = 0, depth = 0; i < 300000; i++) {
			now += dice(5) ? dice(20) : dice(5000);
			if (depth < 2 || (depth < 30 && dice(2)))
				gt_flow_enter(&tree, 1 + dice(50), now), depth++;
			else
				gt_flow_leave(&tree, now, !dice(4)), depth--;
			cr_assert_leq(tree.set.count + tree.set.call_count + tree.open_count, tree.limit);
		}
		gt_flow_finish(&tree, now);
		cr_assert(tree.small || tree.sum_count);
		cr_assert_eq(tree.set.nodes[tree.set.count - 1].time, now);
		gt_flow_tree_free(&tree);
	}
}
