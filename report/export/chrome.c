/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JSON as Chrome's tracing (chrome://tracing, ui.perfetto.dev) has it: an object with "traceEvents".
 * Calls are complete events (X), messages and launches flow arrows (s, f), metrics counters (C).
 *
 * Limits: written as text, because a JSON library would hold all of it in memory. Times are microseconds
 * with three digits behind the point, so that no nanosecond is lost.
 */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "report/export/export.h"

#include "lib/assemble/util/memory.h"

struct chrome {
	char **regions, **members; /* names in JSON */
	uint64_t arrows;
	struct gt_export_text text;
};

#define US "%" PRIu64 ".%03u"
#define US_OF(ns) (ns) / 1000, (unsigned)((ns) % 1000)

static uint64_t pid_of(const struct gt_otf2 *read, const struct gt_otf2_location *location)
{
	return (uint64_t)(gt_otf2_index(read, GT_OTF2_LOCATION_GROUP, location->group) + 1);
}

static void name_it(struct chrome *chrome, const char *what, uint64_t pid, size_t tid, const char *name)
{
	gt_text_add(&chrome->text,
		    ",\n{\"ph\":\"M\",\"name\":\"%s_name\",\"pid\":%" PRIu64
		    ",\"tid\":%zu,\"args\":{\"name\":",
		    what, pid, tid);
	gt_text_json(&chrome->text, name);
	gt_text_add(&chrome->text, "}},\n{\"ph\":\"M\",\"name\":\"%s_sort_index\",\"pid\":%" PRIu64
		    ",\"tid\":%zu,\"args\":{\"sort_index\":%zu}}", what, pid, tid, tid ? tid : (size_t)pid);
}

static void name_process(struct gt_export *export, size_t i)
{
	const struct gt_otf2_location_group *group = gt_otf2_location_group_at(export->read, i);
	struct gt_export_text text = { .count = 0 };

	gt_text_process(&text, export->read, group);
	name_it(export->face, "process", i + 1, 0, text.data);
	free(text.data);
}

static char **member_names(const struct gt_otf2 *read)
{
	size_t count = read->tables[GT_OTF2_METRIC_MEMBER].count;
	char **names = calloc(count + 1, sizeof(*names));

	for (size_t i = 0; names && i < count; i++) {
		struct gt_export_text text = { .count = 0 };

		gt_text_json(&text, gt_otf2_metric_member_at(read, i)->name);
		names[i] = text.data;
	}
	if (!names)
		gt_no_memory();
	return names;
}

static bool start(struct gt_export *export)
{
	const struct gt_otf2 *read = export->read;
	struct chrome *chrome = gt_zeroed(1, sizeof(*chrome));

	export->face = chrome;
	chrome->regions = gt_export_region_names(read);
	chrome->members = member_names(read);
	gt_text_add(
		&chrome->text,
		"{\"displayTimeUnit\":\"ns\",\"otherData\":{\"exporter\":\"gputrace %s\"},\"traceEvents\":[\n"
		"{\"ph\":\"M\",\"name\":\"trace\",\"pid\":0,\"tid\":0,\"args\":{}}",
		PACKAGE_VERSION);
	for (size_t i = 0; i < read->tables[GT_OTF2_LOCATION_GROUP].count; i++)
		name_process(export, i);
	for (size_t i = 0; i < read->tables[GT_OTF2_LOCATION].count; i++) {
		const struct gt_otf2_location *location = gt_otf2_location_at(read, i);

		if (gt_part_has(&export->part, i))
			name_it(chrome, "thread", pid_of(read, location), i + 1, location->name);
	}
	gt_export_write(export, &chrome->text);
	return true;
}

static void put_path(struct gt_export_place *place, const struct gt_export_call *call)
{
	const struct gt_otf2_source *source = gt_call_source(place->export->read, call->path);
	char *functions = gt_call_functions(place->export->read, call->path);

	gt_text_add(&place->text, ",\"args\":{\"called by\":");
	gt_text_json(&place->text, functions);
	if (source) {
		gt_text_add(&place->text, ",\"file\":");
		gt_text_json(&place->text, source->file);
		gt_text_add(&place->text, ",\"line\":%" PRIu32, source->line);
	}
	gt_text_add(&place->text, "}");
	free(functions);
}

static void put_call(struct gt_export_place *place, const struct gt_export_call *call)
{
	const struct chrome *chrome = place->export->face;

	gt_text_add(&place->text,
		    ",\n{\"ph\":\"X\",\"name\":%s,\"pid\":%" PRIu64 ",\"tid\":%zu,\"ts\":" US ",\"dur\":" US,
		    chrome->regions[gt_export_region(place, call->region)],
		    pid_of(place->export->read, place->at->location), place->at->index + 1,
		    US_OF(call->begin), US_OF(call->end - call->begin));
	if (!call->whole)
		gt_text_add(&place->text, ",\"args\":{\"whole\":false}");
	else if (call->path)
		put_path(place, call);
	gt_export_print(place, "}");
}

static void put_value(struct gt_export_place *place, const struct gt_otf2_Metric *e, unsigned i,
		      ptrdiff_t member)
{
	const struct chrome *chrome = place->export->face;

	gt_text_add(&place->text,
		    ",\n{\"ph\":\"C\",\"name\":%s,\"id\":%zu,\"pid\":%" PRIu64 ",\"tid\":%zu,\"ts\":" US
		    ",\"args\":{\"value\":",
		    chrome->members[member], place->at->index + 1,
		    pid_of(place->export->read, place->at->location), place->at->index + 1,
		    US_OF(place->at->time));
	if (e->types[i] == OTF2_TYPE_DOUBLE && !isfinite(e->values[i].floating_point))
		gt_text_add(&place->text, "null"); /* JSON has no other word for it */
	else if (e->types[i] == OTF2_TYPE_DOUBLE)
		gt_text_add(&place->text, "%.17g", e->values[i].floating_point);
	else if (e->types[i] == OTF2_TYPE_INT64)
		gt_text_add(&place->text, "%" PRId64, e->values[i].signed_int);
	else
		gt_text_add(&place->text, "%" PRIu64, e->values[i].unsigned_int);
	gt_export_print(place, "}}"); /* only here another location's events may follow */
}

static void put_event(struct gt_export_place *place, const struct gt_otf2_event *event)
{
	const struct gt_otf2 *read = place->export->read;
	const struct gt_otf2_metric *metric;

	if (event->type != GT_OTF2_Metric || event->undefined)
		return;
	metric = gt_otf2_find_metric(read, event->Metric.metric);
	for (unsigned i = 0; metric && i < event->Metric.count && i < metric->count; i++) {
		ptrdiff_t member = gt_otf2_index(read, GT_OTF2_METRIC_MEMBER, metric->members[i]);

		if (member >= 0)
			put_value(place, &event->Metric, i, member);
	}
}

static void put_arrow_end(struct gt_export *export, const char *what, const char *kind,
			  const struct gt_end *end)
{
	struct chrome *chrome = export->face;
	const struct gt_otf2_location *location = gt_otf2_location_at(export->read, end->location);

	gt_text_add(&chrome->text,
		    ",\n{%s,\"name\":\"%s\",\"cat\":\"%s\",\"id\":%" PRIu64 ",\"pid\":%" PRIu64
		    ",\"tid\":%u,\"ts\":" US,
		    what, kind, kind, chrome->arrows, pid_of(export->read, location), end->location + 1,
		    US_OF(end->time));
	if (end->what == GT_END_SEND)
		gt_text_add(&chrome->text, ",\"args\":{\"bytes\":%" PRIu64 ",\"tag\":%" PRIu32 "}",
			    end->bytes, end->tag);
	gt_text_add(&chrome->text, "}");
}

static void put_pair(struct gt_export *export, const struct gt_end *from, const struct gt_end *to)
{
	struct chrome *chrome = export->face;
	const char *kind = from->what == GT_END_SEND ? "message" : "launch";

	chrome->arrows++;
	put_arrow_end(export, "\"ph\":\"s\"", kind, from);
	put_arrow_end(export, "\"ph\":\"f\",\"bp\":\"e\"", kind, to);
	if (chrome->text.count > 1 << 16)
		gt_export_write(export, &chrome->text);
}

static bool finish(struct gt_export *export)
{
	struct chrome *chrome = export->face;

	gt_text_add(&chrome->text, "\n]}\n");
	gt_export_write(export, &chrome->text);
	return true;
}

const struct gt_export_face gt_export_chrome = {
	.option = "chrome",
	.what = "JSON for chrome://tracing and ui.perfetto.dev.",
	.start = start,
	.call = put_call,
	.event = put_event,
	.pair = put_pair,
	.finish = finish,
};
