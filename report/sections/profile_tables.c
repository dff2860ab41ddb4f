/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The profile's tables: regions, groups, locations.
 *
 * Limits: those of profile.h.
 */
#include "config.h"

#include "lib/assemble/util/memory.h"
#include "report/sections/profile.h"
#include "report/model/sums.h"

#include <math.h>
#include <string.h>

static size_t region_count(const struct gt_report *report)
{
	return report->read->tables[GT_OTF2_REGION].count;
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : NAN;
}

const char *gt_profile_group(const struct gt_report *report, size_t region)
{
	if (region >= region_count(report))
		return NULL;
	if (report->classes.groups[region] && *report->classes.groups[region])
		return report->classes.groups[region];
	return gt_class_times[report->classes.regions[region]] == GT_TIME_MPI
	       ? "MPI" : gt_class_names[report->classes.regions[region]];
}

uint64_t gt_profile_unseen(const struct gt_profile_location *location)
{
	uint64_t seen = 0, life = gt_profile_life(location);

	for (unsigned i = 0; i < GT_TIMES; i++)
		seen += location->times[i];
	return seen < life ? life - seen : 0;
}

bool gt_profile_blank(uint64_t life, uint64_t unseen)
{
	return unseen > life / 100 * 95;
}

/* Of an MPI program: what started the ranks, waits and passes on what they print; or a thread of MPI's. */
static bool beside_ranks(const struct gt_report *report, const struct gt_profile *profile, size_t location)
{
	const struct gt_location_class *class = &report->classes.locations[location];
	const struct gt_profile_location *of = &profile->locations[location];
	bool of_rank = report->classes.processes[class->process].rank != GT_NO_RANK;
	uint64_t unseen = gt_profile_unseen(of) + (of_rank ? 0 : of->times[GT_TIME_WAIT]);

	if (report->classes.processes[class->process].launcher)
		unseen += of->times[GT_TIME_IO] + of->times[GT_TIME_RUNTIME];
	return report->classes.ranks && !(of_rank && class->kind == GT_LOCATION_MAIN) &&
	       gt_profile_blank(gt_profile_life(of), unseen);
}

bool gt_profile_counts(const struct gt_report *report, const struct gt_profile *profile, size_t location)
{
	return report->classes.locations[location].kind <= GT_LOCATION_THREAD &&
	       !beside_ranks(report, profile, location);
}

uint64_t gt_profile_whole(const struct gt_report *report, const struct gt_profile *profile)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < report->read->tables[GT_OTF2_LOCATION].count; i++)
		if (gt_profile_counts(report, profile, i))
			sum += gt_profile_counted(&profile->locations[i]);
	return sum;
}

double gt_profile_share(const struct gt_profile_region *region, uint64_t whole)
{
	return region->counted || !region->exclusive ? share(region->counted, whole) : NAN;
}

/* ---- regions ------------------------------------------------------------------------------------- */

static const struct gt_column region_columns[] = {
	{ "count", "calls", GT_COUNT },
	{ "exclusive_s", "exclusive", GT_SECONDS },
	{ "share", "of run", GT_SHARE },
	{ "idle_s", "idle", GT_SECONDS },
	{ "inclusive_s", "inclusive", GT_SECONDS },
	{ "mean_s", NULL, GT_SECONDS },
	{ "min_s", NULL, GT_SECONDS },
	{ "max_s", "longest", GT_SECONDS },
	{ "locations", NULL, GT_COUNT },
	{ "location_min_s", NULL, GT_SECONDS },
	{ "location_mean_s", NULL, GT_SECONDS },
	{ "location_max_s", NULL, GT_SECONDS },
	{ "location_of_max", NULL, GT_TEXT },
	{ "imbalance", "imbal.", GT_SHARE },
	{ "class", NULL, GT_WORD },
	{ "group", "group", GT_TEXT },
	{ "name", "region", GT_TEXT },
	{ "file", NULL, GT_TEXT },
	{ "line", NULL, GT_COUNT },
};
static const struct gt_section_kind regions_kind =
	GT_SECTION("regions", "Regions", GT_ROWS, region_columns, .spare = "group,imbalance,max_s");

static void region_spread(struct gt_report *report, const struct gt_profile_region *region,
			  union gt_cell *row)
{
	uint64_t mean = region->exclusive / region->locations;

	row[8].count = region->locations;
	row[9].count = region->location_least;
	row[10].count = mean;
	row[11].count = region->location_most;
	row[12].text = gt_report_location(report, region->most_location);
	if (region->locations > 1)
		row[13].number = share(region->location_most - mean, region->location_most);
}

static void region_row(struct gt_report *report, const struct gt_profile *profile, size_t i, uint64_t whole,
		       union gt_cell *row)
{
	const struct gt_profile_region *region = &profile->regions[i];
	bool defined = i < region_count(report);
	enum gt_class class = defined ? (enum gt_class)report->classes.regions[i] : GT_CLASS_CODE;

	row[0].count = region->calls;
	row[1].count = region->exclusive;
	if (gt_class_times[class] != GT_TIME_ON_GPU)
		row[2].number = gt_profile_share(region, whole);
	if (region->idle)
		row[3].count = region->idle;
	row[4].count = region->inclusive;
	row[5].count = region->inclusive / region->calls;
	row[6].count = region->least;
	row[7].count = region->most;
	region_spread(report, region, row);
	row[14].text = gt_class_names[class];
	row[15].text = gt_profile_group(report, i);
	row[16].text = gt_report_region_name(report, i);
	if (!defined)
		return;
	if (*gt_otf2_region_at(report->read, i)->file)
		row[17].text = gt_otf2_region_at(report->read, i)->file;
	if (gt_otf2_region_at(report->read, i)->begin_line)
		row[18].count = gt_otf2_region_at(report->read, i)->begin_line;
}

/* Threads that only waited are not in the table. */
static const char *folded(struct gt_report *report, const struct gt_profile *profile)
{
	uint64_t count = 0, ns = 0;
	char time[32];

	for (size_t i = 0; i < report->read->tables[GT_OTF2_LOCATION].count; i++)
		if (report->classes.locations[i].kind == GT_LOCATION_SERVICE) {
			count++;
			ns += gt_profile_life(&profile->locations[i]);
		}
	if (!count)
		return NULL;
	gt_cell_print(time, sizeof(time), (union gt_cell){ .count = ns }, GT_SECONDS);
	return gt_figures_text(&report->figures, "without %llu %s that only waited (%s)",
			       (unsigned long long)count, count == 1 ? "thread" : "threads", time);
}

static void region_table(struct gt_report *report, const struct gt_profile *profile)
{
	struct gt_section *section = gt_section_add(&report->figures, &regions_kind);
	uint64_t whole = gt_profile_whole(report, profile);

	for (size_t i = 0; i <= region_count(report); i++)
		if (profile->regions[i].calls)
			region_row(report, profile, i, whole, gt_row_add(section));
	gt_rows_sort_without(section, 1, 3);
	section->note = folded(report, profile);
}

/* ---- groups -------------------------------------------------------------------------------------- */

static const struct gt_column group_columns[] = {
	{ "count", "calls", GT_COUNT },
	{ "exclusive_s", "exclusive", GT_SECONDS },
	{ "share", "of run", GT_SHARE },
	{ "idle_s", "idle", GT_SECONDS },
	{ "regions", "regions", GT_COUNT },
	{ "name", "group", GT_TEXT },
};
static const struct gt_section_kind groups_kind = GT_SECTION("groups", "Groups", GT_ROWS, group_columns);

static union gt_cell *group_row(struct gt_section *section, const char *name)
{
	union gt_cell *row = section->cells;

	for (size_t i = 0; i < section->rows; i++, row += section->kind->column_count)
		if (!strcmp(row[5].text, name))
			return row;
	row = gt_row_add(section);
	row[0].count = row[1].count = row[4].count = 0;
	row[5].text = name;
	return row;
}

static void group_table(struct gt_report *report, const struct gt_profile *profile)
{
	struct gt_section *section = gt_section_add(&report->figures, &groups_kind);
	uint64_t whole = gt_profile_whole(report, profile);

	for (size_t i = 0; i < region_count(report); i++) {
		union gt_cell *row;
		double part;

		if (!profile->regions[i].calls)
			continue;
		row = group_row(section, gt_profile_group(report, i));
		row[0].count += profile->regions[i].calls;
		row[1].count += profile->regions[i].exclusive;
		row[4].count++;
		if (profile->regions[i].idle)
			row[3].count = (row[3].count == GT_NO_COUNT ? 0 : row[3].count) +
				       profile->regions[i].idle;
		part = gt_profile_share(&profile->regions[i], whole);
		if (gt_class_times[report->classes.regions[i]] != GT_TIME_ON_GPU && !isnan(part))
			row[2].number = isnan(row[2].number) ? part : row[2].number + part;
	}
	gt_rows_sort_without(section, 1, 3);
}

/* ---- locations ----------------------------------------------------------------------------------- */

static const struct gt_column location_columns[] = {
	{ "name", "location", GT_TEXT },
	{ "kind", "kind", GT_WORD },
	{ "process", NULL, GT_TEXT },
	{ "rank", NULL, GT_COUNT },
	{ "id", NULL, GT_COUNT },
	{ "events", NULL, GT_COUNT },
	{ "count", "calls", GT_COUNT },
	{ "begin_s", NULL, GT_SECONDS },
	{ "duration_s", "duration", GT_SECONDS },
	{ "useful_s", "useful", GT_SECONDS },
	{ "mpi_s", "MPI", GT_SECONDS },
	{ "waiting_s", "waiting", GT_SECONDS },
	{ "device_wait_s", NULL, GT_SECONDS },
	{ "io_s", "I/O", GT_SECONDS },
	{ "gpu_call_s", NULL, GT_SECONDS },
	{ "runtime_s", NULL, GT_SECONDS },
	{ "on_gpu_s", NULL, GT_SECONDS },
	{ "measurement_s", NULL, GT_SECONDS },
	{ "idle_s", NULL, GT_SECONDS },
	{ "unseen_s", "unseen", GT_SECONDS },
};
static const struct gt_section_kind locations_kind = GT_SECTION("locations", "Locations", GT_ROWS,
								location_columns);
static const char *const kinds[] = { "main", "thread", "service", "stream", "other" };

static void location_row(struct gt_report *report, const struct gt_profile *profile, size_t i,
			 union gt_cell *row)
{
	const struct gt_profile_location *of = &profile->locations[i];
	const struct gt_location_class *class = &report->classes.locations[i];
	uint32_t process = class->process;

	row[0].text = gt_report_location(report, i);
	row[1].text = kinds[class->kind];
	if (process < report->classes.process_count) {
		row[2].text = report->classes.processes[process].group->name;
		if (report->classes.processes[process].rank != GT_NO_RANK)
			row[3].count = report->classes.processes[process].rank;
	}
	row[4].count = gt_otf2_location_at(report->read, i)->id;
	row[5].count = of->events;
	row[6].count = of->calls;
	row[7].count = of->begin;
	row[8].count = gt_profile_life(of);
	for (unsigned t = 0; t < GT_TIMES; t++)
		row[9 + t].count = of->times[t];
	row[19].count = gt_profile_unseen(of);
}

static void location_table(struct gt_report *report, const struct gt_profile *profile)
{
	struct gt_section *section = gt_section_add(&report->figures, &locations_kind);

	for (size_t i = 0; i < report->read->tables[GT_OTF2_LOCATION].count; i++)
		if (profile->locations[i].events)
			location_row(report, profile, i, gt_row_add(section));
}

void gt_profile_tables(struct gt_report *report, const struct gt_profile *profile)
{
	region_table(report, profile);
	group_table(report, profile);
	location_table(report, profile);
}
