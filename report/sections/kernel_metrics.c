/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Metrics of single kernels, and of ranges of the program: values of one point in time, of a metric
 * whose scope is a group of a GPU's, that stand at the end of the region that they are of
 * (VT_CUPTI_KERNEL).
 *
 * Limits: 48 bytes for each metric and region of a location.
 */
#include "config.h"

#include "lib/assemble/util/memory.h"
#include "report/report.h"
#include "report/model/sums.h"

#include <stdlib.h>

/* The values of a metric in a region. */
struct row {
	uint64_t member, region, device, count;
	double sum, least, most;
};

struct rows {
	struct row *items;
	size_t count, room;
	struct gt_sums places; /* member, region, device: `bytes` is its place + 1 */
};

static bool wanted(struct gt_report *report)
{
	return report->classes.gpu;
}

static struct row *row_of(struct rows *rows, uint64_t member, uint64_t region, uint64_t device)
{
	struct gt_sum *place = gt_sums_at(&rows->places, member, region, device, 0);

	if (!place->bytes) {
		if (rows->count == rows->room) {
			rows->room = rows->room ? 2 * rows->room : 16;
			rows->items = gt_resized(rows->items, rows->room, sizeof(*rows->items));
		}
		rows->items[rows->count++] = (struct row){ .member = member, .region = region,
							   .device = device };
		place->bytes = rows->count;
	}
	return &rows->items[place->bytes - 1];
}

static void add(struct row *row, const struct row *more)
{
	if (!row->count || more->least < row->least)
		row->least = more->least;
	if (!row->count || more->most > row->most)
		row->most = more->most;
	row->sum += more->sum;
	row->count += more->count;
}

/* The device whose group is the metric's scope. */
static uint32_t device_of(const struct gt_report *report, const struct gt_otf2_metric *metric)
{
	const struct gt_classes *classes = &report->classes;
	const struct gt_otf2_location_group *group =
		metric->instance && metric->scope == OTF2_SCOPE_LOCATION_GROUP
			? gt_otf2_find_location_group(report->read, metric->scope_id)
			: NULL;

	for (uint32_t i = 0; group && i < classes->device_count; i++)
		if (classes->devices[i].node == group->parent)
			return i;
	return GT_NO_DEVICE;
}

static bool is_of_a_point(const struct gt_otf2 *read, uint64_t member)
{
	const struct gt_otf2_metric_member *of = gt_otf2_find_metric_member(read, member);

	return of && (of->mode & OTF2_METRIC_TIMING_MASK) == OTF2_METRIC_TIMING_POINT;
}

static void event(struct gt_report *report, struct gt_otf2_cursor *at, const struct gt_otf2_event *event,
		  void *memory)
{
	const struct gt_otf2_metric *metric;
	uint32_t device;

	if (event->type != GT_OTF2_Metric || !at->depth)
		return;
	metric = gt_otf2_find_metric(at->read, event->Metric.metric);
	device = metric ? device_of(report, metric) : GT_NO_DEVICE;
	if (device == GT_NO_DEVICE)
		return;
	for (uint8_t i = 0; i < event->Metric.count && i < metric->count; i++) {
		double value = gt_otf2_number(event->Metric.types[i], event->Metric.values[i]);
		uint32_t region = gt_report_region(report, at->stack[at->depth - 1].region);

		if (is_of_a_point(at->read, metric->members[i]))
			add(row_of(memory, metric->members[i], region, device),
			    &(struct row){ .count = 1, .sum = value, .least = value, .most = value });
	}
}

static void release(void *result)
{
	struct rows *rows = result;

	free(rows->items);
	gt_sums_free(&rows->places);
}

static void carry(struct gt_report *report, struct gt_carry *carry, void *memory)
{
	struct rows *rows = memory;

	(void)report;
	gt_carry_bytes(carry, &rows->count, sizeof(rows->count));
	rows->items = gt_carry_array(carry, rows->items, rows->count, sizeof(*rows->items));
}

static void merge(struct gt_report *report, struct gt_otf2_cursor *at, void *memory, void *result)
{
	const struct rows *from = memory;

	(void)report;
	(void)at;
	for (size_t i = 0; i < from->count; i++)
		add(row_of(result, from->items[i].member, from->items[i].region, from->items[i].device),
		    &from->items[i]);
	release(memory);
}

/* ---- figures --------------------------------------------------------------------------------------- */

static const struct gt_column columns[] = {
	{ "metric", "metric", GT_TEXT },
	{ "unit", "unit", GT_TEXT },
	{ "mean", "mean", GT_NUMBER },
	{ "min", "min", GT_NUMBER },
	{ "max", "max", GT_NUMBER },
	{ "measured", "measured", GT_COUNT },
	{ "device", NULL, GT_TEXT },
	{ "region", "kernel or range", GT_TEXT },
};
static const struct gt_section_kind kind = GT_SECTION("kernel_metrics", "Metrics of single kernels", GT_ROWS,
							columns);

static int by_value(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->member != y->member)
		return x->member < y->member ? -1 : 1;
	return (x->sum < y->sum) - (x->sum > y->sum);
}

static void figures(struct gt_report *report, void *result)
{
	struct gt_section *section = gt_section_add(&report->figures, &kind);
	struct rows *rows = result;

	if (rows->count)
		qsort(rows->items, rows->count, sizeof(*rows->items), by_value);
	for (size_t i = 0; i < rows->count; i++) {
		const struct row *row = &rows->items[i];
		const struct gt_otf2_metric_member *member =
			gt_otf2_find_metric_member(report->read, row->member);
		union gt_cell *cells = gt_row_add(section);

		cells[0].text = member ? member->name : "?";
		cells[1].text = member ? member->unit : NULL;
		cells[2].number = row->sum / (double)row->count;
		cells[3].number = row->least;
		cells[4].number = row->most;
		cells[5].count = row->count;
		cells[6].text = report->classes.devices[row->device].name;
		cells[7].text = gt_report_region_name(report, row->region);
	}
}

static const struct gt_section_kind *const sections[] = { &kind, NULL };

const struct gt_analysis gt_kernel_metrics_analysis = {
	.name = "kernel_metrics", .state_size = sizeof(struct rows), .result_size = sizeof(struct rows),
	.wanted = wanted, .event = event, .carry = carry, .merge = merge, .figures = figures, .free = release,
	.sections = sections,
};
