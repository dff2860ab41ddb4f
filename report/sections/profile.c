/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The profile: each location's call tree while it is read, then all of them as one.
 *
 * Limits: see profile.h.
 */
#include "config.h"

#include "report/sections/profile.h"
#include "lib/assemble/util/lookup.h"
#include "lib/assemble/util/memory.h"
#include "report/model/conditions.h"
#include "report/model/sums.h"
#include "report/sections/states.h"

#include <stdlib.h>
#include <string.h>

static size_t region_count(const struct gt_report *report)
{
	return report->read->tables[GT_OTF2_REGION].count;
}

/* ---- call trees ---------------------------------------------------------------------------------- */

/* Where the node is in the index, or would be. */
static uint32_t *index_of(const struct gt_profile_tree *tree, uint32_t parent, uint32_t region)
{
	uint32_t mask = 2 * tree->room - 1;
	uint32_t i = (uint32_t)gt_hash_mix(GT_HASH_START, gt_profile_key(parent, region)) & mask;

	while (tree->index[i] && !gt_profile_is(&tree->nodes[tree->index[i]], parent, region))
		i = (i + 1) & mask;
	return &tree->index[i];
}

static void index_all(struct gt_profile_tree *tree)
{
	free(tree->index);
	tree->index = gt_zeroed(2 * (size_t)tree->room, sizeof(*tree->index));
	for (uint32_t i = 1; i < tree->count; i++)
		*index_of(tree, tree->nodes[i].parent, tree->nodes[i].region) = i;
}

static void tree_free(struct gt_profile_tree *tree)
{
	free(tree->nodes);
	free(tree->index);
}

static void tree_grow(struct gt_profile_tree *tree)
{
	enum { LINE = sizeof(struct gt_profile_node) };
	uint32_t room = tree->room ? 2 * tree->room : 64;
	struct gt_profile_node *nodes = aligned_alloc(LINE, (size_t)room * LINE);

	if (!nodes)
		nodes = gt_resized(NULL, SIZE_MAX, LINE); /* which says so and ends */
	if (tree->count)
		memcpy(nodes, tree->nodes, (size_t)tree->count * LINE);
	free(tree->nodes);
	tree->nodes = nodes;
	tree->room = room;
	index_all(tree);
}

static uint32_t tree_add(struct gt_profile_tree *tree, uint32_t parent, uint32_t region)
{
	uint32_t node = tree->count;

	if (tree->count == GT_PROFILE_NODES)
		return parent;
	if (tree->count == tree->room)
		tree_grow(tree);
	tree->nodes[tree->count++] = (struct gt_profile_node){ .region = region,
								.parent = node ? parent : GT_PROFILE_NODES,
								.least = UINT64_MAX };
	if (node) {
		tree->nodes[node].next = tree->nodes[parent].child;
		tree->nodes[parent].child = node;
		*index_of(tree, parent, region) = node;
	}
	return node;
}

static uint32_t tree_child(struct gt_profile_tree *tree, uint32_t parent, uint32_t region)
{
	uint32_t node = *index_of(tree, parent, region);

	return node ? node : tree_add(tree, parent, region);
}

static void touch_room(struct gt_profiling *p)
{
	if (p->tree.room == p->touched_room)
		return;
	p->touched_room = p->tree.room;
	p->touched = gt_resized(p->touched, (size_t)p->touched_room + 1, sizeof(*p->touched));
}

/* Notes the properties of a new node. */
static void look_at_call(struct gt_profiling *p, uint32_t parent, uint32_t region, uint32_t node)
{
	struct gt_profile_node *nodes = p->tree.nodes;
	uint32_t i = parent;

	while (i && nodes[i].region != region)
		i = nodes[i].parent;
	nodes[node].inner = i != 0;
	nodes[node].loud = region < p->region_count && gt_class_loud((enum gt_class)p->classes[region]);
	nodes[node].quiet = !nodes[node].loud && !nodes[parent].loud;
	touch_room(p);
}

static void keep_far(struct gt_profiling *p, uint32_t parent, uint32_t region, uint32_t node)
{
	p->known->far[gt_profile_far_end(parent, region)] =
		(struct gt_profile_far){ gt_profile_key(parent, region), node };
}

/* Near; what was there moves to its place far away. */
static void keep(struct gt_profiling *p, uint32_t region, uint32_t node)
{
	const struct gt_profile_node *nodes = p->tree.nodes;
	uint32_t *near = &p->known->near[gt_profile_near(p->current, region)];

	if (!gt_profile_is(&nodes[node], p->current, region)) {
		keep_far(p, p->current, region, node);
		return;
	}
	if (*near)
		keep_far(p, nodes[*near].parent, nodes[*near].region, *near);
	*near = node;
}

/* What a call without a node calls has none, either: a path of that name would be another one. */
uint32_t gt_profile_call(struct gt_profiling *p, const struct gt_otf2_region *of)
{
	uint32_t count = p->tree.count, parent = p->current, region = gt_profile_region_of(p, of);
	uint32_t node = p->beyond ? parent : tree_child(&p->tree, parent, region);

	if (node == parent) {
		p->beyond++;
		return node;
	}
	if (p->tree.count != count)
		look_at_call(p, parent, region, node);
	if (of->id != GT_OTF2_NOTHING)
		keep(p, (uint32_t)gt_profile_index(p, of), node);
	return node;
}

static void count_call(struct gt_profile_region *region, const struct gt_profile_node *calls)
{
	if (!region->calls || calls->least < region->least)
		region->least = calls->least;
	if (calls->most > region->most ||
	    (calls->most == region->most && calls->most_begin < region->most_begin)) {
		region->most = calls->most;
		region->most_begin = calls->most_begin;
	}
	region->calls += calls->calls;
	region->exclusive += calls->exclusive;
	if (!calls->inner)
		region->inclusive += calls->inclusive;
}

/* The node that called it counts its time, which is that of its own region. */
void gt_profile_end_beyond(struct gt_profiling *p, const struct gt_otf2_cursor *at,
			   const struct gt_otf2_frame *frame)
{
	uint32_t region = gt_profile_region_of(p, frame->region);
	uint32_t other = p->tree.nodes[(uint32_t)frame->user].region;
	uint64_t inclusive = gt_otf2_inclusive(at, frame), exclusive = gt_otf2_exclusive(at, frame);
	struct gt_profile_node call = { .calls = !(frame->user & GT_PROFILE_CONTINUES),
					.inclusive = inclusive, .exclusive = exclusive,
					.least = inclusive, .most = inclusive,
					.most_begin = frame->begin };

	p->beyond--;
	if (!p->more)
		p->more = gt_zeroed(p->region_count + 1, sizeof(*p->more));
	for (const struct gt_otf2_frame *f = at->stack; f < frame && !call.inner; f++)
		call.inner = gt_profile_region_of(p, f->region) == region;
	count_call(&p->more[region], &call);
	p->more[other].exclusive -= exclusive;
}

/* ---- a location ---------------------------------------------------------------------------------- */

static void begin(struct gt_report *report, struct gt_otf2_cursor *at, void *memory)
{
	struct gt_profiling *p = memory;

	tree_add(&p->tree, 0, (uint32_t)region_count(report));
	touch_room(p);
	p->known = gt_zeroed(1, sizeof(*p->known));
	p->loud = report->classes.locations[at->index].kind == GT_LOCATION_STREAM;
	p->continues = gt_otf2_attribute_named(report->read, "CONTINUES");
	p->first = gt_otf2_region_at(report->read, 0);
	p->region_count = region_count(report);
	p->same = report->classes.same;
	p->classes = report->classes.regions;
}

static void event(struct gt_report *report, struct gt_otf2_cursor *at, const struct gt_otf2_event *event,
		  void *memory)
{
	struct gt_profiling *p = memory;

	(void)report;
	gt_profile_first(p, at);
	p->follows = gt_profile_follows(at, event, &p->may_follow);
	if (p->follows) {
		p->ended = p->time;
		gt_lives_add(&p->lives, p->time, at->time);
		p->time = at->time;
	}
	gt_profile_spend(p, at->time);
}

/* Ends open calls with the location. */
static void end(struct gt_report *report, struct gt_otf2_cursor *at, void *memory)
{
	(void)report;
	gt_profile_first(memory, at);
	gt_profile_spend(memory, at->time);
	for (size_t depth = at->depth; depth--;) {
		gt_profile_end_call(memory, at, &at->stack[depth]);
		if (depth)
			at->stack[depth - 1].inside += gt_otf2_inclusive(at, &at->stack[depth]);
	}
}

/* Each moment of a call is one of its node or of a node below, which come behind it. */
static void sum_inclusive(struct gt_profile_tree *tree)
{
	for (uint32_t i = tree->count; i-- > 1;)
		tree->nodes[i].inclusive = tree->nodes[i].exclusive;
	for (uint32_t i = tree->count; i-- > 1;)
		if (tree->nodes[i].parent)
			tree->nodes[tree->nodes[i].parent].inclusive += tree->nodes[i].inclusive;
}

static struct gt_profile_region *regions_of(struct gt_profiling *p)
{
	struct gt_profile_region *regions = p->more;

	gt_profile_flush(p);
	sum_inclusive(&p->tree);
	if (!regions)
		regions = gt_zeroed(p->region_count + 1, sizeof(*regions));
	for (uint32_t i = 1; i < p->tree.count; i++)
		if (p->tree.nodes[i].calls)
			count_call(&regions[p->tree.nodes[i].region], &p->tree.nodes[i]);
	return regions;
}

/* ---- all ----------------------------------------------------------------------------------------- */

/* How the time in a region is spread over the locations that called it. */
static void spread(struct gt_profile_region *to, const struct gt_profile_region *from, uint32_t location)
{
	if (!to->locations++ || from->exclusive < to->location_least)
		to->location_least = from->exclusive;
	if (to->locations == 1 || from->exclusive > to->location_most) {
		to->location_most = from->exclusive;
		to->most_location = location;
		to->location_begin = from->most_begin;
		to->location_call = from->most;
	}
}

/* Is it known that it used a processor for more than a twentieth of its life? */
static bool worked(const struct gt_report *report, size_t location)
{
	struct gt_thread_states states;

	return gt_states_of(report, location, &states) && states.running > states.life / 20;
}

/*
 * Did it only wait, as threads do that a library made for itself? In nothing of the program's: a server's
 * thread waits most of its life, too, but answers requests in between.
 */
static bool only_waited(const struct gt_profile_location *location)
{
	uint64_t life = gt_profile_life(location);

	return life && !location->classes[GT_CLASS_CODE] && !location->times[GT_TIME_IO] &&
	       !location->times[GT_TIME_MPI] && !location->times[GT_TIME_GPU_CALL] &&
	       location->times[GT_TIME_WAIT] + location->times[GT_TIME_DEVICE] >= life / 100 * 95;
}

bool gt_profile_serves(const struct gt_report *report, const struct gt_profile_location *of, size_t location)
{
	return report->classes.locations[location].kind == GT_LOCATION_THREAD && only_waited(of) &&
	       !worked(report, location);
}

/* Did OpenMP's runtime make it for its parallel regions? It does nothing of its own outside of them. */
static bool is_in_teams(const struct gt_report *report, const struct gt_profile_tree *tree)
{
	bool any = false;

	for (uint32_t i = 1; i < tree->count; i++) {
		uint32_t index = tree->nodes[i].region;
		bool known = index < region_count(report);

		if (tree->nodes[i].parent)
			continue;
		if (known && gt_otf2_region_at(report->read, index)->paradigm == OTF2_PARADIGM_OPENMP)
			any = true;
		else if (!known || gt_class_times[report->classes.regions[index]] == GT_TIME_USEFUL)
			return false;
	}
	return any;
}

static void sum_times(const struct gt_report *report, const struct gt_profile_region *regions,
		      struct gt_profile_location *location)
{
	for (size_t i = 0; i <= region_count(report); i++) {
		const struct gt_profile_region *from = &regions[i];
		enum gt_class class = i < region_count(report) ? report->classes.regions[i] : GT_CLASS_CODE;

		location->classes[class] += from->exclusive;
		location->class_calls[class] += from->calls;
		location->calls += from->calls;
		location->times[gt_class_times[class]] += from->exclusive;
	}
}

static void merge_regions(struct gt_report *report, const struct gt_profile_region *regions,
			  struct gt_profile *profile, struct gt_profile_location *location)
{
	uint32_t index = (uint32_t)(location - profile->locations);
	bool counts = gt_profile_counts(report, profile, index);

	for (size_t i = 0; i <= region_count(report); i++) {
		const struct gt_profile_region *from = &regions[i];
		struct gt_profile_region *to = &profile->regions[i];

		if (!from->calls)
			continue;
		spread(to, from, (uint32_t)(location - profile->locations));
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
		to->counted += counts ? from->exclusive : 0;
	}
}

static bool found_no_room(const struct gt_profile_tree *tree, const uint32_t *nodes, uint32_t i)
{
	return i && nodes[i] == nodes[tree->nodes[i].parent];
}

/*
 * `count`: its calls, too; else only its paths are known. Calls of a path that found no room are its
 * caller's, which has their time already, but for what it now spends itself; and so are those below.
 */
static void merge_tree(struct gt_profile_tree *whole, const struct gt_profile_tree *tree, uint32_t *nodes,
		       bool count)
{
	nodes[0] = 0;
	for (uint32_t i = 1; i < tree->count; i++) { /* callers come before what they call */
		const struct gt_profile_node *from = &tree->nodes[i];
		struct gt_profile_node *to;

		nodes[i] = nodes[from->parent];
		if (!found_no_room(tree, nodes, from->parent))
			nodes[i] = tree_child(whole, nodes[i], from->region);
		if (!count)
			continue;
		to = &whole->nodes[nodes[i]];
		to->exclusive += from->exclusive;
		if (found_no_room(tree, nodes, i))
			continue;
		to->calls += from->calls;
		to->inclusive += from->inclusive;
	}
}

static void keep_own(const struct gt_otf2 *read, struct gt_profile_location *location,
		     const struct gt_profile_tree *tree)
{
	if (!read->tables[GT_OTF2_CONTEXT].count)
		return;
	location->own = gt_zeroed(tree->count, sizeof(*location->own));
	for (uint32_t i = 0; i < tree->count; i++)
		location->own[i] = tree->nodes[i].exclusive;
}

static void carry(struct gt_report *report, struct gt_carry *carry, void *memory)
{
	struct gt_profiling *p = memory;
	bool more = p->more != NULL;

	p->region_count = region_count(report);
	gt_profile_flush(p);
	gt_carry_bytes(carry, &p->begin, sizeof(p->begin));
	gt_carry_bytes(carry, &p->lives.count, sizeof(p->lives.count));
	p->lives.absences = gt_carry_array(carry, p->lives.absences, p->lives.count,
					   sizeof(*p->lives.absences));
	gt_carry_bytes(carry, &p->tree.count, sizeof(p->tree.count));
	p->tree.nodes = gt_carry_array(carry, p->tree.nodes, p->tree.count, sizeof(*p->tree.nodes));
	gt_carry_bytes(carry, &more, sizeof(more));
	if (more)
		p->more = gt_carry_array(carry, p->more, p->region_count + 1, sizeof(*p->more));
}

static void merge(struct gt_report *report, struct gt_otf2_cursor *at, void *memory, void *result)
{
	struct gt_profile *profile = result;
	struct gt_location_class *class = &report->classes.locations[at->index];
	struct gt_profile_location *location;
	struct gt_profiling *p = memory;
	struct gt_profile_region *regions = regions_of(p);

	if (!profile->regions) {
		tree_add(&profile->tree, 0, (uint32_t)region_count(report));
		profile->regions = gt_zeroed(region_count(report) + 1, sizeof(*profile->regions));
		profile->location_count = report->read->tables[GT_OTF2_LOCATION].count;
		profile->locations = gt_zeroed(profile->location_count + 1, sizeof(*profile->locations));
	}
	location = &profile->locations[at->index];
	location->events = at->event;
	location->begin = at->event ? p->begin : 0;
	location->end = at->time;
	location->absent = gt_lives_absent(&p->lives);
	location->lives = p->lives;
	location->node_count = p->tree.count;
	location->nodes = gt_zeroed(p->tree.count, sizeof(*location->nodes));
	if (at->time > report->duration)
		report->duration = at->time;
	sum_times(report, regions, location);
	location->in_teams = class->kind == GT_LOCATION_THREAD && is_in_teams(report, &p->tree);
	if (gt_profile_serves(report, location, at->index))
		class->kind = GT_LOCATION_SERVICE;
	if (class->kind != GT_LOCATION_SERVICE)
		merge_regions(report, regions, profile, location);
	merge_tree(&profile->tree, &p->tree, location->nodes, class->kind != GT_LOCATION_SERVICE);
	keep_own(report->read, location, &p->tree);
	tree_free(&p->tree);
	free(p->known);
	free(p->touched);
	free(regions);
}

void gt_profile_settle(struct gt_report *report)
{
	struct gt_conditions *conditions = gt_report_result(report, &gt_conditions_analysis);
	struct gt_profile *profile = gt_report_result(report, &gt_profile_analysis);

	gt_conditions_judge(conditions, report);
	for (uint32_t i = 0; i < conditions->waits.count; i++) {
		const struct gt_sum *wait = &conditions->waits.items[i];
		struct gt_profile_region *region = &profile->regions[wait->key[3]];

		if (!gt_conditions_idle(conditions, report, wait->key[0], wait->key[1]) ||
		    !gt_profile_counts(report, profile, wait->key[0]))
			continue;
		region->idle += wait->ns;
		region->counted -= wait->ns < region->counted ? wait->ns : region->counted;
		profile->locations[wait->key[0]].idle += wait->ns;
	}
}

static void figures(struct gt_report *report, void *result)
{
	struct gt_profile *profile = result;

	if (!profile->regions) { /* no location was read */
		profile->regions = gt_zeroed(region_count(report) + 1, sizeof(*profile->regions));
		profile->location_count = report->read->tables[GT_OTF2_LOCATION].count;
		profile->locations = gt_zeroed(profile->location_count + 1, sizeof(*profile->locations));
	}
	gt_profile_tables(report, profile);
}

static void release(void *result)
{
	struct gt_profile *profile = result;

	tree_free(&profile->tree);
	free(profile->regions);
	for (size_t i = 0; i < profile->location_count; i++) {
		free(profile->locations[i].nodes);
		free(profile->locations[i].own);
		free(profile->locations[i].lives.absences);
	}
	free(profile->locations);
}

const struct gt_analysis gt_profile_analysis = {
	.name = "profile",
	.state_size = sizeof(struct gt_profiling), .result_size = sizeof(struct gt_profile),
	.begin = begin, .event = event, .end = end, .carry = carry, .merge = merge,
	.figures = figures, .free = release,
};
