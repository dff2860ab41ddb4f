/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Metrics: counters of threads per region, and the least, mean, most and last value of levels (memory in use,
 * clocks, power).
 *
 * A counter that is read with enters and leaves stands directly before them with their time (doc/FORMAT.md;
 * Score-P does the same). What it grew between both is the region's: inclusive; without the regions that
 * it called: exclusive.
 *
 * Limits: the sums of all calls are doubles. A region whose enter or leave has no value does not count. An
 * integer counter may pass the end of its 64 bits, but grow by less than 2^63 between two values.
 */
#include "config.h"

#include "lib/assemble/util/memory.h"
#include "report/report.h"
#include "report/model/sums.h"
#include "report/sections/states.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of a metric and member, in a region or (GT_OTF2_NOTHING) as such. */
struct value {
	uint64_t metric, member, region;
	uint64_t count;
	double inclusive, exclusive; /* of a counter */
	double least, most, sum, last;
};

struct values {
	struct value *items;
	struct gt_sums places; /* metric, member, region: `bytes` is its place + 1 */
	size_t count, room;
};

/* A counter of this location: what is open has the value at its enter and the sum of what it called. */
struct counter {
	uint64_t metric, member;
	OTF2_MetricValue now;
	uint64_t time; /* of `now` */
	OTF2_Type type;
	bool fresh;
};

struct mark {
	OTF2_MetricValue at, inside;
	bool valid;
};

struct metrics {
	struct values values;
	struct counter *counters;
	size_t count, room;
	struct mark *marks; /* room_depth x count, by depth */
	size_t depths, stride;
};

static struct value *value_at(struct values *values, uint64_t metric, uint64_t member, uint64_t region)
{
	struct gt_sum *place = gt_sums_at(&values->places, metric, member, region, 0);

	if (!place->bytes) {
		if (values->count == values->room) {
			values->room = values->room ? 2 * values->room : 16;
			values->items = gt_resized(values->items, values->room, sizeof(*values->items));
		}
		values->items[values->count++] =
			(struct value){ .metric = metric, .member = member, .region = region };
		place->bytes = values->count;
	}
	return &values->items[place->bytes - 1];
}

/* Is the counter read with enters and leaves, and does it only grow? */
static bool grows(const struct gt_otf2 *read, const struct gt_otf2_metric *metric, uint64_t member)
{
	const struct gt_otf2_metric_member *of = gt_otf2_find_metric_member(read, member);

	return of && metric->occurrence != OTF2_METRIC_ASYNCHRONOUS &&
	       (of->mode & OTF2_METRIC_VALUE_MASK) == OTF2_METRIC_VALUE_ACCUMULATED;
}

/*
 * What a counter grew. Integers are subtracted as such: as doubles, large ones would lose their low bits, and
 * one that passed the end of its 64 bits would seem to fall.
 */
static OTF2_MetricValue difference(OTF2_Type type, OTF2_MetricValue a, OTF2_MetricValue b)
{
	if (type == OTF2_TYPE_DOUBLE)
		return (OTF2_MetricValue){ .floating_point = a.floating_point - b.floating_point };
	return (OTF2_MetricValue){ .unsigned_int = a.unsigned_int - b.unsigned_int };
}

static OTF2_MetricValue sum(OTF2_Type type, OTF2_MetricValue a, OTF2_MetricValue b)
{
	if (type == OTF2_TYPE_DOUBLE)
		return (OTF2_MetricValue){ .floating_point = a.floating_point + b.floating_point };
	return (OTF2_MetricValue){ .unsigned_int = a.unsigned_int + b.unsigned_int };
}

static double growth(OTF2_Type type, OTF2_MetricValue value)
{
	return gt_otf2_number(type == OTF2_TYPE_DOUBLE ? type : OTF2_TYPE_INT64, value);
}

static void level(struct values *values, uint64_t metric, uint64_t member, double v)
{
	struct value *value = value_at(values, metric, member, GT_OTF2_NOTHING);

	if (!value->count++ || v < value->least)
		value->least = v;
	if (value->count == 1 || v > value->most)
		value->most = v;
	value->sum += v;
	value->last = v;
}

static void widen(struct metrics *state, size_t depths)
{
	size_t stride = state->count > state->stride ? state->count + 4 : state->stride;
	size_t rows = depths > state->depths ? 2 * depths + 16 : state->depths;
	struct mark *marks;

	if (stride == state->stride && rows == state->depths)
		return;
	marks = gt_zeroed(rows * stride, sizeof(*marks));
	for (size_t d = 0; d < state->depths; d++)
		if (state->stride)
			memcpy(marks + d * stride, state->marks + d * state->stride,
			       state->stride * sizeof(*marks));
	free(state->marks);
	state->marks = marks;
	state->stride = stride;
	state->depths = rows;
}

static void counter(struct metrics *state, uint64_t metric, uint64_t member, OTF2_Type type,
		    OTF2_MetricValue v, uint64_t time)
{
	struct counter *found = NULL;

	for (size_t i = 0; i < state->count && !found; i++)
		if (state->counters[i].metric == metric && state->counters[i].member == member)
			found = &state->counters[i];
	if (!found) {
		if (state->count == state->room) {
			state->room = state->room ? 2 * state->room : 8;
			state->counters = gt_resized(state->counters, state->room, sizeof(*state->counters));
		}
		found = &state->counters[state->count++];
		*found = (struct counter){ .metric = metric, .member = member };
	}
	found->now = v;
	found->type = type;
	found->time = time;
	found->fresh = true;
}

static void event(struct gt_report *report, struct gt_otf2_cursor *at, const struct gt_otf2_event *event,
		  void *memory)
{
	const struct gt_otf2_metric *metric;
	struct metrics *state = memory;

	(void)report;
	if (event->type != GT_OTF2_Metric)
		return;
	metric = gt_otf2_find_metric(at->read, event->Metric.metric);
	if (gt_is_states(at->read, metric)) /* the section thread_states has them */
		return;
	for (uint8_t i = 0; metric && i < event->Metric.count && i < metric->count; i++) {
		OTF2_Type type = event->Metric.types[i];
		OTF2_MetricValue v = event->Metric.values[i];

		if (grows(at->read, metric, metric->members[i]))
			counter(state, event->Metric.metric, metric->members[i], type, v, at->time);
		else
			level(&state->values, event->Metric.metric, metric->members[i],
			      gt_otf2_number(type, v));
	}
}

static void enter(struct gt_report *report, struct gt_otf2_cursor *at, void *memory)
{
	struct metrics *state = memory;

	(void)report;
	if (!state->count)
		return;
	widen(state, at->depth);
	for (size_t i = 0; i < state->count; i++) {
		struct counter *of = &state->counters[i];

		state->marks[(at->depth - 1) * state->stride + i] =
			(struct mark){ .at = of->now, .valid = of->fresh && of->time == at->time };
		of->fresh = false;
	}
}

static bool is_open(const struct gt_otf2_cursor *at, const struct gt_otf2_region *region)
{
	for (size_t i = 0; i < at->depth; i++)
		if (at->stack[i].region == region)
			return true;
	return false;
}

/* The frame was at->stack[at->depth]. */
static void leave(struct gt_report *report, struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame,
		  void *memory)
{
	struct metrics *state = memory;

	if (!state->count)
		return;
	widen(state, at->depth + 1);
	for (size_t i = 0; i < state->count; i++) {
		struct mark *mark = &state->marks[at->depth * state->stride + i];
		struct counter *of = &state->counters[i];
		bool known = mark->valid && of->fresh && of->time == at->time;
		OTF2_MetricValue grown, *above;
		struct value *value;

		mark->valid = false;
		of->fresh = false;
		if (!known)
			continue;
		grown = difference(of->type, of->now, mark->at);
		value = value_at(&state->values, of->metric, of->member,
				 gt_report_region(report, frame->region));
		value->count++;
		value->exclusive += growth(of->type, difference(of->type, grown, mark->inside));
		if (!is_open(at, frame->region))
			value->inclusive += growth(of->type, grown);
		if (!at->depth)
			continue;
		above = &state->marks[(at->depth - 1) * state->stride + i].inside;
		*above = sum(of->type, *above, grown);
	}
}

static void carry(struct gt_report *report, struct gt_carry *carry, void *memory)
{
	struct values *values = &((struct metrics *)memory)->values;

	(void)report;
	gt_carry_bytes(carry, &values->count, sizeof(values->count));
	values->items = gt_carry_array(carry, values->items, values->count, sizeof(*values->items));
}

static void merge(struct gt_report *report, struct gt_otf2_cursor *at, void *memory, void *result)
{
	struct metrics *state = memory;
	struct values *all = result;

	(void)report, (void)at;
	for (size_t i = 0; i < state->values.count; i++) {
		const struct value *from = &state->values.items[i];
		struct value *to = value_at(all, from->metric, from->member, from->region);

		if (!to->count || from->least < to->least)
			to->least = from->least;
		if (!to->count || from->most > to->most)
			to->most = from->most;
		to->count += from->count;
		to->inclusive += from->inclusive;
		to->exclusive += from->exclusive;
		to->sum += from->sum;
		to->last = from->last;
	}
	free(state->values.items);
	gt_sums_free(&state->values.places);
	free(state->counters);
	free(state->marks);
}

/* ---- figures ------------------------------------------------------------------------------------- */

static const struct gt_column columns[] = {
	{ "name", "metric", GT_TEXT },
	{ "unit", "unit", GT_TEXT },
	{ "scope", "of", GT_TEXT },
	{ "region", "region", GT_TEXT },
	{ "count", "values", GT_COUNT },
	{ "inclusive", "inclusive", GT_NUMBER },
	{ "exclusive", "exclusive", GT_NUMBER },
	{ "min", "least", GT_NUMBER },
	{ "mean", NULL, GT_NUMBER },
	{ "max", "most", GT_NUMBER },
	{ "last", NULL, GT_NUMBER },
};
static const struct gt_section_kind metrics_kind = GT_SECTION("metrics", "Metrics", GT_ROWS, columns);

static const char *scope_of(struct gt_report *report, const struct gt_otf2_metric *metric)
{
	const struct gt_otf2_location_group *group;
	const struct gt_otf2_node *node;

	if (!metric || !metric->instance)
		return NULL;
	switch (metric->scope) {
	case OTF2_SCOPE_LOCATION: {
		ptrdiff_t index = gt_otf2_index(report->read, GT_OTF2_LOCATION, metric->scope_id);

		return index < 0 ? NULL : gt_report_location(report, (size_t)index);
	}
	case OTF2_SCOPE_LOCATION_GROUP:
		group = gt_otf2_find_location_group(report->read, metric->scope_id);
		return group ? group->name : NULL;
	case OTF2_SCOPE_SYSTEM_TREE_NODE:
		node = gt_otf2_find_node(report->read, metric->scope_id);
		return node ? node->name : NULL;
	}
	return NULL;
}

/* As exact as pow() up to 10^22. pow() would be the only function that needs a glibc after 2.28 to run. */
static double scale_of(const struct gt_otf2_metric_member *member)
{
	double base = member->base == OTF2_BASE_BINARY ? 2 : 10, scale = 1;
	uint64_t n = (uint64_t)member->exponent;

	if (member->exponent < 0)
		n = -n;
	for (; n && isfinite(scale); n--)
		scale *= base;
	return member->exponent < 0 ? 1 / scale : scale;
}

static void value_row(struct gt_report *report, const struct value *value, union gt_cell *row)
{
	const struct gt_otf2_metric_member *member = gt_otf2_find_metric_member(report->read, value->member);
	double scale = 1;

	row[0].text = member ? member->name : "?";
	if (member) {
		row[1].text = member->unit;
		scale = scale_of(member);
	}
	row[2].text = scope_of(report, gt_otf2_find_metric(report->read, value->metric));
	row[4].count = value->count;
	if (value->region != GT_OTF2_NOTHING) {
		row[3].text = gt_report_region_name(report, value->region);
		row[5].number = scale * value->inclusive;
		row[6].number = scale * value->exclusive;
		return;
	}
	row[7].number = scale * value->least;
	row[8].number = scale * value->sum / (double)value->count;
	row[9].number = scale * value->most;
	row[10].number = scale * value->last;
}

/* By metric, then by what is exclusive of a region or the most of a level. */
static int by_metric(const void *a, const void *b)
{
	const struct value *x = a, *y = b;
	double of_x = x->region == GT_OTF2_NOTHING ? x->most : x->exclusive;
	double of_y = y->region == GT_OTF2_NOTHING ? y->most : y->exclusive;

	if (x->member != y->member)
		return x->member < y->member ? -1 : 1;
	return (of_x < of_y) - (of_x > of_y);
}

static void figures(struct gt_report *report, void *result)
{
	struct gt_section *section = gt_section_add(&report->figures, &metrics_kind);
	struct values *all = result;

	if (all->count)
		qsort(all->items, all->count, sizeof(*all->items), by_metric);
	for (size_t i = 0; i < all->count; i++)
		value_row(report, &all->items[i], gt_row_add(section));
}

static void release(void *result)
{
	free(((struct values *)result)->items);
	gt_sums_free(&((struct values *)result)->places);
}

static bool wanted(struct gt_report *report)
{
	return report->read->tables[GT_OTF2_METRIC].count > 0;
}

static const struct gt_section_kind *const sections[] = { &metrics_kind, NULL };

const struct gt_analysis gt_metrics_analysis = {
	.name = "metrics", .state_size = sizeof(struct metrics), .result_size = sizeof(struct values),
	.wanted = wanted, .enter = enter, .leave = leave, .event = event,
	.carry = carry, .merge = merge, .figures = figures,
	.free = release, .sections = sections,
};
