/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Folded call stacks, for flame graphs: "PROCESS;LOCATION;main;work NANOSECONDS", the time in the last
 * region itself.
 *
 * Limits: the call paths of a location are in memory until it has been read. Each line has its whole path, so
 * that a deep recursion would fill the disk: what is deeper than MOST_CALLS counts for its caller.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/assemble/util/memory.h"
#include "lib/assemble/util/utf8.h"
#include "report/export/tree.h"

/* Semicolons and ends of lines have a meaning. */
static void add_name(struct gt_export_text *text, const char *name)
{
	size_t size = 4 * strlen(name) + 1;
	char *clean = gt_need(malloc(size));

	gt_utf8_line(clean, size, name);
	for (char *c = clean; *c; c++)
		if (*c == ';')
			*c = ':';
	gt_text_add(text, "%s", clean);
	free(clean);
}

enum { MOST_CALLS = 1000, MOST_BYTES = 256 << 10 };

static void begin(struct gt_export_place *place)
{
	struct gt_path_tree *tree;

	gt_path_begin(place);
	tree = place->face;
	tree->most = MOST_CALLS;
	tree->most_bytes = MOST_BYTES;
}

/* Once. */
static void say_cut(struct gt_export *export)
{
	if (!__atomic_exchange_n(&export->cut, true, __ATOMIC_RELAXED))
		fprintf(stderr,
			"gputrace export: calls deeper than %d, or with paths of more than %d bytes, "
			"count for their callers\n",
			MOST_CALLS, MOST_BYTES);
}

struct printing {
	struct gt_export_place *place;
	struct gt_export_text path;
};

/* node->user: the length of the path above it. */
static void print_node(void *user, struct gt_path_node *node)
{
	struct printing *printing = user;

	node->user = printing->path.count;
	gt_text_add(&printing->path, ";");
	gt_text_add(&printing->path, node->sampled ? "~" : "");
	add_name(&printing->path, node->region->name);
	if (node->self)
		gt_export_print(printing->place, "%s %" PRIu64 "\n", printing->path.data, node->self);
}

static void leave_node(void *user, struct gt_path_node *node)
{
	struct printing *printing = user;

	printing->path.count = node->user;
	printing->path.data[node->user] = '\0';
}

static void end(struct gt_export_place *place)
{
	const struct gt_otf2 *read = place->export->read;
	struct printing printing = { .place = place };
	struct gt_export_text process = { .count = 0 };

	gt_text_process(&process, read, gt_otf2_find_location_group(read, place->at->location->group));
	add_name(&printing.path, process.data);
	free(process.data);
	if (((struct gt_path_tree *)place->face)->cut)
		say_cut(place->export);
	gt_text_add(&printing.path, ";");
	add_name(&printing.path, place->at->location->name);
	gt_path_walk(place->face, &printing, print_node, leave_node);
	free(printing.path.data);
}

const struct gt_export_face gt_export_folded = {
	.option = "folded",
	.what = "Folded call stacks, for flame graphs.",
	.begin = begin,
	.enter = gt_path_enter,
	.call = gt_path_call,
	.event = gt_path_event,
	.end = end,
};
