/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels, copies, devices.
 *
 * Limits: see gpu.h. Direction and memory of a copy are taken from the region's name, as gputrace writes it
 * ("cudaMemcpy H2D pageable"); of RMA records, as Score-P writes them, from the kind of the record.
 */
#include "config.h"

#include "report/model/calls.h"
#include "lib/assemble/util/memory.h"
#include "report/sections/gpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TIES = 1 << 20 };

struct state {
	struct gt_sums kernels, copies, async_calls, pageable;
	struct gt_spans busy, copying;
	uint64_t kernel_count;
	uint64_t grid, block, bytes; /* of the activity that is open */
	uint64_t items;              /* of its grid, if that is how its size is told */
	uint64_t correlation;        /* of it, or of the call; 0: none */
	uint64_t attribute, correlation_attribute; /* BYTES, CORRELATION_ID */
	uint64_t rma_begin, rma_bytes, rma_key;
	bool stream, rma;
};

static bool wanted(struct gt_report *report)
{
	return report->classes.gpu;
}

static void begin(struct gt_report *report, struct gt_otf2_cursor *at, void *memory)
{
	struct state *state = memory;

	state->stream = report->classes.locations[at->index].kind == GT_LOCATION_STREAM;
	state->attribute = gt_otf2_attribute_named(at->read, "BYTES");
	state->correlation_attribute = gt_otf2_attribute_named(at->read, "CORRELATION_ID");
}

static bool activity(enum gt_class class)
{
	return class == GT_CLASS_KERNEL || class == GT_CLASS_GPU_TRANSFER || class == GT_CLASS_GPU_SET;
}

static void take_bytes(struct gt_otf2_cursor *at, struct state *state)
{
	OTF2_AttributeValue value;

	if (gt_otf2_attribute(at, state->attribute, OTF2_TYPE_UINT64, &value))
		state->bytes = value.uint64;
}

static void take_correlation(struct gt_otf2_cursor *at, struct state *state)
{
	OTF2_AttributeValue value;

	state->correlation = gt_otf2_attribute(at, state->correlation_attribute, OTF2_TYPE_UINT64, &value)
			     ? value.uint64 : 0;
}

static void enter(struct gt_report *report, struct gt_otf2_cursor *at, void *memory)
{
	enum gt_class class = gt_class_of(&report->classes, at->stack[at->depth - 1].region);
	struct state *state = memory;

	if (state->stream) {
		state->grid = state->block = state->bytes = state->items = 0;
		take_bytes(at, state);
	}
	if (state->stream || class == GT_CLASS_GPU_COPY)
		take_correlation(at, state);
}

/* An asynchronous copy that is called on the host, and not by another one. */
static void add_call(const struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame, uint32_t region,
		     struct state *state)
{
	struct gt_sums *sums = &state->async_calls;

	if (state->correlation && sums->count < MOST_TIES && gt_call_async(frame->region->name) &&
	    !(at->depth && gt_call_async((frame - 1)->region->name)))
		gt_sum_add(gt_sums_at(sums, at->index, state->correlation, region, frame->begin),
			   gt_otf2_inclusive(at, frame), 0);
}

/* One of pageable memory that is made on a stream. */
static void add_pageable(const struct gt_report *report, const struct gt_otf2_cursor *at,
			 const struct gt_otf2_frame *frame, struct state *state)
{
	uint32_t process = report->classes.locations[at->index].process;
	struct gt_sums *sums = &state->pageable;

	if (state->correlation && sums->count < MOST_TIES && gt_copy_pageable(frame->region->name))
		gt_sum_add(gt_sums_at(sums, process, state->correlation, 0, 0), gt_otf2_inclusive(at, frame),
			   state->bytes);
}

static bool inside(struct gt_report *report, const struct gt_otf2_cursor *at)
{
	for (size_t i = at->depth; i--;)
		if (activity(gt_class_of(&report->classes, at->stack[i].region)))
			return true;
	return false;
}

static void leave(struct gt_report *report, struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame,
		  void *memory)
{
	enum gt_class class = gt_class_of(&report->classes, frame->region);
	uint32_t region = gt_report_region(report, frame->region);
	uint64_t ns = gt_otf2_inclusive(at, frame);
	struct state *state = memory;

	if (class == GT_CLASS_GPU_COPY)
		add_call(at, frame, region, state);
	if (!state->stream || !activity(class))
		return;
	take_bytes(at, state);
	if (class == GT_CLASS_GPU_TRANSFER)
		add_pageable(report, at, frame, state);
	if (class == GT_CLASS_KERNEL) {
		if (state->items && state->block)
			state->grid = state->items / state->block;
		gt_sum_add(gt_sums_at(&state->kernels, region, state->grid, state->block, 0), ns, 0);
		state->kernel_count++;
	} else {
		gt_sum_add(gt_sums_at(&state->copies, region, 0, 0, 0), ns, state->bytes);
	}
	if (!inside(report, at))
		gt_spans_add(class == GT_CLASS_KERNEL ? &state->busy : &state->copying, frame->begin,
			     at->time);
}

static void parameter(struct gt_otf2_cursor *at, OTF2_ParameterRef id, uint64_t value, struct state *state)
{
	const struct gt_otf2_parameter *parameter = gt_otf2_find_parameter(at->read, id);

	switch (parameter ? gt_size_of(parameter->name) : GT_SIZE_NONE) {
	case GT_SIZE_GRID:
		state->grid = value;
		break;
	case GT_SIZE_BLOCK:
		state->block = value;
		break;
	case GT_SIZE_ITEMS:
		state->items = value;
		break;
	default:
		break;
	}
}

/* A copy without a region. */
static void rma(struct gt_report *report, struct gt_otf2_cursor *at, uint64_t key, uint64_t bytes,
		struct state *state)
{
	state->rma = !inside(report, at);
	state->rma_begin = at->time;
	state->rma_bytes = bytes;
	state->rma_key = key;
}

static void rma_over(struct gt_otf2_cursor *at, struct state *state)
{
	if (!state->rma)
		return;
	state->rma = false;
	gt_sum_add(gt_sums_at(&state->copies, state->rma_key, 0, 0, 0), at->time - state->rma_begin,
		   state->rma_bytes);
	gt_spans_add(&state->copying, state->rma_begin, at->time);
}

static void event(struct gt_report *report, struct gt_otf2_cursor *at, const struct gt_otf2_event *event,
		  void *memory)
{
	struct state *state = memory;

	if (!state->stream)
		return;
	switch (event->type) {
	case GT_OTF2_ParameterUnsignedInt:
		parameter(at, event->ParameterUnsignedInt.parameter,
			  event->ParameterUnsignedInt.value, state);
		break;
	case GT_OTF2_ParameterString:
		parameter(at, event->ParameterString.parameter,
			  gt_size_product(gt_otf2_text(at->read, event->ParameterString.string)), state);
		break;
	case GT_OTF2_RmaGet:
		rma(report, at, GT_GPU_GET, event->RmaGet.bytes, state);
		break;
	case GT_OTF2_RmaPut:
		rma(report, at, GT_GPU_PUT, event->RmaPut.bytes, state);
		break;
	case GT_OTF2_RmaOpCompleteBlocking:
		rma_over(at, state);
		break;
	default:
		break;
	}
}

static void make_devices(const struct gt_report *report, struct gt_gpu *all)
{
	all->device_count = report->classes.device_count;
	if (!all->devices)
		all->devices = gt_zeroed(all->device_count + 1, sizeof(*all->devices));
}

static void carry(struct gt_report *report, struct gt_carry *carry, void *memory)
{
	struct state *state = memory;

	(void)report;
	gt_carry_sums(carry, &state->kernels);
	gt_carry_sums(carry, &state->copies);
	gt_carry_sums(carry, &state->async_calls);
	gt_carry_sums(carry, &state->pageable);
	gt_carry_spans(carry, &state->busy);
	gt_carry_spans(carry, &state->copying);
	gt_carry_bytes(carry, &state->kernel_count, sizeof(state->kernel_count));
}

static void merge(struct gt_report *report, struct gt_otf2_cursor *at, void *memory, void *result)
{
	uint32_t device = report->classes.locations[at->index].device;
	struct state *state = memory;
	struct gt_gpu *all = result;

	make_devices(report, all);
	gt_sums_merge(&all->kernels, &state->kernels);
	gt_sums_merge(&all->copies, &state->copies);
	gt_sums_merge(&all->async_calls, &state->async_calls);
	gt_sums_merge(&all->pageable, &state->pageable);
	if (device != GT_NO_DEVICE) {
		struct gt_device *of = &all->devices[device];

		gt_device_add(of, &state->busy, &state->copying, state->kernel_count,
			      state->kernels.count || state->copies.count, (uint32_t)at->index);
		if (gt_device_failed(of))
			gt_no_memory();
	}
	gt_sums_free(&state->kernels);
	gt_sums_free(&state->copies);
	gt_sums_free(&state->async_calls);
	gt_sums_free(&state->pageable);
	gt_spans_free(&state->busy);
	gt_spans_free(&state->copying);
}

/* ---- figures ------------------------------------------------------------------------------------- */

static const struct gt_column kernel_columns[] = {
	{ "count", "kernels", GT_COUNT },
	{ "seconds", "time", GT_SECONDS },
	{ "share", "of GPUs", GT_SHARE },
	{ "mean_s", "mean", GT_SECONDS },
	{ "min_s", NULL, GT_SECONDS },
	{ "max_s", "longest", GT_SECONDS },
	{ "grid", "grid", GT_COUNT },
	{ "block", "block", GT_COUNT },
	{ "shapes", NULL, GT_COUNT },
	{ "name", "kernel", GT_TEXT },
};
static const struct gt_section_kind kernels_kind =
	GT_SECTION("kernels", "Kernels", GT_ROWS, kernel_columns, .spare = "max_s,block+grid");

static const struct gt_column copy_columns[] = {
	{ "count", "copies", GT_COUNT },
	{ "seconds", "time", GT_SECONDS },
	{ "share", "of GPUs", GT_SHARE },
	{ "bytes", "bytes", GT_BYTES },
	{ "mean_bytes", "mean", GT_BYTES },
	{ "bandwidth", "rate", GT_RATE },
	{ "min_s", NULL, GT_SECONDS },
	{ "max_s", "longest", GT_SECONDS },
	{ "direction", "direction", GT_WORD },
	{ "memory", "memory", GT_WORD },
	{ "name", NULL, GT_TEXT },
};
static const struct gt_section_kind copies_kind = GT_SECTION("copies", "Copies", GT_ROWS, copy_columns);

static const struct gt_column device_columns[] = {
	{ "kernel_s", "kernels", GT_SECONDS },
	{ "kernel_share", "of run", GT_SHARE },
	{ "copy_s", "copies", GT_SECONDS },
	{ "copy_alone_s", "not hidden", GT_SECONDS },
	{ "idle_s", "idle", GT_SECONDS },
	{ "count", NULL, GT_COUNT },
	{ "streams", "streams", GT_COUNT },
	{ "name", "device", GT_TEXT },
};
static const struct gt_section_kind devices_kind = GT_SECTION("devices", "GPUs", GT_ROWS, device_columns);

const char *gt_gpu_direction(struct gt_report *report, uint64_t key)
{
	const char *name, *word;

	if (key == GT_GPU_GET || key == GT_GPU_PUT)
		return key == GT_GPU_GET ? "H2D" : "D2H";
	if (key < report->read->tables[GT_OTF2_REGION].count &&
	    report->classes.regions[key] == GT_CLASS_GPU_SET)
		return "set";
	name = gt_report_region_name(report, key);
	word = strchr(name, ' ');
	return word ? gt_figures_text(&report->figures, "%.*s", (int)strcspn(word + 1, " "), word + 1) : NULL;
}

const char *gt_gpu_memory(struct gt_report *report, uint64_t key)
{
	const char *name = key == GT_GPU_GET || key == GT_GPU_PUT ? "" : gt_report_region_name(report, key);
	const char *word = strchr(name, ' ');

	word = word ? strchr(word + 1, ' ') : NULL;
	return word ? word + 1 : NULL;
}

/* Kernels of one region stand side by side: its shapes become one row. */
static void kernel_table(struct gt_report *report, struct gt_gpu *all)
{
	struct gt_section *section = gt_section_add(&report->figures, &kernels_kind);
	uint64_t whole = report->duration * report->classes.device_count;
	union gt_cell *row = NULL;

	gt_sums_sort(&all->kernels, GT_SUMS_BY_KEY);
	for (uint32_t i = 0; i < all->kernels.count; i++) {
		const struct gt_sum *sum = &all->kernels.items[i];

		if (!row || sum->key[0] != sum[-1].key[0]) {
			row = gt_row_add(section);
			row[0].count = row[1].count = row[5].count = row[8].count = 0;
			row[6].count = sum->key[1] ? sum->key[1] : GT_NO_COUNT;
			row[7].count = sum->key[2] ? sum->key[2] : GT_NO_COUNT;
			row[9].text = gt_report_region_name(report, sum->key[0]);
		}
		row[0].count += sum->count;
		row[1].count += sum->ns;
		row[2].number = whole ? (double)row[1].count / (double)whole : NAN;
		row[3].count = row[1].count / row[0].count;
		row[4].count = sum->least < row[4].count ? sum->least : row[4].count;
		row[5].count = sum->most > row[5].count ? sum->most : row[5].count;
		if (++row[8].count > 1 && row[6].count != sum->key[1])
			row[6].count = GT_NO_COUNT;
		if (row[8].count > 1 && row[7].count != sum->key[2])
			row[7].count = GT_NO_COUNT;
	}
	gt_rows_sort(section, 1);
}

static void copy_table(struct gt_report *report, const struct gt_gpu *all)
{
	struct gt_section *section = gt_section_add(&report->figures, &copies_kind);
	uint64_t whole = report->duration * report->classes.device_count;

	for (uint32_t i = 0; i < all->copies.count; i++) {
		const struct gt_sum *sum = &all->copies.items[i];
		union gt_cell *row = gt_row_add(section);

		row[0].count = sum->count;
		row[1].count = sum->ns;
		row[2].number = whole ? (double)sum->ns / (double)whole : NAN;
		row[3].count = sum->bytes;
		row[4].count = sum->bytes / sum->count;
		row[5].number = sum->ns ? (double)sum->bytes * 1e9 / (double)sum->ns : NAN;
		row[6].count = sum->least;
		row[7].count = sum->most;
		row[8].text = gt_gpu_direction(report, sum->key[0]);
		row[9].text = gt_gpu_memory(report, sum->key[0]);
		if (sum->key[0] < GT_GPU_PUT)
			row[10].text = gt_report_region_name(report, sum->key[0]);
	}
	gt_rows_sort(section, 1);
}

static void device_table(struct gt_report *report, const struct gt_gpu *all)
{
	struct gt_section *section = gt_section_add(&report->figures, &devices_kind);

	for (uint32_t i = 0; i < report->classes.device_count; i++) {
		const struct gt_device *device = &all->devices[i];
		uint64_t busy = gt_device_busy(device);
		union gt_cell *row = gt_row_add(section);

		row[0].count = device->kernels.total;
		if (report->duration)
			row[1].number = (double)device->kernels.total / (double)report->duration;
		row[2].count = device->copies.total;
		row[3].count = busy - device->kernels.total;
		row[4].count = report->duration > busy ? report->duration - busy : 0;
		row[5].count = device->kernel_count;
		row[6].count = device->streams;
		row[7].text = report->classes.devices[i].name;
	}
}

static void figures(struct gt_report *report, void *result)
{
	struct gt_gpu *all = result;

	make_devices(report, all);
	kernel_table(report, all);
	copy_table(report, all);
	device_table(report, all);
}

static void release(void *result)
{
	struct gt_gpu *all = result;

	gt_sums_free(&all->kernels);
	gt_sums_free(&all->copies);
	gt_sums_free(&all->async_calls);
	gt_sums_free(&all->pageable);
	for (uint32_t i = 0; all->devices && i < all->device_count; i++)
		gt_device_free(&all->devices[i]);
	free(all->devices);
}

static const struct gt_section_kind *const sections[] = { &kernels_kind, &copies_kind, &devices_kind, NULL };

const struct gt_analysis gt_gpu_analysis = {
	.name = "gpu", .state_size = sizeof(struct state), .result_size = sizeof(struct gt_gpu),
	.wanted = wanted, .begin = begin, .enter = enter, .leave = leave, .event = event,
	.carry = carry, .merge = merge,
	.figures = figures, .free = release, .sections = sections,
};
