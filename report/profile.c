/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The profile: each location's call tree while it is read, then all of them as one.
 *
 * Limits: see profile.h.
 */
#include "config.h"

#include "report/profile.h"
#include "report/sums.h"

#include <stdlib.h>
#include <string.h>

struct state {
	struct gt_profile_tree tree;
	struct gt_profile_region *regions;
	uint32_t *open; /* calls of each region that have not returned */
	uint64_t calls, events, begin;
};

static size_t region_count(const struct gt_report *report)
{
	return report->read->tables[GT_OTF2_REGION].count;
}

/* ---- call trees ---------------------------------------------------------------------------------- */

static uint32_t tree_add(struct gt_profile_tree *tree, uint32_t parent, uint32_t region)
{
	uint32_t node = tree->count;

	if (tree->count == GT_PROFILE_NODES)
		return parent;
	if (tree->count == tree->room) {
		tree->room = tree->room ? 2 * tree->room : 64;
		tree->nodes = gt_report_memory(tree->nodes, tree->room, sizeof(*tree->nodes));
	}
	tree->nodes[tree->count++] = (struct gt_profile_node){ .region = region, .parent = parent };
	if (node) {
		tree->nodes[node].next = tree->nodes[parent].child;
		tree->nodes[parent].child = node;
	}
	return node;
}

/* What was called last is found first. */
static uint32_t tree_child(struct gt_profile_tree *tree, uint32_t parent, uint32_t region)
{
	struct gt_profile_node *nodes = tree->nodes;
	uint32_t before = 0;

	for (uint32_t i = nodes[parent].child; i; before = i, i = nodes[i].next) {
		if (nodes[i].region != region)
			continue;
		if (before) {
			nodes[before].next = nodes[i].next;
			nodes[i].next = nodes[parent].child;
			nodes[parent].child = i;
		}
		return i;
	}
	return tree_add(tree, parent, region);
}

/* ---- a location ---------------------------------------------------------------------------------- */

static void begin(struct gt_report *report, struct gt_otf2_cursor *at, void *memory)
{
	struct state *state = memory;

	(void)at;
	tree_add(&state->tree, 0, (uint32_t)region_count(report));
	state->regions = gt_report_zeroed(region_count(report) + 1, sizeof(*state->regions));
	state->open = gt_report_zeroed(region_count(report) + 1, sizeof(*state->open));
	state->begin = UINT64_MAX;
}

static void seen(struct state *state, const struct gt_otf2_cursor *at)
{
	state->events++;
	if (at->time < state->begin)
		state->begin = at->time;
}

static void enter(struct gt_report *report, struct gt_otf2_cursor *at, void *memory)
{
	struct gt_otf2_frame *frame = &at->stack[at->depth - 1];
	uint32_t region = gt_report_region(report, frame->region);
	struct state *state = memory;

	seen(state, at);
	state->open[region]++;
	frame->user = tree_child(&state->tree, at->depth > 1 ? (uint32_t)frame[-1].user : 0, region);
}

static void count_call(struct gt_report *report, struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame,
		       struct state *state)
{
	struct gt_profile_node *node = &state->tree.nodes[frame->user];
	uint32_t index = gt_report_region(report, frame->region);
	struct gt_profile_region *region = &state->regions[index];
	uint64_t inclusive = gt_otf2_inclusive(at, frame), exclusive = gt_otf2_exclusive(at, frame);

	node->calls++;
	node->inclusive += inclusive;
	node->exclusive += exclusive;
	region->exclusive += exclusive;
	if (!region->calls++ || inclusive < region->least)
		region->least = inclusive;
	if (inclusive > region->most) {
		region->most = inclusive;
		region->most_begin = frame->begin;
	}
	if (!--state->open[index])
		region->inclusive += inclusive;
	state->calls++;
}

static void leave(struct gt_report *report, struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame,
		  void *memory)
{
	seen(memory, at);
	count_call(report, at, frame, memory);
}

static void event(struct gt_report *report, struct gt_otf2_cursor *at, const struct gt_otf2_event *event,
		  void *memory)
{
	(void)report, (void)event;
	seen(memory, at);
}

/* What is open ends with the location. */
static void end(struct gt_report *report, struct gt_otf2_cursor *at, void *memory)
{
	for (size_t depth = at->depth; depth--;) {
		count_call(report, at, &at->stack[depth], memory);
		if (depth)
			at->stack[depth - 1].inside += gt_otf2_inclusive(at, &at->stack[depth]);
	}
}

/* ---- all ----------------------------------------------------------------------------------------- */

/* How the time in a region is spread over the locations that called it. */
static void spread(struct gt_profile_region *to, uint64_t exclusive, uint32_t location)
{
	if (!to->locations++ || exclusive < to->location_least)
		to->location_least = exclusive;
	if (to->locations == 1 || exclusive > to->location_most) {
		to->location_most = exclusive;
		to->most_location = location;
	}
}

/* Did it only wait, as threads do that a library made for itself? In nothing of the program's. */
static bool only_waited(const struct gt_profile_location *location)
{
	uint64_t life = location->end - location->begin;

	return life && location->classes[GT_CLASS_CODE] == 0 &&
	       location->times[GT_TIME_WAIT] + location->times[GT_TIME_DEVICE] >= life / 100 * 95;
}

static void sum_times(const struct gt_report *report, const struct state *state,
		      struct gt_profile_location *location)
{
	for (size_t i = 0; i <= region_count(report); i++) {
		const struct gt_profile_region *from = &state->regions[i];
		enum gt_class class = i < region_count(report) ? report->classes.regions[i] : GT_CLASS_CODE;

		location->classes[class] += from->exclusive;
		location->class_calls[class] += from->calls;
		location->times[gt_class_times[class]] += from->exclusive;
	}
}

static void merge_regions(struct gt_report *report, const struct state *state, struct gt_profile *profile,
			  struct gt_profile_location *location)
{
	for (size_t i = 0; i <= region_count(report); i++) {
		const struct gt_profile_region *from = &state->regions[i];
		struct gt_profile_region *to = &profile->regions[i];

		if (!from->calls)
			continue;
		spread(to, from->exclusive, (uint32_t)(location - profile->locations));
		if (!to->calls || from->least < to->least)
			to->least = from->least;
		if (!to->calls || from->most > to->most) {
			to->most = from->most;
			to->most_begin = from->most_begin;
			to->most_on = (uint32_t)(location - profile->locations);
		}
		to->calls += from->calls;
		to->inclusive += from->inclusive;
		to->exclusive += from->exclusive;
	}
}

/* `count`: its calls, too; else only its paths are known. */
static void merge_tree(struct gt_profile_tree *whole, const struct gt_profile_tree *tree, uint32_t *nodes,
		       bool count)
{
	nodes[0] = 0;
	for (uint32_t i = 1; i < tree->count; i++) { /* callers come before what they call */
		const struct gt_profile_node *from = &tree->nodes[i];
		struct gt_profile_node *to;

		nodes[i] = tree_child(whole, nodes[from->parent], from->region);
		if (!count)
			continue;
		to = &whole->nodes[nodes[i]];
		to->calls += from->calls;
		to->inclusive += from->inclusive;
		to->exclusive += from->exclusive;
	}
}

static void merge(struct gt_report *report, struct gt_otf2_cursor *at, void *memory, void *result)
{
	struct gt_profile *profile = result;
	struct gt_location_class *class = &report->classes.locations[at->index];
	struct gt_profile_location *location;
	struct state *state = memory;

	if (!profile->regions) {
		tree_add(&profile->tree, 0, (uint32_t)region_count(report));
		profile->regions = gt_report_zeroed(region_count(report) + 1, sizeof(*profile->regions));
		profile->locations = gt_report_zeroed(report->read->tables[GT_OTF2_LOCATION].count + 1,
						 sizeof(*profile->locations));
	}
	location = &profile->locations[at->index];
	location->calls = state->calls;
	location->events = state->events;
	location->begin = state->events ? state->begin : 0;
	location->end = at->time;
	location->node_count = state->tree.count;
	location->nodes = gt_report_zeroed(state->tree.count, sizeof(*location->nodes));
	if (at->time > report->duration)
		report->duration = at->time;
	sum_times(report, state, location);
	if (class->kind == GT_LOCATION_THREAD && only_waited(location))
		class->kind = GT_LOCATION_SERVICE;
	if (class->kind != GT_LOCATION_SERVICE)
		merge_regions(report, state, profile, location);
	merge_tree(&profile->tree, &state->tree, location->nodes, class->kind != GT_LOCATION_SERVICE);
	free(state->tree.nodes);
	free(state->regions);
	free(state->open);
}

uint32_t gt_profile_node(const struct gt_profile *profile, size_t location, uint64_t node)
{
	const struct gt_profile_location *of = &profile->locations[location];

	return node < of->node_count ? of->nodes[node] : 0;
}

const char *gt_profile_path(struct gt_report *report, const struct gt_profile *profile, uint32_t node)
{
	char text[1024], *at = text + sizeof(text) - 1;

	*at = '\0';
	for (uint32_t i = node; i; i = profile->tree.nodes[i].parent) {
		const char *name = gt_report_region_name(report, profile->tree.nodes[i].region);
		const char *between = *at ? " > " : "";
		size_t n = strlen(name), gap = strlen(between);

		if (n + gap + 4 > (size_t)(at - text)) {
			at -= 4;
			memcpy(at, "... ", 4);
			break;
		}
		at -= gap;
		memcpy(at, between, gap);
		at -= n;
		memcpy(at, name, n);
	}
	return gt_figures_text(&report->figures, "%s", at);
}

static void figures(struct gt_report *report, void *result)
{
	struct gt_profile *profile = result;

	if (!profile->regions) { /* no location was read */
		profile->regions = gt_report_zeroed(region_count(report) + 1, sizeof(*profile->regions));
		profile->locations = gt_report_zeroed(report->read->tables[GT_OTF2_LOCATION].count + 1,
						      sizeof(*profile->locations));
	}
	gt_profile_tables(report, profile);
}

static void release(void *result)
{
	struct gt_profile *profile = result;

	free(profile->tree.nodes);
	free(profile->regions);
	free(profile->locations);
}

const struct gt_analysis gt_profile_analysis = {
	.name = "profile", .state_size = sizeof(struct state), .result_size = sizeof(struct gt_profile),
	.begin = begin, .enter = enter, .leave = leave, .event = event, .end = end, .merge = merge,
	.figures = figures, .free = release,
};
