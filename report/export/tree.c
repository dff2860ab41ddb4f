/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call paths.
 *
 * Limits: see tree.h.
 */
#include "config.h"

#include "report/export/tree.h"

#include <stdlib.h>
#include <string.h>

#include "lib/assemble/util/lookup.h"
#include "lib/assemble/util/memory.h"

void gt_path_begin(struct gt_export_place *place)
{
	struct gt_path_tree *tree = gt_zeroed(1, sizeof(*tree));

	tree->at = &tree->root;
	place->face = tree;
}

/* Where the node is in the index, or would be. */
static struct gt_path_node **place_of(struct gt_path_tree *tree, const struct gt_path_node *parent,
				      const struct gt_otf2_region *region, bool sampled)
{
	size_t i = gt_hash_mix(gt_hash_mix(GT_HASH_START, (uintptr_t)parent), (uintptr_t)region);

	for (i &= tree->room - 1; tree->index[i]; i = (i + 1) & (tree->room - 1))
		if (tree->index[i]->parent == parent && tree->index[i]->region == region &&
		    tree->index[i]->sampled == sampled)
			break;
	return &tree->index[i];
}

static void grow(struct gt_path_tree *tree)
{
	struct gt_path_node **old = tree->index;
	size_t room = tree->room;

	tree->room = room ? 2 * room : 256;
	tree->index = gt_zeroed(tree->room, sizeof(struct gt_path_node *));
	for (size_t i = 0; i < room; i++)
		if (old[i])
			*place_of(tree, old[i]->parent, old[i]->region, old[i]->sampled) = old[i];
	free(old);
}

static struct gt_path_node *child_of(struct gt_path_tree *tree, struct gt_path_node *parent,
				     const struct gt_otf2_region *region, bool sampled)
{
	struct gt_path_node *node, **place;

	if (2 * tree->count >= tree->room)
		grow(tree);
	place = place_of(tree, parent, region, sampled);
	if (*place)
		return *place;
	node = gt_zeroed(1, sizeof(*node));
	node->region = region;
	node->sampled = sampled;
	node->parent = parent;
	node->next = parent->child;
	node->user = parent->user + strlen(region->name);
	tree->count++;
	return *place = parent->child = node;
}

static bool is_full(const struct gt_path_tree *tree, const struct gt_path_node *node, size_t depth)
{
	return tree->most && (depth >= tree->most || node->user > tree->most_bytes);
}

void gt_path_enter(struct gt_export_place *place, const struct gt_otf2_region *region, uint64_t time)
{
	struct gt_path_tree *tree = place->face;

	(void)time;
	if (tree->below || is_full(tree, tree->at, tree->depth)) {
		tree->below++;
		tree->cut = true;
		return;
	}
	tree->depth++;
	tree->at = child_of(tree, tree->at, region, false);
}

void gt_path_call(struct gt_export_place *place, const struct gt_export_call *call)
{
	struct gt_path_tree *tree = place->face;

	tree->at->self += call->self;
	if (tree->below) {
		tree->below--;
		return;
	}
	tree->depth--;
	tree->at = tree->at->parent;
}

static unsigned find_open(const struct gt_otf2_cursor *at, const struct gt_otf2_region *open[GT_OPEN_MOST])
{
	unsigned count = at->depth < GT_OPEN_MOST ? (unsigned)at->depth : GT_OPEN_MOST;

	for (unsigned i = 0; i < count; i++)
		open[i] = at->stack[at->depth - 1 - i].region;
	return count;
}

void gt_path_event(struct gt_export_place *place, const struct gt_otf2_event *event)
{
	const struct gt_otf2_cursor *at = place->at;
	struct gt_path_tree *tree = place->face;
	struct gt_path_node *node = tree->at;
	const struct gt_otf2_region *open[GT_OPEN_MOST];
	struct gt_stack_sample sample;
	struct gt_frames frames;

	if (event->type != GT_OTF2_CallingContextSample || tree->below)
		return;
	sample = gt_stack_sample_of(&place->export->stacks, at, &event->CallingContextSample);
	gt_frames_below(at->read, sample.context, sample.ours, open, find_open(at, open), &frames);
	for (size_t depth = tree->depth; sample.ns && frames.count && !is_full(tree, node, depth); depth++)
		node = child_of(tree, node, frames.regions[--frames.count], true);
	tree->cut |= sample.ns && frames.count;
	tree->at->samples += sample.ns;
	if (node == tree->at)
		return; /* in the call itself */
	node->self += sample.ns;
	tree->at->below += sample.ns;
}

static void divide(struct gt_path_node *node)
{
	node->part = node->sampled ? node->parent->part : gt_stack_part(node->self, node->samples);
	node->self = node->sampled ? (uint64_t)((double)node->self * node->part)
				   : node->self - (uint64_t)((double)node->below * node->part);
}

static int by_name(const void *a, const void *b)
{
	const struct gt_path_node *const *x = a, *const *y = b;
	int order = strcmp((*x)->region->name, (*y)->region->name);

	order = order ? order : ((*x)->region->id > (*y)->region->id) - ((*x)->region->id < (*y)->region->id);
	return order ? order : (*x)->sampled - (*y)->sampled;
}

static void sort_children(struct gt_path_node *parent)
{
	struct gt_path_node **children, **link = &parent->child;
	size_t count = 0, i = 0;

	for (struct gt_path_node *n = parent->child; n; n = n->next)
		count++;
	if (count < 2)
		return;
	children = gt_zeroed(count, sizeof(struct gt_path_node *));
	for (struct gt_path_node *n = parent->child; n; n = n->next)
		children[i++] = n;
	qsort(children, count, sizeof(struct gt_path_node *), by_name);
	for (i = 0; i < count; i++, link = &(*link)->next)
		*link = children[i];
	*link = NULL;
	free(children);
}

void gt_path_walk(struct gt_path_tree *tree, void *user, void (*visit)(void *user, struct gt_path_node *node),
		  void (*leave)(void *user, struct gt_path_node *node))
{
	struct gt_path_node *root = &tree->root, *node = root, *parent;

	root->part = 1;
	sort_children(root);
	while (node != root || root->child) {
		struct gt_path_node *child = node->child;

		if (child) {
			node->child = child->next;
			divide(child);
			visit(user, child);
			sort_children(child);
			node = child;
			continue;
		}
		if (leave)
			leave(user, node);
		parent = node->parent;
		free(node);
		node = parent;
	}
	free(tree->index);
	free(tree);
}
