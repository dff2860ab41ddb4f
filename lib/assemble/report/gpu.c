/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Devices, and findings about them: those of report/findings_gpu.c, by the same definitions.
 *
 * Limits: see brief.h.
 */
#include "config.h"

#include "lib/assemble/report/brief.h"
#include "lib/assemble/archive/worker.h"
#include "lib/assemble/util/rules.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Of a finding's text. */
enum { ROOM = sizeof(((struct gt_summary_finding *)NULL)->text) };

/* ---- which there are ----------------------------------------------------------------------------- */

/* A node of its own, or the context that the stream is in. */
static const char *device_of(const struct gt_layout *layout, const struct gt_defs *defs,
			     const struct gt_out_location *out, uint64_t *key)
{
	const struct gt_out_group *group = &layout->groups[out->group];
	const struct gt_out_node *node = &layout->nodes[group->node];
	const char *class = gt_intern_text(&defs->strings, node->class_name, NULL);
	bool own = strcmp(class, "node") && strcmp(class, "machine");

	*key = own ? group->node : UINT64_C(1) << 32 | group->name;
	return gt_intern_text(&defs->strings, own ? node->name : group->name, NULL);
}

static bool add_stream(struct gt_devices *devices, uint64_t *keys, const struct gt_layout *layout,
		       const struct gt_defs *defs, uint32_t location)
{
	const struct gt_out_location *out = &layout->locations[location];
	const char *name;
	uint64_t key;
	uint32_t i = 0;

	if (!out->did || out->group >= layout->group_count ||
	    layout->groups[out->group].node >= layout->node_count)
		return false;
	name = device_of(layout, defs, out, &key);
	while (i < devices->count && keys[i] != key)
		i++;
	keys[i] = key;
	devices->count += i == devices->count;
	gt_summary_escape(devices->names[i], sizeof(devices->names[i]), name, 40);
	gt_device_add(&devices->items[i], &out->did->kernels, &out->did->copies, out->did->kernel_count,
		      out->did->streams, location);
	return !gt_device_failed(&devices->items[i]);
}

void gt_devices_make(struct gt_devices *devices, const struct gt_layout *layout, const struct gt_defs *defs)
{
	size_t room = layout->location_count + 1;
	uint64_t *keys = calloc(room, sizeof(*keys));
	bool known = true;

	*devices = (struct gt_devices){ .items = calloc(room, sizeof(*devices->items)),
					.names = calloc(room, sizeof(*devices->names)) };
	known = keys && devices->items && devices->names;
	for (uint32_t i = 0; known && i < layout->location_count; i++)
		if (layout->locations[i].type == GT_AS_STREAM)
			known = add_stream(devices, keys, layout, defs, i);
	if (!known)
		gt_devices_free(devices);
	free(keys);
}

void gt_devices_free(struct gt_devices *devices)
{
	for (uint32_t i = 0; i < devices->count; i++)
		gt_device_free(&devices->items[i]);
	free(devices->items);
	free(devices->names);
	*devices = (struct gt_devices){ .count = 0 };
}

/* ---- copies -------------------------------------------------------------------------------------- */

static void blocking_copies(struct gt_summary *s)
{
	uint64_t ns = 0, calls = 0, most = 0;
	char time[32], count[32], longest[32], *text = NULL;

	for (size_t i = 0; i < s->region_count; i++) {
		const struct gt_summary_region *one = &s->regions[i];

		if (one->call != GT_CALL_COPY || !one->locations || gt_call_async(one->name))
			continue;
		ns += one->inclusive_ns / one->locations;
		calls += one->calls;
		most = one->most_ns > most ? one->most_ns : most;
	}
	if (calls >= GT_SOME_COPIES && gt_at_least(ns, GT_MUCH_COPYING, s->wall_ns))
		text = gt_brief_add(s, "blocking-copy", ns);
	if (text)
		snprintf(text, ROOM, "the host stands still for %s in copies and sets: %s "
			 "calls, of which the longest takes %s", gt_summary_time(time, ns),
			 gt_summary_count(count, calls), gt_summary_time(longest, most));
}

/* Their calls are not asynchronous. */
static void pageable_copies(struct gt_summary *s)
{
	const struct gt_pageable *of = &s->tally->pageable;
	char count[32], bytes[32], time[32], *text = NULL;

	if (of->calls && gt_at_least(of->ns, GT_MUCH_PAGEABLE, s->wall_ns))
		text = gt_brief_add(s, "pageable-copy", of->ns);
	if (text)
		snprintf(text, ROOM, "%s asynchronous copies (%s) block the host for %s, because their "
			 "memory is pageable", gt_summary_count(count, of->calls),
			 gt_summary_size(bytes, of->bytes), gt_summary_time(time, of->ns));
}

static void no_overlap(struct gt_summary *s, const struct gt_device *device, const char *name)
{
	uint64_t common = gt_spans_common(&device->kernels, &device->copies);
	uint64_t less = device->kernels.total < device->copies.total ? device->kernels.total
								      : device->copies.total;
	char kernels[32], copies[32], time[32], both[64] = "but never at the same time", *text;

	if (device->kernel_count < GT_SOME_COPIES || device->copies.count < GT_SOME_COPIES ||
	    gt_at_least(common, GT_LITTLE_OVERLAP, less))
		return;
	text = gt_brief_add(s, "no-overlap", less);
	if (common)
		snprintf(both, sizeof(both), "of which only %s are at the same time",
			 gt_summary_time(time, common));
	if (text)
		snprintf(text, ROOM, "on %s kernels run for %s and copies for %s, %s", name,
			 gt_summary_time(kernels, device->kernels.total),
			 gt_summary_time(copies, device->copies.total), both);
}

/* ---- kernels ------------------------------------------------------------------------------------- */

static uint64_t long_gap(const struct gt_summary *s)
{
	uint64_t ns = 0, launches = gt_brief_calls(s, GT_CALL_LAUNCH, &ns);

	return gt_long_gap(s->wall_ns, GT_LONG_GAP, launches, ns);
}

static void gpu_gaps(struct gt_summary *s, const struct gt_device *device, const char *name)
{
	struct gt_gaps gaps = gt_device_gaps(device, long_gap(s));
	char count[32], time[32], longest[32], *text = NULL;

	if (gaps.count)
		text = gt_brief_add(s, "gpu-gaps", gaps.sum);
	if (text)
		snprintf(text, ROOM, "%s is idle in %s long %s, together %s; the longest "
			 "takes %s", name, gt_summary_count(count, gaps.count),
			 gaps.count == 1 ? "gap" : "gaps", gt_summary_time(time, gaps.sum),
			 gt_summary_time(longest, gaps.longest));
}

static void tiny_kernels(struct gt_summary *s)
{
	const struct gt_kernels *of = &s->tally->kernels;
	uint64_t idle = 0;
	char count[32], each[32], time[32], *text;

	for (uint32_t i = 0; i < s->devices->count; i++)
		idle += gt_device_idle(&s->devices->items[i]) -
			gt_device_gaps(&s->devices->items[i], long_gap(s)).sum;
	if (of->lost || of->tiny < GT_MANY_KERNELS || !gt_at_least(idle, GT_MUCH_GAP, of->tiny_ns + idle))
		return;
	text = gt_brief_add(s, "tiny-kernels", idle / s->devices->count);
	if (text)
		snprintf(text, ROOM, "%s kernels take %s on average, and %s idle for %s in "
			 "short gaps", gt_summary_count(count, of->tiny),
			 gt_summary_time(each, of->tiny_ns / of->tiny),
			 s->devices->count > 1 ? "GPUs are" : "the GPU is", gt_summary_time(time, idle));
}

static void sync_each(struct gt_summary *s)
{
	uint64_t of_launches = 0, launches = gt_brief_calls(s, GT_CALL_LAUNCH, &of_launches);
	uint64_t ns = 0, waits = gt_brief_calls(s, GT_CALL_DEVICE_WAIT, &ns), idle = 0;
	char a[32], b[32], c[32], d[32], *text;

	for (uint32_t i = 0; i < s->devices->count; i++)
		idle += gt_device_idle(&s->devices->items[i]);
	if (launches < GT_MANY_LAUNCHES || !gt_at_least(waits, GT_WAITS_OF_LAUNCHES, launches))
		return;
	text = gt_brief_add(s, "sync-each-launch", idle < ns ? idle : ns);
	if (text)
		snprintf(text, ROOM, "the host waits %s times for %s launches: %s in "
			 "waits, while GPUs are idle for %s between kernels", gt_summary_count(a, waits),
			 gt_summary_count(b, launches), gt_summary_time(c, ns), gt_summary_time(d, idle));
}

/* The first call of a process also makes the GPU's context, which would be made by another one without it. */
static void gpu_memory(struct gt_summary *s)
{
	uint64_t ns = 0, all = 0, calls = gt_brief_calls(s, GT_CALL_DEVICE_MEMORY, &all);
	char count[32], time[32], *text;

	for (size_t i = 0; i < s->region_count; i++) {
		const struct gt_summary_region *one = &s->regions[i];
		uint64_t first = one->most_ns * one->locations;

		if (one->call == GT_CALL_DEVICE_MEMORY && one->locations && one->exclusive_ns > first)
			ns += (one->exclusive_ns - first) / one->locations;
	}
	text = calls < GT_MANY_ALLOCATIONS ? NULL : gt_brief_add(s, "gpu-memory", ns);
	if (text)
		snprintf(text, ROOM, "%s calls allocate or free memory of GPUs and take %s, "
			 "the longest ones left out", gt_summary_count(count, calls),
			 gt_summary_time(time, ns));
}

static void one_stream(struct gt_summary *s)
{
	const struct gt_kernels *of = &s->tally->kernels;
	char time[32], *text;

	for (uint32_t i = 0; i < s->devices->count; i++)
		if (gt_device_several(&s->devices->items[i]))
			return;
	if (of->lost || of->count < GT_MANY_LAUNCHES || !gt_at_least(of->small_ns, GT_MOST_SMALL, of->ns))
		return;
	text = gt_brief_add(s, "one-stream", of->small_ns / s->devices->count / 2);
	if (text)
		snprintf(text, ROOM, "kernels of less than %d blocks run one after another "
			 "on one stream for %s; two at a time would fit", GT_FEW_BLOCKS,
			 gt_summary_time(time, of->small_ns));
}

static void unbalanced(struct gt_summary *s)
{
	const struct gt_device *of = s->devices->items;
	uint64_t sum = 0, mean;
	uint32_t count = s->devices->count, last = 0;
	char a[32], b[32], *text;

	for (uint32_t i = 0; i < count; i++) {
		sum += of[i].kernels.total;
		last = of[i].kernels.total > of[last].kernels.total ? i : last;
	}
	mean = sum / count;
	if (count < 2 || !sum || gt_at_least(mean, GT_EVEN_DEVICES, of[last].kernels.total))
		return;
	text = gt_brief_add(s, "unbalanced-gpus", of[last].kernels.total - mean);
	if (text)
		snprintf(text, ROOM, "%s runs kernels for %s, the GPUs on average for %s",
			 s->devices->names[last], gt_summary_time(a, of[last].kernels.total),
			 gt_summary_time(b, mean));
}

void gt_brief_devices(struct gt_summary *s)
{
	if (!s->gpu_streams)
		return;
	blocking_copies(s);
	gpu_memory(s);
	if (s->tally)
		pageable_copies(s);
	if (!s->devices || !s->devices->count || !s->tally)
		return;
	for (uint32_t i = 0; i < s->devices->count; i++) {
		no_overlap(s, &s->devices->items[i], s->devices->names[i]);
		gpu_gaps(s, &s->devices->items[i], s->devices->names[i]);
	}
	tiny_kernels(s);
	sync_each(s);
	one_stream(s);
	unbalanced(s);
}
