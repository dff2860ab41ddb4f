/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the page's data beside the tiles, as JSON: rows, regions, communicators, counters, markers.
 *
 * Limits: members of a communicator are written if there are at most 65536 of them, calling contexts if there
 * are at most 131072.
 */
#include "config.h"

#include "report/page/picture.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/assemble/util/memory.h"
#include "lib/assemble/util/utf8.h"
#include "report/sections/profile.h"
#include "report/sections/samples.h"
#include "report/waits/sync.h"

static void text(struct gt_bytes *out, const char *key, const char *value)
{
	gt_bytes_print(out, "\"%s\":", key);
	gt_bytes_json(out, value);
}

/* NULL for a text that is not there. */
static const char *given(const char *value)
{
	return value && *value ? value : NULL;
}

static void index_of(struct gt_bytes *out, const char *key, ptrdiff_t index)
{
	if (index < 0)
		gt_bytes_print(out, ",\"%s\":null", key);
	else
		gt_bytes_print(out, ",\"%s\":%td", key, index);
}

static void number(struct gt_bytes *out, const char *key, double value)
{
	gt_bytes_print(out, ",\"%s\":%.17g", key, isfinite(value) ? value : 0);
}

static const char *between(size_t i)
{
	return i ? ",\n" : "\n";
}

/* ---- the system tree ------------------------------------------------------------------------------ */

static void put_nodes(const struct gt_otf2 *read, struct gt_bytes *out)
{
	for (size_t i = 0; i < read->tables[GT_OTF2_NODE].count; i++) {
		const struct gt_otf2_node *node = gt_otf2_node_at(read, i);

		gt_bytes_print(out, "%s{", between(i));
		text(out, "name", node->name);
		gt_bytes_print(out, ",");
		text(out, "class", node->class_name);
		index_of(out, "parent", gt_otf2_index(read, GT_OTF2_NODE, node->parent));
		gt_bytes_print(out, "}");
	}
}

static const char *type_of_group(const struct gt_otf2_location_group *group)
{
	if (group->type == OTF2_LOCATION_GROUP_TYPE_PROCESS)
		return "process";
	return group->type == OTF2_LOCATION_GROUP_TYPE_ACCELERATOR ? "accelerator" : "other";
}

static void put_groups(struct gt_report *report, struct gt_bytes *out)
{
	const struct gt_otf2 *read = report->read;

	for (size_t i = 0; i < read->tables[GT_OTF2_LOCATION_GROUP].count; i++) {
		const struct gt_otf2_location_group *group = gt_otf2_location_group_at(read, i);
		uint32_t rank = report->classes.processes[i].rank;

		gt_bytes_print(out, "%s{", between(i));
		text(out, "name", group->name);
		gt_bytes_print(out, ",");
		text(out, "label", gt_report_process(report, (uint32_t)i));
		gt_bytes_print(out, ",\"type\":\"%s\"", type_of_group(group));
		index_of(out, "node", gt_otf2_index(read, GT_OTF2_NODE, group->parent));
		index_of(out, "rank", rank == GT_NO_RANK ? -1 : (ptrdiff_t)rank);
		index_of(out, "creator", gt_otf2_index(read, GT_OTF2_LOCATION_GROUP, group->creator));
		gt_bytes_print(out, "}");
	}
}

static void put_devices(const struct gt_report *report, struct gt_bytes *out)
{
	for (uint32_t i = 0; i < report->classes.device_count; i++) {
		gt_bytes_print(out, "%s{", between(i));
		text(out, "name", report->classes.devices[i].name);
		gt_bytes_print(out, "}");
	}
}

static const char *type_of(const struct gt_otf2_location *location)
{
	switch (location->type) {
	case OTF2_LOCATION_TYPE_CPU_THREAD:
		return "thread";
	case OTF2_LOCATION_TYPE_ACCELERATOR_STREAM:
		return "stream";
	case OTF2_LOCATION_TYPE_METRIC:
		return "metric";
	default:
		return "unknown";
	}
}

static void put_rows(const struct gt_picture *picture, struct gt_bytes *out)
{
	static const char *const kinds[] = { [GT_LOCATION_MAIN] = "main", [GT_LOCATION_THREAD] = "thread",
					     [GT_LOCATION_SERVICE] = "service",
					     [GT_LOCATION_STREAM] = "stream", [GT_LOCATION_OTHER] = "other" };
	struct gt_report *report = picture->report;
	const struct gt_profile *profile = gt_report_result(report, &gt_profile_analysis);
	const struct gt_otf2 *read = report->read;

	for (size_t i = 0; i < read->tables[GT_OTF2_LOCATION].count; i++) {
		const struct gt_otf2_location *location = gt_otf2_location_at(read, i);
		const struct gt_location_class *class = &report->classes.locations[i];
		const struct gt_picture_row *row = &picture->rows[i];

		gt_bytes_print(out, "%s{", between(i));
		text(out, "name", location->name);
		gt_bytes_print(out, ",");
		text(out, "label", gt_report_location(report, i));
		gt_bytes_print(out, ",\"kind\":\"%s\",\"type\":\"%s\"", kinds[class->kind],
			       type_of(location));
		index_of(out, "group", gt_otf2_index(read, GT_OTF2_LOCATION_GROUP, location->group));
		index_of(out, "device", class->device == GT_NO_DEVICE ? -1 : (ptrdiff_t)class->device);
		gt_bytes_print(out, ",\"begin\":%" PRIu64 ",\"end\":%" PRIu64 ",\"counts\":%s",
			       profile->locations[i].begin, profile->locations[i].end,
			       gt_profile_counts(report, profile, i) ? "true" : "false");
		gt_bytes_print(out,
			       ",\"events\":%" PRIu64
			       ",\"depth\":%u,\"levels\":%u,\"sums\":%u,\"sample_levels\":%u,\"exact\":%s}",
			       location->events,
			       row->depth < GT_PYRAMID_DEPTH ? row->depth : GT_PYRAMID_DEPTH, row->levels,
			       row->sum_levels, row->sample_levels, row->exact ? "true" : "false");
	}
}

/* ---- definitions ---------------------------------------------------------------------------------- */

static void put_regions(const struct gt_report *report, struct gt_bytes *out)
{
	for (size_t i = 0; i < report->read->tables[GT_OTF2_REGION].count; i++) {
		const struct gt_otf2_region *region = gt_otf2_region_at(report->read, i);
		unsigned char class = report->classes.regions[i];

		gt_bytes_print(out, "%s{", between(i));
		text(out, "name", region->name);
		gt_bytes_print(out, ",\"class\":\"%s\",\"time\":\"%s\",", gt_class_names[class],
			       gt_time_names[gt_class_times[class]]);
		text(out, "group", gt_profile_group(report, i));
		gt_bytes_print(out, ",");
		text(out, "file", given(region->file));
		gt_bytes_print(out, ",\"line\":%u,\"paradigm\":%u,\"role\":%u}", region->begin_line,
			       region->paradigm, region->role);
	}
}

/* Caller and function of each calling context, as one list; nothing if there are too many of them. */
static void put_contexts(const struct gt_report *report, struct gt_bytes *out)
{
	enum { MOST = 1 << 17 };
	const struct gt_otf2 *read = report->read;
	size_t count = read->tables[GT_OTF2_CONTEXT].count;

	for (size_t i = 0; i < count && count <= MOST; i++) {
		const struct gt_otf2_context *context = gt_otf2_context_at(read, i),
					     *caller = gt_otf2_caller(read, context);

		gt_bytes_print(out, "%s%td,%" PRIu64, between(i),
			       caller ? caller - gt_otf2_context_at(read, 0) : (ptrdiff_t)-1,
			       gt_samples_function(report, context));
	}
}

static void put_members(const struct gt_otf2 *read, const struct gt_otf2_comm *comm, struct gt_bytes *out)
{
	enum { MOST = 1 << 16 };
	size_t n = gt_otf2_comm_size(read, comm->id), written = 0;

	for (uint32_t rank = 0; rank < n && n <= MOST; rank++) {
		ptrdiff_t row = gt_otf2_index(read, GT_OTF2_LOCATION,
					      gt_otf2_member(read, comm->id, rank, GT_OTF2_NOTHING));

		if (row >= 0)
			gt_bytes_print(out, "%s%td", written++ ? "," : "", row);
	}
}

static void put_comms(const struct gt_otf2 *read, struct gt_bytes *out)
{
	for (size_t i = 0; i < read->tables[GT_OTF2_COMM].count; i++) {
		const struct gt_otf2_comm *comm = gt_otf2_comm_at(read, i);

		gt_bytes_print(out, "%s{", between(i));
		text(out, "name", comm->name);
		gt_bytes_print(out, ",\"rows\":[");
		put_members(read, comm, out);
		gt_bytes_print(out, "]}");
	}
}

/* ---- counters ------------------------------------------------------------------------------------- */

static void put_metrics(const struct gt_otf2 *read, struct gt_bytes *out)
{
	for (size_t i = 0; i < read->tables[GT_OTF2_METRIC_MEMBER].count; i++) {
		const struct gt_otf2_metric_member *member = gt_otf2_metric_member_at(read, i);
		OTF2_MetricMode mode = member->mode & OTF2_METRIC_VALUE_MASK;

		gt_bytes_print(out, "%s{", between(i));
		text(out, "name", member->name);
		gt_bytes_print(out, ",");
		text(out, "description", given(member->description));
		gt_bytes_print(out, ",");
		text(out, "unit", given(member->unit));
		gt_bytes_print(out, ",\"base\":%d,\"exponent\":%" PRId64 ",\"mode\":\"%s\"}",
			       member->base == OTF2_BASE_BINARY ? 2 : 10, member->exponent,
			       mode == OTF2_METRIC_VALUE_ACCUMULATED ? "accumulated"
			       : mode == OTF2_METRIC_VALUE_RELATIVE ? "relative" : "absolute");
	}
}

/* Writes the owner of the values: a location, or the process or node that the metric names. */
static void put_scope(const struct gt_otf2 *read, const struct gt_picture_curve *curve, struct gt_bytes *out)
{
	const struct gt_otf2_metric *metric = curve->metric;
	ptrdiff_t row = (ptrdiff_t)curve->location, group = -1, node = -1;

	if (metric->instance && metric->scope == OTF2_SCOPE_LOCATION)
		row = gt_otf2_index(read, GT_OTF2_LOCATION, metric->scope_id);
	else if (metric->instance && metric->scope == OTF2_SCOPE_LOCATION_GROUP)
		group = gt_otf2_index(read, GT_OTF2_LOCATION_GROUP, metric->scope_id), row = -1;
	else if (metric->instance && metric->scope == OTF2_SCOPE_SYSTEM_TREE_NODE)
		node = gt_otf2_index(read, GT_OTF2_NODE, metric->scope_id), row = -1;
	index_of(out, "row", row);
	index_of(out, "group", group);
	index_of(out, "node", node);
}

static void put_tracks(struct gt_picture *picture, struct gt_bytes *out)
{
	const struct gt_otf2 *read = picture->report->read;

	for (size_t i = 0; i < picture->curve_count; i++) {
		const struct gt_picture_curve *curve = &picture->curves[i];
		ptrdiff_t member = gt_otf2_index(read, GT_OTF2_METRIC_MEMBER, curve->member);

		gt_bytes_print(out, "%s{\"id\":%zu", between(i), i);
		index_of(out, "metric", member);
		put_scope(read, curve, out);
		number(out, "min", curve->curve.least);
		number(out, "max", curve->curve.most);
		gt_bytes_print(out, ",\"count\":%" PRIu64 ",\"levels\":%u}", curve->curve.count,
			       curve->curve.levels);
	}
}

/* ---- markers -------------------------------------------------------------------------------------- */

static void put_markers(const struct gt_picture *picture, struct gt_bytes *out)
{
	static const char *const severities[] = { "none", "low", "medium", "high" };
	const struct gt_otf2 *read = picture->report->read;

	for (size_t i = 0; i < picture->marker_count; i++) {
		const struct gt_page_marker *m = &picture->markers[i];

		gt_bytes_print(out, "%s{\"time\":%" PRIu64 ",\"duration\":%" PRIu64 ",\"severity\":\"%s\"",
			       between(i), m->time, m->duration, severities[m->of.severity & 3]);
		index_of(out, "row", m->of.scope == OTF2_MARKER_SCOPE_LOCATION
					     ? gt_otf2_index(read, GT_OTF2_LOCATION, m->of.scope_id) : -1);
		index_of(out, "group", m->of.scope == OTF2_MARKER_SCOPE_LOCATION_GROUP
					       ? gt_otf2_index(read, GT_OTF2_LOCATION_GROUP, m->of.scope_id)
					       : -1);
		gt_bytes_print(out, ",");
		text(out, "name", m->of.group);
		gt_bytes_print(out, ",");
		text(out, "category", m->of.category);
		gt_bytes_print(out, ",");
		text(out, "text", m->of.text);
		gt_bytes_print(out, "}");
	}
}

/* ---- all ------------------------------------------------------------------------------------------ */

/* The anchor file's folder, or the anchor file. */
static char *archive_name(const struct gt_picture *picture)
{
	const char *slash = strrchr(picture->anchor, '/'), *folder = slash;
	char *name;

	while (folder && folder > picture->anchor && folder[-1] != '/')
		folder--;
	if (folder && folder < slash && strncmp(folder, "./", 2))
		name = strndup(folder, (size_t)(slash - folder));
	else
		name = gt_need(strdup(picture->anchor));
	return name;
}

void gt_picture_title(const struct gt_picture *picture, struct gt_bytes *out)
{
	char *name = archive_name(picture), *clean = malloc(4 * strlen(name) + 1);

	if (!clean)
		gt_no_memory();
	gt_utf8_line(clean, 4 * strlen(name) + 1, name);
	for (const char *c = clean; *c; c++)
		if (strchr("<>&", *c))
			gt_bytes_print(out, "&#%d;", *c);
		else
			gt_bytes_add(out, c, 1);
	free(clean);
	free(name);
}

static void put_run(const struct gt_picture *picture, struct gt_bytes *out)
{
	const struct gt_otf2 *read = picture->report->read;
	const struct gt_section *run = gt_section_find(&picture->report->figures, "run");
	char *name = archive_name(picture);

	text(out, "archive", name);
	free(name);
	gt_bytes_print(out, ",\n");
	text(out, "program", run && run->rows ? run->cells[0].text : NULL);
	gt_bytes_print(out, ",\n\"end\":%" PRIu64 ",\"span_log2\":%u,\"buckets_log2\":%u", picture->end,
		       picture->span_log2, GT_BUCKETS_LOG2);
	if (read->realtime == OTF2_UNDEFINED_TIMESTAMP)
		gt_bytes_print(out, ",\"realtime_ns\":null");
	else
		gt_bytes_print(out, ",\"realtime_ns\":\"%" PRIu64 "\"", read->realtime);
}

static void put_names(const char *const *names, size_t count, struct gt_bytes *out)
{
	for (size_t i = 0; i < count; i++) {
		if (i)
			gt_bytes_print(out, ",");
		gt_bytes_json(out, names[i]);
	}
}

static unsigned most_levels(const struct gt_picture *picture)
{
	unsigned levels = picture->levels;

	for (size_t i = 0; i < picture->report->read->tables[GT_OTF2_LOCATION].count; i++) {
		const struct gt_picture_row *row = &picture->rows[i];

		levels = row->levels > levels ? row->levels : levels;
		levels = row->sample_levels > levels ? row->sample_levels : levels;
	}
	return levels;
}

void gt_picture_meta(struct gt_picture *picture, struct gt_bytes *out)
{
	static const char *const links[] = { "message", "launch", "collective", "create", "lock" };
	struct gt_report *report = picture->report;

	gt_bytes_print(out, "\"format\":1,\"gputrace\":\"%s\",\n", PACKAGE_VERSION);
	put_run(picture, out);
	gt_bytes_print(out, ",\"levels\":%u,\"link_levels\":%u,\n\"nodes\":[", most_levels(picture),
		       picture->levels);
	put_nodes(report->read, out);
	gt_bytes_print(out, "],\n\"groups\":[");
	put_groups(report, out);
	gt_bytes_print(out, "],\n\"devices\":[");
	put_devices(report, out);
	gt_bytes_print(out, "],\n\"rows\":[");
	put_rows(picture, out);
	gt_bytes_print(out, "],\n\"regions\":[");
	put_regions(report, out);
	gt_bytes_print(out, "],\n\"contexts\":[");
	put_contexts(report, out);
	gt_bytes_print(out, "],\n\"comms\":[");
	put_comms(report->read, out);
	gt_bytes_print(out, "],\n\"metrics\":[");
	put_metrics(report->read, out);
	gt_bytes_print(out, "],\n\"tracks\":[");
	put_tracks(picture, out);
	gt_bytes_print(out, "],\n\"markers\":[");
	put_markers(picture, out);
	gt_bytes_print(out, "],\n\"waits\":[");
	put_names(gt_wait_names, GT_WAITS, out);
	gt_bytes_print(out, "],\n\"links\":[");
	put_names(links, sizeof(links) / sizeof(links[0]), out);
	gt_bytes_print(out, "]");
}
