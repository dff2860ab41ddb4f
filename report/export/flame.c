/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A flame graph, from the top down: each call path is as wide as the time in it. Paths of all locations are
 * one if their names are the same, or stand below their process and location. Beside another archive a path
 * is as wide as in the one where it took more, and its colour says in which.
 *
 * Limits: paths below a third of a pixel are not drawn.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "lib/assemble/util/memory.h"
#include "report/model/classes.h"
#include "report/print/draw.h"
#include "report/export/tree.h"
#include "report/timeline/grid.h"

enum { WIDTH = 1200, MARGIN = 10, TOP = 48, ROW = 17, BAR = 16, FONT = 11, INK = 0x222222 };
enum { SLOWER = 0xd55e00, FASTER = 0x0072b2, SAME = 0xe2e5ea }; /* as report/page/flame.js */

struct flame_node {
	char *name;
	struct flame_node *parent, *child, *next;
	struct flame_node *last; /* the callee that was found last: they come in order */
	uint64_t self[2], sum[2], width; /* ns; [1]: in the other archive */
	unsigned char class;
	unsigned depth;
	double x, free;  /* where it begins, and its next callee will, in pixels */
};

struct flame {
	struct flame_node root;
	struct gt_classes classes; /* of the archive that is being read */
	bool other;                /* the other archive is */
	/* while it is drawn: */
	struct gt_canvas *canvas;
	double scale;              /* pixels of a ns */
	uint64_t change;           /* the largest */
	bool two;
};

/* A location's paths on their way into the flame. */
struct merging {
	struct flame *flame;
	struct flame_node *at;
	struct gt_export_text name;
};

static struct flame_node *child_of(struct flame_node *parent, const char *name, unsigned class)
{
	struct flame_node *last = parent->last, *node;
	struct flame_node **link = last && strcmp(last->name, name) < 0 ? &last->next : &parent->child;
	int order = 1;

	while (*link && (order = strcmp((*link)->name, name)) < 0)
		link = &(*link)->next;
	if (*link && !order)
		return parent->last = *link;
	node = gt_zeroed(1, sizeof(*node));
	node->name = gt_need(strdup(name));
	*node = (struct flame_node){ .name = node->name, .parent = parent, .next = *link,
				     .class = (unsigned char)class, .depth = parent->depth + 1 };
	return parent->last = *link = node;
}

/* ---- collecting --------------------------------------------------------------------------------- */

static bool start(struct gt_export *export)
{
	struct flame *flame = export->face;

	if (!flame) {
		flame = gt_zeroed(1, sizeof(*flame));
		flame->root.class = GT_CLASSES;
		export->face = flame;
	} else {
		flame->other = flame->two = true;
		gt_classes_free(&flame->classes);
	}
	if (gt_classes_make(&flame->classes, export->read))
		gt_no_memory();
	return true;
}

static void add_node(void *user, struct gt_path_node *node)
{
	struct merging *merging = user;
	struct flame *flame = merging->flame;

	merging->name.count = 0;
	gt_text_add(&merging->name, "%s%s", node->sampled ? "~" : "", node->region->name);
	merging->at = child_of(merging->at, merging->name.data, gt_class_of(&flame->classes, node->region));
	merging->at->self[flame->other] += node->self;
}

static void leave_node(void *user, struct gt_path_node *node)
{
	struct merging *merging = user;

	(void)node;
	merging->at = merging->at->parent;
}

static void end(struct gt_export_place *place)
{
	struct gt_export *export = place->export;
	struct merging merging = { .flame = export->face };
	struct gt_export_text process = { .count = 0 };

	pthread_mutex_lock(&export->lock);
	merging.at = &merging.flame->root;
	if (export->options->split) {
		gt_text_process(&process, export->read,
				gt_otf2_find_location_group(export->read, place->at->location->group));
		merging.at = child_of(merging.at, process.data, GT_CLASSES);
		free(process.data);
		merging.at = child_of(merging.at, place->at->location->name, GT_CLASSES);
	}
	gt_path_walk(place->face, &merging, add_node, leave_node);
	free(merging.name.data);
	pthread_mutex_unlock(&export->lock);
}

/* ---- drawing ------------------------------------------------------------------------------------ */

/* The next one, callers before callees; NULL behind the last. */
static struct flame_node *following(struct flame_node *node)
{
	if (node->child)
		return node->child;
	while (node && !node->next)
		node = node->parent;
	return node ? node->next : NULL;
}

static uint64_t change_of(const struct flame_node *node)
{
	return node->sum[0] > node->sum[1] ? node->sum[0] - node->sum[1] : node->sum[1] - node->sum[0];
}

/* Sums from callees to callers. Returns how deep paths are. */
static unsigned add_up(struct flame *flame)
{
	struct flame_node **nodes, *root = &flame->root;
	unsigned depth = 0;
	size_t count = 0;

	for (struct flame_node *n = root; n; n = following(n))
		count++;
	nodes = gt_zeroed(count, sizeof(struct flame_node *));
	count = 0;
	for (struct flame_node *n = root; n; n = following(n))
		nodes[count++] = n;
	while (count--) {
		struct flame_node *n = nodes[count];

		for (unsigned i = 0; i < 2; i++)
			n->sum[i] += n->self[i];
		n->width += n->self[0] > n->self[1] ? n->self[0] : n->self[1];
		if (n->depth > depth)
			depth = n->depth;
		if (change_of(n) > flame->change)
			flame->change = change_of(n);
		if (!n->parent)
			continue;
		n->parent->sum[0] += n->sum[0];
		n->parent->sum[1] += n->sum[1];
		n->parent->width += n->width;
	}
	free(nodes);
	return depth;
}

static uint32_t mix(uint32_t a, uint32_t b, double part)
{
	uint32_t rgb = 0;

	for (int shift = 16; shift >= 0; shift -= 8) {
		double x = (double)(a >> shift & 255), y = (double)(b >> shift & 255);

		rgb |= (uint32_t)(x + (y - x) * part + 0.5) << shift;
	}
	return rgb;
}

static uint32_t color_of(const struct flame *flame, const struct flame_node *node)
{
	if (flame->two)
		return mix(SAME, node->sum[0] > node->sum[1] ? SLOWER : FASTER,
			   flame->change ? (double)change_of(node) / (double)flame->change : 0);
	if (node->class == GT_CLASSES)
		return SAME;
	return gt_paint_of(node->class)->rgb;
}

static void draw_node(struct flame *flame, const struct flame_node *node, const char *name)
{
	double y = TOP + (double)node->depth * ROW, width = (double)node->width * flame->scale;
	uint32_t rgb = color_of(flame, node);
	bool dark = gt_rgb_dark(rgb);
	struct gt_export_text title = { .count = 0 };

	gt_text_add(&title, "%s: %.6g s, %.3g %%", name, (double)node->sum[0] / 1e9,
		    flame->root.sum[0] ? 100. * (double)node->sum[0] / (double)flame->root.sum[0] : 0);
	if (flame->two)
		gt_text_add(&title, "; in the other %.6g s, %.3g %%", (double)node->sum[1] / 1e9,
			    flame->root.sum[1] ? 100. * (double)node->sum[1] / (double)flame->root.sum[1]
					       : 0);
	gt_canvas_rect(flame->canvas, node->x, y, width > 1 ? width - 0.5 : width, BAR, rgb, 1, title.data);
	if (!flame->two && node->class < GT_CLASSES && gt_paint_of(node->class)->stripes)
		gt_canvas_stripes(flame->canvas, node->x, y, width > 1 ? width - 0.5 : width, BAR,
				  gt_paint_of(node->class)->stripes);
	gt_canvas_text(flame->canvas, node->x + 3, y + BAR - 4, FONT, dark ? 0xffffff : INK, GT_ANCHOR_START,
		       width - 6, name);
	free(title.data);
}

static void draw_head(const struct flame *flame, const char *title)
{
	gt_canvas_text(flame->canvas, MARGIN, 18, FONT + 2, INK, GT_ANCHOR_START, WIDTH - 2 * MARGIN, title);
	if (!flame->two)
		return;
	gt_canvas_rect(flame->canvas, MARGIN, 27, 10, 10, SLOWER, 1, NULL);
	gt_canvas_text(flame->canvas, MARGIN + 14, 36, FONT, INK, GT_ANCHOR_START, 300, "took longer here");
	gt_canvas_rect(flame->canvas, MARGIN + 140, 27, 10, 10, FASTER, 1, NULL);
	gt_canvas_text(flame->canvas, MARGIN + 154, 36, FONT, INK, GT_ANCHOR_START, 300,
		       "took longer in the other");
}

/* Callers are above, and what is left of them at the right is their own time. */
static bool finish(struct gt_export *export)
{
	struct flame *flame = export->face;
	unsigned depth = add_up(flame);
	struct flame_node *root = &flame->root;

	if (!root->width) {
		fputs("gputrace export: nothing was recorded there that could be drawn\n", stderr);
		return false;
	}
	flame->scale = (WIDTH - 2 * MARGIN) / (double)root->width;
	flame->canvas = gt_canvas_on(export->out, "Flame graph", WIDTH,
				     TOP + (double)(depth + 1) * ROW + MARGIN);
	draw_head(flame, export->options->title);
	for (struct flame_node *n = root; n; n = following(n)) {
		n->x = n->parent ? n->parent->free : MARGIN;
		n->free = n->x;
		if (n->parent)
			n->parent->free += (double)n->width * flame->scale;
		if ((double)n->width * flame->scale > 0.3)
			draw_node(flame, n, n->parent ? n->name : "all");
	}
	return !gt_canvas_close(flame->canvas);
}

const struct gt_export_face gt_export_flame = {
	.option = "flame",
	.what = "A flame graph, SVG.",
	.start = start,
	.begin = gt_path_begin,
	.enter = gt_path_enter,
	.call = gt_path_call,
	.event = gt_path_event,
	.end = end,
	.finish = finish,
};
