/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From slots to units.
 */
#include "config.h"

#include "lib/assemble/spool/units.h"

#include <string.h>

void gt_units_open(struct gt_units *units, struct gt_stream *stream)
{
	units->stream = stream;
	units->used = 0;
	units->torn = units->skipped = 0;
}

bool gt_type_transfer(unsigned type)
{
	return type == GT_T_XFER_SEND || type == GT_T_XFER_RECV ||
	       (type >= GT_T_XFER_PUT && type <= GT_T_XFER_COMPLETE);
}

bool gt_unit_activity(const struct gt_slot *slots, unsigned used, uint64_t *end)
{
	unsigned i = 0;
	bool activity;

	while (i < used && GT_TYPE_IS_ATTR(GT_WORD_TYPE(slots[i].word)))
		i += gt_slots_of(&slots[i]);
	activity = i < used && GT_WORD_TYPE(slots[i].word) == GT_T_ENTER;
	*end = 0;
	for (; activity && i < used; i += gt_slots_of(&slots[i]))
		if (slots[i].time > *end)
			*end = slots[i].time;
	return activity;
}

unsigned gt_lane_of(struct gt_lanes *lanes, uint64_t start, uint64_t end)
{
	unsigned lane = 0;

	while (lane < lanes->count && lanes->end[lane] > start)
		lane++;
	if (lane == GT_LANES_MOST)
		lane--; /* overlaps there: the nesting is repaired, and counted, when it is written */
	if (lane == lanes->count)
		lanes->count++;
	lanes->end[lane] = end;
	return lane;
}

/* The record at stream->at, which stays there. 1: *slots is its length, 0 if it is rubbish; 0: end. */
static int fetch(struct gt_units *u, const struct gt_slot **slot, unsigned *slots)
{
	struct gt_stream *stream = u->stream;
	size_t rest = (size_t)(stream->end - stream->at);

	while (rest * sizeof(**slot) < GT_STREAM_TAIL && !stream->eof) {
		int rc = gt_stream_more(stream);

		if (rc)
			return rc;
		rest = (size_t)(stream->end - stream->at);
	}
	if (!rest)
		return 0;
	*slot = stream->at;
	*slots = gt_slots_of(*slot);
	if (!gt_type_known(GT_WORD_TYPE((*slot)->word)) || *slots > rest)
		*slots = 0;
	stream->at += *slots ? *slots : 1;
	return 1;
}

/* The collected records cannot become a unit. */
static void abandon(struct gt_units *u)
{
	u->torn += u->activity;
	u->used = 0;
	u->activity = false;
}

static void finish(struct gt_units *u)
{
	u->start = u->slots[0].time;
	u->end = u->start;
	for (unsigned i = 0; i < u->used; i += gt_slots_of(&u->slots[i]))
		if (u->slots[i].time > u->end)
			u->end = u->slots[i].time;
}

/* Appends a record; attributes in front of it get its time. False: there is no room. */
static bool append(struct gt_units *u, const struct gt_slot *slot, unsigned slots, unsigned first)
{
	if (u->used + slots > GT_UNIT_SLOTS)
		return false;
	for (unsigned i = first; i < u->used; i += gt_slots_of(&u->slots[i]))
		u->slots[i].time = slot->time;
	memcpy(u->slots + u->used, slot, slots * sizeof(*slot));
	u->used += slots;
	return true;
}

int gt_units_next(struct gt_units *u)
{
	bool gpu = u->stream->loc->win.kind == GT_LOC_GPU_STREAM;
	bool deferred = u->stream->loc->win.kind == GT_LOC_DEFERRED, addressed = false;
	unsigned slots = 0, depth = 0, first = 0; /* first: the attributes that wait for their record */
	const struct gt_slot *slot = NULL;
	int rc;

	u->used = 0;
	u->activity = u->rubbish = false;
	while ((rc = fetch(u, &slot, &slots)) > 0) {
		unsigned type = GT_WORD_TYPE(slot->word);

		if (!slots) {
			abandon(u);
			addressed = false;
			depth = first = 0;
			if (deferred)
				continue;
			u->rubbish = true;
			u->slots[u->used++] = *slot;
			u->start = u->end = 0;
			return 1;
		}
		if (type == GT_T_PAD)
			continue;
		if (gt_own_note(u->stream->loc, type)) {
			u->skipped++;
			continue;
		}
		if (deferred && type == GT_T_FOR_LOCATION) {
			u->location = (uint32_t)GT_WORD_LOW(slot->word);
			addressed = true;
			continue;
		}
		if ((deferred && !addressed) || (type == GT_T_GAP && u->activity)) {
			abandon(u);
			u->skipped += deferred;
			depth = first = 0;
			if (deferred)
				continue;
		}
		if (!append(u, slot, slots, first)) {
			abandon(u);
			addressed = false;
			depth = first = 0;
			continue;
		}
		if (GT_TYPE_IS_ATTR(type))
			continue;
		first = u->used;
		if (gpu && type == GT_T_ENTER) {
			depth++;
			u->activity = true;
		} else if (gpu && type == GT_T_LEAVE && depth) {
			depth--;
		}
		if (depth)
			continue;
		finish(u);
		return 1;
	}
	abandon(u);
	return rc;
}
