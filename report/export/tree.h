/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The call paths of a location with the time in each, for faces that are about them (folded.c, flame.c).
 * Where there are samples of call stacks, they divide the time of a call itself: paths go on in sampled
 * functions.
 *
 * Limits: in memory until the location has been read.
 */
#ifndef GT_REPORT_EXPORT_TREE_H
#define GT_REPORT_EXPORT_TREE_H

#include "report/export/export.h"

/* A call path. */
struct gt_path_node {
	const struct gt_otf2_region *region; /* NULL: the root */
	struct gt_path_node *parent, *child, *next;
	uint64_t self;  /* ns in its last region itself; when it is visited, without what samples divide */
	bool sampled;
	uint64_t samples, below; /* of others: ns of the samples in it, and of those that are below it */
	double part;    /* how much of that there is room for */
	size_t user;    /* the face's; while it is built, bytes of its path */
};

/*
 * `most`: what is called deeper, or where the names of a path take more bytes, counts for its caller; 0: all
 * has a path of its own.
 */
struct gt_path_tree {
	struct gt_path_node root, *at;
	struct gt_path_node **index; /* by caller and region; `room` of them */
	size_t count, room;
	size_t most, most_bytes, depth, below; /* below: calls that are open and have no path of their own */
	bool cut;
};

/* Functions of a face: place->face is the tree, which its end() frees. */
void gt_path_begin(struct gt_export_place *place);
void gt_path_enter(struct gt_export_place *place, const struct gt_otf2_region *region, uint64_t time);
void gt_path_call(struct gt_export_place *place, const struct gt_export_call *call);
void gt_path_event(struct gt_export_place *place, const struct gt_otf2_event *event);

/*
 * All nodes but the root, callers before callees: `visit` is called when a node is reached, and `leave` (may
 * be NULL) when all of its callees have been. Frees them on the way, and then the tree. Without recursion:
 * programs recurse deeper than our stack is.
 */
void gt_path_walk(struct gt_path_tree *tree, void *user, void (*visit)(void *user, struct gt_path_node *node),
		  void (*leave)(void *user, struct gt_path_node *node));

#endif
