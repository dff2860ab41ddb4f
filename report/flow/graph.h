/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parallel program flow graph of streams of one kind: their call graphs as sequences of items, aligned
 * with each other and merged into states.
 *
 *	struct gt_flow_graph graph = { .rule = ..., .shared = &set, .cut = ns, .most = 4096 };
 *
 *	gt_flow_add(&graph, &tree);             for each stream; takes over what is in the tree
 *	gt_flow_merge(&graph);
 *	gt_flow_keep(&graph, selected);         leaves out streams; states without a member go
 *
 * A state is at a column; states of one column stand for each other (a mismatch), a stream without a state
 * at a column passes by it (a gap). Streams are merged in the order of their lengths, each with the graph so
 * far: subtrees that both have first (O(a^2)), then what lies between two of them (O(a b^2)), by region. A
 * state whose members differ in their work is taken apart at last: members are in one state if no two
 * neighbours among their sorted durations differ.
 *
 * Limits: at most `most` items of a stream and four times as many columns: the cut is raised until they fit
 * (graph->cut: call paths on which no stream spends that long are part of their callers). Whether a graph
 * made of fewer streams has fewer states depends on alignments, which are heuristic (ADR 19); gt_flow_keep()
 * never adds one.
 */
#ifndef GT_REPORT_FLOW_GRAPH_H
#define GT_REPORT_FLOW_GRAPH_H

#include "report/flow/tree.h"

/* Of a stream, in the order in which they are entered: a call, or all calls at one place in a loop. */
struct gt_flow_item {
	uint64_t path;	      /* gt_flow_path() */
	uint64_t begin;	      /* of the first call, ns */
	double calls, time;   /* ns, with all that it calls */
	double own, work;     /* ns without items below it; work of it */
	uint32_t id, region;  /* node of the shared set */
	uint32_t span, depth; /* items of its subtree with itself; 0: outermost */
	uint32_t state;
};

struct gt_flow_stream {
	struct gt_flow_tree tree; /* until the merge */
	uint32_t *shared;
	uint32_t root;
	struct gt_flow_item *items;
	size_t count, room;
	double time, work; /* ns of all */
	bool kept;
	uint32_t cluster;
	double alike; /* to the centre; 0 to 1 */
};

struct gt_flow_member {
	uint32_t stream, item;
};

struct gt_flow_state {
	uint32_t region, depth, column;
	uint32_t sibling;      /* the next one of the column, or GT_FLOW_NONE */
	uint32_t known;	       /* first of graph->known */
	size_t first, members; /* in graph->members */
};

/* A subtree that a state is the beginning of. */
struct gt_flow_known {
	uint32_t id, stream, item, next;
};

struct gt_flow_cluster {
	uint32_t leader; /* the stream that represents it: its longest */
	uint32_t members;
};

struct gt_flow_graph {
	struct gt_flow_rule rule;
	struct gt_flow_set *shared;
	uint64_t cut;
	size_t most;
	double similar; /* streams are of one cluster from here on; 0: 0.9 */
	struct gt_flow_stream *streams;
	size_t count, room;
	struct gt_flow_state *states;
	size_t state_count, state_room;
	uint32_t *columns; /* the first state of each */
	size_t column_count;
	struct gt_flow_known *known;
	size_t known_count, known_room;
	struct gt_flow_member *members;
	struct gt_flow_cluster *clusters;
	size_t cluster_count;
	uint32_t centre; /* the stream of the largest cluster that is nearest to all */
	uint32_t *order; /* streams, alike ones beside each other */
	uint64_t cells;	 /* of alignments: what they cost */
};

void gt_flow_add(struct gt_flow_graph *graph, struct gt_flow_tree *tree);
void gt_flow_merge(struct gt_flow_graph *graph);
void gt_flow_keep(struct gt_flow_graph *graph, const bool *selected);
void gt_flow_graph_free(struct gt_flow_graph *graph);

/*
 * How alike two streams are: the smaller one of the shares that common states have of their states (1 less
 * the score of their alignment over the score without a match) and of their work.
 */
double gt_flow_similarity(const struct gt_flow_graph *graph, uint32_t a, uint32_t b);

static inline uint64_t gt_flow_path(uint64_t parent, uint32_t region)
{
	return (parent ^ (region + 1)) * UINT64_C(0x9e3779b97f4a7c15) + (parent >> 31) + 1;
}

/* ---- align.c ------------------------------------------------------------------------------------- */

struct gt_flow_pair {
	uint32_t a, b;
};

/*
 * Aligns two sequences so that the sum of the weights of what has no partner is least (match 0, gap -1 for
 * each unit of weight, mismatch as two gaps). `weights` may be NULL: all are 1. What is the same must weigh
 * the same. Writes the pairs in order, as many as the shorter one has at most; returns how many, adds to
 * *cells.
 */
size_t gt_flow_align(size_t a, size_t b, const uint32_t *a_weights, const uint32_t *b_weights,
		     bool (*same)(const void *user, size_t a, size_t b), const void *user,
		     struct gt_flow_pair *pairs, uint64_t *cells);

/* ---- items.c ------------------------------------------------------------------------------------- */

/* The items of all streams, of call paths on which one of them spends `cut` ns; raises the cut. */
void gt_flow_items(struct gt_flow_graph *graph);

/* ---- similar.c ----------------------------------------------------------------------------------- */

/* Sorts graph->order, longest stream first. */
void gt_flow_by_length(struct gt_flow_graph *graph);
/* Clusters, centre and order of the streams that are kept. */
void gt_flow_make_clusters(struct gt_flow_graph *graph);

#endif
