/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Findings about files, by the calls on them: those that wait for the disk.
 *
 * Limits: as in findings_host.c. Calls that are not recorded are none: most are with VT_IOTRACE only.
 */
#include "config.h"

#include "report/findings/findings.h"
#include "report/model/filecalls.h"
#include "report/model/sums.h"

static const struct gt_profile *profile_of(const struct gt_report *report)
{
	return gt_report_result(report, &gt_profile_analysis);
}

static uint32_t region_count(const struct gt_report *report)
{
	return (uint32_t)report->read->tables[GT_OTF2_REGION].count;
}

/* Was this region called, and is it such a call on files? */
static bool is_call(const struct gt_report *report, uint32_t region, enum gt_file_call what)
{
	return profile_of(report)->regions[region].calls &&
	       gt_class_times[report->classes.regions[region]] == GT_TIME_IO &&
	       gt_file_call(gt_otf2_region_at(report->read, region)->name) == what;
}

/* ---- who calls them ------------------------------------------------------------------------------ */

/* "; most of it for save", if a region that is recorded spends more than half of their time (ns) in them. */
static const char *said_caller(struct gt_report *report, uint64_t ns)
{
	const struct gt_profile_tree *tree = &profile_of(report)->tree;
	uint32_t count = region_count(report);
	struct gt_sums callers = { .count = 0 };
	const char *said = "";

	for (uint32_t i = 1; i < tree->count; i++) {
		const struct gt_profile_node *node = &tree->nodes[i];

		if (node->region < count && node->parent && is_call(report, node->region, GT_FILE_CALL_SYNC))
			gt_sum_add(gt_sums_at(&callers, tree->nodes[node->parent].region, 0, 0, 0),
				   node->exclusive, 0);
	}
	for (uint32_t i = 0; i < callers.count; i++)
		if (callers.items[i].ns > ns / 2)
			said = gt_figures_text(&report->figures, "; most of it for %s",
					       gt_report_region_name(report, callers.items[i].key[0]));
	gt_sums_free(&callers);
	return said;
}

/* ---- calls that wait for the disk ---------------------------------------------------------------- */

/* Such calls of all threads, and the thread with the most time in one of them. */
struct syncs {
	uint64_t calls, ns, own; /* own: ns of that thread */
	uint32_t top;            /* the region */
};

static struct syncs find_syncs(const struct gt_report *report)
{
	const struct gt_profile_region *regions = profile_of(report)->regions;
	uint32_t count = region_count(report);
	struct syncs found = { .top = count };

	for (uint32_t i = 0; i < count; i++) {
		if (!is_call(report, i, GT_FILE_CALL_SYNC))
			continue;
		found.calls += regions[i].calls;
		found.ns += regions[i].exclusive;
		if (found.top == count || regions[i].location_most > regions[found.top].location_most)
			found.top = i;
	}
	for (uint32_t i = 0; i < count && found.top < count; i++)
		if (is_call(report, i, GT_FILE_CALL_SYNC) &&
		    regions[i].most_location == regions[found.top].most_location)
			found.own += regions[i].location_most;
	return found;
}

static void fsyncs(struct gt_report *report)
{
	struct syncs found = find_syncs(report);
	const struct gt_profile_region *top = &profile_of(report)->regions[found.top];
	const char *name;

	if (!found.calls || !gt_at_least(found.own, gt_threshold(GT_FINDING_FSYNC), report->duration))
		return;
	name = gt_report_region_name(report, found.top);
	gt_finding_add(report,
		   &(struct gt_finding){
			   .id = GT_FINDING_FSYNC,
			   .gain = found.own,
			   .location = gt_report_location(report, top->most_location),
			   .where = gt_source_of(report, found.top),
			   .time = top->location_begin,
			   .length = top->location_call,
			   .advice = "fewer of them: once for several changes, as databases do with a "
				     "transaction; fdatasync where the times of a file may be old" },
		   "%s %s of %s%s, which wait for the disk, take %s on average, together %s%s",
		   gt_said(report, found.calls, GT_COUNT), found.calls == 1 ? "call" : "calls", name,
		   found.calls > top->calls ? " and the like" : "",
		   gt_said(report, found.ns / found.calls, GT_SECONDS),
		   gt_said(report, found.ns, GT_SECONDS), said_caller(report, found.ns));
}

void gt_findings_files(struct gt_report *report)
{
	fsyncs(report);
}
