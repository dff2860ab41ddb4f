/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Describes the run: program, duration, processes, threads, devices.
 *
 * Limits: the program's name, what it used and losses are known of archives by gputrace only.
 */
#include "config.h"

#include "lib/assemble/util/memory.h"
#include "report/report.h"
#include "report/model/sums.h"

#include <stdlib.h>
#include <string.h>

static const struct gt_column columns[] = {
	{ "program", "program", GT_TEXT },
	{ "ended", "ended with", GT_TEXT },
	{ "duration_s", "duration", GT_SECONDS },
	{ "processes", "processes", GT_COUNT },
	{ "ranks", "MPI ranks", GT_COUNT },
	{ "threads", "threads", GT_COUNT },
	{ "service_threads", "threads that only waited", GT_COUNT },
	{ "gpus", "GPUs", GT_COUNT },
	{ "streams", "GPU streams", GT_COUNT },
	{ "processor_s", "processor", GT_SECONDS },
	{ "processors", "cores", GT_COUNT },
	{ "memory_peak_bytes", "largest process", GT_BYTES },
	{ "quota_cores", "quota in cores", GT_NUMBER },
	{ "throttled_s", "throttled by it", GT_SECONDS },
};
static const struct gt_section_kind run_kind = GT_SECTION("run", "Run", GT_TOP, columns);

static const char *property(const struct gt_report *report, const char *name)
{
	const struct gt_otf2_property *p = gt_otf2_find_owned(report->read, GT_OTF2_KINDS, GT_OTF2_NOTHING,
							      name);

	return p ? p->text : NULL;
}

static void take_property(const struct gt_report *report, const char *name, union gt_cell *cell)
{
	const char *text = property(report, name);

	if (text)
		cell->count = strtoull(text, NULL, 10);
}

/* All that there is in a part of an archive (gputrace slice) has events in it. */
static bool is_there(const struct gt_report *report, size_t location)
{
	return gt_otf2_location_at(report->read, location)->events ||
	       !property(report, "GPUTRACE::SLICE_TIME");
}

/* Threads that ran one after another may share a location, which says how many they were. */
static uint64_t threads_of(const struct gt_report *report, size_t location)
{
	uint64_t id = gt_otf2_location_at(report->read, location)->id;
	const struct gt_otf2_property *p =
		gt_otf2_find_owned(report->read, GT_OTF2_LOCATION, id, "GPUTRACE::THREADS");
	uint64_t count = p ? strtoull(p->text, NULL, 10) : 1;

	return count ? count : 1;
}

static uint64_t count_locations(const struct gt_report *report, enum gt_location_kind least,
				enum gt_location_kind most)
{
	uint64_t count = 0;

	for (size_t i = 0; i < report->read->tables[GT_OTF2_LOCATION].count; i++)
		if (report->classes.locations[i].kind >= least &&
		    report->classes.locations[i].kind <= most && is_there(report, i))
			count += threads_of(report, i);
	return count;
}

/*
 * What overlaps on a stream is in locations of its own, "NAME lane 2" and so on, which come behind that of
 * the stream (accel/assemble/scan.c).
 */
static bool is_lane(const struct gt_report *report, size_t location)
{
	const struct gt_otf2_location *lane = gt_otf2_location_at(report->read, location);
	const char *at = strstr(lane->name, " lane ");

	for (size_t i = location; at && i--;) {
		const struct gt_otf2_location *first = gt_otf2_location_at(report->read, i);

		if (first->group != lane->group)
			return false;
		if (!strncmp(first->name, lane->name, (size_t)(at - lane->name)) &&
		    !first->name[at - lane->name])
			return true;
	}
	return false;
}

static uint64_t count_streams(const struct gt_report *report)
{
	uint64_t count = 0;

	for (size_t i = 0; i < report->read->tables[GT_OTF2_LOCATION].count; i++)
		count += report->classes.locations[i].kind == GT_LOCATION_STREAM && is_there(report, i) &&
			 !is_lane(report, i);
	return count;
}

/* Processes, and ranks; GPUs. */
struct there {
	uint64_t processes, ranks, devices;
};

static void mark(const struct gt_report *report, bool *processes, bool *devices)
{
	const struct gt_classes *classes = &report->classes;
	bool part = property(report, "GPUTRACE::SLICE_TIME");

	for (uint32_t i = 0; i < classes->process_count; i++)
		processes[i] = !part && !classes->processes[i].missing;
	for (uint32_t i = 0; i < classes->device_count; i++)
		devices[i] = !part;
	for (size_t i = 0; part && i < report->read->tables[GT_OTF2_LOCATION].count; i++) {
		if (!gt_otf2_location_at(report->read, i)->events)
			continue;
		processes[classes->locations[i].process] = true;
		if (classes->locations[i].device != GT_NO_DEVICE)
			devices[classes->locations[i].device] = true;
	}
}

static struct there count_there(const struct gt_report *report)
{
	const struct gt_classes *classes = &report->classes;
	bool *processes = gt_zeroed(classes->process_count + 1, sizeof(*processes));
	bool *devices = gt_zeroed(classes->device_count + 1, sizeof(*devices));
	struct there all = {0};

	mark(report, processes, devices);
	for (uint32_t i = 0; i < classes->process_count; i++) {
		if (!processes[i])
			continue;
		all.processes += classes->processes[i].group->type == OTF2_LOCATION_GROUP_TYPE_PROCESS;
		all.ranks += classes->processes[i].rank != GT_NO_RANK;
	}
	for (uint32_t i = 0; i < classes->device_count; i++)
		all.devices += devices[i];
	free(processes);
	free(devices);
	return all;
}

static void figures(struct gt_report *report, void *result)
{
	struct gt_section *section = gt_section_add(&report->figures, &run_kind);
	union gt_cell *row = gt_row_add(section);
	struct there there = count_there(report);

	(void)result;
	row[0].text = property(report, "GPUTRACE::COMMAND_LINE");
	row[1].text = property(report, "GPUTRACE::ENDED");
	if (!report->unread)
		row[2].count = report->duration;
	row[3].count = there.processes;
	if (there.ranks)
		row[4].count = there.ranks;
	if (!report->unread) /* before, it is not known which threads only waited */
		row[5].count = count_locations(report, GT_LOCATION_MAIN, GT_LOCATION_THREAD);
	if (count_locations(report, GT_LOCATION_SERVICE, GT_LOCATION_SERVICE))
		row[6].count = count_locations(report, GT_LOCATION_SERVICE, GT_LOCATION_SERVICE);
	if (there.devices) {
		row[7].count = there.devices;
		row[8].count = count_streams(report);
	}
	take_property(report, "GPUTRACE::PROCESSOR_TIME_NS", &row[9]);
	take_property(report, "GPUTRACE::PROCESSORS", &row[10]);
	take_property(report, "GPUTRACE::MEMORY_PEAK_BYTES", &row[11]);
	if (property(report, "GPUTRACE::QUOTA_MILLICORES"))
		row[12].number = strtod(property(report, "GPUTRACE::QUOTA_MILLICORES"), NULL) / 1000;
	take_property(report, "GPUTRACE::THROTTLED_NS", &row[13]);
}

const struct gt_analysis gt_run_analysis = { .name = "run", .figures = figures };
