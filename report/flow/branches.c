/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the branches between streams: threads and the threads that create and join them, teams and the
 * call that made them, activities and the calls that launched them. The two ends are matched by a number
 * that both carry.
 *
 * Limits: see flow.h.
 */
#include "config.h"

#include "report/flow/flow.h"

#include "lib/assemble/util/lookup.h"

enum { MOST_ENDS = 1 << 21, MOST_OF_ONE = 1 << 18 };

const char *const gt_branch_names[] = { "create", "join", "launch", "synchronize" };

/* Of too many, those are kept of which both ends are: it depends on the key alone. */
static bool is_kept(const uint32_t *masks, uint64_t key, enum gt_branch_what what)
{
	return !(key >> 32 & masks[what]);
}

static size_t filter(const uint32_t *masks, struct gt_flow_end *items, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (is_kept(masks, items[i].key, items[i].what))
			items[kept++] = items[i];
	return kept;
}

/* Leaves out half of what there is most of, until there is room. Returns how many are kept. */
static size_t thin(uint32_t *masks, struct gt_flow_end *items, size_t count, size_t most)
{
	while (count >= most) {
		size_t of[GT_BRANCHES] = { 0 };
		unsigned what = 0;

		for (size_t i = 0; i < count; i++)
			of[items[i].what]++;
		for (unsigned w = 1; w < GT_BRANCHES; w++)
			what = of[w] > of[what] ? w : what;
		if (masks[what] == UINT32_MAX)
			return 0;
		masks[what] = 2 * masks[what] + 1;
		count = filter(masks, items, count);
	}
	return count;
}

/* False: it is left out. */
static bool add_end(struct gt_flow_ends *ends, const struct gt_otf2_cursor *at, uint64_t number,
		    uint64_t path, enum gt_branch_what what, bool to)
{
	uint64_t key = gt_flow_pair_key(number, what);

	if (ends->off)
		return false;
	if (ends->count >= MOST_OF_ONE) {
		ends->count = thin(ends->masks, ends->items, ends->count, MOST_OF_ONE);
		ends->begun = 0;
	}
	if (!is_kept(ends->masks, key, what))
		return false;
	ends->items = gt_grown(ends->items, ends->count, &ends->room, sizeof(*ends->items));
	ends->items[ends->count++] =
		(struct gt_flow_end){ key, path, at->time, (uint32_t)at->index, what, to };
	return true;
}

void gt_flow_end_enter(struct gt_flow *flow, struct gt_flow_ends *ends, const struct gt_otf2_cursor *at)
{
	OTF2_AttributeValue value;
	uint64_t number;

	if (ends->begun && ends->begun <= ends->count)
		ends->items[ends->begun - 1].path = at->stack[at->depth - 1].user;
	ends->begun = 0;
	if (!at->attribute_count)
		return;
	gt_flow_sync_enter(flow, ends, at);
	if (gt_otf2_attribute(at, flow->correlation, OTF2_TYPE_UINT64, &value))
		number = value.uint64;
	else if (gt_otf2_attribute(at, flow->correlation, OTF2_TYPE_UINT32, &value))
		number = value.uint32;
	else
		return;
	add_end(ends, at, gt_flow_pair_key(gt_otf2_process(at->read, at->location), number),
		gt_flow_path_here(ends, at), GT_BRANCH_LAUNCH,
		at->location->type != OTF2_LOCATION_TYPE_CPU_THREAD);
}

void gt_flow_end_leave(struct gt_flow *flow, struct gt_flow_ends *ends, const struct gt_otf2_cursor *at,
		       const struct gt_otf2_frame *frame)
{
	gt_flow_sync_leave(flow, ends, at, frame);
	ends->left = frame->user;
	ends->begun = 0;
}

/* How often a team has begun here: all of its members count alike. */
static uint64_t instance_of(struct gt_flow_ends *ends, uint64_t team)
{
	const struct gt_lookup_entry *entry;

	if (!ends->known_teams.entries && gt_lookup_init(&ends->known_teams))
		gt_no_memory();
	entry = gt_lookup_find(&ends->known_teams, team + 1);
	if (!entry) {
		ends->instances = gt_grown(ends->instances, ends->instance_count, &ends->instance_room,
					   sizeof(*ends->instances));
		ends->instances[ends->instance_count] = 0;
		entry = gt_lookup_put(&ends->known_teams, team + 1, (uint32_t)ends->instance_count++, 0);
	}
	if (!entry)
		gt_no_memory();
	return ends->instances[entry->value]++;
}

/* Producers have the team begin before or after the parallel region is entered. */
static bool in_parallel(const struct gt_otf2_cursor *at)
{
	return at->depth && at->stack[at->depth - 1].region->role == OTF2_REGION_ROLE_PARALLEL;
}

/* Members branch from the parallel region of the one that made the team, to what they call first. */
static void begin_team(struct gt_flow_ends *ends, const struct gt_otf2_cursor *at, uint64_t team)
{
	uint64_t key = gt_flow_pair_key(team, instance_of(ends, team));
	bool own = ends->forks;

	ends->forks = false;
	if (ends->team_count < GT_FLOW_TEAMS) {
		ends->teams[ends->team_count].key = key;
		ends->teams[ends->team_count].own = own;
	}
	ends->team_count++;
	if (add_end(ends, at, key, gt_flow_path_here(ends, at), GT_BRANCH_CREATE, !own) &&
	    !(own && in_parallel(at)))
		ends->begun = ends->count;
}

static void end_team(struct gt_flow_ends *ends, const struct gt_otf2_cursor *at)
{
	const struct gt_flow_team *team;

	if (!ends->team_count || --ends->team_count >= GT_FLOW_TEAMS)
		return;
	team = &ends->teams[ends->team_count];
	add_end(ends, at, team->key, in_parallel(at) ? gt_flow_path_here(ends, at) : ends->left,
		GT_BRANCH_JOIN, team->own);
}

void gt_flow_end_event(struct gt_flow_ends *ends, const struct gt_otf2_cursor *at,
		       const struct gt_otf2_event *event)
{
	if (event->type == GT_OTF2_ThreadCreate)
		add_end(ends, at, gt_flow_pair_key(event->ThreadCreate.comm, event->ThreadCreate.number),
			gt_flow_path_here(ends, at), GT_BRANCH_CREATE, false);
	else if (event->type == GT_OTF2_ThreadBegin)
		add_end(ends, at, gt_flow_pair_key(event->ThreadBegin.comm, event->ThreadBegin.number), 0,
			GT_BRANCH_CREATE, true);
	else if (event->type == GT_OTF2_ThreadWait)
		add_end(ends, at, gt_flow_pair_key(event->ThreadWait.comm, event->ThreadWait.number),
			gt_flow_path_here(ends, at), GT_BRANCH_JOIN, true);
	else if (event->type == GT_OTF2_ThreadEnd)
		add_end(ends, at, gt_flow_pair_key(event->ThreadEnd.comm, event->ThreadEnd.number), 0,
			GT_BRANCH_JOIN, false);
	else if (event->type == GT_OTF2_ThreadFork)
		ends->forks = true;
	else if (event->type == GT_OTF2_ThreadTeamBegin)
		begin_team(ends, at, event->ThreadTeamBegin.comm);
	else if (event->type == GT_OTF2_ThreadTeamEnd)
		end_team(ends, at);
}

void gt_flow_end_merge(struct gt_flow *flow, struct gt_flow_ends *ends, size_t location)
{
	flow->syncs[location] = ends->syncs;
	for (unsigned what = 0; what < GT_BRANCHES; what++)
		flow->masks[what] |= ends->masks[what];
	for (size_t i = 0; i < ends->count; i++) {
		if (flow->end_count >= MOST_ENDS)
			flow->end_count = thin(flow->masks, flow->ends, flow->end_count, MOST_ENDS);
		if (!is_kept(flow->masks, ends->items[i].key, ends->items[i].what))
			continue;
		flow->ends = gt_grown(flow->ends, flow->end_count, &flow->end_room, sizeof(*flow->ends));
		flow->ends[flow->end_count++] = ends->items[i];
	}
	for (size_t i = 0; i < ends->sites.count; i++)
		gt_flow_add_site(&flow->sites, ends->sites.callers[i].path, ends->sites.callers[i].caller);
	free(ends->items);
	free(ends->sites.callers);
	free(ends->sites.paths.entries);
	free(ends->known_teams.entries);
	free(ends->instances);
}

/* ---- matching ------------------------------------------------------------------------------------- */

/* Sorts origins before their targets. */
static int by_key(const void *a, const void *b)
{
	const struct gt_flow_end *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (x->location > y->location) - (x->location < y->location);
}

static uint32_t state_of(const struct gt_flow *flow, const struct gt_flow_index *index,
			 const struct gt_flow_end *end)
{
	return gt_flow_state_of(flow, index, end->location, end->path, end->time);
}

/* A team is joined by one call, and has many members. */
static void match_end(struct gt_flow *flow, const struct gt_flow_index *index, struct gt_lookup *known,
		      const struct gt_flow_end *from, const struct gt_flow_end *to)
{
	for (; !from->to; from++) {
		if (from->location != to->location)
			gt_flow_add_branch(
				flow, known,
				&(struct gt_flow_branch){ .what = to->what,
							  .from = from->location,
							  .to = to->location,
							  .from_state = state_of(flow, index, from),
							  .to_state = state_of(flow, index, to),
							  .count = 1 + flow->masks[to->what] });
		if (to->what != GT_BRANCH_JOIN)
			break;
	}
}

static void match(struct gt_flow *flow)
{
	struct gt_lookup known;
	struct gt_flow_index index = { .count = 0 };

	if (gt_lookup_init(&known))
		gt_no_memory();
	gt_flow_index_make(flow, &index);
	flow->end_count = filter(flow->masks, flow->ends, flow->end_count);
	if (flow->end_count)
		qsort(flow->ends, flow->end_count, sizeof(*flow->ends), by_key);
	for (size_t i = 0, from = 0; i < flow->end_count; i++) {
		if (!i || flow->ends[i].key != flow->ends[i - 1].key)
			from = i;
		if (flow->ends[i].to)
			match_end(flow, &index, &known, &flow->ends[from], &flow->ends[i]);
	}
	gt_flow_find_syncs(flow, &index, &known);
	free(index.begins);
	free(known.entries);
	free(flow->ends);
	flow->ends = NULL;
}

static int by_place(const void *a, const void *b)
{
	const struct gt_flow_branch *x = a, *y = b;

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	if (x->what != y->what)
		return x->what < y->what ? -1 : 1;
	if (x->to_state != y->to_state)
		return x->to_state < y->to_state ? -1 : 1;
	return x->from_state < y->from_state ? -1 : x->from_state > y->from_state;
}

void gt_flow_branches(struct gt_flow *flow)
{
	match(flow);
	if (flow->branch_count)
		qsort(flow->branches, flow->branch_count, sizeof(*flow->branches), by_place);
	for (size_t i = 0; i < flow->branch_count; i++)
		flow->branches[i].first = !i || flow->branches[i].to != flow->branches[i - 1].to ||
					  flow->branches[i].what != flow->branches[i - 1].what;
}

uint64_t gt_flow_sampled(const struct gt_flow *flow)
{
	uint64_t most = flow->sync_step;

	for (unsigned what = 0; what < GT_BRANCHES; what++)
		most = flow->masks[what] + UINT64_C(1) > most ? flow->masks[what] + UINT64_C(1) : most;
	return most ? most : 1;
}

/* ---- between boxes --------------------------------------------------------------------------------- */

static int by_boxes(const void *a, const void *b)
{
	const struct gt_flow_link *x = a, *y = b;

#define BY(field)                                                                                           \
	if (x->field != y->field)                                                                           \
	return x->field < y->field ? -1 : 1
	BY(from_kind);
	BY(from);
	BY(to_kind);
	BY(to);
	BY(what);
	BY(dashed);
#undef BY
	return 0;
}

size_t gt_flow_links(const struct gt_flow *flow, const struct gt_flow_draw *draws,
		     struct gt_flow_link *links)
{
	size_t all = 0, count = 0;

	for (size_t i = 0; i < flow->branch_count; i++) {
		const struct gt_flow_branch *b = &flow->branches[i];
		const struct gt_flow_place *from = &flow->places[b->from], *to = &flow->places[b->to];

		links[all++] = (struct gt_flow_link){
			from->kind,
			gt_flow_box_of(&draws[from->kind], from->stream,
				       flow->graphs[from->kind].states[b->from_state].column),
			to->kind,
			gt_flow_box_of(&draws[to->kind], to->stream,
				       flow->graphs[to->kind].states[b->to_state].column),
			b->what,
			b->what == GT_BRANCH_JOIN || b->what == GT_BRANCH_SYNCHRONIZE,
			b->what == GT_BRANCH_LAUNCH && !b->first,
			b->count
		};
	}
	if (all)
		qsort(links, all, sizeof(*links), by_boxes);
	for (size_t i = 0; i < all; i++) {
		if (count && !by_boxes(&links[count - 1], &links[i]))
			links[count - 1].count += links[i].count;
		else
			links[count++] = links[i];
	}
	return count;
}
