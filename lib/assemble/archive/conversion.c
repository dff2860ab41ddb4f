/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The conversion of a location: a lean loop for what nearly every slot is (an enter or leave that
 * fits), and a slow path for everything else.
 *
 * Order: a slot is reserved before its time is read, so what a signal handler records in between
 * has later slots and smaller times. A record whose successor is earlier is delayed until the earlier
 * ones are written.
 *
 * Limits: Cost of the loop: some 55 instructions per event beside libotf2's own 110.
 */
#include "config.h"

#include "gputrace/compiler.h"
#include "lib/assemble/archive/conversion.h"

#include "lib/assemble/archive/metrics.h"
#include "lib/assemble/archive/ranges.h"
#include "lib/assemble/archive/records.h"
#include "lib/assemble/archive/samples.h"
#include "lib/assemble/archive/stacks.h"
#include "lib/assemble/spool/stream_sort.h"
#include "lib/assemble/util/losses.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARAMETER_BYTES 24u
#define MARKS_MOST   100u /* markers about torn records per location */

/* ---- the slow path ---------------------------------------------------------------------------------- */

/*
 * Writes what others recorded for this location before `tick`. At the same time their leaves and
 * messages come first, their enters last: what they tell about a call lies within it.
 */
static void drain(struct gt_track *t, uint64_t tick)
{
	bool outlives = t->outlives;

	t->outlives = false; /* that is of the record to come */
	while (t->deferred_tick < tick ||
	       (t->deferred_tick == tick && tick != UINT64_MAX && !t->deferred->enter))
		gt_track_foreign(t);
	t->outlives = outlives;
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
	gt_track_emit(t, slot, tick);
}

static void emit_unit(struct gt_track *t, const struct gt_slot *slot, unsigned slots, uint64_t tick)
{
	const struct gt_slot *end = slot + slots;

	emit(t, slot, slots == gt_slots_of(slot), tick);
	while ((slot += gt_slots_of(slot)) < end)
		if (GT_WORD_TYPE(slot->word) != GT_T_PAD)
			gt_track_emit(t, slot, tick);
}

/* Of ranges that end with this unit; what others recorded before comes before that, too. */
static void end_ranges(struct gt_track *t, const struct gt_slot *slot, unsigned slots, uint64_t tick)
{
	if (!t->depth || !(t->w->frames[t->depth - 1].word & GT_OUTLIVES) || t->skip)
		return;
	if (!t->attributes)
		drain(t, tick);
	gt_ranges_end_early(t, slot, slots, tick);
}

static void release_held(struct gt_track *t, uint64_t tick)
{
	while (t->held && t->w->held[t->held - 1].tick <= tick) {
		struct gt_held *held = &t->w->held[--t->held];

		t->outlives = held->range;
		emit_unit(t, held->slot, held->slots, held->tick);
		t->outlives = false;
	}
}

static bool is_off(const struct gt_track *t)
{
	return t->depth && t->w->frames[t->depth - 1].region == t->conv->region_off;
}

/* While it is switched off nothing was to be recorded: the slot would have been given back. */
static void mark_torn(struct gt_track *t)
{
	if (is_off(t))
		return;
	t->torn++;
	if (t->torn_marks++ < MARKS_MOST)
		gt_track_marker(t, "EVENTS LOST", "gputrace", 2,
				"1 record was not finished by the process");
}

/* Keeps a record until its time has come; the next to come is the last in the list. */
static void hold(struct gt_track *t, const struct gt_slot *slot, unsigned slots, uint64_t tick, bool range)
{
	struct gt_held *held = t->w->held;
	unsigned i = t->held++;

	for (; i && held[i - 1].tick <= tick; i--)
		held[i] = held[i - 1];
	held[i].range = range;
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
	if (!t->skip && gt_ranges_wait(t, slot, slots, &tick)) {
		hold(t, slot, slots, tick, true);
		return;
	}
	flush = GT_WORD_TYPE(slot->word) == GT_T_FLUSH; /* what made the writer spool has the same time */
	early = look_ahead(t, slot + slots, &next) && next < tick + flush;
	release_held(t, early && next < tick ? next : tick);
	tick += flush;
	if (early && t->held < GT_HELD_MAX) {
		hold(t, slot, slots, tick, false);
		return;
	}
	if (early) { /* no room: its time has come now */
		t->w->tally.clamped_times++;
		tick = next;
	}
	end_ranges(t, slot, slots, tick);
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
	uint32_t *const open = t->w->open;
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

			if (gt_unlikely(top->word != word - GT_LEAVE_STEP))
				break;
			top--;
			open[region]--;
			if (pipe)
				gt_pipe_put(pipe, ns, region, true);
			else
				rc = OTF2_EvtWriter_Leave(evt, NULL, ns, region);
		} else if (type == GT_T_ENTER_ADDR || type == GT_T_ENTER) {
			const struct gt_lookup_entry *entry = gt_lookup_find(&lookup, word);
			const uint32_t region = entry ? entry->value : GT_UNDEFINED;

			if (gt_unlikely(region >= GT_RANGE || top == last_frame || top->word & GT_OUTLIVES))
				break;
			top++;
			top->word = word;
			top->region = region;
			open[region]++;
			if (pipe)
				gt_pipe_put(pipe, ns, region, false);
			else
				rc = OTF2_EvtWriter_Enter(evt, NULL, ns, region);
		} else {
other:
			next = gt_track_run_metrics(t, slot, end, most, ns);
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

static int read_more(struct gt_track *t)
{
	uint64_t before = t->stream.pos;
	int rc = gt_stream_more(&t->stream);

	if (rc) {
		gt_track_read_error(t, rc);
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
			if (!gt_track_reserve(t)) {
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
		if (!t->held && !t->attributes && !t->path && !t->hidden && !t->skip)
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
	uint64_t ns;

	release_held(t, UINT64_MAX);
	if (!t->full)
		drain(t, UINT64_MAX);
	t->last = final_tick(t);
	ns = gt_scale_ns(&t->scale, t->last);
	if (is_off(t))
		t->w->tally.off_at_end++;
	gt_track_close(t, 0, ns);
	note_losses(t);
	if (t->out->first)
		gt_track_end(t, ns);
	if (ns > t->w->tally.last_ns)
		t->w->tally.last_ns = ns;
}

/* One record can stand for a set of parameters, for a sample, or for whatever an adapter makes of its own. */
static uint64_t largest_record(const struct gt_proc *proc)
{
	uint32_t most = gt_journal_count(&proc->journal, GT_D_RECORD)
			? GT_OWN_BYTES / PARAMETER_BYTES + 1 : 0;

	for (size_t i = 0; i < gt_journal_count(&proc->journal, GT_D_PARAMS); i++) {
		const struct gt_def_params *set =
			gt_journal_nth(&proc->journal, GT_D_PARAMS, i, NULL, NULL);

		most = set->count > most ? set->count : most;
	}
	if (!most && gt_samples_any(proc))
		return GT_SAMPLE_BYTES;
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
		rc = gt_stream_sort(&t.stream, t.loc, out->lane, conv->workfd);
		if (rc)
			gt_stream_close(&t.stream);
	}
	if (!rc)
		rc = open_deferred(&t);
	if (rc) { /* its file is gone: all of it is lost, the others are not */
		gt_track_read_error(&t, rc);
		t.holes += (t.loc->end - t.loc->begin) / GT_SLOT;
		t.stream.eof = true;
	}
	if (out->first)
		gt_track_begin(&t);
	if (!rc)
		convert(&t);
	finish(&t);
	gt_deferred_close(t.deferred);
	gt_ranges_free(&t);
	gt_stacks_free(&t);
	gt_stream_close(&t.stream);
	gt_writer_close(t.writer, &out->events);
	out->cut_short = t.full;
	w->tally.events += out->events;
	if (conv->consumed && t.loc->lanes <= 1) /* other lanes may still have to read it */
		conv->consumed(conv->context, location, UINT64_MAX);
	return gt_archive_bad(conv->archive) ? -EIO : 0;
}
