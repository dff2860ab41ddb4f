/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What leads from one stream to another: threads and those that create and join them, teams and the call that
 * made them, activities and the calls that launched them. Ends are matched by a number that both have.
 *
 * Limits: see flow.h. Of states with one call path it is the last one that had begun.
 */
#include "config.h"

#include "report/flow/flow.h"

#include "lib/assemble/util/lookup.h"

enum { MOST_ENDS = 1 << 21, MOST_OF_ONE = 1 << 18 };

const char *const gt_branch_names[] = { "create", "join", "launch", "synchronize" };

/* Of two numbers in their order. */
static uint64_t pair(uint64_t a, uint64_t b)
{
	return gt_hash_mix(gt_hash_mix(GT_HASH_START, a), b);
}

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
	uint64_t key = pair(number, what);

	if (ends->off)
		return false;
	if (ends->count >= MOST_OF_ONE) {
		ends->count = thin(ends->masks, ends->items, ends->count, MOST_OF_ONE);
		ends->begun = 0;
	}
	if (!is_kept(ends->masks, key, what))
		return false;
	ends->items = gt_flow_room(ends->items, &ends->room, ends->count, sizeof(*ends->items));
	ends->items[ends->count++] =
		(struct gt_flow_end){ key, path, at->time, (uint32_t)at->index, what, to };
	return true;
}

static void add_site(struct gt_flow_sites *sites, uint64_t path, uint64_t caller)
{
	if (!sites->paths.entries && gt_lookup_init(&sites->paths))
		abort();
	if (gt_lookup_find(&sites->paths, path | 1))
		return;
	sites->callers = gt_flow_room(sites->callers, &sites->room, sites->count, sizeof(*sites->callers));
	sites->callers[sites->count] = (struct gt_flow_site){ path, caller };
	if (!gt_lookup_put(&sites->paths, path | 1, (uint32_t)sites->count++, 0))
		abort();
}

uint64_t gt_flow_path_here(struct gt_flow_ends *ends, const struct gt_otf2_cursor *at)
{
	uint64_t path = at->depth ? at->stack[at->depth - 1].user : 0;

	if (at->depth && (!ends->sites.paths.entries || !gt_lookup_find(&ends->sites.paths, path | 1)))
		for (size_t i = at->depth; i-- > 0;)
			add_site(&ends->sites, at->stack[i].user, i ? at->stack[i - 1].user : 0);
	return path;
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
	add_end(ends, at, pair(gt_otf2_process(at->read, at->location), number), gt_flow_path_here(ends, at),
		GT_BRANCH_LAUNCH, at->location->type != OTF2_LOCATION_TYPE_CPU_THREAD);
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
		abort();
	entry = gt_lookup_find(&ends->known_teams, team + 1);
	if (!entry) {
		ends->instances = gt_flow_room(ends->instances, &ends->instance_room, ends->instance_count,
					       sizeof(*ends->instances));
		ends->instances[ends->instance_count] = 0;
		entry = gt_lookup_put(&ends->known_teams, team + 1, (uint32_t)ends->instance_count++, 0);
	}
	if (!entry)
		abort();
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
	uint64_t key = pair(team, instance_of(ends, team));
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
		add_end(ends, at, pair(event->ThreadCreate.comm, event->ThreadCreate.number),
			gt_flow_path_here(ends, at), GT_BRANCH_CREATE, false);
	else if (event->type == GT_OTF2_ThreadBegin)
		add_end(ends, at, pair(event->ThreadBegin.comm, event->ThreadBegin.number), 0,
			GT_BRANCH_CREATE, true);
	else if (event->type == GT_OTF2_ThreadWait)
		add_end(ends, at, pair(event->ThreadWait.comm, event->ThreadWait.number),
			gt_flow_path_here(ends, at), GT_BRANCH_JOIN, true);
	else if (event->type == GT_OTF2_ThreadEnd)
		add_end(ends, at, pair(event->ThreadEnd.comm, event->ThreadEnd.number), 0,
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
		flow->ends = gt_flow_room(flow->ends, &flow->end_room, flow->end_count, sizeof(*flow->ends));
		flow->ends[flow->end_count++] = ends->items[i];
	}
	for (size_t i = 0; i < ends->sites.count; i++)
		add_site(&flow->sites, ends->sites.callers[i].path, ends->sites.callers[i].caller);
	free(ends->items);
	free(ends->sites.callers);
	free(ends->sites.paths.entries);
	free(ends->known_teams.entries);
	free(ends->instances);
}

/* ---- matching ------------------------------------------------------------------------------------- */

/* Those that lead somewhere stand before those that they lead to. */
static int by_key(const void *a, const void *b)
{
	const struct gt_flow_end *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (x->location > y->location) - (x->location < y->location);
}

/* Where states begin; with path 0 all that are outermost. */
struct begin {
	uint64_t path, time;
	uint32_t location, state;
};

struct gt_flow_index {
	struct begin *begins;
	size_t count, room;
};

static int by_path(const void *a, const void *b)
{
	const struct begin *x = a, *y = b;

	if (x->location != y->location)
		return x->location < y->location ? -1 : 1;
	if (x->path != y->path)
		return x->path < y->path ? -1 : 1;
	return (x->time > y->time) - (x->time < y->time);
}

static void add_begin(struct gt_flow_index *index, uint32_t location, uint64_t path,
		      const struct gt_flow_item *item)
{
	index->begins = gt_flow_room(index->begins, &index->room, index->count, sizeof(*index->begins));
	index->begins[index->count++] = (struct begin){ path, item->begin, location, item->state };
}

static void make_index(const struct gt_flow *flow, struct gt_flow_index *index)
{
	for (unsigned k = 0; k < GT_FLOW_KINDS; k++)
		for (size_t i = 0; i < flow->graphs[k].count; i++) {
			const struct gt_flow_stream *s = &flow->graphs[k].streams[i];

			for (size_t n = 0; s->kept && n < s->count; n++) {
				add_begin(index, flow->locations[k][i], s->items[n].path, &s->items[n]);
				if (!s->items[n].depth)
					add_begin(index, flow->locations[k][i], 0, &s->items[n]);
			}
		}
	if (index->count)
		qsort(index->begins, index->count, sizeof(*index->begins), by_path);
}

/* The state of that path that began last before a time, or first; GT_FLOW_NONE: there is none. */
static uint32_t find_begin(const struct gt_flow_index *index, uint32_t location, uint64_t path, uint64_t time)
{
	const struct begin wanted = { path, time, location, 0 };
	size_t low = 0, high = index->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (by_path(&index->begins[middle], &wanted) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low ? low - 1 : 0; i <= low && i < index->count; i++)
		if (index->begins[i].location == location && index->begins[i].path == path)
			return index->begins[i].state;
	return GT_FLOW_NONE;
}

static uint64_t caller_of(const struct gt_flow *flow, uint64_t path)
{
	const struct gt_lookup_entry *entry =
		flow->sites.paths.entries ? gt_lookup_find(&flow->sites.paths, path | 1) : NULL;

	return entry ? flow->sites.callers[entry->value].caller : 0;
}

uint32_t gt_flow_state_of(const struct gt_flow *flow, const struct gt_flow_index *index, uint32_t location,
			  uint64_t path, uint64_t time)
{
	uint32_t state = find_begin(index, location, path, time);

	while (state == GT_FLOW_NONE && path) {
		path = caller_of(flow, path);
		state = find_begin(index, location, path ? path : gt_flow_path(0, GT_FLOW_CODE), time);
	}
	return state != GT_FLOW_NONE ? state : find_begin(index, location, 0, time);
}

static uint32_t state_of(const struct gt_flow *flow, const struct gt_flow_index *index,
			 const struct gt_flow_end *end)
{
	return gt_flow_state_of(flow, index, end->location, end->path, end->time);
}

void gt_flow_add_branch(struct gt_flow *flow, struct gt_lookup *known, const struct gt_flow_branch *branch)
{
	uint64_t word = pair(pair(pair(branch->from_state, branch->to_state), pair(branch->from, branch->to)),
			     branch->what) |
			1;
	const struct gt_lookup_entry *entry = gt_lookup_find(known, word);

	if (branch->from_state == GT_FLOW_NONE || branch->to_state == GT_FLOW_NONE)
		return;
	if (entry) {
		flow->branches[entry->value].count += branch->count;
		return;
	}
	flow->branches = gt_flow_room(flow->branches, &flow->branch_room, flow->branch_count,
				      sizeof(*flow->branches));
	flow->branches[flow->branch_count] = *branch;
	if (!gt_lookup_put(known, word, (uint32_t)flow->branch_count++, 0))
		abort();
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
		abort();
	make_index(flow, &index);
	flow->end_count = filter(flow->masks, flow->ends, flow->end_count);
	if (flow->end_count)
		qsort(flow->ends, flow->end_count, sizeof(*flow->ends), by_key);
	for (size_t i = 0, from = 0; i < flow->end_count; i++) {
		if (!i || flow->ends[i].key != flow->ends[i - 1].key)
			from = i;
		if (flow->ends[i].to)
			match_end(flow, &index, &known, &flow->ends[from], &flow->ends[i]);
	}
	gt_flow_syncs(flow, &index, &known);
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
