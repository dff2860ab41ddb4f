/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who makes calls of libraries, of calls that say it by the attribute CALL_PATH.
 *
 * Limits: those of gt_profile_call_path().
 */
#include "config.h"

#include "report/model/sums.h"
#include "report/sections/profile.h"

struct state {
	struct gt_sums sums;
	uint64_t attribute;
};

/* Of a sum; NODE of the location's tree, in the result of the whole tree. */
enum { REGION, NODE, PATH };

static const struct gt_column columns[] = {
	{ "count", "calls", GT_COUNT },
	{ "seconds", "time", GT_SECONDS },
	{ "max_s", "longest", GT_SECONDS },
	{ "region", "call", GT_TEXT },
	{ "path", "call path", GT_TEXT },
	{ "called_at", "called at", GT_TEXT },
};
static const struct gt_section_kind callers_kind =
	GT_SECTION("callers", "Calls by their callers", GT_ROWS, columns, .below = "called_at",
		   .sinks = "path");

static bool wanted(struct gt_report *report)
{
	return gt_otf2_attribute_named(report->read, "CALL_PATH") != GT_OTF2_NOTHING;
}

static void begin(struct gt_report *report, struct gt_otf2_cursor *at, void *memory)
{
	((struct state *)memory)->attribute = gt_report_shows(report, callers_kind.key)
					      ? gt_otf2_attribute_named(at->read, "CALL_PATH")
					      : GT_OTF2_NOTHING;
}

static void leave(struct gt_report *report, struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame,
		  void *memory)
{
	struct state *state = memory;
	uint32_t path = at->attribute_count ? gt_stack_call_path(at, state->attribute) : 0;

	if (path)
		gt_sum_add(gt_sums_at(&state->sums, gt_report_region(report, frame->region),
				      (uint32_t)frame->user, path, 0), gt_otf2_inclusive(at, frame), 0);
}

static void carry(struct gt_report *report, struct gt_carry *carry, void *memory)
{
	(void)report;
	gt_carry_sums(carry, &((struct state *)memory)->sums);
}

static void merge(struct gt_report *report, struct gt_otf2_cursor *at, void *memory, void *result)
{
	const struct gt_profile *profile = gt_report_result(report, &gt_profile_analysis);
	struct gt_sums *sums = &((struct state *)memory)->sums;

	for (uint32_t i = 0; i < sums->count; i++)
		sums->items[i].key[NODE] = gt_profile_node_at(profile, at->index, sums->items[i].key[NODE]);
	gt_sums_merge(result, sums);
	gt_sums_free(sums);
}

static void figures(struct gt_report *report, void *result)
{
	const struct gt_profile *profile = gt_report_result(report, &gt_profile_analysis);
	struct gt_section *section = gt_section_add(&report->figures, &callers_kind);
	const struct gt_sums *sums = result;

	for (uint32_t i = 0; i < sums->count; i++) {
		const struct gt_sum *sum = &sums->items[i];
		struct gt_call_path call = { (uint32_t)sum->key[PATH], (uint32_t)sum->key[NODE] };
		union gt_cell *row = gt_row_add(section);

		row[0].count = sum->count;
		row[1].count = sum->ns;
		row[2].count = sum->most;
		row[3].text = gt_report_region_name(report, sum->key[REGION]);
		row[4].text = gt_profile_call_path(report, profile, call.node, &call);
		row[5].text = gt_call_place(report, &call);
	}
	gt_rows_sort(section, 1);
	section->left_out = !gt_report_shows(report, callers_kind.key);
	section->note = section->rows ? "of calls that took long or began something on a device" : NULL;
}

static void release(void *result)
{
	gt_sums_free(result);
}

static const struct gt_section_kind *const sections[] = { &callers_kind, NULL };

const struct gt_analysis gt_callers_analysis = {
	.name = "callers", .wanted = wanted, .loud_only = true,
	.state_size = sizeof(struct state), .result_size = sizeof(struct gt_sums),
	.begin = begin, .leave = leave, .carry = carry, .merge = merge,
	.figures = figures, .free = release, .sections = sections,
};
