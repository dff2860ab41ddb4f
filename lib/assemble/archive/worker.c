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

/* Every region that is looked up gets a place in the profile, so that the loop need not ask. */
bool gt_worker_profile(struct gt_worker *w, uint32_t region)
{
	struct gt_profile *profile;
	size_t room = w->profile_room ? w->profile_room : 256;

	if (region < w->profile_room)
		return true;
	while (room <= region)
		room *= 2;
	profile = realloc(w->profile, room * sizeof(*profile));
	if (!profile)
		return false;
	memset(profile + w->profile_room, 0, (room - w->profile_room) * sizeof(*profile));
	w->profile = profile;
	w->profile_room = room;
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
	    !gt_worker_profile(w, conv->region_off) || !gt_worker_profile(w, conv->region_flush)) {
		gt_worker_free(w);
		return -ENOMEM;
	}
	return 0;
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
	free(w->uses);
	free(w->types);
	if (w->frames)
		free(w->frames - 1);
	free(w->profile);
	free(w->before);
	free(w->sums);
	free(w->sum_keys.entries);
	free(w->async_calls.items);
	free(w->holds);
	free(w->pageable.items);
	memset(w, 0, sizeof(*w));
}

void gt_tally_copied(struct gt_tally *tally, const struct gt_copied *more)
{
	for (unsigned i = 0; more->count && i < GT_DIRECTIONS; i++) {
		struct gt_copied *one = &tally->copied[i];

		if (one->count && strcmp(one->direction, more->direction))
			continue;
		memcpy(one->direction, more->direction, sizeof(one->direction));
		one->count += more->count;
		one->bytes += more->bytes;
		return;
	}
}

void gt_tally_add(struct gt_tally *tally, const struct gt_tally *more)
{
	tally->events += more->events;
	tally->closed_frames += more->closed_frames;
	tally->dropped_leaves += more->dropped_leaves;
	tally->clamped_times += more->clamped_times;
	tally->unknown_records += more->unknown_records;
	tally->unmatched += more->unmatched;
	tally->off_at_end += more->off_at_end;
	tally->messages += more->messages;
	tally->message_bytes += more->message_bytes;
	tally->collectives += more->collectives;
	tally->flushes += more->flushes;
	tally->flush_ns += more->flush_ns;
	tally->idle_threads += more->idle_threads;
	tally->idle_ns += more->idle_ns;
	tally->serving_threads += more->serving_threads;
	tally->serving_ns += more->serving_ns;
	tally->sent += more->sent;
	tally->sent_bytes += more->sent_bytes;
	tally->tiny_sent += more->tiny_sent;
	tally->tiny_bytes += more->tiny_bytes;
	tally->kernels.count += more->kernels.count;
	tally->kernels.ns += more->kernels.ns;
	tally->kernels.tiny += more->kernels.tiny;
	tally->kernels.tiny_ns += more->kernels.tiny_ns;
	tally->kernels.small_ns += more->kernels.small_ns;
	tally->kernels.lost |= more->kernels.lost;
	tally->pageable.calls += more->pageable.calls;
	tally->pageable.ns += more->pageable.ns;
	tally->pageable.bytes += more->pageable.bytes;
	for (unsigned i = 0; i < GT_DIRECTIONS; i++)
		gt_tally_copied(tally, &more->copied[i]);
	if (more->lock.gain_ns > tally->lock.gain_ns)
		tally->lock = more->lock;
	if (more->file.gain_ns > tally->file.gain_ns)
		tally->file = more->file;
	if (more->longest_flush_ns > tally->longest_flush_ns)
		tally->longest_flush_ns = more->longest_flush_ns;
	if (more->last_ns > tally->last_ns)
		tally->last_ns = more->last_ns;
}
