/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a device does, as its stream is converted.
 *
 * Limits: see activity.h.
 */
#include "config.h"

#include "lib/assemble/archive/activity.h"

#include "lib/assemble/adapters/assemblers.h"
#include "lib/assemble/archive/ties.h"
#include "lib/assemble/archive/worst.h"
#include "lib/assemble/util/calls.h"

#include <stdlib.h>
#include <string.h>

/* What a gt_profile.activity says: 0 is not known yet; an enum gt_activity beside these bits. */
#define KNOWN    0x80u
#define PAGEABLE 0x40u

struct gt_device *gt_activity_begin(struct gt_out_location *out)
{
	if (out->type == GT_AS_STREAM && !out->did)
		out->did = calloc(1, sizeof(*out->did));
	return out->did;
}

static enum gt_activity of_group(const struct gt_defs *defs, uint32_t string)
{
	return string == GT_UNDEFINED ? GT_ACTIVITY_NONE
				      : gt_activity(gt_intern_text(&defs->strings, string, NULL));
}

static enum gt_activity activity_of(struct gt_track *t, uint32_t number)
{
	struct gt_profile *profile = &t->w->profile[number];
	struct gt_defs *defs = t->conv->defs;
	const struct gt_region *region;
	const struct gt_paradigm *paradigm;
	enum gt_activity activity;

	if (profile->activity)
		return (enum gt_activity)(profile->activity & ~(KNOWN | PAGEABLE));
	pthread_mutex_lock(&defs->lock);
	region = (const struct gt_region *)defs->regions.items + number;
	paradigm = gt_assembler_paradigm(region->paradigm);
	activity = of_group(defs, region->group);
	if (!activity && paradigm && paradigm->kind == OTF2_PARADIGM_CLASS_ACCELERATOR)
		activity = of_group(defs, region->description);
	profile->activity = (uint8_t)(KNOWN | activity);
	if (activity == GT_ACTIVITY_COPY &&
	    gt_copy_pageable(gt_intern_text(&defs->strings, region->name, NULL)))
		profile->activity |= PAGEABLE;
	pthread_mutex_unlock(&defs->lock);
	return activity;
}

void gt_activity_enter(struct gt_track *t)
{
	uint64_t bytes = t->activity.next_bytes, correlation = t->activity.next_correlation;

	t->activity = (struct gt_activity_open){ .bytes = bytes ? bytes - 1 : 0, .correlation = correlation };
	if (!t->device)
		gt_ties_enter(t, correlation);
}

static bool inside(struct gt_track *t)
{
	for (size_t i = t->depth; i--;)
		if (activity_of(t, t->w->frames[i].region))
			return true;
	return false;
}

static void add_span(struct gt_spans *spans, uint64_t begin, uint64_t end)
{
	gt_spans_add(spans, begin, end);
	spans->failed |= spans->used > GT_ACTIVITY_MOST;
}

void gt_activity_leave(struct gt_track *t, const struct gt_frame *frame, uint64_t ns)
{
	enum gt_activity activity = activity_of(t, frame->region);
	struct gt_activity_open *open = &t->activity;
	uint64_t span = ns - frame->enter_ns;

	if (open->next_bytes)
		open->bytes = open->next_bytes - 1;
	open->next_bytes = 0;
	if (!activity)
		return;
	if (open->items && open->block)
		open->grid = open->items / open->block;
	t->device->streams = 1;
	if (activity == GT_ACTIVITY_KERNEL) {
		t->device->kernel_count++;
		gt_worst_kernel(t, frame->region, open->grid, open->block, span);
	} else {
		gt_worst_copy(t, frame->region, activity, open->bytes, span);
		if (t->w->profile[frame->region].activity & PAGEABLE)
			gt_ties_copy(t, open->correlation, open->bytes);
	}
	if (!inside(t))
		add_span(activity == GT_ACTIVITY_KERNEL ? &t->device->kernels : &t->device->copies,
			 frame->enter_ns, ns);
}

void gt_activity_size(struct gt_track *t, uint32_t what, unsigned type, uint64_t value)
{
	if (type == GT_T_PARAM_STR) {
		const char *text = gt_proc_string(t->loc->proc, (uint32_t)value);

		value = text ? gt_size_product(text) : 0;
	} else if (type != GT_T_PARAM_UINT) {
		return;
	}
	if (what == GT_SIZE_GRID)
		t->activity.grid = value;
	if (what == GT_SIZE_BLOCK)
		t->activity.block = value;
	if (what == GT_SIZE_ITEMS)
		t->activity.items = value;
}

uint32_t gt_activity_attribute(const char *name)
{
	if (!name)
		return 0;
	return !strcmp(name, "BYTES")		 ? GT_ACTIVITY_BYTES
	       : !strcmp(name, "CORRELATION_ID") ? GT_ACTIVITY_CORRELATION : 0;
}

void gt_activity_value(struct gt_track *t, uint32_t what, uint64_t value)
{
	if (what & GT_ACTIVITY_BYTES && t->device)
		t->activity.next_bytes = value + 1;
	if (what & GT_ACTIVITY_CORRELATION)
		t->activity.next_correlation = value;
}

uint32_t gt_activity_parameter(const char *name)
{
	return name ? gt_size_of(name) : GT_SIZE_NONE;
}
