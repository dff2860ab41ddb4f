/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reserved slots whose records are written late. If a signal handler records more than the whole window
 * between a reservation and its record, the interrupted record is later written to its old address, over
 * whatever is there by then. It is counted as lost in the turn in which it was reserved, and in the turns
 * that follow its slots are left unused. The window's header names them, for readers of a half that was not
 * spooled.
 *
 * Limits: one range of at most a quarter of each half, for KEPT_TURNS turns. After that a late record
 * overwrites another one, so that as many are missing as are counted. The length of an interrupted record is
 * not known: a skipped one counts once for each of its slots.
 */
#include "lib/record/kept.h"

#define KEPT_TURNS 64 /* of the window */

void gt_fill(struct gt_location *loc, uint64_t from, uint64_t to, uint64_t tick)
{
	for (; from < to; from += GT_SLOT) {
		uint64_t low = gt_lower_bound(loc, from);

		gt_commit(gt_slot_at(loc, from), GT_WORD(GT_T_PAD, 0), NULL, 0, tick < low ? low : tick);
	}
}

/* How many slots of [from, to) are kept? */
static uint64_t kept_of(const struct gt_kept *kept, uint64_t from, uint64_t to)
{
	from = from > kept->from ? from : kept->from;
	to = to < kept->to ? to : kept->to;
	return from < to ? (to - from) / GT_SLOT : 0;
}

/*
 * In a new half the slots that are kept are empty until a late record is written there, or who reserved them
 * gives them up. Has that been done with any of these? Then this was reserved in an earlier turn.
 */
static bool passed(const struct gt_location *loc, uint64_t from, uint64_t to)
{
	for (; from < to; from += GT_SLOT)
		if (gt_is_kept(loc, from, from + GT_SLOT) && gt_slot_at(loc, from)->time &&
		    GT_WORD_TYPE(gt_slot_at(loc, from)->word) == GT_T_PAD)
			return true;
	return false;
}

bool gt_give_up(struct gt_location *loc, uint64_t from, uint64_t to, uint64_t tick)
{
	uint64_t begin = loc->limit - loc->half; /* of the half that is being filled */
	struct gt_kept *kept = &loc->kept[(begin & loc->half) != 0];
	/* No handler interrupts what writes a location that commits. */
	bool first = from >= loc->win->spooled || loc->flags & GT_LOC_COMMITS;

	from = from < loc->win->spooled ? loc->win->spooled : from;
	if (from < begin && gt_is_kept(loc, from, to < begin ? to : begin)) {
		first = false;
		from = begin;
	}
	if (from >= to)
		return first;
	if (passed(loc, from < begin ? begin : from, to))
		return false;
	gt_fill(loc, from, to, tick);
	kept->passed += kept_of(kept, from, to);
	return first;
}

/*
 * The half before `end` is full: each of its slots has been reserved. A kept one that was not given up
 * belongs to what has not come back to do so, as a handler came before: it will find a limit behind its slot,
 * and write, or that the half was left.
 */
void gt_kept_leave(struct gt_location *loc, uint64_t end, uint64_t tick)
{
	struct gt_kept *kept = &loc->kept[((end - loc->half) & loc->half) != 0];
	uint64_t slots = kept_of(kept, kept->from, kept->to);

	if (slots > kept->passed) {
		loc->win->lost[GT_LOSS_TORN] += slots - kept->passed;
		kept->passed = slots; /* the next half may not be ready yet: then this is done again */
		kept->turns = KEPT_TURNS;
	}
	gt_fill(loc, kept->from, kept->to, tick);
}

void gt_kept_empty(struct gt_location *loc, uint64_t offset)
{
	struct gt_kept *kept = &loc->kept[(offset & loc->half) != 0];

	kept->passed = 0;
	for (uint64_t at = kept->from; at < kept->to; at += GT_SLOT)
		*gt_slot_at(loc, at) = (struct gt_slot){ 0 };
}

/* Where the record begins that goes on there: at `from` if none does. */
static uint64_t begin_of(const struct gt_location *loc, uint64_t from)
{
	uint64_t low = gt_lower_bound(loc, from), next;

	for (uint64_t at = from - from % loc->half; at < from; at = next) {
		const struct gt_slot *slot = gt_slot_at(loc, at);

		next = at + GT_SLOT;
		if (slot->time >= low && GT_TYPE_HAS_EXTRA(GT_WORD_TYPE(slot->word)))
			next += (uint64_t)GT_WORD_EXTRA(slot->word) * GT_SLOT;
		if (next > from)
			return at;
	}
	return from;
}

/* Remains in the kept slots are not of this turn, or have been passed: they have been counted. */
void gt_kept_clear(struct gt_location *loc, uint64_t offset, uint64_t tick)
{
	const struct gt_kept *kept = &loc->kept[(offset & loc->half) != 0];

	if (kept->to)
		gt_fill(loc, begin_of(loc, kept->from), kept->to, tick);
}

/*
 * May any slot of the half be older than the half? Also what lies in continuation slots counts, but at its
 * beginning, where many halves have the thread's states.
 */
static bool any_older(const struct gt_location *loc, uint64_t offset, uint64_t low, uint64_t span)
{
	const struct gt_slot *begin = gt_slot_at(loc, offset), *end = begin + loc->half / GT_SLOT;
	const struct gt_slot *slot = begin;

	for (; slot < end && (slot < begin + 4 || (slot - begin) % 4); slot++) {
		if (slot->time - low > span)
			return true;
		if (GT_TYPE_HAS_EXTRA(GT_WORD_TYPE(slot->word)))
			slot += GT_WORD_EXTRA(slot->word);
	}
	for (; slot < end; slot += 4) /* a half has whole pages */
		if (slot[0].time < low || slot[1].time < low || slot[2].time < low || slot[3].time < low)
			return true;
	return false;
}

/*
 * Does the half at `offset` have records that were reserved but are not written yet? Where they will be
 * lies what was there before: an old time, or data of a continuation slot, which may be any number.
 * `found`, if it is not NULL, becomes where the first of them begins and the last one.
 */
bool gt_half_unfinished(const struct gt_location *loc, uint64_t offset, struct gt_kept *found)
{
	uint64_t low = gt_lower_bound(loc, offset), span = gt_clock_read() - low;

	/*
	 * The first look costs as little as can be; where counters are read it would find something anyway.
	 */
	if (loc->flags & GT_LOC_COMMITS ||
	    (!(__atomic_load_n(&gt_attention, __ATOMIC_RELAXED) & GT_ATT_METRICS) &&
	     !any_older(loc, offset, low, span)))
		return false;
	for (uint64_t end = offset + loc->half; offset < end; offset += GT_SLOT) {
		const struct gt_slot *slot = gt_slot_at(loc, offset);

		if (slot->time - low > span) {
			if (!found)
				return true;
			found->from = found->to ? found->from : offset;
			found->to = offset + GT_SLOT;
		} else if (GT_TYPE_HAS_EXTRA(GT_WORD_TYPE(slot->word))) {
			offset += (uint64_t)GT_WORD_EXTRA(slot->word) * GT_SLOT;
		}
	}
	return found && found->to;
}

static void tell(struct gt_win_header *win, unsigned index, const struct gt_kept *kept)
{
	win->kept_from[index] = kept->to ? kept->from : 0;
	win->kept_to[index] = kept->to;
}

/*
 * The half at `offset` is about to be used again. A record of it that is not finished yet, because handlers
 * have recorded all this since, will still be written where it was begun: nothing else may go there. Nobody
 * says that a handler has jumped away, so it ends after some turns.
 */
void gt_kept_find(struct gt_location *loc, uint64_t offset, bool look)
{
	struct gt_kept *kept = &loc->kept[(offset & loc->half) != 0], found = { 0 };
	uint64_t least = GT_KEPT_LEAST * GT_SLOT, most = loc->half / 4, end = offset + loc->half;

	if (look && gt_half_unfinished(loc, offset, &found)) {
		found.to += (loc->longest > least ? loc->longest : least) - GT_SLOT;
		found.to = found.to > end ? end : found.to;
		if (!kept->to || found.to - kept->from > most || kept->to - found.from > most)
			*kept = found;
		kept->from = found.from < kept->from ? found.from : kept->from;
		kept->to = found.to > kept->to ? found.to : kept->to;
		if (kept->to - kept->from > most)
			kept->to = kept->from + most;
		kept->turns = KEPT_TURNS;
	}
	if (kept->turns) {
		kept->turns--;
		kept->from += 2 * loc->half;
		kept->to += 2 * loc->half;
	} else {
		kept->to = 0;
	}
	tell(loc->win, (offset & loc->half) != 0, kept);
}
