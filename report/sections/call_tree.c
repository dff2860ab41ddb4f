/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The call tree of all threads: what was measured, and what samples say of the time in it.
 *
 * Limits: in text it is cut by depth only as every table is by rows; --section call_tree has all.
 */
#include "config.h"

#include "lib/assemble/util/memory.h"
#include "report/sections/samples.h"

#include <stdlib.h>

static const struct gt_column tree_columns[] = {
	{ "id", NULL, GT_COUNT },
	{ "parent", NULL, GT_COUNT },
	{ "depth", NULL, GT_COUNT },
	{ "count", "calls", GT_COUNT },
	{ "inclusive_s", "inclusive", GT_SECONDS },
	{ "exclusive_s", "exclusive", GT_SECONDS },
	{ "name", NULL, GT_TEXT },
	{ "kind", NULL, GT_WORD },
	{ "samples", NULL, GT_COUNT },
	{ NULL, "call path", GT_TEXT },
};
static const struct gt_section_kind tree_kind = GT_SECTION("call_tree", "Call tree", GT_ROWS, tree_columns);

static int longer_first(const void *a, const void *b, void *context)
{
	const struct gt_profile_node *nodes = context, *x = &nodes[*(const uint32_t *)a],
				     *y = &nodes[*(const uint32_t *)b];

	if (x->inclusive != y->inclusive)
		return x->inclusive < y->inclusive ? 1 : -1;
	return (x->region > y->region) - (x->region < y->region);
}

/* Sampled functions have "~" before their names in text. */
static union gt_cell *path_row(struct gt_report *report, struct gt_section *section, unsigned depth,
			       const char *name, bool measured)
{
	union gt_cell *row = gt_row_add(section);

	row[2].count = depth;
	row[6].text = name;
	row[7].text = measured ? "measured" : "sampled";
	row[9].text = gt_figures_text(&report->figures, "%*s%s%s", depth < 30 ? 2 * (int)depth : 60, "",
				      measured ? "" : "~", name);
	return row;
}

static void tree_row(struct gt_report *report, const struct gt_profile *profile, uint32_t node,
		     unsigned depth, struct gt_section *section)
{
	const struct gt_profile_node *of = &profile->tree.nodes[node];
	const char *name = gt_report_region_name(report, of->region);
	union gt_cell *row = path_row(report, section, depth, name, true);

	row[0].count = node;
	if (of->parent)
		row[1].count = of->parent;
	row[3].count = of->calls;
	row[4].count = of->inclusive;
	row[5].count = of->exclusive;
}

/* Below which call, and where rows go. */
struct below {
	struct gt_report *report;
	struct gt_section *section;
	uint32_t node, behind; /* behind: the first id that no measured call has */
	unsigned depth;
};

static void sampled_row(void *user, const struct gt_sampled_call *call)
{
	struct below *below = user;
	union gt_cell *row = path_row(below->report, below->section, below->depth + call->depth, call->name,
				      false);

	row[0].count = below->behind + call->node;
	if (call->caller)
		row[1].count = below->behind + call->caller - 1;
	else if (below->node)
		row[1].count = below->node;
	row[4].count = call->inclusive;
	row[5].count = call->exclusive;
	row[8].count = call->samples;
}

/* Without recursion: call trees can be as deep as the program's stack. */
static void tree_table(struct gt_report *report, const struct gt_profile *profile)
{
	struct gt_section *section = gt_section_add(&report->figures, &tree_kind);
	const struct gt_profile_tree *tree = &profile->tree;
	struct below below = { .report = report, .section = section, .behind = tree->count };
	struct gt_sampled_tree *sampled;
	uint32_t *pending, *depths, count = 0;

	section->left_out = !gt_report_shows(report, tree_kind.key) && tree->count > 1;
	if (section->left_out)
		return;
	sampled = gt_sampled_make(report, profile);
	section->note = sampled ? "~: by samples, which divide the exclusive time of the call above" : NULL;
	pending = gt_resized(NULL, (size_t)tree->count + 1, sizeof(*pending));
	depths = gt_zeroed((size_t)tree->count + 1, sizeof(*depths));
	for (uint32_t node = 0;; node = pending[--count]) {
		uint32_t first = count;

		if (node && tree->nodes[node].calls)
			tree_row(report, profile, node, depths[node] - 1, section);
		below.node = node;
		below.depth = depths[node];
		if (!node || tree->nodes[node].calls)
			gt_sampled_walk(sampled, node, sampled_row, &below);
		for (uint32_t i = tree->count ? tree->nodes[node].child : 0; i; i = tree->nodes[i].next) {
			depths[i] = depths[node] + 1;
			pending[count++] = i;
		}
		if (count > first)
			qsort_r(pending + first, count - first, sizeof(*pending), longer_first, tree->nodes);
		for (uint32_t i = first, j = count; i + 1 < j; i++) { /* the last one is taken first */
			uint32_t swap = pending[i];

			pending[i] = pending[--j];
			pending[j] = swap;
		}
		if (!count)
			break;
	}
	free(pending);
	free(depths);
	gt_sampled_free(sampled);
}

static void figures(struct gt_report *report, void *result)
{
	(void)result;
	tree_table(report, gt_report_result(report, &gt_profile_analysis));
}

const struct gt_analysis gt_call_tree_analysis = { .name = "call tree", .figures = figures };
