/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Divides the time inside measured calls by samples: adds the functions that no hook has recorded below
 * the node of the call tree that was open.
 *
 * No time is counted twice: measured times stay as they are, and samples only divide the exclusive time of
 * the innermost open call, of which they never have more than there is (gt_stack_part()).
 *
 * Limits: those of stacks.h.
 */
#include "config.h"

#include "report/sections/samples.h"

#include "lib/assemble/util/memory.h"

#include <stdlib.h>
#include <string.h>

/* Sums are nodes: by the measured node above, 1 + the node that called it (0: none), and the function. */
enum { BASE, PARENT, FUNCTION };

struct gt_sampled_tree {
	struct gt_report *report;
	struct gt_sums nodes;     /* ns: in itself; bytes: with what it calls. Callers come first */
	uint32_t *first;          /* below a measured node: 1 + the one with most time, or 0 */
	uint32_t *child, *next;   /* of a node, the same */
	bool timed;
};

/* ---- the tree ------------------------------------------------------------------------------------ */

/* Returns 1 + its index. */
static uint64_t add_node(struct gt_sampled_tree *sampled, uint32_t base, uint64_t parent, uint64_t function)
{
	return (uint64_t)(gt_sums_at(&sampled->nodes, base, parent, function, 0) - sampled->nodes.items) + 1;
}

static uint64_t function_of(const struct gt_report *report, const struct gt_otf2_region *region)
{
	return region == &gt_stacks_ours ? gt_samples_ourselves(report) : gt_report_region(report, region);
}

static void add_path(struct gt_sampled_tree *sampled, const struct gt_profile *profile,
		     const struct gt_sum *sum, struct gt_frames *frames)
{
	const struct gt_report *report = sampled->report;
	const struct gt_otf2_region *open[GT_OPEN_MOST];
	uint32_t base = (uint32_t)sum->key[1];
	uint64_t at = 0;

	gt_frames_below(report->read,
			sum->key[0] ? gt_otf2_context_at(report->read, sum->key[0] - 1) : NULL,
			sum->key[2], open, gt_profile_open(report, profile, base, open), frames);
	while (frames->count)
		at = add_node(sampled, base, at, function_of(report, frames->regions[--frames->count]));
	if (!at)
		return; /* in the call itself */
	sampled->nodes.items[at - 1].count += sum->count;
	sampled->nodes.items[at - 1].ns += sum->ns;
}

static void sum_inclusive(struct gt_sums *nodes)
{
	for (uint32_t i = nodes->count; i-- > 0;) {
		nodes->items[i].bytes += nodes->items[i].ns;
		if (nodes->items[i].key[PARENT])
			nodes->items[nodes->items[i].key[PARENT] - 1].bytes += nodes->items[i].bytes;
	}
}

static int less_first(const void *a, const void *b, void *items)
{
	const struct gt_sum *x = (struct gt_sum *)items + *(const uint32_t *)a;
	const struct gt_sum *y = (struct gt_sum *)items + *(const uint32_t *)b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? -1 : 1;
	if (x->count != y->count)
		return x->count < y->count ? -1 : 1;
	return (x->key[FUNCTION] < y->key[FUNCTION]) - (x->key[FUNCTION] > y->key[FUNCTION]);
}

/* Links nodes in descending order of time. */
static void link_nodes(struct gt_sampled_tree *sampled)
{
	uint32_t count = sampled->nodes.count, *order = gt_zeroed((size_t)count + 1, sizeof(*order));

	sampled->child = gt_zeroed((size_t)count + 1, sizeof(*sampled->child));
	sampled->next = gt_zeroed((size_t)count + 1, sizeof(*sampled->next));
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof(*order), less_first, sampled->nodes.items);
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t *key = sampled->nodes.items[order[i]].key;
		uint32_t *list = key[PARENT] ? &sampled->child[key[PARENT] - 1] : &sampled->first[key[BASE]];

		sampled->next[order[i]] = *list;
		*list = order[i] + 1;
	}
	free(order);
}

struct gt_sampled_tree *gt_sampled_make(struct gt_report *report, const struct gt_profile *profile)
{
	const struct gt_stack_sums *all = gt_report_result(report, &gt_samples_analysis);
	struct gt_sampled_tree *sampled;
	struct gt_frames *frames;

	if (!all || !all->divided.count)
		return NULL;
	sampled = gt_zeroed(1, sizeof(*sampled));
	frames = gt_zeroed(1, sizeof(*frames));
	sampled->report = report;
	sampled->first = gt_zeroed((size_t)profile->tree.count + 1, sizeof(*sampled->first));
	for (uint32_t i = 0; i < all->divided.count; i++) {
		const struct gt_sum *sum = &all->divided.items[i];

		if (sum->key[1] == GT_SAMPLES_ASIDE)
			continue;
		add_path(sampled, profile, sum, frames);
		sampled->timed |= sum->bytes != 0;
	}
	sum_inclusive(&sampled->nodes);
	link_nodes(sampled);
	free(frames);
	return sampled;
}

void gt_sampled_walk(const struct gt_sampled_tree *sampled, uint32_t node, gt_sampled_visit visit,
		     void *user)
{
	unsigned depth = 0;

	for (uint32_t at = sampled ? sampled->first[node] : 0; at;) {
		const struct gt_sum *sum = &sampled->nodes.items[at - 1];

		visit(user, &(struct gt_sampled_call){
			.node = at - 1, .caller = (uint32_t)sum->key[PARENT], .depth = depth,
			.name = gt_samples_name(sampled->report, sum->key[FUNCTION]), .samples = sum->count,
			.exclusive = sampled->timed ? sum->ns : GT_NO_COUNT,
			.inclusive = sampled->timed ? sum->bytes : GT_NO_COUNT });
		if (sampled->child[at - 1]) {
			at = sampled->child[at - 1];
			depth++;
			continue;
		}
		while (at && !sampled->next[at - 1]) {
			at = (uint32_t)sampled->nodes.items[at - 1].key[PARENT];
			depth -= at != 0;
		}
		at = at ? sampled->next[at - 1] : 0;
	}
}

void gt_sampled_free(struct gt_sampled_tree *sampled)
{
	if (!sampled)
		return;
	gt_sums_free(&sampled->nodes);
	free(sampled->first);
	free(sampled->child);
	free(sampled->next);
	free(sampled);
}
