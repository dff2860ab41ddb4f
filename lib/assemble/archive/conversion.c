/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The conversion of a location: a lean loop for what nearly every slot is (an enter or leave that
 * fits), and a slow path for everything else.
 *
 * Order: a slot is reserved before its time is read, so what a signal handler records in between
 * has later slots and smaller times. A record whose successor is earlier is delayed until the earlier
 * ones are written.
 *
 * Nesting: a leave that is not of the innermost open region closes the regions inside (longjmp,
 * exceptions, tail calls); a leave of a region that is not open is dropped. Both are counted.
 *
 * Limits: Cost of the loop: some 55 instructions per event beside libotf2's own 110.
 */
#include "config.h"

#include "gputrace/compiler.h"
#include "lib/assemble/archive/track.h"
#include "lib/assemble/spool/loss.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_FIRST 1024u
/* Definitions that come at the very end: properties of the archive, and of each location with its
 * process (names, groups, communicators). */
#define DEFS_EXTRA    (64u << 10)
#define DEFS_LOCATION 1024u
#define PARAMETER_BYTES 24u
#define MARKS_MOST   100u /* markers about torn records per location */
#define LEAVE_STEP   (UINT64_C(1) << GT_TYPE_SHIFT) /* word of a leave - word of its enter */

/* ---- regions ----------------------------------------------------------------------------------- */

/* Every region that is looked up gets a place in the profile, so that the loop need not ask. */
static bool grow_profile(struct gt_worker *w, uint32_t region)
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

static uint32_t no_memory(struct gt_track *t)
{
	gt_archive_fail(t->conv->archive, "no memory");
	return GT_UNDEFINED;
}

static uint32_t timed_region(struct gt_track *t, uint64_t address, uint64_t tick)
{
	uint32_t mapping = gt_names_mapping(t->names, address, tick);
	uint64_t key = address | (uint64_t)(mapping + 1) << 48;
	const struct gt_lookup_entry *entry = gt_lookup_find(&t->w->timed, key);
	uint32_t region;

	if (entry)
		return entry->value;
	region = gt_names_function(t->names, address, mapping);
	if (!grow_profile(t->w, region) || !gt_lookup_put(&t->w->timed, key, region, 0))
		return no_memory(t);
	return region;
}

/* The region of an enter's word, at a time. GT_UNDEFINED: give up. */
static uint32_t find_region(struct gt_track *t, uint64_t word, uint64_t tick)
{
	const struct gt_lookup_entry *entry = gt_lookup_find(&t->w->lookup, word);
	uint64_t payload = GT_WORD_PAYLOAD(word);
	uint32_t region;

	if (entry)
		return entry->value != GT_TIMED ? entry->value : timed_region(t, payload, tick);
	if (GT_WORD_TYPE(word) == GT_T_ENTER)
		region = gt_names_region(t->names, (uint32_t)payload);
	else if (payload < GT_LOW48 && t->names->mapping_count < UINT16_MAX &&
		 gt_names_reused(t->names, payload))
		region = GT_TIMED;
	else
		region = gt_names_function(t->names, payload,
					   gt_names_mapping(t->names, payload, tick));
	if (region != GT_TIMED && !grow_profile(t->w, region))
		return no_memory(t);
	if (!gt_lookup_put(&t->w->lookup, word, region, 0))
		return no_memory(t);
	return region != GT_TIMED ? region : timed_region(t, payload, tick);
}

/* ---- the stack ----------------------------------------------------------------------------------- */

static bool grow_frames(struct gt_worker *w)
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

void gt_track_enter(struct gt_track *t, uint64_t word, uint32_t region, uint64_t ns)
{
	if (t->hidden || t->depth >= GT_STACK_MOST) {
		gt_track_no_attributes(t);
		t->hidden++;
		return;
	}
	if (t->depth == t->w->frame_room && !grow_frames(t->w)) {
		gt_track_no_attributes(t);
		no_memory(t);
		return;
	}
	t->w->frames[t->depth++] = (struct gt_frame){ .word = word, .enter_ns = ns,
						      .region = region };
	t->w->profile[region].open++;
	if (t->writer->pipe && !t->attributes)
		gt_pipe_put(t->writer->pipe, ns, region, false);
	else
		gt_track_bad(t,
			     OTF2_EvtWriter_Enter(gt_writer_evt(t->writer), gt_track_attributes(t),
						  ns, region),
			     "enter");
}

/* Below the first frame is one that takes its share, too. */
static inline void account(struct gt_profile *profile, struct gt_frame *frame, uint64_t ns)
{
	uint64_t span = ns - frame->enter_ns;

	profile->calls++;
	profile->exclusive += span - frame->child_ns;
	if (!--profile->open)
		profile->inclusive += span;
	frame[-1].child_ns += span;
}

/* Leaves the innermost region. */
void gt_track_leave(struct gt_track *t, uint64_t ns)
{
	struct gt_frame *frame = &t->w->frames[--t->depth];

	account(&t->w->profile[frame->region], frame, ns);
	if (t->writer->pipe && !t->attributes)
		gt_pipe_put(t->writer->pipe, ns, frame->region, true);
	else
		gt_track_bad(t,
			     OTF2_EvtWriter_Leave(gt_writer_evt(t->writer), gt_track_attributes(t),
						  ns, frame->region),
			     "leave");
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

void gt_track_enter_word(struct gt_track *t, uint64_t word, uint64_t tick)
{
	uint32_t region = find_region(t, word, tick);

	if (region != GT_UNDEFINED)
		gt_track_enter(t, word, region, gt_track_time(t, tick));
	else
		gt_track_no_attributes(t);
}

/* Is there an open frame for this word? A search only where the region is open at all. */
static bool is_open(const struct gt_track *t, uint64_t word, size_t *depth)
{
	const struct gt_lookup_entry *entry = gt_lookup_find(&t->w->lookup, word);
	size_t i = t->depth;

	if (!entry || (entry->value != GT_TIMED && !t->w->profile[entry->value].open))
		return false;
	while (i-- > 0)
		if (t->w->frames[i].word == word) {
			*depth = i;
			return true;
		}
	return false;
}

void gt_track_leave_word(struct gt_track *t, uint64_t word, uint64_t tick)
{
	uint64_t ns = gt_track_time(t, tick);
	size_t depth;

	if (t->hidden) { /* of a frame that was only counted */
		gt_track_no_attributes(t);
		t->hidden--;
		return;
	}
	if (!is_open(t, word - LEAVE_STEP, &depth)) {
		gt_track_no_attributes(t);
		t->w->tally.dropped_leaves++;
		return;
	}
	gt_track_close(t, depth + 1, ns);
	if (t->depth == depth + 1)
		gt_track_leave(t, ns);
}

/* No slot's word begins like this. */
#define REGION_WORD(region) GT_WORD(GT_T_FIRST_RESERVED, region)

void gt_track_enter_region(struct gt_track *t, uint32_t region, uint64_t tick)
{
	uint64_t word = REGION_WORD(region), ns = gt_track_time(t, tick);

	if (!gt_lookup_find(&t->w->lookup, word) &&
	    (!grow_profile(t->w, region) || !gt_lookup_put(&t->w->lookup, word, region, 0)))
		no_memory(t);
	else
		gt_track_enter(t, word, region, ns);
}

void gt_track_leave_region(struct gt_track *t, uint32_t region, uint64_t tick)
{
	gt_track_leave_word(t, REGION_WORD(region) + LEAVE_STEP, tick);
}

void gt_convert_enter(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	gt_track_enter_word(t, slot->word, tick);
}

void gt_convert_leave(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	gt_track_leave_word(t, slot->word, tick);
}

/* The next record belongs to another location, but this stream is none for such records. */
void gt_convert_for_location(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	(void)slot;
	(void)tick;
	t->skip = true;
}

/* ---- the slow path ---------------------------------------------------------------------------------- */

uint64_t gt_track_time(struct gt_track *t, uint64_t tick)
{
	if (tick < t->last) {
		t->w->tally.clamped_times++;
		tick = t->last;
	}
	t->last = tick;
	return gt_scale_ns(&t->scale, tick);
}

static void emit_one(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	if (t->skip) { /* of another location, in a stream that is not one for such records */
		t->skip = GT_TYPE_IS_ATTR(GT_WORD_TYPE(slot->word));
		t->w->tally.unknown_records++;
		return;
	}
	gt_track_record(t, slot, tick);
}

static void note_read_error(struct gt_track *t, int rc);
static bool reserve(struct gt_track *t);

/* Goes to the next unit that others recorded for this location. */
static void next_foreign(struct gt_track *t)
{
	int rc = gt_deferred_next(t->deferred);

	if (rc)
		note_read_error(t, rc);
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
			emit_one(t, &deferred->slots[i], deferred->slots[i].time);
	t->deferred_slots += deferred->used;
	if (t->deferred_slots * sizeof(struct gt_slot) > GT_STREAM_BUFFER / 4) {
		t->deferred_slots = 0;
		if (!reserve(t)) {
			t->full = true;
			t->deferred_tick = UINT64_MAX;
			return;
		}
	}
	next_foreign(t);
}

/*
 * Writes what others recorded for this location before `tick`. At the same time their leaves and
 * messages come first, their enters last: what they tell about a call lies within it.
 */
static void drain(struct gt_track *t, uint64_t tick)
{
	while (t->deferred_tick < tick || (t->deferred_tick == tick && tick != UINT64_MAX && !t->deferred->enter))
		gt_track_foreign(t);
}

/* Can this slot begin a record? */
static bool begins_record(const struct gt_track *t, const struct gt_slot *slot)
{
	return gt_type_known(GT_WORD_TYPE(slot->word)) && slot->time <= t->scale.tick_max;
}

/* The time of the next record, if it can be seen. */
static bool look_ahead(const struct gt_track *t, const struct gt_slot *slot, uint64_t *tick)
{
	while (slot < t->stream.end) {
		if (begins_record(t, slot) && GT_WORD_TYPE(slot->word) != GT_T_PAD &&
		    slot->time >= t->last) {
			*tick = slot->time;
			return true;
		}
		slot += gt_slots_of(slot);
	}
	return false;
}

/* The first record of a unit. An attribute that is `alone` is not parted from what it belongs to either. */
static void emit(struct gt_track *t, const struct gt_slot *slot, bool alone, uint64_t tick)
{
	uint64_t until = tick;

	alone = alone && GT_TYPE_IS_ATTR(GT_WORD_TYPE(slot->word));
	if (t->deferred_tick <= tick || (t->deferred && alone)) {
		if (alone && !look_ahead(t, t->stream.at, &until))
			until = tick;
		if (!t->attributes && !t->skip)
			drain(t, until > tick ? until : tick);
	}
	emit_one(t, slot, tick);
}

static void emit_unit(struct gt_track *t, const struct gt_slot *slot, unsigned slots, uint64_t tick)
{
	const struct gt_slot *end = slot + slots;

	emit(t, slot, slots == gt_slots_of(slot), tick);
	while ((slot += gt_slots_of(slot)) < end)
		if (GT_WORD_TYPE(slot->word) != GT_T_PAD)
			emit_one(t, slot, tick);
}

static void release_held(struct gt_track *t, uint64_t tick)
{
	while (t->held && t->w->held[t->held - 1].tick <= tick) {
		struct gt_held *held = &t->w->held[--t->held];

		emit_unit(t, held->slot, held->slots, held->tick);
	}
}

static void mark_torn(struct gt_track *t)
{
	t->torn++;
	if (t->torn_marks++ < MARKS_MOST)
		gt_track_marker(t, "EVENTS LOST", "gputrace", 2,
				"1 record was not finished by the process");
}

/* Keeps a record until its time has come; the next to come is the last in the list. */
static void hold(struct gt_track *t, const struct gt_slot *slot, unsigned slots, uint64_t tick)
{
	struct gt_held *held = t->w->held;
	unsigned i = t->held++;

	for (; i && held[i - 1].tick < tick; i--)
		held[i] = held[i - 1];
	held[i].tick = tick;
	held[i].slots = slots;
	memcpy(held[i].slot, slot, slots * sizeof(*slot));
}

/* One record at stream.at, whatever it is. */
static void step(struct gt_track *t)
{
	const struct gt_slot *slot = t->stream.at;
	size_t rest = (size_t)(t->stream.end - slot);
	uint64_t tick, next, floor;
	unsigned slots = gt_track_unit_slots(slot, t->stream.end, &tick);
	const struct gt_slot *half_end;
	bool flush, early;

	floor = gt_floor_at(&t->floors, slot, t->last, &half_end);
	if (tick > t->scale.tick_max) { /* of the event: it was not finished */
		slots = gt_slots_of(slot);
		tick = slot->time;
	}
	if (!slot->word && !slot->time) {
		/* In the window, and in a block that is there, nothing gets lost: the slot was
		 * reserved in the first turn, and not written. */
		if ((t->stream.pos - rest * GT_SLOT >= t->loc->win.spooled ||
		     t->loc->win.flags & GT_LOC_PACKED) &&
		    !t->stream.sorter)
			mark_torn(t);
		else
			t->holes++;
		t->stream.at++;
		return;
	}
	if (!begins_record(t, slot) || slots > rest || (slot->time < t->last && slot->time < floor)) {
		mark_torn(t);
		t->stream.at++;
		return;
	}
	t->stream.at += slots;
	if (GT_WORD_TYPE(slot->word) == GT_T_PAD || gt_own_note(t->loc, GT_WORD_TYPE(slot->word)))
		return;
	flush = GT_WORD_TYPE(slot->word) == GT_T_FLUSH; /* what made the writer spool has the same time */
	early = look_ahead(t, slot + slots, &next) && next < tick + flush;
	release_held(t, early && next < tick ? next : tick);
	tick += flush;
	if (early && t->held < GT_HELD_MAX) {
		hold(t, slot, slots, tick);
		return;
	}
	if (early) { /* no room: its time has come now */
		t->w->tally.clamped_times++;
		tick = next;
	}
	emit_unit(t, slot, slots, tick);
}

/* ---- the loop ------------------------------------------------------------------------------------------ */

/*
 * Converts enters and leaves as long as they are plain: known, in order of time, well nested. Stops
 * at the first slot that is not, or whose successor cannot be seen. `pipe` is known when compiling:
 * NULL or not.
 */
static inline __attribute__((always_inline)) void run_into(struct gt_track *t, struct gt_pipe *pipe)
{
	const struct gt_slot *slot = t->stream.at, *end = t->stream.end;
	const struct gt_lookup lookup = t->w->lookup;
	struct gt_profile *const profile = t->w->profile;
	struct gt_frame *top = t->w->frames + t->depth - 1; /* below the first is one that no word finds */
	const struct gt_frame *const last_frame =
		t->w->frames +
		(t->w->frame_room < GT_STACK_MOST ? t->w->frame_room : GT_STACK_MOST) - 1;
	OTF2_EvtWriter *const evt = t->writer->direct;
	OTF2_ErrorCode rc = OTF2_SUCCESS;
	const struct gt_slot *behind = NULL, *next; /* the last reading of counters */
	uint64_t last = t->last;
	struct gt_segment scale;
	uint64_t most;

	gt_floor_at(&t->floors, slot, t->last, &end);
	end--;
	if (slot >= end || slot->time < t->last || slot->time >= t->deferred_tick)
		return;
	scale = gt_scale_straight(&t->scale, slot->time, &most);
	if (most > t->scale.tick_max)
		most = t->scale.tick_max;
	if (most >= t->deferred_tick) /* what others recorded for this location comes in between */
		most = t->deferred_tick - 1;
	for (; slot < end; slot++) {
		const uint64_t word = slot->word, tick = slot->time;
		const uint64_t ns = gt_segment_ns(scale.ns, tick - scale.tick, scale.mult);
		const unsigned type = GT_WORD_TYPE(word);

		if (gt_unlikely(tick > most || slot[1].time < tick))
			goto other;
		if (type == GT_T_LEAVE_ADDR || type == GT_T_LEAVE) {
			const uint32_t region = top->region;

			if (gt_unlikely(top->word != word - LEAVE_STEP))
				break;
			account(&profile[region], top--, ns);
			if (pipe)
				gt_pipe_put(pipe, ns, region, true);
			else
				rc = OTF2_EvtWriter_Leave(evt, NULL, ns, region);
		} else if (type == GT_T_ENTER_ADDR || type == GT_T_ENTER) {
			const struct gt_lookup_entry *entry = gt_lookup_find(&lookup, word);
			const uint32_t region = entry ? entry->value : GT_UNDEFINED;

			if (gt_unlikely(region >= GT_TIMED || top == last_frame))
				break;
			top++;
			top->word = word;
			top->enter_ns = ns;
			top->child_ns = 0;
			top->region = region;
			profile[region].open++;
			if (pipe)
				gt_pipe_put(pipe, ns, region, false);
			else
				rc = OTF2_EvtWriter_Enter(evt, NULL, ns, region);
		} else {
other:
			next = pipe ? NULL : gt_track_run_metrics(t, slot, end, most, ns);
			if (!next)
				break;
			last = tick;
			behind = next;
			slot = next - 1;
			continue;
		}
		if (gt_unlikely(rc != OTF2_SUCCESS)) {
			slot++;
			break;
		}
	}
	if (slot > t->stream.at)
		t->last = slot == behind ? last : slot[-1].time;
	t->stream.at += slot - t->stream.at;
	t->depth = (size_t)(top + 1 - t->w->frames);
	if (gt_unlikely(rc != OTF2_SUCCESS))
		gt_track_bad(t, rc, "enter or leave");
}

/* Functions of their own: the loops need every register. */
static __attribute__((noinline)) void run_direct(struct gt_track *t)
{
	run_into(t, NULL);
}

static __attribute__((noinline)) void run_piped(struct gt_track *t)
{
	run_into(t, t->writer->pipe);
}

/* What a piece of input may take in the archive, with the leaves that close the stack. */
static bool reserve(struct gt_track *t)
{
	uint64_t bytes = 2 * GT_STREAM_BUFFER + (t->depth + GT_HELD_MAX) * 24 +
			 GT_STREAM_BUFFER / GT_SLOT * t->slot_bytes;

	return gt_writer_reserve(t->writer, bytes) &&
	       gt_archive_reserve_defs(t->conv->archive,
				       gt_defs_bytes(t->conv->defs) + DEFS_EXTRA +
					       (uint64_t)t->conv->layout->location_count *
						       DEFS_LOCATION);
}

/* Reading failed: counted as a loss in any case, and as a reason to keep the spool. */
static void note_read_error(struct gt_track *t, int rc)
{
	if (gt_spool_try_again(rc))
		__atomic_store_n(&t->conv->read_error, rc, __ATOMIC_RELAXED);
}

static int read_more(struct gt_track *t)
{
	uint64_t before = t->stream.pos;
	int rc = gt_stream_more(&t->stream);

	if (rc) {
		note_read_error(t, rc);
		return rc;
	}
	gt_floors_move(&t->floors, &t->stream);
	__atomic_fetch_add(&t->conv->done_bytes, t->stream.pos - before, __ATOMIC_RELAXED);
	if (t->conv->consumed)
		t->conv->consumed(t->conv->context, t->loc->number, gt_stream_done(&t->stream));
	return 0;
}

/* Converts the stream. A read error counts as lost events; only a useless archive ends the work. */
static void convert(struct gt_track *t)
{
	while (!gt_archive_bad(t->conv->archive) && !t->full) {
		if ((size_t)(t->stream.end - t->stream.at) * sizeof(*t->stream.at) <
			    GT_STREAM_TAIL &&
		    !t->stream.eof) {
			if (!reserve(t)) {
				t->full = true;
				break;
			}
			if (read_more(t)) {
				t->holes += (t->loc->end - t->stream.pos) / GT_SLOT;
				break;
			}
			continue;
		}
		if (t->stream.at == t->stream.end)
			break;
		if (!t->held && !t->attributes && !t->hidden && !t->skip)
			(t->writer->pipe ? run_piped : run_direct)(t);
		if (t->stream.at < t->stream.end)
			step(t);
	}
}

/* Where a location ends: with its process, or where its recording stopped. */
static uint64_t final_tick(const struct gt_track *t)
{
	uint64_t end = t->loc->proc->end_tick;

	if (t->loc->win.stopped || t->full || end < t->last)
		return t->last;
	return end < t->scale.tick_max ? end : t->scale.tick_max;
}

static void note_losses(struct gt_track *t)
{
	uint64_t *lost = t->loc->lost;
	char text[160];

	if (t->out->lane) /* all of this was counted for the first lane */
		return;
	lost[GT_LOSS_TORN] += t->torn + t->stream.torn;
	t->holes += t->loc->missing;
	if (t->full)
		t->holes += (t->loc->end - t->stream.pos) / GT_SLOT +
			    (size_t)(t->stream.end - t->stream.at);
	/* The recorder may have counted what is missing in the file; it knows better. */
	if (t->holes > lost[GT_LOSS_SPACE])
		lost[GT_LOSS_SPACE] = t->holes;
	if (t->stream.cut_slots > lost[GT_LOSS_REWIND])
		lost[GT_LOSS_REWIND] = t->stream.cut_slots;
	for (unsigned cause = 0; cause < GT_LOSS_N; cause++) {
		if (!lost[cause] || !gt_loss_real(cause) || cause == GT_LOSS_TORN)
			continue;
		snprintf(text, sizeof(text), "%llu events of this location are missing: %s",
			 (unsigned long long)lost[cause], gt_loss_reason(cause));
		gt_track_marker(t, "EVENTS LOST", "gputrace", 2, text);
	}
}

static void finish(struct gt_track *t)
{
	uint64_t ns, last;

	release_held(t, UINT64_MAX);
	if (!t->full)
		drain(t, UINT64_MAX);
	last = t->last;
	t->last = final_tick(t);
	if (t->depth)
		last = t->last;
	ns = gt_scale_ns(&t->scale, t->last);
	if (t->depth && t->w->frames[t->depth - 1].region == t->conv->region_off)
		t->w->tally.off_at_end++;
	gt_track_close(t, 0, ns);
	gt_use_end(t->w, t->out, gt_scale_ns(&t->scale, last) - gt_scale_ns(&t->scale, t->loc->win.begin));
	note_losses(t);
	if (t->out->first)
		gt_track_end(t, ns);
	if (ns > t->w->tally.last_ns)
		t->w->tally.last_ns = ns;
}

/* One record can stand for a set of parameters, or for whatever an adapter makes of its own. */
static uint64_t largest_record(const struct gt_proc *proc)
{
	uint32_t most = gt_journal_count(&proc->journal, GT_D_RECORD) ? GT_OWN_BYTES / PARAMETER_BYTES + 1 : 0;

	for (size_t i = 0; i < gt_journal_count(&proc->journal, GT_D_PARAMS); i++) {
		const struct gt_def_params *set =
			gt_journal_nth(&proc->journal, GT_D_PARAMS, i, NULL, NULL);

		most = set->count > most ? set->count : most;
	}
	return most * PARAMETER_BYTES;
}

static int open_deferred(struct gt_track *t)
{
	int rc = gt_deferred_open(&t->deferred, t->loc, t->conv->workfd);

	if (rc)
		gt_stream_close(&t->stream);
	else if (t->deferred)
		t->deferred_tick = t->deferred->time;
	return rc;
}

int gt_convert_location(struct gt_worker *w, uint32_t location)
{
	struct gt_conversion *conv = w->conv;
	struct gt_out_location *out = &conv->layout->locations[location];
	struct gt_track t = { .w = w, .conv = conv, .out = out, .loc = out->loc,
			      .deferred_tick = UINT64_MAX };
	size_t place = (size_t)(t.loc->proc - conv->spool->procs);
	int rc;

	t.names = &conv->names[place];
	t.scale = conv->clock->scales[place];
	t.last = t.scale.base_tick;
	t.slot_bytes = largest_record(t.loc->proc);
	gt_lookup_clear(&w->local);
	w->use_count = w->type_count = 0;
	if (w->proc != t.loc->proc) {
		gt_lookup_clear(&w->lookup);
		gt_lookup_clear(&w->timed);
		w->proc = t.loc->proc;
	}
	t.writer = gt_writer_open(conv->archive, location);
	if (!t.writer)
		return -EIO;
	if (t.loc->end - t.loc->begin > conv->pipe_over)
		gt_writer_use_pipe(t.writer);
	rc = gt_stream_open(&t.stream, t.loc, w->buffer);
	if (!rc && t.loc->win.flags & GT_LOC_UNSORTED && !t.loc->sorted) {
		rc = gt_stream_sort(&t.stream, out->lane, conv->workfd);
		if (rc)
			gt_stream_close(&t.stream);
	}
	if (!rc)
		rc = open_deferred(&t);
	if (rc) { /* its file is gone: all of it is lost, the others are not */
		note_read_error(&t, rc);
		t.holes += (t.loc->end - t.loc->begin) / GT_SLOT;
		t.stream.eof = true;
	}
	gt_use_begin(w);
	if (out->first)
		gt_track_begin(&t);
	if (!rc)
		convert(&t);
	finish(&t);
	gt_deferred_close(t.deferred);
	gt_stream_close(&t.stream);
	gt_writer_close(t.writer, &out->events);
	out->cut_short = t.full;
	w->tally.events += out->events;
	if (conv->consumed && t.loc->lanes <= 1) /* other lanes may still have to read it */
		conv->consumed(conv->context, location, UINT64_MAX);
	return gt_archive_bad(conv->archive) ? -EIO : 0;
}

int gt_worker_init(struct gt_worker *w, struct gt_conversion *conv)
{
	memset(w, 0, sizeof(*w));
	w->conv = conv;
	w->buffer = malloc(GT_STREAM_BUFFER);
	w->held = malloc(GT_HELD_MAX * sizeof(*w->held));
	w->attributes = OTF2_AttributeList_New();
	if (!w->buffer || !w->held || !w->attributes || gt_lookup_init(&w->lookup) ||
	    gt_lookup_init(&w->timed) || gt_lookup_init(&w->local) || !grow_frames(w) ||
	    !grow_profile(w, conv->region_off) || !grow_profile(w, conv->region_flush)) {
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
	memset(w, 0, sizeof(*w));
}
