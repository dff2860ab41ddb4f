/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Folded call stacks, for flame graphs: "PROCESS;LOCATION;main;work NANOSECONDS", the time in the last
 * region itself.
 *
 * Limits: the call paths of a location are in memory until it has been read.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/assemble/util/utf8.h"
#include "report/export/export.h"

/* A call path. */
struct node {
	const struct gt_otf2_region *region;
	struct node *parent, *child, *next;
	uint64_t self;
	size_t length; /* of the path above it, while it is printed */
};

struct tree {
	struct node root, *at;
};

static void begin(struct gt_export_place *place)
{
	struct tree *tree = calloc(1, sizeof(*tree));

	if (!tree)
		abort();
	tree->at = &tree->root;
	place->face = tree;
}

/* The child that was found last stands first: what is called is mostly what was called before. */
static struct node *child_of(struct node *parent, const struct gt_otf2_region *region)
{
	struct node **link = &parent->child, *node;

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

static void enter(struct gt_export_place *place, const struct gt_otf2_region *region, uint64_t time)
{
	struct tree *tree = place->face;

	(void)time;
	tree->at = child_of(tree->at, region);
}

static void call(struct gt_export_place *place, const struct gt_call *call)
{
	struct tree *tree = place->face;

	tree->at->self += call->self;
	tree->at = tree->at->parent;
}

/* Semicolons and ends of lines have a meaning. */
static void add_name(struct gt_text *text, const char *name)
{
	size_t size = 4 * strlen(name) + 1;
	char *clean = malloc(size);

	if (!clean)
		abort();
	gt_utf8_line(clean, size, name);
	for (char *c = clean; *c; c++)
		if (*c == ';')
			*c = ':';
	gt_text_add(text, "%s", clean);
	free(clean);
}

static int by_name(const void *a, const void *b)
{
	const struct node *const *x = a, *const *y = b;
	int order = strcmp((*x)->region->name, (*y)->region->name);

	return order ? order : ((*x)->region->id > (*y)->region->id) - ((*x)->region->id < (*y)->region->id);
}

static void sort_children(struct node *parent)
{
	struct node **children, **link = &parent->child;
	size_t count = 0, i = 0;

	for (struct node *n = parent->child; n; n = n->next)
		count++;
	if (count < 2)
		return;
	children = calloc(count, sizeof(struct node *));
	if (!children)
		abort();
	for (struct node *n = parent->child; n; n = n->next)
		children[i++] = n;
	qsort(children, count, sizeof(struct node *), by_name);
	for (i = 0; i < count; i++, link = &(*link)->next)
		*link = children[i];
	*link = NULL;
	free(children);
}

static void print_node(struct gt_export_place *place, struct node *node, struct gt_text *path)
{
	node->length = path->count;
	gt_text_add(path, ";");
	add_name(path, node->region->name);
	if (node->self)
		gt_export_print(place, "%s %" PRIu64 "\n", path->data, node->self);
}

/* Without recursion: programs recurse deeper than our stack is. Nodes are freed on the way. */
static void print_tree(struct gt_export_place *place, struct node *root, struct gt_text *path)
{
	struct node *node = root, *parent;

	sort_children(root);
	while (node != root || root->child) {
		struct node *child = node->child;

		if (child) {
			node->child = child->next;
			print_node(place, child, path);
			sort_children(child);
			node = child;
			continue;
		}
		path->count = node->length;
		path->data[path->count] = '\0';
		parent = node->parent;
		free(node);
		node = parent;
	}
}

static void end(struct gt_export_place *place)
{
	const struct gt_otf2 *read = place->export->read;
	struct tree *tree = place->face;
	struct gt_text path = { .count = 0 };

	add_name(&path, gt_part_process(read, place->at->location));
	gt_text_add(&path, ";");
	add_name(&path, place->at->location->name);
	print_tree(place, &tree->root, &path);
	free(path.data);
	free(tree);
}

const struct gt_export_face gt_export_folded = {
	.option = "folded",
	.what = "Folded call stacks, for flame graphs.",
	.begin = begin,
	.enter = enter,
	.call = call,
	.end = end,
};
