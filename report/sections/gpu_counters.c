/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of GPUs by kernel. Samples of a device say what was counted in a span of time (asynchronous
 * metrics with relative values, of a METRIC location in a group of the device); what ran in that span are the
 * kernels of its streams. A sample with kernels of several names, or contexts, is divided by the time that
 * each had in it. A context is a stream's location group.
 *
 * Limits: 32 bytes for each kernel and 24 for each value, kept until all is read. What was counted while no
 * kernel ran belongs to none.
 */
#include "config.h"

#include "lib/assemble/util/memory.h"
#include "report/report.h"
#include "report/model/sums.h"

#include <stdlib.h>

struct kernel {
	uint64_t begin, end;
	uint64_t region, group;
};

struct sample {
	uint64_t time, member;
	double value;
};

/* Of a location, and of a device. */
struct records {
	struct kernel *kernels;
	struct sample *samples;
	size_t kernel_count, kernel_room, sample_count, sample_room;
};

/* A metric's counts in the kernels of one name in a context. */
struct share {
	uint64_t member, region, group, device, samples, shared;
	double value;
};

struct counters {
	struct records *devices; /* by index in report->classes.devices */
	uint32_t device_count;
	struct share *shares;
	size_t count, room;
	struct gt_sums places;   /* member, region, device, group: `bytes` is its place + 1 */
};

static bool wanted(struct gt_report *report)
{
	return report->classes.gpu;
}

/* ---- reading --------------------------------------------------------------------------------------- */

static void add_kernel(struct records *to, struct kernel kernel)
{
	to->kernels = gt_grown(to->kernels, to->kernel_count, &to->kernel_room, sizeof(*to->kernels));
	to->kernels[to->kernel_count++] = kernel;
}

static void add_sample(struct records *to, struct sample sample)
{
	to->samples = gt_grown(to->samples, to->sample_count, &to->sample_room, sizeof(*to->samples));
	to->samples[to->sample_count++] = sample;
}

static void leave(struct gt_report *report, struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame,
		  void *memory)
{
	if (report->classes.locations[at->index].kind == GT_LOCATION_STREAM &&
	    gt_class_of(&report->classes, frame->region) == GT_CLASS_KERNEL)
		add_kernel(memory, (struct kernel){ frame->begin, at->time,
						    gt_report_region(report, frame->region),
						    at->location->group });
}

static bool adds_up(const struct gt_otf2 *read, uint64_t member)
{
	const struct gt_otf2_metric_member *of = gt_otf2_find_metric_member(read, member);

	return of && (of->mode & OTF2_METRIC_VALUE_MASK) == OTF2_METRIC_VALUE_RELATIVE &&
	       (of->mode & OTF2_METRIC_TIMING_MASK) != OTF2_METRIC_TIMING_POINT; /* in kernel_metrics.c */
}

static void event(struct gt_report *report, struct gt_otf2_cursor *at, const struct gt_otf2_event *event,
		  void *memory)
{
	const struct gt_otf2_metric *metric;

	(void)report;
	if (event->type != GT_OTF2_Metric)
		return;
	metric = gt_otf2_find_metric(at->read, event->Metric.metric);
	if (!metric || metric->occurrence != OTF2_METRIC_ASYNCHRONOUS)
		return;
	for (uint8_t i = 0; i < event->Metric.count && i < metric->count; i++)
		if (adds_up(at->read, metric->members[i]))
			add_sample(memory, (struct sample){ at->time, metric->members[i],
							    gt_otf2_number(event->Metric.types[i],
									   event->Metric.values[i]) });
}

/* The device of a stream, or of a location of metrics in one of its groups. */
static uint32_t device_of(const struct gt_report *report, size_t index)
{
	const struct gt_classes *classes = &report->classes;
	const struct gt_otf2_location *location = gt_otf2_location_at(report->read, index);
	const struct gt_otf2_location_group *group =
		gt_otf2_find_location_group(report->read, location->group);

	if (classes->locations[index].device != GT_NO_DEVICE)
		return classes->locations[index].device;
	for (uint32_t i = 0; group && i < classes->device_count; i++)
		if (classes->devices[i].node == group->parent)
			return i;
	return GT_NO_DEVICE;
}

static void carry(struct gt_report *report, struct gt_carry *carry, void *memory)
{
	struct records *r = memory;

	(void)report;
	gt_carry_bytes(carry, &r->kernel_count, sizeof(r->kernel_count));
	gt_carry_bytes(carry, &r->sample_count, sizeof(r->sample_count));
	r->kernels = gt_carry_array(carry, r->kernels, r->kernel_count, sizeof(*r->kernels));
	r->samples = gt_carry_array(carry, r->samples, r->sample_count, sizeof(*r->samples));
}

static void merge(struct gt_report *report, struct gt_otf2_cursor *at, void *memory, void *result)
{
	struct records *from = memory, *to;
	struct counters *all = result;
	uint32_t device = device_of(report, at->index);

	all->device_count = report->classes.device_count;
	if (!all->devices)
		all->devices = gt_zeroed(all->device_count + 1, sizeof(*all->devices));
	to = &all->devices[device == GT_NO_DEVICE ? all->device_count : device];
	for (size_t i = 0; device != GT_NO_DEVICE && i < from->kernel_count; i++)
		add_kernel(to, from->kernels[i]);
	for (size_t i = 0; device != GT_NO_DEVICE && i < from->sample_count; i++)
		add_sample(to, from->samples[i]);
	free(from->kernels);
	free(from->samples);
}

/* ---- joining --------------------------------------------------------------------------------------- */

static int by_begin(const void *a, const void *b)
{
	const struct kernel *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

static int by_time(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	return (x->time > y->time) - (x->time < y->time);
}

static struct share *share_of(struct counters *all, uint64_t member, uint64_t region, uint64_t group,
			      uint64_t device)
{
	struct gt_sum *place = gt_sums_at(&all->places, member, region, device, group);

	if (!place->bytes) {
		all->shares = gt_grown(all->shares, all->count, &all->room, sizeof(*all->shares));
		all->shares[all->count++] = (struct share){ .member = member, .region = region,
							    .group = group, .device = device };
		place->bytes = all->count;
	}
	return &all->shares[place->bytes - 1];
}

/* How long samples are: the shortest distance of two. 0: there is one at most. */
static uint64_t length_of(const struct records *of)
{
	uint64_t least = 0;

	for (size_t i = 1; i < of->sample_count; i++) {
		uint64_t apart = of->samples[i].time - of->samples[i - 1].time;

		if (apart && (!least || apart < least))
			least = apart;
	}
	return least;
}

static uint64_t common(const struct kernel *k, uint64_t begin, uint64_t end)
{
	uint64_t from = k->begin > begin ? k->begin : begin, to = k->end < end ? k->end : end;

	return to > from ? to - from : 0;
}

/*
 * The time of each name and context in the span; of the kernels from *next on, and of `open`, those that were
 * not over.
 */
static uint64_t times_in(const struct records *of, size_t *next, struct records *open, uint64_t begin,
			 uint64_t end, struct gt_sums *times)
{
	uint64_t total = 0;
	size_t kept = 0;

	for (; *next < of->kernel_count && of->kernels[*next].begin < end; ++*next)
		add_kernel(open, of->kernels[*next]);
	for (size_t i = 0; i < open->kernel_count; i++) {
		uint64_t ns = common(&open->kernels[i], begin, end);

		if (ns)
			gt_sum_add(gt_sums_at(times, open->kernels[i].region, open->kernels[i].group, 0, 0),
				   ns, 0);
		total += ns;
		if (open->kernels[i].end > end)
			open->kernels[kept++] = open->kernels[i];
	}
	open->kernel_count = kept;
	return total;
}

static void divide(struct counters *all, uint32_t device, const struct sample *sample,
		   const struct gt_sums *times, uint64_t total)
{
	for (uint32_t i = 0; i < times->count; i++) {
		struct share *share = share_of(all, sample->member, times->items[i].key[0],
					       times->items[i].key[1], device);

		share->value += sample->value * (double)times->items[i].ns / (double)total;
		share->samples++;
		share->shared += times->count > 1;
	}
}

static void join(struct counters *all, uint32_t device)
{
	struct records *of = &all->devices[device];
	struct records open = { .kernel_count = 0 };
	uint64_t length, before = 0;
	size_t kernel = 0, next;

	if (!of->sample_count || !of->kernel_count)
		return;
	if (of->kernel_count)
		qsort(of->kernels, of->kernel_count, sizeof(*of->kernels), by_begin);
	if (of->sample_count)
		qsort(of->samples, of->sample_count, sizeof(*of->samples), by_time);
	length = length_of(of);
	for (size_t i = 0; i < of->sample_count; i = next) {
		uint64_t end = of->samples[i].time, begin = end > length ? end - length : 0, total;
		struct gt_sums times = { .count = 0 };

		/* An interval may grow; what is longer than two has samples missing before it. */
		if (i && end - before < 2 * length)
			begin = before;
		total = times_in(of, &kernel, &open, begin, end, &times);
		for (next = i; next < of->sample_count && of->samples[next].time == end; next++)
			divide(all, device, &of->samples[next], &times, total);
		before = end;
		gt_sums_free(&times);
	}
	free(open.kernels);
}

/* ---- figures --------------------------------------------------------------------------------------- */

static const struct gt_column columns[] = {
	{ "metric", "metric", GT_TEXT },
	{ "unit", "unit", GT_TEXT },
	{ "value", "counted", GT_NUMBER },
	{ "samples", "samples", GT_COUNT },
	{ "shared", "shared", GT_SHARE },
	{ "device", NULL, GT_TEXT },
	{ "context", "context", GT_TEXT },
	{ "kernel", "kernel", GT_TEXT },
};
static const struct gt_section_kind kind = GT_SECTION("kernel_counters", "Counters of kernels", GT_ROWS,
							columns);

static int by_value(const void *a, const void *b)
{
	const struct share *x = a, *y = b;

	if (x->member != y->member)
		return x->member < y->member ? -1 : 1;
	return (x->value < y->value) - (x->value > y->value);
}

static void figures(struct gt_report *report, void *result)
{
	struct gt_section *section = gt_section_add(&report->figures, &kind);
	struct counters *all = result;

	for (uint32_t i = 0; all->devices && i < all->device_count; i++)
		join(all, i);
	if (all->count)
		qsort(all->shares, all->count, sizeof(*all->shares), by_value);
	for (size_t i = 0; i < all->count; i++) {
		const struct share *share = &all->shares[i];
		const struct gt_otf2_metric_member *member =
			gt_otf2_find_metric_member(report->read, share->member);
		const struct gt_otf2_location_group *group =
			gt_otf2_find_location_group(report->read, share->group);
		union gt_cell *row = gt_row_add(section);

		row[0].text = member ? member->name : "?";
		row[1].text = member ? member->unit : NULL;
		row[2].number = share->value;
		row[3].count = share->samples;
		row[4].number = (double)share->shared / (double)share->samples;
		row[5].text = report->classes.devices[share->device].name;
		row[6].text = group ? group->name : NULL;
		row[7].text = gt_report_region_name(report, share->region);
	}
}

static void release(void *result)
{
	struct counters *all = result;

	for (uint32_t i = 0; all->devices && i <= all->device_count; i++) {
		free(all->devices[i].kernels);
		free(all->devices[i].samples);
	}
	free(all->devices);
	free(all->shares);
	gt_sums_free(&all->places);
}

static const struct gt_section_kind *const sections[] = { &kind, NULL };

const struct gt_analysis gt_gpu_counters_analysis = {
	.name = "gpu_counters", .state_size = sizeof(struct records), .result_size = sizeof(struct counters),
	.wanted = wanted, .leave = leave, .event = event,
	.carry = carry, .merge = merge, .figures = figures, .free = release,
	.sections = sections,
};
