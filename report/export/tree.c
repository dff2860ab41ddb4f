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

void gt_path_begin(struct gt_export_place *place)
{
	struct gt_path_tree *tree = calloc(1, sizeof(*tree));

	if (!tree)
		abort();
	tree->at = &tree->root;
	place->face = tree;
}

/* The child that was found last stands first: what is called is mostly what was called before. */
static struct gt_path_node *child_of(struct gt_path_node *parent, const struct gt_otf2_region *region)
{
	struct gt_path_node **link = &parent->child, *node;

	while (*link && (*link)->region != region)
		link = &(*link)->next;
	node = *link;
	if (node) {
		*link = node->next;
	} else {
		node = calloc(1, sizeof(*node));
		if (!node)
			abort();
		node->region = region;
		node->parent = parent;
	}
	node->next = parent->child;
	parent->child = node;
	return node;
}

void gt_path_enter(struct gt_export_place *place, const struct gt_otf2_region *region, uint64_t time)
{
	struct gt_path_tree *tree = place->face;

	(void)time;
	tree->at = child_of(tree->at, region);
}

void gt_path_call(struct gt_export_place *place, const struct gt_call *call)
{
	struct gt_path_tree *tree = place->face;

	tree->at->self += call->self;
	tree->at = tree->at->parent;
}

static int by_name(const void *a, const void *b)
{
	const struct gt_path_node *const *x = a, *const *y = b;
	int order = strcmp((*x)->region->name, (*y)->region->name);

	return order ? order : ((*x)->region->id > (*y)->region->id) - ((*x)->region->id < (*y)->region->id);
}

static void sort_children(struct gt_path_node *parent)
{
	struct gt_path_node **children, **link = &parent->child;
	size_t count = 0, i = 0;

	for (struct gt_path_node *n = parent->child; n; n = n->next)
		count++;
	if (count < 2)
		return;
	children = calloc(count, sizeof(struct gt_path_node *));
	if (!children)
		abort();
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

	sort_children(root);
	while (node != root || root->child) {
		struct gt_path_node *child = node->child;

		if (child) {
			node->child = child->next;
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
	free(tree);
}
