/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations on a location that all records' handlers share: finding regions, keeping the call stack and
 * time, attributes, markers, and records that other locations hold for it.
 *
 * Nesting: a leave that is not of the innermost open region closes the regions inside (longjmp,
 * exceptions, tail calls) but those that go on (ranges.h); a leave of a region that is not open is dropped.
 * All are counted.
 */
#include "config.h"

#include "lib/assemble/archive/track.h"
#include "lib/assemble/archive/ranges.h"

/* Definitions that come at the very end: properties of the archive, and of each location with its
 * process (names, groups, communicators). */
#define DEFS_EXTRA    (64u << 10)
#define DEFS_LOCATION 1024u

/* ---- regions ----------------------------------------------------------------------------------- */

static uint32_t timed_region(struct gt_track *t, uint64_t address, uint64_t tick)
{
	uint32_t mapping = gt_names_mapping(t->names, address, tick);
	uint64_t key = address | (uint64_t)(mapping + 1) << 48;
	const struct gt_lookup_entry *entry = gt_lookup_find(&t->w->timed, key);
	uint32_t region;

	if (entry)
		return entry->value;
	region = gt_names_function(t->names, address, mapping);
	if (!gt_worker_region(t->w, region) || !gt_lookup_put(&t->w->timed, key, region, 0))
		return gt_track_no_memory(t);
	return region;
}

/* The region of an enter's word, at a time. GT_UNDEFINED: give up. */
static uint32_t find_region(struct gt_track *t, uint64_t word, uint64_t tick)
{
	const struct gt_lookup_entry *entry = gt_lookup_find(&t->w->lookup, word);
	uint64_t payload = GT_WORD_PAYLOAD(word);
	uint32_t region;
	bool range;

	if (entry)
		return entry->value == GT_RANGE   ? entry->aux
		       : entry->value != GT_TIMED ? entry->value
						  : timed_region(t, payload, tick);
	if (GT_WORD_TYPE(word) == GT_T_ENTER)
		region = gt_names_region(t->names, (uint32_t)payload);
	else if (payload < GT_LOW48 && t->names->mapping_count < UINT16_MAX &&
		 gt_names_reused(t->names, payload))
		region = GT_TIMED;
	else
		region = gt_names_function(t->names, payload,
					   gt_names_mapping(t->names, payload, tick));
	if (region != GT_TIMED && !gt_worker_region(t->w, region))
		return gt_track_no_memory(t);
	range = gt_ranges_defined(t, word);
	if (!gt_lookup_put(&t->w->lookup, word, range ? GT_RANGE : region, range ? region : 0))
		return gt_track_no_memory(t);
	return region != GT_TIMED ? region : timed_region(t, payload, tick);
}

/* ---- enter and leave ------------------------------------------------------------------------------ */

void gt_track_enter_word(struct gt_track *t, uint64_t word, uint64_t tick)
{
	uint32_t region = find_region(t, word, tick);

	if (region != GT_UNDEFINED)
		gt_track_enter(t, word | (t->outlives ? GT_OUTLIVES : 0), region, gt_track_time(t, tick));
	else
		gt_track_no_attributes(t);
}

/* Is there an open frame for this word? A search only where the region is open at all. */
static bool is_open(const struct gt_track *t, uint64_t word, size_t *depth)
{
	const struct gt_lookup_entry *entry = gt_lookup_find(&t->w->lookup, word);
	uint64_t ignore = 0;
	uint32_t region;
	size_t i = t->depth;

	if (!entry)
		return false;
	region = entry->value;
	if (region == GT_RANGE) {
		region = entry->aux;
		ignore = GT_OUTLIVES;
	}
	if (region != GT_TIMED && !t->w->open[region])
		return false;
	while (i-- > 0)
		if ((t->w->frames[i].word & ~ignore) == word) {
			*depth = i;
			return true;
		}
	return false;
}

/* The call path that waited for a leave is an attribute of it, whatever other events there were. */
static void put_path(struct gt_track *t)
{
	gt_track_attribute(t, t->w->samples->path, OTF2_TYPE_CALLING_CONTEXT,
			   (OTF2_AttributeValue){ .callingContextRef = t->path - 1 });
	t->path = 0;
}

void gt_track_leave_word(struct gt_track *t, uint64_t word, uint64_t tick)
{
	uint64_t ns = gt_track_time(t, tick);
	size_t depth;

	if (t->path)
		put_path(t);
	if (t->hidden) { /* of a frame that was only counted */
		gt_track_no_attributes(t);
		t->hidden--;
		return;
	}
	if (t->ranges.ended_count && gt_ranges_ended(t, word - GT_LEAVE_STEP)) {
		gt_track_no_attributes(t);
		return;
	}
	if (!is_open(t, word - GT_LEAVE_STEP, &depth)) {
		gt_track_no_attributes(t);
		if (gt_ranges_was_closed(t, word - GT_LEAVE_STEP))
			t->w->tally.switched++;
		else
			t->w->tally.dropped_leaves++;
		return;
	}
	if (depth + 1 < t->depth)
		gt_ranges_leave(t, depth, ns);
	else
		gt_track_leave(t, ns);
}

/* No slot's word begins like this. */
#define REGION_WORD(region) GT_WORD(GT_T_FIRST_RESERVED, region)

void gt_track_enter_region(struct gt_track *t, uint32_t region, uint64_t tick)
{
	uint64_t word = REGION_WORD(region), ns = gt_track_time(t, tick);

	if (!gt_lookup_find(&t->w->lookup, word) &&
	    (!gt_worker_region(t->w, region) || !gt_lookup_put(&t->w->lookup, word, region, 0)))
		gt_track_no_memory(t);
	else
		gt_track_enter(t, word, region, ns);
}

void gt_track_leave_region(struct gt_track *t, uint32_t region, uint64_t tick)
{
	gt_track_leave_word(t, REGION_WORD(region) + GT_LEAVE_STEP, tick);
}

/* ---- attributes and markers ------------------------------------------------------------------------ */

void gt_track_attribute(struct gt_track *t, uint32_t number, OTF2_Type type, OTF2_AttributeValue value)
{
	OTF2_AttributeList *list = t->w->attributes;

	if (OTF2_AttributeList_TestAttributeByID(list, number))
		OTF2_AttributeList_RemoveAttribute(list, number); /* given twice: the last counts */
	if (!gt_track_bad(t, OTF2_AttributeList_AddAttribute(list, number, type, value),
			  "attribute"))
		t->attributes = true;
}

void gt_track_marker(struct gt_track *t, const char *category, const char *group, uint8_t severity,
		     const char *text)
{
	struct gt_marker_def marker = {
		.category = gt_defs_string(t->conv->defs, category),
		.group = gt_defs_string(t->conv->defs, group),
		.severity = severity,
	};

	gt_archive_marker(t->conv->archive, t->conv->defs, &marker,
			  gt_scale_ns(&t->scale, t->last), t->loc->number, false, text);
}

const struct gt_lookup_entry *gt_track_remembered(const struct gt_track *t, unsigned type, uint64_t id)
{
	return gt_lookup_find(&t->w->lookup, GT_WORD(type, id));
}

uint32_t gt_track_remember(struct gt_track *t, unsigned type, uint64_t id, uint32_t value, uint32_t aux)
{
	if (!gt_lookup_put(&t->w->lookup, GT_WORD(type, id), value, aux))
		gt_archive_fail(t->conv->archive, "no memory");
	return value;
}

/* ---- records ----------------------------------------------------------------------------------------- */

/* Counts a record that is unknown or refers to something undefined. */
void gt_convert_unknown(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	(void)slot;
	(void)tick;
	t->w->tally.unknown_records++;
}

void gt_track_emit(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	const struct gt_kind *kind;

	if (t->skip) { /* of another location, in a stream that is not one for such records */
		t->skip = GT_TYPE_IS_ATTR(GT_WORD_TYPE(slot->word));
		t->w->tally.unknown_records++;
		return;
	}
	kind = &t->conv->kinds[GT_WORD_TYPE(slot->word)];
	if (kind->convert && (!kind->least || GT_WORD_EXTRA(slot->word) >= kind->least))
		kind->convert(t, slot, tick);
	else
		gt_convert_unknown(t, slot, tick);
}

/* Reading failed: counted as a loss in any case, and as a reason to keep the spool. */
void gt_track_read_error(struct gt_track *t, int rc)
{
	if (gt_spool_try_again(rc))
		__atomic_store_n(&t->conv->read_error, rc, __ATOMIC_RELAXED);
}

/* What can be in the buffer after the next reading; what others recorded for the location comes beside. */
static uint64_t next_bytes(const struct gt_track *t)
{
	const struct gt_stream *s = &t->stream;
	uint64_t rest = s->pos < s->loc->end ? s->loc->end - s->pos : 0;
	uint64_t bytes = rest + (uint64_t)(s->end - s->at) * sizeof(*s->at);

	return t->deferred || s->sorter || bytes > GT_STREAM_BUFFER ? GT_STREAM_BUFFER : bytes;
}

#define FRAME_BYTES     24u /* an enter or a leave */
#define ATTRIBUTE_BYTES 24u

bool gt_track_reserve_frames(struct gt_track *t, size_t frames)
{
	uint64_t next = next_bytes(t);
	uint64_t bytes = 2 * next + (t->depth + GT_HELD_MAX) * FRAME_BYTES + next / GT_SLOT * t->slot_bytes +
			 frames * (FRAME_BYTES + ATTRIBUTE_BYTES);

	return gt_writer_reserve(t->writer, bytes) &&
	       gt_archive_reserve_defs(t->conv->archive,
				       gt_defs_bytes(t->conv->defs) + DEFS_EXTRA +
					       (uint64_t)t->conv->layout->location_count *
						       DEFS_LOCATION);
}

/* What a piece of input may take in the archive, with the leaves that close the stack. */
bool gt_track_reserve(struct gt_track *t)
{
	return gt_track_reserve_frames(t, 0);
}

/* Goes to the next unit that others recorded for this location. */
static void next_foreign(struct gt_track *t)
{
	int rc = gt_deferred_next(t->deferred);

	if (rc)
		gt_track_read_error(t, rc);
	t->deferred_tick = t->deferred->time;
}

/* In a location that an adapter's half has added: regions of the archive by their numbers. */
static void added(struct gt_track *t, const struct gt_slot *slot)
{
	uint32_t region = (uint32_t)GT_WORD_PAYLOAD(slot->word);

	if (GT_WORD_TYPE(slot->word) == GT_T_ENTER)
		gt_track_enter_region(t, region, slot->time);
	else
		gt_track_leave_region(t, region, slot->time);
}

void gt_track_foreign(struct gt_track *t)
{
	const struct gt_deferred *deferred = t->deferred;

	for (unsigned i = 0; i < deferred->used; i += gt_slots_of(&deferred->slots[i]))
		if (t->loc->added)
			added(t, &deferred->slots[i]);
		else
			gt_track_emit(t, &deferred->slots[i], deferred->slots[i].time);
	t->deferred_slots += deferred->used;
	if (t->deferred_slots * sizeof(struct gt_slot) > GT_STREAM_BUFFER / 4) {
		t->deferred_slots = 0;
		if (!gt_track_reserve(t)) {
			t->full = true;
			t->deferred_tick = UINT64_MAX;
			return;
		}
	}
	next_foreign(t);
}
