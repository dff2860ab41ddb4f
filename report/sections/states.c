/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports how long each thread ran, was ready to run and waited for a processor, or was blocked, from the
 * sums that gputrace records for each thread (doc/adr/0026), and from those up to a moment, which are events.
 *
 * Limits: known of archives by gputrace, and of threads; of the whole run also in a part of an archive.
 * Between two moments a location's threads were ready for the same share of all the time that they lived. Of
 * long runs, and of many threads, not all moments are kept: a million of all locations, or sixteen of each if
 * that is more.
 */
#include "config.h"

#include "lib/assemble/util/memory.h"
#include "report/sections/states.h"

#include <stdlib.h>
#include <string.h>

static const struct gt_column columns[] = {
	{ "location", "thread", GT_TEXT },
	{ "lifetime_s", "lifetime", GT_SECONDS },
	{ "running_s", "running", GT_SECONDS },
	{ "ready_s", "ready", GT_SECONDS },
	{ "blocked_s", "blocked", GT_SECONDS },
	{ "unknown_s", "unknown", GT_SECONDS },
	{ "throttled_s", NULL, GT_SECONDS },
	{ "switches", "switches", GT_COUNT },
	{ "migrations", "migrations", GT_COUNT },
};
enum { BRIEF = 20 }; /* in summary.json */
static const struct gt_section_kind states_kind =
	GT_SECTION("thread_states", "Thread states", GT_ROWS, columns,
		   .spare = "migrations,switches,unknown_s", .brief = BRIEF);
enum { LIFETIME = 1, RUNNING, READY, BLOCKED, UNKNOWN, COLUMNS = 9 };

/* The sums of a thread up to a time: running, ready, blocked. */
enum { SUMS = 3, POINTS_ALL = 1 << 20, POINTS_MOST = 1 << 14, POINTS_LEAST = 1 << 4 };
struct point {
	uint64_t time, sums[SUMS];
};

/* Of a location; the points but the last one are `step` events apart. */
struct series {
	struct point *points;
	size_t count, room;
	uint64_t step, seen;
	bool known; /* the points have its begin and end */
};

struct states {
	struct series *series; /* by location */
	size_t count;
};

/* The properties of the columns that have one. */
static const char *const names[] = {
	NULL, "GPUTRACE::LIFETIME_NS", "GPUTRACE::RUNNING_NS", "GPUTRACE::READY_NS", "GPUTRACE::BLOCKED_NS",
	"GPUTRACE::UNKNOWN_NS", "GPUTRACE::THROTTLED_NS", "GPUTRACE::SWITCHES",
	"GPUTRACE::MIGRATIONS",
};

static void take(const struct gt_report *report, size_t location, unsigned column, union gt_cell *row)
{
	uint64_t id = gt_otf2_location_at(report->read, location)->id;
	const struct gt_otf2_property *p =
		names[column] ? gt_otf2_find_owned(report->read, GT_OTF2_LOCATION, id, names[column]) : NULL;

	if (p)
		row[column].count = strtoull(p->text, NULL, 10);
}

static void take_all(const struct gt_report *report, size_t location, union gt_cell row[COLUMNS])
{
	for (unsigned column = 0; column < COLUMNS; column++)
		row[column].count = GT_NO_COUNT;
	for (unsigned column = LIFETIME; column <= UNKNOWN; column++)
		take(report, location, column, row);
}

bool gt_states_of(const struct gt_report *report, size_t location, struct gt_thread_states *states)
{
	union gt_cell row[COLUMNS];
	uint64_t life;

	*states = (struct gt_thread_states){ .life = 0 };
	take_all(report, location, row);
	life = row[LIFETIME].count;
	if (life == GT_NO_COUNT || row[RUNNING].count > 2 * life || row[READY].count > 2 * life ||
	    row[BLOCKED].count > 2 * life || row[UNKNOWN].count > life / 10)
		return false;
	*states = (struct gt_thread_states){ life, row[RUNNING].count, row[READY].count, row[BLOCKED].count,
				      row[UNKNOWN].count };
	return true;
}

/* ---- in the course of time ----------------------------------------------------------------------- */

bool gt_is_states(const struct gt_otf2 *read, const struct gt_otf2_metric *metric)
{
	for (unsigned i = 0; i < SUMS && metric && metric->count == SUMS; i++) {
		const struct gt_otf2_metric_member *member =
			gt_otf2_find_metric_member(read, metric->members[i]);

		if (!member || strcmp(member->name, names[RUNNING + i]))
			return false;
	}
	return metric && metric->count == SUMS;
}

/* Of one location. It is even: points go in pairs. */
static size_t points_most(const struct gt_report *report)
{
	size_t most = POINTS_MOST, locations = report->read->tables[GT_OTF2_LOCATION].count;

	while (most > POINTS_LEAST && most > POINTS_ALL / locations)
		most /= 2;
	return most;
}

/* There are too many: every second one goes. */
static void thin(struct series *series)
{
	size_t kept = 0;

	for (size_t i = 1; i < series->count; i += 2)
		series->points[kept++] = series->points[i];
	series->count = kept;
	series->step *= 2;
}

static void add_point(struct series *series, const struct point *point, size_t most)
{
	bool replaces = series->seen++ % series->step && series->count;

	if (!replaces) {
		if (series->count == most)
			thin(series);
		series->points = gt_grown(series->points, series->count, &series->room,
					  sizeof(*series->points));
		series->count++;
	}
	series->points[series->count - 1] = *point;
}

static void event(struct gt_report *report, struct gt_otf2_cursor *at, const struct gt_otf2_event *event,
		  void *memory)
{
	struct point point = { .time = at->time };
	struct series *series = memory;

	if (event->type != GT_OTF2_Metric || event->Metric.count != SUMS ||
	    !gt_is_states(at->read, gt_otf2_find_metric(at->read, event->Metric.metric)))
		return;
	for (unsigned i = 0; i < SUMS; i++)
		point.sums[i] = event->Metric.values[i].unsigned_int;
	series->step += !series->step;
	add_point(series, &point, points_most(report));
}

static void carry(struct gt_report *report, struct gt_carry *carry, void *memory)
{
	struct series *series = memory;

	(void)report;
	gt_carry_bytes(carry, &series->count, sizeof(series->count));
	series->points = gt_carry_array(carry, series->points, series->count, sizeof(*series->points));
}

static uint64_t sum_of(const struct point *point)
{
	return point->sums[0] + point->sums[1] + point->sums[2];
}

/* With its begin and its end; if nothing is known between, the end alone, at the length of its life. */
static void complete(const struct gt_report *report, size_t location, struct series *series)
{
	union gt_cell row[COLUMNS];
	struct point end = {0}, *points;
	size_t n = series->count;

	take_all(report, location, row);
	if (row[READY].count == GT_NO_COUNT || row[RUNNING].count == GT_NO_COUNT ||
	    row[BLOCKED].count == GT_NO_COUNT)
		return;
	for (unsigned i = 0; i < SUMS; i++)
		end.sums[i] = row[RUNNING + i].count;
	end.time = sum_of(&end);
	points = gt_zeroed(n + 2, sizeof(*points));
	if (n) {
		const struct point *first = series->points, *last = &series->points[n - 1];

		points->time = first->time - (sum_of(first) < first->time ? sum_of(first) : first->time);
		end.time = last->time + (sum_of(&end) > sum_of(last) ? sum_of(&end) - sum_of(last) : 0);
		memcpy(points + 1, first, n * sizeof(*points));
	}
	points[n + 1] = end;
	free(series->points);
	series->points = points;
	series->count = n + 2;
	series->known = true;
}

static void prepare(struct gt_report *report, void *result)
{
	struct states *all = result;

	all->count = report->read->tables[GT_OTF2_LOCATION].count;
	all->series = gt_zeroed(all->count + 1, sizeof(*all->series));
}

static void merge(struct gt_report *report, struct gt_otf2_cursor *at, void *memory, void *result)
{
	struct series *series = &((struct states *)result)->series[at->index];

	*series = *(struct series *)memory;
	complete(report, at->index, series);
}

static void release(void *result)
{
	struct states *all = result;

	for (size_t i = 0; i < all->count; i++)
		free(all->series[i].points);
	free(all->series);
}

/* Evenly from one point to another one, whose times are those of lives. */
static double between(const struct point *a, const struct point *b, uint64_t time)
{
	if (time <= a->time || b->time <= a->time)
		return (double)a->sums[1];
	if (time >= b->time || b->sums[1] <= a->sums[1])
		return (double)b->sums[1];
	return (double)a->sums[1] + (double)(b->sums[1] - a->sums[1]) * (double)(time - a->time) /
					    (double)(b->time - a->time);
}

/* Up to a time. All events are between begin and end, also those of threads that follow each other. */
static double ready_until(const struct series *series, const struct gt_lives *lives, struct gt_stretch events,
			  uint64_t time)
{
	const struct point *points = series->points;
	size_t low = 0, high = series->count - 1;
	struct point a, b;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (points[middle].time <= time)
			low = middle;
		else
			high = middle;
	}
	a = points[low];
	b = points[high];
	if (!low && events.begin < a.time)
		a.time = events.begin;
	if (high == series->count - 1 && events.end > b.time)
		b.time = events.end;
	a.time = gt_lives_until(lives, a.time);
	b.time = gt_lives_until(lives, b.time);
	return between(&a, &b, gt_lives_until(lives, time));
}

static uint64_t life_in(const struct gt_lives *lives, struct gt_stretch in)
{
	return gt_lives_until(lives, in.end) - gt_lives_until(lives, in.begin);
}

/* Only the sums at the end are known: in a part of a life. */
static double ready_for(const struct series *series, uint64_t life, uint64_t part)
{
	struct point end = series->points[series->count - 1];

	if (end.time < life)
		end.time = life;
	return between(&(struct point){ 0 }, &end, part);
}

bool gt_states_know(const struct gt_report *report, size_t location)
{
	const struct states *all = gt_report_result(report, &gt_states_analysis);

	return all && all->series[location].known;
}

double gt_states_ready(const struct gt_report *report, size_t location, const struct gt_lives *lives,
		       struct gt_stretch events, struct gt_stretch in)
{
	const struct states *all = gt_report_result(report, &gt_states_analysis);
	const struct series *series = all ? &all->series[location] : NULL;
	double ready;

	if (!gt_states_know(report, location))
		return 0;
	if (series->count > 2)
		ready = ready_until(series, lives, events, in.end) -
			ready_until(series, lives, events, in.begin);
	else
		ready = ready_for(series, life_in(lives, events), life_in(lives, in));
	return ready > 0 ? ready : 0;
}

/* ---- figures ------------------------------------------------------------------------------------- */

static void figures(struct gt_report *report, void *result)
{
	struct gt_section *section = gt_section_add(&report->figures, &states_kind);

	(void)result;
	for (size_t i = 0; i < report->read->tables[GT_OTF2_LOCATION].count; i++) {
		union gt_cell lifetime[LIFETIME + 1] = { [LIFETIME] = { .count = GT_NO_COUNT } }, *row;

		take(report, i, LIFETIME, lifetime);
		if (lifetime[LIFETIME].count == GT_NO_COUNT)
			continue;
		row = gt_row_add(section);
		row[0].text = gt_report_location(report, i);
		for (unsigned column = LIFETIME; column < COLUMNS; column++)
			take(report, i, column, row);
	}
}

static const struct gt_section_kind *const sections[] = { &states_kind, NULL };
const struct gt_analysis gt_states_analysis = {
	.name = "states", .state_size = sizeof(struct series), .result_size = sizeof(struct states),
	.prepare = prepare, .event = event, .carry = carry, .merge = merge, .figures = figures,
	.free = release, .sections = sections,
};
