/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of a worker, and what workers have counted.
 */
#include "config.h"

#include "lib/assemble/archive/worker.h"

#include "lib/assemble/archive/archive_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_FIRST 1024u

/* Every region that is looked up gets a place, so that the loop need not ask. */
bool gt_worker_region(struct gt_worker *w, uint32_t region)
{
	size_t room = w->open_room ? w->open_room : 256;
	uint32_t *open;

	if (region < w->open_room)
		return true;
	while (room <= region)
		room *= 2;
	open = realloc(w->open, room * sizeof(*open));
	if (!open)
		return false;
	memset(open + w->open_room, 0, (room - w->open_room) * sizeof(*open));
	w->open = open;
	w->open_room = room;
	return true;
}

bool gt_worker_frames(struct gt_worker *w)
{
	size_t room = w->frame_room ? 2 * w->frame_room : FRAMES_FIRST;
	struct gt_frame *frames =
		realloc(w->frames ? w->frames - 1 : NULL, (room + 1) * sizeof(*frames));

	if (!frames)
		return false;
	memset(frames, 0, sizeof(*frames)); /* below the first: of no region */
	w->frames = frames + 1;
	w->frame_room = room;
	return true;
}

int gt_worker_init(struct gt_worker *w, struct gt_conversion *conv)
{
	memset(w, 0, sizeof(*w));
	w->conv = conv;
	w->buffer = malloc(GT_STREAM_BUFFER);
	w->held = malloc(GT_HELD_MAX * sizeof(*w->held));
	w->attributes = OTF2_AttributeList_New();
	if (!w->buffer || !w->held || !w->attributes || gt_lookup_init(&w->lookup) ||
	    gt_lookup_init(&w->timed) || gt_lookup_init(&w->local) || !gt_worker_frames(w) ||
	    !gt_worker_region(w, conv->region_off) || !gt_worker_region(w, conv->region_flush)) {
		gt_worker_free(w);
		return -ENOMEM;
	}
	return 0;
}

static void free_samples(struct gt_call_paths *s)
{
	if (!s)
		return;
	if (s->attributes)
		OTF2_AttributeList_Delete(s->attributes);
	free(s->addresses.entries);
	free(s->nodes.entries);
	free(s->places);
	free(s);
}

void gt_worker_free(struct gt_worker *w)
{
	free(w->buffer);
	free(w->held);
	if (w->attributes)
		OTF2_AttributeList_Delete(w->attributes);
	free(w->lookup.entries);
	free(w->timed.entries);
	free(w->local.entries);
	free_samples(w->samples);
	free(w->uses);
	free(w->types);
	if (w->frames)
		free(w->frames - 1);
	free(w->open);
	memset(w, 0, sizeof(*w));
}

void gt_tally_add(struct gt_tally *tally, const struct gt_tally *more)
{
	tally->events += more->events;
	tally->closed_frames += more->closed_frames;
	tally->dropped_leaves += more->dropped_leaves;
	tally->switched += more->switched;
	tally->parts += more->parts;
	tally->clamped_times += more->clamped_times;
	tally->unknown_records += more->unknown_records;
	tally->unmatched += more->unmatched;
	tally->off_at_end += more->off_at_end;
	tally->flushes += more->flushes;
	tally->flush_ns += more->flush_ns;
	tally->damaged_samples += more->damaged_samples;
	if (more->paths > tally->paths)
		tally->paths = more->paths;
	if (more->longest_flush_ns > tally->longest_flush_ns)
		tally->longest_flush_ns = more->longest_flush_ns;
	if (more->last_ns > tally->last_ns)
		tally->last_ns = more->last_ns;
}
