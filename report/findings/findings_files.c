/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Findings about files, by the calls on them: those that wait for the disk, and those that open, close and
 * name files.
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
typedef bool is_call(const struct gt_report *report, uint32_t region);

static bool is_sync(const struct gt_report *report, uint32_t region)
{
	return profile_of(report)->regions[region].calls &&
	       report->classes.regions[region] == GT_CLASS_FILE_IO &&
	       gt_file_call_of(gt_otf2_region_at(report->read, region)->name) == GT_FILE_CALL_SYNC;
}

static bool is_meta(const struct gt_report *report, uint32_t region)
{
	return profile_of(report)->regions[region].calls &&
	       report->classes.regions[region] == GT_CLASS_FILE_META;
}

/* ---- who calls them ------------------------------------------------------------------------------ */

/* ", most of it for save", if a region that is recorded spends more than half of their time (ns) in them. */
static const char *said_caller(struct gt_report *report, is_call *is, uint64_t ns)
{
	const struct gt_profile_tree *tree = &profile_of(report)->tree;
	uint32_t count = region_count(report);
	struct gt_sums callers = { .count = 0 };
	const char *said = "";

	for (uint32_t i = 1; i < tree->count; i++) {
		const struct gt_profile_node *node = &tree->nodes[i];

		if (node->region < count && node->parent && is(report, node->region))
			gt_sum_add(gt_sums_at(&callers, tree->nodes[node->parent].region, 0, 0, 0),
				   node->exclusive, 0);
	}
	for (uint32_t i = 0; i < callers.count; i++)
		if (callers.items[i].ns > ns / 2)
			said = gt_figures_text(&report->figures, ", most of it for %s",
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
		if (!is_sync(report, i))
			continue;
		found.calls += regions[i].calls;
		found.ns += regions[i].exclusive;
		if (found.top == count || regions[i].location_most > regions[found.top].location_most)
			found.top = i;
	}
	for (uint32_t i = 0; i < count && found.top < count; i++)
		if (is_sync(report, i) &&
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
		   gt_said(report, found.ns, GT_SECONDS), said_caller(report, is_sync, found.ns));
}

/* ---- small files --------------------------------------------------------------------------------- */

/* Files that are opened, by how much is read or written each time. */
struct opened {
	uint64_t opens, small, bytes; /* bytes: of the small ones */
};

static struct opened find_opened(struct gt_report *report)
{
	const struct gt_sums *sums = gt_files_sums(report);
	struct gt_sums files = { .count = 0 };
	struct opened found = { .opens = 0 };

	for (uint32_t i = 0; sums && i < sums->count; i++) {
		const struct gt_sum *sum = &sums->items[i];
		struct gt_sum *file;

		if (sum->key[0] >= GT_FILES_SOCKETS)
			continue;
		file = gt_sums_at(&files, sum->key[0], 0, 0, 0);
		file->bytes += sum->bytes;
		file->count += sum->key[1] == GT_FILES_OPENS ? sum->count : 0;
	}
	for (uint32_t i = 0; i < files.count; i++) {
		const struct gt_sum *file = &files.items[i];

		found.opens += file->count;
		if ((double)file->bytes >= gt_threshold(GT_FINDING_SMALL_FILES) * (double)file->count)
			continue;
		found.small += file->count;
		found.bytes += file->bytes;
	}
	gt_sums_free(&files);
	return found;
}

/* Calls that open, close and name files. */
struct metas {
	uint64_t names;  /* how many of them name files */
	size_t location; /* the thread that spends most time in them, and the region that it does so in */
	uint32_t top;
};

static struct metas find_metas(const struct gt_report *report)
{
	const struct gt_profile *profile = profile_of(report);
	struct metas found = { .top = region_count(report) };

	for (size_t i = 0; i < report->read->tables[GT_OTF2_LOCATION].count; i++)
		if (profile->locations[i].classes[GT_CLASS_FILE_META] >
		    profile->locations[found.location].classes[GT_CLASS_FILE_META])
			found.location = i;
	for (uint32_t i = 0; i < region_count(report); i++) {
		const struct gt_profile_region *region = &profile->regions[i];

		if (!is_meta(report, i))
			continue;
		if (gt_file_call_of(gt_otf2_region_at(report->read, i)->name) == GT_FILE_CALL_NAME)
			found.names += region->calls;
		if (region->most_location == found.location &&
		    (found.top == region_count(report) ||
		     region->location_most > profile->regions[found.top].location_most))
			found.top = i;
	}
	return found;
}

/* "; files are opened 2,000 times, for 12 B on average" */
static const char *said_opened(struct gt_report *report, const struct opened *of)
{
	if (!of->small)
		return "";
	return gt_figures_text(&report->figures, "; files are opened %s times, for %s on average",
			       gt_said(report, of->small, GT_COUNT),
			       gt_said(report, (of->bytes + of->small / 2) / of->small, GT_BYTES));
}

static void small_files(struct gt_report *report)
{
	uint64_t ns = gt_class_time(report, GT_CLASS_FILE_META);
	uint64_t calls = gt_class_calls(report, GT_CLASS_FILE_META), own;
	struct opened opened = find_opened(report);
	struct metas metas = find_metas(report);

	own = calls ? profile_of(report)->locations[metas.location].classes[GT_CLASS_FILE_META] : 0;
	if (opened.small + metas.names < GT_MANY_OPERATIONS ||
	    !gt_at_least(own, GT_MUCH_OPENING, report->duration) ||
	    (opened.opens && !gt_at_least(opened.small, GT_MOST_SMALL_FILES, opened.opens)))
		return;
	gt_finding_add(report,
		   &(struct gt_finding){
			   .id = GT_FINDING_SMALL_FILES,
			   .gain = own,
			   .location = gt_report_location(report, metas.location),
			   .region = 1 + metas.top,
			   .time = GT_NO_COUNT,
			   .advice = "fewer and larger files, which stay open, and fewer looks at names" },
		   "%s calls that open, close, make, rename, remove or look at files take %s on average, "
		   "together %s%s%s",
		   gt_said(report, calls, GT_COUNT), gt_said(report, ns / calls, GT_SECONDS),
		   gt_said(report, ns, GT_SECONDS), said_caller(report, is_meta, ns),
		   said_opened(report, &opened));
}

void gt_findings_files(struct gt_report *report)
{
	small_files(report);
	fsyncs(report);
}
