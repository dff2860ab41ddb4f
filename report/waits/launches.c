/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who launched what a device did: kernels and copies by the path of the call that launched them, which is
 * theirs, too.
 *
 * Limits: see devices.c. What no call of the archive launched is in no row.
 */
#include "config.h"

#include "report/waits/sync.h"

#include <math.h>

static const struct gt_column columns[] = {
	{ "count", "launches", GT_COUNT },
	{ "seconds", "time", GT_SECONDS },
	{ "share", "of GPUs", GT_SHARE },
	{ "name", "kernel or copy", GT_TEXT },
	{ "path", "call path", GT_TEXT },
	{ "called_at", "called at", GT_TEXT },
};
const struct gt_section_kind gt_launches_kind =
	GT_SECTION("launches", "Launched by", GT_ROWS, columns, .below = "called_at", .sinks = "path");

/* Of a sum. PATH, CALL: gt_call_path, of the whole tree. */
enum { REGION, NODE, PATH, CALL };

static bool is_device_work(enum gt_class class)
{
	return class == GT_CLASS_KERNEL || class == GT_CLASS_GPU_TRANSFER || class == GT_CLASS_GPU_SET;
}

void gt_launch_add(struct gt_sync *sync, const struct gt_item *call, const struct gt_item *activity)
{
	const struct gt_wait_segment *of = gt_segment_at(sync, activity->location, activity->segment);
	const struct gt_wait_segment *host = gt_segment_at(sync, call->location, call->segment);
	const struct gt_profile *profile = sync->profile;
	struct gt_call_path path;
	uint64_t node, region;

	if (!is_device_work((enum gt_class)of->class))
		return;
	path = gt_sync_whole(sync, call->location, gt_sync_path(sync, call->location, call->segment));
	node = gt_profile_node_at(profile, call->location, host->node);
	region = profile->tree.nodes[gt_profile_node_at(profile, activity->location, of->node)].region;
	path.path = gt_stack_launcher(sync->report->read, path.path,
				      gt_report_region_name(sync->report, region));
	gt_sum_add(gt_sums_at(&sync->launches, region, node, path.path, path.node),
		   of->end - of->begin, 0);
}

void gt_launches_figures(struct gt_sync *sync)
{
	struct gt_report *report = sync->report;
	struct gt_section *section = gt_section_add(&report->figures, &gt_launches_kind);
	uint64_t whole = report->duration * report->classes.device_count;

	section->left_out = report->classes.gpu && !sync->shows_launches;
	for (uint32_t i = 0; i < sync->launches.count; i++) {
		const struct gt_sum *sum = &sync->launches.items[i];
		struct gt_call_path call = { (uint32_t)sum->key[PATH], (uint32_t)sum->key[CALL] };
		union gt_cell *row = gt_row_add(section);

		row[0].count = sum->count;
		row[1].count = sum->ns;
		row[2].number = whole ? (double)sum->ns / (double)whole : NAN;
		row[3].text = gt_report_region_name(report, sum->key[REGION]);
		row[4].text = gt_profile_call_path(report, sync->profile, (uint32_t)sum->key[NODE], &call);
		row[5].text = gt_call_place(report, &call);
	}
	gt_rows_sort(section, 1);
}
