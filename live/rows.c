/* SPDX-License-Identifier: BSD-3-Clause */
/* Gathering, filtering, sorting and one line of text for each row; see show.h. Limits: as there. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live/segment.h"
#include "lib/assemble/util/array.h"
#include "lib/assemble/util/utf8.h"
#include "live/show.h"
#include "lib/format.h"

const char *const gt_live_order_names[GT_LIVE_ORDERS] = {"rank", "rate", "events", "lost", "name"};

/* ---- gathering ------------------------------------------------------------------------------- */

/* Names are those of the program, and go to terminals, tables and monitoring programs. */
static void make_harmless(char *name, size_t size)
{
	char line[sizeof(((struct gt_live_header *)0)->archive)];

	strcpy(name, gt_utf8_line(line, size, name));
}

static void make_names_harmless(struct gt_image *image)
{
	struct gt_live_header *header = image->header;

	make_harmless(header->host, sizeof(header->host));
	make_harmless(header->program, sizeof(header->program));
	make_harmless(header->archive, sizeof(header->archive));
	for (uint32_t i = 0; i < header->locations; i++) {
		struct gt_live_location *location = gt_image_location(image, i);

		make_harmless(location->name, sizeof(location->name));
		make_harmless(location->region, sizeof(location->region));
	}
	for (uint32_t i = 0; i < header->metrics; i++) {
		struct gt_live_metric *metric = gt_image_metric(image, i);

		make_harmless(metric->name, sizeof(metric->name));
		make_harmless(metric->unit, sizeof(metric->unit));
	}
}

static bool add(const struct gt_image *image, void *argument)
{
	struct gt_live_set *set = argument;
	struct gt_image *images = realloc(set->images, (set->count + 1) * sizeof(*images)), *copy;

	if (!images)
		return false;
	set->images = images;
	copy = &images[set->count];
	*copy = (struct gt_image){0};
	if (!gt_image_room(copy, image->header->bytes))
		return false;
	memcpy(copy->header, image->header, image->header->bytes);
	make_names_harmless(copy);
	set->count++;
	return true;
}

bool gt_live_gather(struct gt_live_set *set, struct gt_live_run *run, uint64_t interval_ns)
{
	const struct gt_image *image;

	*set = (struct gt_live_set){0};
	if (!run) {
		gt_segments_each(add, set);
		return true;
	}
	gt_live_run_look(run, interval_ns);
	for (size_t i = 0; (image = gt_live_run_image(run, i)); i++)
		if (!add(image, set))
			return false;
	return true;
}

void gt_live_set_free(struct gt_live_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		free(set->images[i].header);
	free(set->images);
	*set = (struct gt_live_set){0};
}

/* ---- rows ------------------------------------------------------------------------------------ */

struct rows {
	struct gt_live_row *list;
	size_t count, room;
};

static const char *name_of(const struct gt_live_row *row)
{
	return row->metric     ? row->metric->name
	       : row->location ? row->location->region
			       : row->process->program;
}

static bool wanted(const struct gt_live_row *row, const struct gt_live_choice *choice)
{
	if (choice->pid && row->process->pid != choice->pid)
		return false;
	return !*choice->filter || strcasestr(row->process->program, choice->filter) ||
	       strcasestr(name_of(row), choice->filter) ||
	       (row->location && strcasestr(row->location->name, choice->filter));
}

static void put(struct rows *rows, const struct gt_live_choice *choice, struct gt_live_row row)
{
	if (wanted(&row, choice) && gt_array_has_room(rows->list, rows->count, &rows->room))
		rows->list[rows->count++] = row;
}

static const struct gt_live_location *location_of(const struct gt_image *image, uint32_t id)
{
	for (uint32_t i = 0; i < image->header->locations; i++)
		if (gt_image_location(image, i)->id == id)
			return gt_image_location(image, i);
	return NULL;
}

static void put_image(struct rows *rows, const struct gt_live_choice *choice, const struct gt_image *image)
{
	const struct gt_live_header *process = image->header;

	if (choice->view == GT_LIVE_PROCESSES)
		put(rows, choice, (struct gt_live_row){.process = process});
	for (uint32_t i = 0; choice->view == GT_LIVE_LOCATIONS && i < process->locations; i++)
		if (gt_image_location(image, i)->kind != GT_LOC_METRIC)
			put(rows, choice, (struct gt_live_row){process, gt_image_location(image, i), NULL});
	for (uint32_t i = 0; choice->view == GT_LIVE_METRICS && i < process->metrics; i++) {
		const struct gt_live_metric *metric = gt_image_metric(image, i);

		put(rows, choice,
		    (struct gt_live_row){ process, location_of(image, metric->location), metric });
	}
}

static double rate_of(const struct gt_live_row *row)
{
	return row->metric ? row->metric->rate : row->location ? row->location->rate : row->process->rate;
}

static uint64_t events_of(const struct gt_live_row *row)
{
	return row->location ? row->location->events : row->process->events;
}

static uint64_t lost_of(const struct gt_live_row *row)
{
	return row->location ? row->location->lost : row->process->lost;
}

static int by_place(const struct gt_live_row *x, const struct gt_live_row *y)
{
	uint32_t i = x->location ? x->location->id : 0, k = y->location ? y->location->id : 0;

	if (x->process->rank != y->process->rank)
		return x->process->rank < y->process->rank ? -1 : 1;
	if (x->process->pid != y->process->pid)
		return x->process->pid < y->process->pid ? -1 : 1;
	return (i > k) - (i < k);
}

static int by_choice(const void *a, const void *b, void *argument)
{
	const struct gt_live_row *x = a, *y = b;
	const struct gt_live_choice *choice = argument;
	int rc = 0;

	if (choice->order == GT_LIVE_BY_RATE)
		rc = (rate_of(x) < rate_of(y)) - (rate_of(x) > rate_of(y));
	if (choice->order == GT_LIVE_BY_EVENTS)
		rc = (events_of(x) < events_of(y)) - (events_of(x) > events_of(y));
	if (choice->order == GT_LIVE_BY_LOST)
		rc = (lost_of(x) < lost_of(y)) - (lost_of(x) > lost_of(y));
	if (choice->order == GT_LIVE_BY_NAME)
		rc = strcmp(name_of(x), name_of(y));
	rc = rc ? rc : by_place(x, y);
	return choice->reverse ? -rc : rc;
}

struct gt_live_row *gt_live_rows(const struct gt_live_set *set, const struct gt_live_choice *choice,
				 size_t *count)
{
	struct rows rows = {0};

	for (size_t i = 0; i < set->count; i++)
		put_image(&rows, choice, &set->images[i]);
	if (rows.count)
		qsort_r(rows.list, rows.count, sizeof(*rows.list), by_choice, (void *)(uintptr_t)choice);
	*count = rows.count;
	return rows.list;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* At most seven characters. */
static const char *short_number(double value, char *text, size_t size)
{
	static const char letters[] = " kMGTPE";
	unsigned step = 0;

	while ((value >= 99999.5 || value <= -99999.5) && letters[step + 1]) {
		value /= 1000;
		step++;
	}
	snprintf(text, size, step ? "%.0f%c" : "%.0f", value, letters[step]);
	return text;
}

static const char *duration(uint64_t ns, char *text, size_t size)
{
	if (ns < 1000000)
		snprintf(text, size, "%" PRIu64 "us", ns / 1000);
	else if (ns < UINT64_C(10000000000))
		snprintf(text, size, "%" PRIu64 "ms", ns / 1000000);
	else
		snprintf(text, size, "%" PRIu64 "s", ns / 1000000000);
	return text;
}

static const char *rank_text(const struct gt_live_header *process, char *text, size_t size)
{
	if (process->rank < 0)
		snprintf(text, size, "-");
	else
		snprintf(text, size, "%d", process->rank);
	return text;
}

static void value_text(const struct gt_live_metric *metric, char *text, size_t size)
{
	if (metric->type == 8)
		snprintf(text, size, "%" PRId64, metric->value.i);
	else if (metric->type == 10)
		snprintf(text, size, "%.6g", metric->value.d);
	else
		snprintf(text, size, "%" PRIu64, metric->value.u);
}

void gt_live_text_sum(const struct gt_live_set *set, char *line, size_t size)
{
	uint64_t locations = 0, lost = 0, events = 0;
	char rate_shown[16];
	double rate = 0;

	for (size_t i = 0; i < set->count; i++) {
		locations += set->images[i].header->locations;
		events += set->images[i].header->events;
		rate += set->images[i].header->rate;
		lost += set->images[i].header->lost;
	}
	snprintf(line, size,
		 "processes %zu, locations %" PRIu64 ", events %" PRIu64
		 ", events per second %s, lost %" PRIu64,
		 set->count, locations, events, short_number(rate, rate_shown, sizeof(rate_shown)), lost);
}

void gt_live_text_head(enum gt_live_view view, char *line, size_t size)
{
	static const char *const columns[GT_LIVE_VIEWS] = {
		[GT_LIVE_LOCATIONS] = "LOCATION             EVENTS EVENTS/S   LOST DEPTH   SINCE REGION",
		[GT_LIVE_PROCESSES] = "LOCATIONS            EVENTS EVENTS/S   LOST HOST",
		[GT_LIVE_METRICS] =
			"LOCATION         METRIC                           VALUE UNIT         RATE/S     AGE",
	};

	snprintf(line, size, "%5s %7s %-12s %s", "RANK", "PID", "PROGRAM", columns[view]);
}

static void location_text(const struct gt_live_location *location, char *line, size_t size)
{
	bool active = location->flags & GT_LIVE_ACTIVE;
	char rate[16], since[16];

	snprintf(line, size, "%-16.16s %10" PRIu64 " %8s %6" PRIu64 " %5u %7s %s%s%s", location->name,
		 location->events, short_number(location->rate, rate, sizeof(rate)), location->lost,
		 active ? location->depth : 0,
		 duration(active ? location->active_ns : location->quiet_ns, since, sizeof(since)),
		 active || !*location->region ? "" : "(after ", location->region,
		 active || !*location->region ? "" : ")");
}

static void process_text(const struct gt_live_header *process, char *line, size_t size)
{
	char rate[16];

	snprintf(line, size, "%-16u %10" PRIu64 " %8s %6" PRIu64 " %s", process->locations, process->events,
		 short_number(process->rate, rate, sizeof(rate)), process->lost, process->host);
}

static void metric_text(const struct gt_live_row *row, char *line, size_t size)
{
	const struct gt_live_metric *metric = row->metric;
	char value[32], rate[16], age[16];

	value_text(metric, value, sizeof(value));
	snprintf(line, size, "%-16.16s %-24.24s %13s %-10.10s %8s %7s",
		 row->location ? row->location->name : "-", metric->name, value, metric->unit,
		 short_number(metric->rate, rate, sizeof(rate)), duration(metric->age_ns, age, sizeof(age)));
}

void gt_live_text_row(const struct gt_live_row *row, char *line, size_t size)
{
	char rank[16];
	int n = snprintf(line, size, "%5s %7u %-12.12s ", rank_text(row->process, rank, sizeof(rank)),
			 row->process->pid, row->process->program);

	if (n < 0 || (size_t)n >= size)
		return;
	if (row->metric)
		metric_text(row, line + n, size - (size_t)n);
	else if (row->location)
		location_text(row->location, line + n, size - (size_t)n);
	else
		process_text(row->process, line + n, size - (size_t)n);
}
