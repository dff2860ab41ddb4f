/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranges that outlive the function that began them: how they nest in the archive.
 *
 * A frame whose range has outlived a function has GT_OUTLIVES in its word, which no leave matches, so that
 * the loop of conversion.c stops at it.
 *
 * Limits: at most ENDED_MOST ranges of a location have ended before their leave comes.
 */
#include "config.h"

#include "lib/assemble/archive/ranges.h"

#include <stdlib.h>

#include "gputrace/compiler.h"
#include "lib/assemble/spool/units.h"

/* How often a range begins and ends in a location, and how many calls of a function were closed. */
struct gt_range_use {
	uint64_t begun, ended, closed;
	bool range;
	bool again; /* it has begun while it was open */
};

static bool begins(unsigned type)
{
	return type == GT_T_ENTER || type == GT_T_ENTER_ADDR;
}

/* The record that the unit is made for: its last one. */
static const struct gt_slot *event_of(const struct gt_slot *slot, unsigned slots)
{
	const struct gt_slot *end = slot + slots;

	while (slot + gt_slots_of(slot) < end)
		slot += gt_slots_of(slot);
	return slot;
}

/* ---- what the stream says of a range ----------------------------------------------------------------- */

bool gt_ranges_defined(const struct gt_track *t, uint64_t word)
{
	const struct gt_def_region *def;

	if (GT_WORD_TYPE(word) != GT_T_ENTER)
		return false;
	def = gt_proc_find(t->loc->proc, GT_D_REGION, (uint32_t)GT_WORD_PAYLOAD(word), NULL);
	return def && def->role == OTF2_REGION_ROLE_CODE;
}

/* NULL: no memory. */
static struct gt_range_use *use_of(struct gt_track *t, uint64_t word)
{
	struct gt_ranges *r = &t->ranges;
	const struct gt_lookup_entry *entry;
	struct gt_range_use *more;

	if (!r->places.entries && gt_lookup_init(&r->places))
		return NULL;
	entry = gt_lookup_find(&r->places, word);
	if (entry)
		return &r->uses[entry->value];
	if (r->count == r->room) {
		more = realloc(r->uses, (r->room * 2 + 64) * sizeof(*more));
		if (!more)
			return NULL;
		r->uses = more;
		r->room = r->room * 2 + 64;
	}
	if (!gt_lookup_put(&r->places, word, (uint32_t)r->count, 0))
		return NULL;
	r->uses[r->count] = (struct gt_range_use){ .range = gt_ranges_defined(t, word) };
	return &r->uses[r->count++];
}

static bool count_slot(struct gt_track *t, const struct gt_slot *slot)
{
	unsigned type = GT_WORD_TYPE(slot->word);
	struct gt_range_use *use;

	if (type != GT_T_ENTER && type != GT_T_LEAVE)
		return true;
	use = use_of(t, type == GT_T_ENTER ? slot->word : slot->word - GT_LEAVE_STEP);
	if (use && use->range && type == GT_T_ENTER)
		use->again |= use->begun++ != use->ended;
	else if (use && use->range)
		use->ended++;
	return use;
}

/* Reads the location's stream once more, beside the reading that goes on. */
static void count_stream(struct gt_track *t, struct gt_slot *buffer)
{
	struct gt_stream stream;

	if (gt_stream_open(&stream, t->loc, buffer))
		return;
	for (;;) {
		size_t rest = (size_t)(stream.end - stream.at);

		if (rest * sizeof(*stream.at) < GT_STREAM_TAIL && !stream.eof) {
			if (gt_stream_more(&stream))
				break;
			continue;
		}
		if (!rest)
			break;
		if (!gt_type_known(GT_WORD_TYPE(stream.at->word)) || gt_slots_of(stream.at) > rest)
			stream.at++;
		else if (count_slot(t, stream.at))
			stream.at += gt_slots_of(stream.at);
		else
			break;
	}
	gt_stream_close(&stream);
}

static void count_once(struct gt_track *t)
{
	struct gt_slot *buffer;

	if (t->ranges.counted)
		return;
	t->ranges.counted = true;
	buffer = malloc(GT_STREAM_BUFFER);
	if (buffer)
		count_stream(t, buffer);
	free(buffer);
}

/*
 * Does the program end this range wherever it begins it? Else it was forgotten, or jumped over, and the
 * return of the function ends it. One may be open when a process is killed.
 */
static bool is_ended(struct gt_track *t, uint64_t word)
{
	const struct gt_lookup_entry *entry;
	const struct gt_range_use *use;

	count_once(t);
	entry = t->ranges.uses ? gt_lookup_find(&t->ranges.places, word & ~GT_OUTLIVES) : NULL;
	if (!entry)
		return false;
	use = &t->ranges.uses[entry->value];
	if (!use->range || !use->ended)
		return false;
	return use->ended >= use->begun || (use->ended + 1 == use->begun && !use->again &&
					    t->loc->proc->header.how == GT_END_NONE);
}

static bool is_range(const struct gt_track *t, uint64_t word)
{
	const struct gt_lookup_entry *entry = gt_lookup_find(&t->w->lookup, word & ~GT_OUTLIVES);

	return entry ? entry->value == GT_RANGE : gt_ranges_defined(t, word & ~GT_OUTLIVES);
}

/* ---- looking ahead ------------------------------------------------------------------------------------ */

/* What comes first in the stream: the leave of the one, of the other, or neither that can be seen. */
enum first { NEITHER, FIRST, SECOND };

struct ahead {
	const struct gt_slot *at, *end;
	unsigned left;
};

static struct ahead look(const struct gt_track *t)
{
	return (struct ahead){ t->stream.at, t->stream.end, GT_RANGES_AHEAD };
}

/* Calls of the same regions in between have their own leaves. `at` stops behind what was found. */
static enum first which_first(struct ahead *a, uint64_t one, uint64_t other, uint64_t *tick)
{
	unsigned inner[2] = { 0, 0 };

	for (; a->at < a->end && a->left; a->left--, a->at += gt_slots_of(a->at)) {
		unsigned type = GT_WORD_TYPE(a->at->word);

		for (unsigned i = 0; i < 2; i++) {
			uint64_t word = i ? other : one;

			if (a->at->word == word) {
				inner[i]++;
			} else if (a->at->word == word + GT_LEAVE_STEP && !inner[i]--) {
				*tick = a->at->time;
				a->at += gt_slots_of(a->at);
				return i ? SECOND : FIRST;
			}
		}
		if (!gt_type_known(type))
			return NEITHER;
	}
	return NEITHER;
}

/* ---- a range begins ------------------------------------------------------------------------------------ */

/* When the functions that return before the range ends have done so; 0: none does. */
static uint64_t returned(struct gt_track *t, uint64_t word)
{
	struct ahead a = look(t);
	uint64_t tick, last = 0;

	for (size_t depth = t->depth; depth-- > 0;) {
		uint64_t around = t->w->frames[depth].word;

		if (is_range(t, around) || around == word ||
		    which_first(&a, around, word, &tick) != FIRST)
			break;
		last = tick;
	}
	return last && is_ended(t, word) ? last : 0;
}

/* Parameters that follow a begin are about it. */
static bool follows(unsigned type)
{
	return type >= GT_T_PARAM_INT && type <= GT_T_PARAMS;
}

bool gt_ranges_wait(struct gt_track *t, const struct gt_slot *slot, unsigned slots, uint64_t *tick)
{
	const struct gt_slot *event = event_of(slot, slots);
	uint64_t end;

	if (t->held >= GT_HELD_MAX - 1 || t->hidden)
		return false;
	if (t->ranges.waits && follows(GT_WORD_TYPE(event->word))) {
		*tick = t->ranges.waits;
		return true;
	}
	t->ranges.waits = 0;
	if (GT_WORD_TYPE(event->word) != GT_T_ENTER || !t->depth || !is_range(t, event->word))
		return false;
	end = returned(t, event->word);
	if (!end || end >= t->scale.tick_max)
		return false;
	*tick = t->ranges.waits = end + 1; /* behind that return */
	return true;
}

/* ---- a range ends -------------------------------------------------------------------------------------- */

void gt_ranges_end_early(struct gt_track *t, const struct gt_slot *slot, unsigned slots, uint64_t tick)
{
	const struct gt_slot *event = event_of(slot, slots);
	bool attributes = t->attributes;
	uint64_t word, when;
	struct ahead a = look(t);

	if (!begins(GT_WORD_TYPE(event->word)) || is_range(t, event->word) || t->hidden)
		return;
	while (t->depth && t->w->frames[t->depth - 1].word & GT_OUTLIVES &&
	       t->ranges.ended_count < GT_ENDED_MOST) {
		word = t->w->frames[t->depth - 1].word & ~GT_OUTLIVES;
		if (which_first(&a, event->word, word, &when) != SECOND)
			return;
		t->ranges.ended[t->ranges.ended_count++] = word;
		t->attributes = false; /* they are of the function that begins */
		gt_track_leave(t, gt_track_time(t, tick));
		t->attributes = attributes;
	}
}

bool gt_ranges_ended(struct gt_track *t, uint64_t enter_word)
{
	struct gt_ranges *r = &t->ranges;

	for (unsigned i = 0; i < r->ended_count; i++)
		if (r->ended[i] == enter_word) {
			r->ended[i] = r->ended[--r->ended_count];
			return true;
		}
	return false;
}

/* ---- what goes on is left and entered again -------------------------------------------------------- */

/* Of the same kind of ranges the end of an outer one ends the inner ones. */
static bool same_kind(const struct gt_track *t, uint64_t a, uint64_t b)
{
	const struct gt_proc *proc = t->loc->proc;
	const struct gt_def_region *one, *other;

	one = gt_proc_find(proc, GT_D_REGION, (uint32_t)GT_WORD_PAYLOAD(a & ~GT_OUTLIVES), NULL);
	other = gt_proc_find(proc, GT_D_REGION, (uint32_t)GT_WORD_PAYLOAD(b & ~GT_OUTLIVES), NULL);
	return one && other && one->group == other->group;
}

/* Does the open region `inner` go on when `leaving`, which is around it, is left? */
static bool goes_on(struct gt_track *t, uint64_t leaving, uint64_t below, uint64_t inner)
{
	struct ahead a = look(t);
	uint64_t tick;

	if (is_range(t, inner))
		return (!is_range(t, leaving) || !same_kind(t, leaving, inner)) && is_ended(t, inner);
	/* A function, when a range ends: it was jumped over, or will return. */
	return is_range(t, leaving) && which_first(&a, inner, below, &tick) == FIRST;
}

static void note_closed(struct gt_track *t, uint64_t word)
{
	struct gt_range_use *use = is_range(t, word) ? NULL : use_of(t, word);

	if (use)
		use->closed++;
}

bool gt_ranges_was_closed(struct gt_track *t, uint64_t enter_word)
{
	struct gt_range_use *use = t->ranges.count ? use_of(t, enter_word) : NULL;

	if (!use || !use->closed)
		return false;
	use->closed--;
	return true;
}

void gt_ranges_leave(struct gt_track *t, size_t depth, uint64_t ns)
{
	bool attributes = t->attributes;
	struct gt_frame *frames = t->w->frames;
	uint64_t leaving = frames[depth].word, below = depth ? frames[depth - 1].word & ~GT_OUTLIVES : 0;
	uint64_t on[GT_RANGES_ON];
	uint32_t regions[GT_RANGES_ON];
	unsigned count = 0;

	t->attributes = false; /* they are of the leave that makes this necessary */
	while (t->depth > depth + 1 && !gt_archive_bad(t->conv->archive)) {
		const struct gt_frame *inner = &frames[t->depth - 1];

		if (count < GT_RANGES_ON && goes_on(t, leaving, below, inner->word)) {
			on[count] = inner->word;
			regions[count++] = inner->region;
		} else {
			t->w->tally.closed_frames++;
			note_closed(t, inner->word);
		}
		gt_track_leave(t, ns);
	}
	t->attributes = attributes;
	if (t->depth == depth + 1)
		gt_track_leave(t, ns);
	t->w->tally.parts += count;
	while (count-- > 0 && !gt_archive_bad(t->conv->archive)) {
		uint64_t outlives = is_range(t, on[count]) ? GT_OUTLIVES : 0;

		gt_track_enter(t, on[count] | outlives, regions[count], ns);
	}
}

void gt_ranges_free(struct gt_track *t)
{
	free(t->ranges.uses);
	free(t->ranges.places.entries);
}
