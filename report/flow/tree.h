/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The complete call graph of one location, compressed: subtrees that are alike (same structure, durations
 * within a margin) are one node, iterations of a loop are one body.
 *
 *	struct gt_flow_tree tree = { .rule = ..., .limit = 4096 };
 *
 *	gt_flow_enter(&tree, region, time); ... gt_flow_leave(&tree, time, false);
 *	gt_flow_finish(&tree, time);            the root is the last node
 *
 * A loop is found where a sequence of up to GT_FLOW_PERIOD calls comes again; how often it does is no part
 * of its structure. Sums of calls and times are kept for each place in the structure.
 *
 * Limits: `limit` nodes and calls. Where a location has more, the region of which there are most different
 * calls is summed: all its calls are one node, with one call of each region that they call, in no order. If
 * that does not help, calls that were never longer than a threshold become part of their callers, and the
 * threshold doubles until the rest fits (tree->small). Memory that cannot be had ends the process.
 */
#ifndef GT_REPORT_FLOW_TREE_H
#define GT_REPORT_FLOW_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "lib/assemble/util/memory.h"

#define GT_FLOW_NONE (~UINT32_C(0))
#define GT_FLOW_LOOP (~UINT32_C(0) - 1) /* region of a node that is the body of a loop */
#define GT_FLOW_ROOT (~UINT32_C(0) - 2)
#define GT_FLOW_CODE (~UINT32_C(0) - 3) /* what runs between the outermost calls (tree->code) */

enum { GT_FLOW_PERIOD = 24 };

/* When two durations differ: by more than a share of the longer one, and by more than `floor` ns. */
struct gt_flow_rule {
	double margin;
	uint64_t floor;
};

/* All calls at one place in the structure. */
struct gt_flow_call {
	uint32_t node;
	bool loop;	     /* the node is one */
	uint64_t calls;	     /* of a loop: iterations */
	uint64_t time, work; /* ns; work: without waits and communication */
	uint64_t begin;	     /* of the first */
};

struct gt_flow_node {
	uint64_t hash;
	uint64_t reference;   /* work of the call that made it */
	uint64_t longest;     /* call, ns */
	uint64_t count, time; /* of all calls */
	size_t first;	      /* of its calls */
	uint32_t children, region, next;
};

struct gt_flow_set {
	struct gt_flow_node *nodes;
	size_t count, room;
	struct gt_flow_call *calls;
	size_t call_count, call_room;
	uint32_t *buckets;
	size_t bucket_count;
};

struct gt_flow_frame {
	uint32_t region;
	uint64_t begin, waited;
	size_t first; /* of its calls in `open` */
};

struct gt_flow_tree {
	struct gt_flow_rule rule;
	size_t limit;
	bool code; /* what runs between the outermost calls is a call, too */
	uint64_t code_begin, code_waited;
	uint64_t small; /* ns: shorter calls are part of their callers */
	uint32_t *sums; /* by region: 0, or its only node + 1 */
	size_t sum_room, sum_count;
	bool sum_root;
	struct gt_flow_set set;
	struct gt_flow_call *open; /* calls of open frames, one frame's behind the other's */
	size_t open_count, open_room;
	struct gt_flow_frame *frames;
	size_t depth, frame_room;
};

/* The first event of the location, if that is no enter. */
void gt_flow_start(struct gt_flow_tree *tree, uint64_t time);
void gt_flow_enter(struct gt_flow_tree *tree, uint32_t region, uint64_t time);
/* `waits`: the time of this call is no work, whatever it calls. */
void gt_flow_leave(struct gt_flow_tree *tree, uint64_t time, bool waits);
/* Time in a call that is no part of the graph, as its caller's; `begin`: when it began. */
void gt_flow_add_wait(struct gt_flow_tree *tree, uint64_t begin, uint64_t time);
void gt_flow_finish(struct gt_flow_tree *tree, uint64_t time);
/* Sums what another tree sums, and leaves out what it leaves out, so that both can be compared. */
void gt_flow_like(struct gt_flow_tree *tree, const struct gt_flow_tree *other);
void gt_flow_tree_free(struct gt_flow_tree *tree);

/* The node of this structure, which may be new; what is in `calls` is added to its calls. */
uint32_t gt_flow_cons(struct gt_flow_set *set, const struct gt_flow_rule *rule, uint32_t region,
		      uint64_t work, const struct gt_flow_call *calls, uint32_t count);
/* The nodes of a tree as nodes of a set that several trees share; by their number, to be freed. */
uint32_t *gt_flow_share(struct gt_flow_set *all, const struct gt_flow_tree *tree);
void gt_flow_set_free(struct gt_flow_set *set);

static inline bool gt_flow_differ(const struct gt_flow_rule *rule, uint64_t a, uint64_t b)
{
	uint64_t high = a > b ? a : b, low = a > b ? b : a;

	return high - low > rule->floor && (double)(high - low) > rule->margin * (double)high;
}

/* With one to spare behind them. */
static inline void *gt_flow_zeroed(size_t count, size_t size)
{
	return gt_zeroed(count + 1, size);
}

#endif
