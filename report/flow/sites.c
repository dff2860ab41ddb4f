/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call paths from which something leads to other streams, the states that they are in, and the branches from
 * one state to another.
 *
 * Limits: see flow.h. Of states with one call path it is the last one that had begun.
 */
#include "config.h"

#include "report/flow/flow.h"

#include "lib/assemble/util/lookup.h"

/* Of two numbers in their order. */
uint64_t gt_flow_pair_key(uint64_t a, uint64_t b)
{
	return gt_hash_mix(gt_hash_mix(GT_HASH_START, a), b);
}

void gt_flow_add_site(struct gt_flow_sites *sites, uint64_t path, uint64_t caller)
{
	if (!sites->paths.entries && gt_lookup_init(&sites->paths))
		gt_no_memory();
	if (gt_lookup_find(&sites->paths, path | 1))
		return;
	sites->callers = gt_grown(sites->callers, sites->count, &sites->room, sizeof(*sites->callers));
	sites->callers[sites->count] = (struct gt_flow_site){ path, caller };
	if (!gt_lookup_put(&sites->paths, path | 1, (uint32_t)sites->count++, 0))
		gt_no_memory();
}

uint64_t gt_flow_path_here(struct gt_flow_ends *ends, const struct gt_otf2_cursor *at)
{
	uint64_t path = at->depth ? at->stack[at->depth - 1].user : 0;

	if (at->depth && (!ends->sites.paths.entries || !gt_lookup_find(&ends->sites.paths, path | 1)))
		for (size_t i = at->depth; i-- > 0;)
			gt_flow_add_site(&ends->sites, at->stack[i].user, i ? at->stack[i - 1].user : 0);
	return path;
}

static int by_path(const void *a, const void *b)
{
	const struct gt_flow_begin *x = a, *y = b;

	if (x->location != y->location)
		return x->location < y->location ? -1 : 1;
	if (x->path != y->path)
		return x->path < y->path ? -1 : 1;
	return (x->time > y->time) - (x->time < y->time);
}

static void add_begin(struct gt_flow_index *index, uint32_t location, uint64_t path,
		      const struct gt_flow_item *item)
{
	index->begins = gt_grown(index->begins, index->count, &index->room, sizeof(*index->begins));
	index->begins[index->count++] = (struct gt_flow_begin){ path, item->begin, location, item->state };
}

void gt_flow_index_make(const struct gt_flow *flow, struct gt_flow_index *index)
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
	const struct gt_flow_begin wanted = { path, time, location, 0 };
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

void gt_flow_add_branch(struct gt_flow *flow, struct gt_lookup *known, const struct gt_flow_branch *branch)
{
	uint64_t states = gt_flow_pair_key(branch->from_state, branch->to_state);
	uint64_t locations = gt_flow_pair_key(branch->from, branch->to);
	uint64_t word = gt_flow_pair_key(gt_flow_pair_key(states, locations), branch->what) | 1;
	const struct gt_lookup_entry *entry = gt_lookup_find(known, word);

	if (branch->from_state == GT_FLOW_NONE || branch->to_state == GT_FLOW_NONE)
		return;
	if (entry) {
		flow->branches[entry->value].count += branch->count;
		return;
	}
	flow->branches = gt_grown(flow->branches, flow->branch_count, &flow->branch_room,
				  sizeof(*flow->branches));
	flow->branches[flow->branch_count] = *branch;
	if (!gt_lookup_put(known, word, (uint32_t)flow->branch_count++, 0))
		gt_no_memory();
}
