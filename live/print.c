/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The output of `gputrace top` without a terminal, and for monitoring programs; see show.h.
 *
 * Limits: numbers have the C locale's form; names are harmless ones (rows.c).
 */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/assemble/util/utf8.h"
#include "live/show.h"
#include "lib/format.h"

static const char *location_name(const struct gt_live_row *row)
{
	return row->location ? row->location->name : "";
}

static void print_value(const struct gt_live_metric *metric)
{
	if (metric->type == 8)
		printf("%" PRId64, metric->value.i);
	else if (metric->type == 10)
		printf("%.17g", metric->value.d);
	else
		printf("%" PRIu64, metric->value.u);
}

/* ---- plain ----------------------------------------------------------------------------------- */

static void print_plain(const struct gt_live_set *set, const struct gt_live_choice *choice)
{
	struct gt_live_choice part = *choice;
	struct gt_live_row *rows;
	char line[1024];
	size_t n;

	gt_live_text_sum(set, line, sizeof(line));
	puts(line);
	for (int view = 0; view < 2; view++) {
		part.view = view ? GT_LIVE_METRICS : choice->view;
		if (view && choice->view == GT_LIVE_METRICS)
			break;
		rows = gt_live_rows(set, &part, &n);
		gt_live_text_head(part.view, line, sizeof(line));
		if (n)
			printf("\n%s\n", line);
		for (size_t i = 0; i < n; i++) {
			gt_live_text_row(&rows[i], line, sizeof(line));
			puts(line);
		}
		free(rows);
	}
}

/* ---- CSV: one value a line ---------------------------------------------------------------------------- */

/* RFC 4180. */
static void csv_text(const char *text)
{
	if (!text[strcspn(text, ",\"")]) {
		fputs(text, stdout);
		return;
	}
	putchar('"');
	for (; *text; text++) {
		if (*text == '"')
			putchar('"');
		putchar(*text);
	}
	putchar('"');
}

static void csv_begin(const struct gt_live_row *row, const char *name)
{
	printf("%" PRIu64 ".%09" PRIu64 ",", row->process->real_ns / 1000000000,
	       row->process->real_ns % 1000000000);
	csv_text(row->process->host);
	if (row->process->rank >= 0)
		printf(",%d,%u,", row->process->rank, row->process->pid);
	else
		printf(",,%u,", row->process->pid);
	csv_text(row->process->program);
	putchar(',');
	csv_text(location_name(row));
	putchar(',');
	csv_text(name);
	putchar(',');
}

static void csv_count(const struct gt_live_row *row, const char *name, uint64_t value)
{
	csv_begin(row, name);
	printf("%" PRIu64 ",\n", value);
}

static void csv_row(const struct gt_live_row *row)
{
	bool process = !row->location;

	if (row->metric) {
		csv_begin(row, row->metric->name);
		print_value(row->metric);
		putchar(',');
		csv_text(row->metric->unit);
		putchar('\n');
		return;
	}
	csv_count(row, "events", process ? row->process->events : row->location->events);
	csv_begin(row, "event_rate");
	printf("%.9g,1/s\n", process ? row->process->rate : row->location->rate);
	csv_count(row, "lost", process ? row->process->lost : row->location->lost);
	if (process || !(row->location->flags & GT_LIVE_ACTIVE))
		return;
	csv_begin(row, "region");
	csv_text(row->location->region);
	printf(",\n");
}

static void print_csv(const struct gt_live_set *set, const struct gt_live_choice *choice, bool first)
{
	struct gt_live_choice part = *choice;

	if (first)
		printf("time,host,rank,pid,program,location,name,value,unit\n");
	for (int view = 0; view < GT_LIVE_VIEWS; view++) {
		struct gt_live_row *rows;
		size_t n;

		part.view = view;
		rows = gt_live_rows(set, &part, &n);
		for (size_t i = 0; i < n; i++)
			csv_row(&rows[i]);
		free(rows);
	}
}

/* ---- JSON: one object a line ----------------------------------------------------------------- */

static void json_text(const char *text)
{
	gt_utf8_json_put(stdout, text);
}

static void json_field(const char *name, const char *text)
{
	printf("\"%s\":", name);
	json_text(text);
}

static void json_location(const struct gt_live_location *location, bool first)
{
	static const char *const kinds[] = {"thread", "gpu stream", "metrics", "deferred"};

	printf("%s{\"id\":%u,", first ? "" : ",", location->id);
	json_field("name", location->name);
	printf(",\"kind\":\"%s\",\"tid\":%u,\"events\":%" PRIu64 ",\"rate\":%.9g,\"lost\":%" PRIu64
	       ",\"depth\":%u,\"active\":%s,\"active_ns\":%" PRIu64 ",\"quiet_ns\":%" PRIu64 ",\"ended\":%s,",
	       location->kind < 4 ? kinds[location->kind] : "other", location->tid, location->events,
	       location->rate, location->lost, location->depth,
	       location->flags & GT_LIVE_ACTIVE ? "true" : "false", location->active_ns, location->quiet_ns,
	       location->flags & GT_LIVE_ENDED ? "true" : "false");
	json_field("region", location->region);
	putchar('}');
}

static void json_metric(const struct gt_live_metric *metric, bool first)
{
	printf("%s{", first ? "" : ",");
	json_field("name", metric->name);
	printf(",\"location\":%u,\"value\":", metric->location);
	if (metric->type == 10 && !isfinite(metric->value.d))
		printf("null");
	else
		print_value(metric);
	putchar(',');
	json_field("unit", metric->unit);
	printf(",\"rate\":%.9g,\"age_ns\":%" PRIu64 ",\"synchronous\":%s}",
	       isfinite(metric->rate) ? metric->rate : 0, metric->age_ns,
	       metric->flags & GT_LIVE_SYNCHRONOUS ? "true" : "false");
}

static bool in_rows(const struct gt_live_row *rows, size_t n, const void *what)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].metric == what || (!rows[i].metric && rows[i].location == what))
			return true;
	return false;
}

static void json_process(const struct gt_image *image, const struct gt_live_row *locations,
			 size_t location_count, const struct gt_live_row *metrics, size_t metric_count)
{
	const struct gt_live_header *h = image->header;
	bool first = true;

	putchar('{');
	json_field("host", h->host);
	printf(",\"pid\":%u,\"rank\":%d,", h->pid, h->rank);
	json_field("program", h->program);
	putchar(',');
	json_field("archive", h->archive);
	printf(",\"time_ns\":%" PRIu64 ",\"events\":%" PRIu64 ",\"rate\":%.9g,\"lost\":%" PRIu64
	       ",\"lost_by\":[",
	       h->real_ns, h->events, h->rate, h->lost);
	for (unsigned i = 0; i < 16; i++)
		printf("%s%" PRIu64, i ? "," : "", h->lost_by[i]);
	printf("],\"locations\":[");
	for (uint32_t i = 0; i < h->locations; i++)
		if (in_rows(locations, location_count, gt_image_location(image, i))) {
			json_location(gt_image_location(image, i), first);
			first = false;
		}
	printf("],\"metrics\":[");
	first = true;
	for (uint32_t i = 0; i < h->metrics; i++)
		if (in_rows(metrics, metric_count, gt_image_metric(image, i))) {
			json_metric(gt_image_metric(image, i), first);
			first = false;
		}
	printf("]}");
}

static const struct gt_image *image_of(const struct gt_live_set *set, const struct gt_live_header *process)
{
	size_t i = 0;

	while (set->images[i].header != process)
		i++;
	return &set->images[i];
}

/* All processes in their order, with those of their locations and metrics that the filter lets through. */
static void print_json(const struct gt_live_set *set, const struct gt_live_choice *choice)
{
	struct gt_live_choice part = *choice;
	struct gt_live_row *locations, *metrics, *processes;
	size_t location_count, metric_count, count;

	part.view = GT_LIVE_LOCATIONS;
	locations = gt_live_rows(set, &part, &location_count);
	part.view = GT_LIVE_METRICS;
	metrics = gt_live_rows(set, &part, &metric_count);
	part.view = GT_LIVE_PROCESSES;
	part.filter = "";
	processes = gt_live_rows(set, &part, &count);
	printf("{\"version\":%u,\"processes\":[", GT_LIVE_VERSION);
	for (size_t i = 0; i < count; i++) {
		printf("%s", i ? "," : "");
		json_process(image_of(set, processes[i].process), locations, location_count, metrics,
			     metric_count);
	}
	printf("]}\n");
	free(processes);
	free(locations);
	free(metrics);
}

/* ---- Prometheus' text format 0.0.4: all values of a name together ---------------------------- */

static void label(const char *name, const char *text)
{
	printf(",%s=\"", name);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			printf("\\%c", *text);
		else
			putchar(*text);
	}
	putchar('"');
}

static void labels(const struct gt_live_row *row, const char *name)
{
	printf("%s{pid=\"%u\"", name, row->process->pid);
	label("host", row->process->host);
	label("program", row->process->program);
	if (row->process->rank >= 0)
		printf(",rank=\"%d\"", row->process->rank);
	if (row->location)
		printf(",location_id=\"%u\"", row->location->id);
	if (row->location)
		label("location", row->location->name);
}

static void family(const char *name, const char *type, const char *help)
{
	printf("# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void prometheus_locations(const struct gt_live_row *rows, size_t n)
{
	family("gputrace_events_total", "counter", "Events recorded.");
	for (size_t i = 0; i < n; i++) {
		labels(&rows[i], "gputrace_events_total");
		printf("} %" PRIu64 "\n", rows[i].location->events);
	}
	family("gputrace_event_rate", "gauge", "Events recorded per second.");
	for (size_t i = 0; i < n; i++) {
		labels(&rows[i], "gputrace_event_rate");
		printf("} %.9g\n", rows[i].location->rate);
	}
	family("gputrace_active_region", "gauge", "Nesting depth of the region that is active.");
	for (size_t i = 0; i < n; i++) {
		if (!(rows[i].location->flags & GT_LIVE_ACTIVE))
			continue;
		labels(&rows[i], "gputrace_active_region");
		label("region", rows[i].location->region);
		printf("} %u\n", rows[i].location->depth);
	}
}

static void prometheus_processes(const struct gt_live_row *rows, size_t n)
{
	family("gputrace_lost_events_total", "counter", "Events that the trace will not have.");
	for (size_t i = 0; i < n; i++) {
		labels(&rows[i], "gputrace_lost_events_total");
		printf("} %" PRIu64 "\n", rows[i].process->lost);
	}
}

static void prometheus_metrics(const struct gt_live_row *rows, size_t n)
{
	family("gputrace_metric", "untyped", "Newest value of a metric.");
	for (size_t i = 0; i < n; i++) {
		labels(&rows[i], "gputrace_metric");
		label("metric", rows[i].metric->name);
		label("unit", rows[i].metric->unit);
		printf("} ");
		print_value(rows[i].metric);
		putchar('\n');
	}
}

static void print_prometheus(const struct gt_live_set *set, const struct gt_live_choice *choice)
{
	static void (*const print[GT_LIVE_VIEWS])(const struct gt_live_row *, size_t) = {
		[GT_LIVE_LOCATIONS] = prometheus_locations,
		[GT_LIVE_PROCESSES] = prometheus_processes,
		[GT_LIVE_METRICS] = prometheus_metrics,
	};
	struct gt_live_choice part = *choice;

	for (int view = 0; view < GT_LIVE_VIEWS; view++) {
		struct gt_live_row *rows;
		size_t n;

		part.view = view;
		rows = gt_live_rows(set, &part, &n);
		print[view](rows, n);
		free(rows);
	}
}

void gt_live_print(const struct gt_live_set *set, const struct gt_live_choice *choice,
		   enum gt_live_format format, bool first)
{
	switch (format) {
	case GT_LIVE_PLAIN:
		print_plain(set, choice);
		break;
	case GT_LIVE_CSV:
		print_csv(set, choice, first);
		break;
	case GT_LIVE_JSON:
		print_json(set, choice);
		break;
	case GT_LIVE_PROMETHEUS:
		print_prometheus(set, choice);
		break;
	}
	fflush(stdout);
}
