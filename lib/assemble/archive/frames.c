/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The call stack of a location that is converted, its time, and the attributes that wait for the next event.
 *
 * Limits: frames beyond GT_STACK_MOST are only counted.
 */
#include "config.h"

#include "lib/assemble/archive/track.h"

uint32_t gt_track_no_memory(struct gt_track *t)
{
	gt_archive_fail(t->conv->archive, "no memory");
	return GT_UNDEFINED;
}

OTF2_AttributeList *gt_track_attributes(struct gt_track *t)
{
	if (!t->attributes)
		return NULL;
	t->attributes = false; /* libotf2 empties the list when it writes it */
	return t->w->attributes;
}

void gt_track_no_attributes(struct gt_track *t)
{
	if (t->attributes)
		OTF2_AttributeList_RemoveAllAttributes(t->w->attributes);
	t->attributes = false;
}

uint64_t gt_track_time(struct gt_track *t, uint64_t tick)
{
	if (tick < t->last) {
		t->w->tally.clamped_times++;
		tick = t->last;
	}
	t->last = tick;
	return gt_scale_ns(&t->scale, tick);
}

void gt_track_enter(struct gt_track *t, uint64_t word, uint32_t region, uint64_t ns)
{
	if (t->hidden || t->depth >= GT_STACK_MOST) {
		gt_track_no_attributes(t);
		t->hidden++;
		return;
	}
	if (t->depth == t->w->frame_room && !gt_worker_frames(t->w)) {
		gt_track_no_attributes(t);
		gt_track_no_memory(t);
		return;
	}
	t->w->frames[t->depth++] = (struct gt_frame){ .word = word, .region = region };
	t->w->open[region]++;
	if (t->writer->pipe && !t->attributes)
		gt_pipe_put(t->writer->pipe, ns, region, false);
	else
		gt_track_write(t, Enter, ns, region);
}

/* Leaves the innermost region. */
void gt_track_leave(struct gt_track *t, uint64_t ns)
{
	const struct gt_frame *frame = &t->w->frames[--t->depth];

	t->w->open[frame->region]--;
	if (t->writer->pipe && !t->attributes)
		gt_pipe_put(t->writer->pipe, ns, frame->region, true);
	else
		gt_track_write(t, Leave, ns, frame->region);
}

void gt_track_close(struct gt_track *t, size_t depth, uint64_t ns)
{
	bool attributes = t->attributes;

	t->attributes = false; /* they are of the event that makes this necessary */
	t->w->tally.closed_frames += t->hidden;
	t->hidden = 0;
	while (t->depth > depth && !gt_archive_bad(t->conv->archive)) {
		t->w->tally.closed_frames++;
		gt_track_leave(t, ns);
	}
	t->attributes = attributes;
}
