/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The event buffer of a location, away from the hot path: changing halves, spooling full ones,
 * limits and policies, and everything that can go wrong with them.
 *
 * Invariant: bytes [spooled, cur) of the stream are in the window, bytes below spooled in the .raw
 * file. limit is the end of the half being filled; the other half is free, or full and not spooled.
 *
 * Limits: one writer per location. Signals are blocked while a half is written, so that handlers
 * find a free half before and after.
 */
#include "lib/common/pack.h"
#include "lib/common/text.h"
#include "lib/record/kept.h"
#include "lib/record/record.h"

#include <errno.h>
#include <string.h>

static uint64_t spooled_total; /* bytes of all locations; atomic */

static bool is_event(unsigned type)
{
	return type != GT_T_NONE && type != GT_T_PAD && type != GT_T_FLUSH && type != GT_T_GAP &&
	       type != GT_T_ON && type != GT_T_OFF && type != GT_T_STATES && !GT_TYPE_IS_ATTR(type);
}

static uint32_t count_events(const unsigned char *half, uint64_t bytes)
{
	uint32_t n = 0;

	for (uint64_t at = 0; at < bytes; at += GT_SLOT) {
		const struct gt_slot *slot = (const struct gt_slot *)(half + at);
		unsigned type = GT_WORD_TYPE(slot->word);

		n += is_event(type);
		if (GT_TYPE_HAS_EXTRA(type))
			at += (uint64_t)GT_WORD_EXTRA(slot->word) * GT_SLOT;
	}
	return n;
}

/* Opened for each half, because descriptors belong to the program, and not where it looks for free ones. */
static int open_raw(struct gt_location *loc)
{
	char name[24];
	int rc;

	gt_text(name, sizeof(name), "l%u.raw", loc->id);
	rc = gt_folder_open(name, &loc->raw);
	if (!rc)
		gt_file_move(&loc->raw, GT_FILE_HIGH);
	return rc;
}

/* Writes to it, unless the program has put a file of its own there. */
static int write_raw(struct gt_location *loc, const void *data, size_t bytes, uint64_t place)
{
	int rc = loc->raw.fd < 0 ? open_raw(loc) : 0;

	if (rc)
		return rc;
	return gt_file_valid(&loc->raw) ? gt_file_pwrite(loc->raw.fd, data, bytes, place) : -EBADF;
}

/*
 * What is packed: into the stage, which is written when it is full. What lies before `written` is of a half
 * that could not be written to its end, and goes to the file, because the stage has what is behind it.
 */
static int append(struct gt_location *loc, const char *data, size_t bytes, uint64_t *place)
{
	struct gt_win_header *win = loc->win;
	unsigned char *stage = loc->hot->base + 2 * loc->half;
	int rc = 0;

	if (!win->stage_bytes) {
		rc = write_raw(loc, data, bytes, *place);
		*place += bytes;
		return rc;
	}
	while (!rc && bytes) {
		uint64_t at = *place & (win->stage_bytes - 1);
		uint64_t room = *place < win->written ? win->written - *place : win->stage_bytes - at;
		size_t n = bytes < room ? bytes : room;

		if (*place < win->written)
			rc = write_raw(loc, data, n, *place);
		else
			memcpy(stage + at, data, n);
		data += n;
		bytes -= n;
		*place += n;
		if (rc || *place <= win->written || *place & (win->stage_bytes - 1))
			continue;
		rc = write_raw(loc, stage, win->stage_bytes, *place - win->stage_bytes);
		if (!rc)
			__atomic_store_n(&win->written, *place, __ATOMIC_RELEASE); /* the stage is free */
	}
	return rc;
}

/* ---- scratch for packing: a few for all threads, each taken for the microseconds of one flush --- */

#define SCRATCHES 8

struct scratch {
	uint32_t taken;
	size_t room;
	uint64_t *table; /* GT_PACK_WORDS, then the block */
};
static struct scratch scratches[SCRATCHES];

/* In a child that is forked meanwhile it is empty. */
static void enlarge(struct scratch *s, size_t room)
{
	size_t old = s->room;

	__atomic_store_n(&s->room, 0, __ATOMIC_RELEASE);
	if (old)
		gt_sys_munmap(s->table, old);
	s->table = gt_sys_memory(room);
	__atomic_store_n(&s->room, s->table ? room : 0, __ATOMIC_RELEASE);
}

/* For `bytes` of slots. */
static struct scratch *take_scratch(uint64_t bytes)
{
	size_t room = GT_PACK_WORDS * sizeof(uint64_t) + GT_PACK_ROOM(bytes);

	for (unsigned i = 0; i < SCRATCHES; i++) {
		struct scratch *s = &scratches[i];

		if (__atomic_load_n(&s->taken, __ATOMIC_RELAXED) ||
		    __atomic_exchange_n(&s->taken, 1, __ATOMIC_ACQUIRE))
			continue;
		if (s->room < room)
			enlarge(s, room);
		if (s->table)
			return s;
		/* Pairs with the acquire in this function. */
		__atomic_store_n(&s->taken, 0, __ATOMIC_RELEASE);
	}
	return NULL;
}

void gt_buffers_forked(void)
{
	spooled_total = 0;
	for (unsigned i = 0; i < SCRATCHES; i++)
		scratches[i].taken = 0; /* by threads that are not there */
}

static int write_block(struct gt_location *loc, uint64_t offset, uint64_t bytes, uint64_t *place)
{
	const unsigned char *slots = loc->hot->base + (offset & loc->hot->mask);
	struct scratch *scratch = take_scratch(bytes);
	struct gt_pack_header header;
	int rc;

	if (scratch) {
		char *block = (char *)(scratch->table + GT_PACK_WORDS);
		size_t size = gt_pack(slots, (uint32_t)(bytes / GT_SLOT), offset, block,
				      scratch->table);

		((struct gt_pack_header *)block)->low = gt_lower_bound(loc, offset);
		rc = append(loc, block, size, place);
		__atomic_store_n(&scratch->taken, 0, __ATOMIC_RELEASE); /* pairs with take_scratch() */
		return rc;
	}
	gt_pack_raw_header(&header, slots, (uint32_t)(bytes / GT_SLOT), offset);
	header.low = gt_lower_bound(loc, offset);
	rc = append(loc, (const char *)&header, sizeof(header), place);
	return rc ? rc : append(loc, (const char *)slots, bytes, place);
}

/* Writes the half at `spooled` to the spool file. */
static int write_half(void *location)
{
	struct gt_location *loc = location;
	struct gt_win_header *win = loc->win;
	uint64_t place = win->packed_bytes;
	int rc = 0;

	if (!(win->flags & GT_LOC_PACKED))
		rc = write_raw(loc, loc->hot->base + (win->spooled & loc->hot->mask), loc->half,
			       win->ring_bytes ? win->spooled % win->ring_bytes : win->spooled);
	for (uint64_t at = 0; !rc && win->flags & GT_LOC_PACKED && at < loc->half;
	     at += GT_PACK_UNIT) {
		uint64_t rest = loc->half - at;

		rc = write_block(loc, win->spooled + at,
				 rest < GT_PACK_UNIT ? rest : GT_PACK_UNIT, &place);
	}
	gt_file_close(&loc->raw);
	if (rc)
		return rc;
	__atomic_fetch_add(&spooled_total,
			   win->flags & GT_LOC_PACKED ? place - win->packed_bytes : loc->half,
			   __ATOMIC_RELAXED);
	win->packed_bytes = place; /* before `spooled`: a reader stops at what `spooled` says */
	return 0;
}

static void ring_account(struct gt_location *loc)
{
	struct gt_win_header *win = loc->win;
	uint64_t index = win->spooled % win->ring_bytes / loc->half;

	if (win->spooled >= win->ring_bytes)
		win->lost[GT_LOSS_RING] += loc->ring_counts[index];
	loc->ring_counts[index] =
		count_events(loc->hot->base + (win->spooled & loc->hot->mask), loc->half);
}

static bool limit_reached(const struct gt_location *loc)
{
	uint64_t total = __atomic_load_n(&spooled_total, __ATOMIC_RELAXED);

	if (loc->win->ring_bytes)
		return false;
	return (gt_settings.max_flushes && loc->flushes >= (uint64_t)gt_settings.max_flushes) ||
	       (gt_settings.max_bytes && total + loc->half > gt_settings.max_bytes);
}

/* Else the next half is another try. */
static bool stays_so(int error)
{
	return error == -ENOSPC || error == -EDQUOT || error == -EFBIG;
}

/* Spools the oldest full half. Returns 0, or the loss that now begins. */
static int spool_half(struct gt_location *loc)
{
	struct gt_win_header *win = loc->win;
	int rc;

	loc->retry = 0;
	loc->confined = gt_sys_refused();
	if (loc->confined)
		return 1 + GT_LOSS_SANDBOX;
	if (limit_reached(loc)) {
		gt_warn_once(GT_WARN_LIMIT,
			     "the limit of VT_MAX_FLUSHES or VT_MAX_BYTES is reached: further "
			     "events are counted but not kept");
		return 1 + GT_LOSS_LIMIT;
	}
	gt_kept_clear(loc, win->spooled, win->half_tick[(win->spooled & loc->half) != 0]);
	if (win->ring_bytes)
		ring_account(loc);
	rc = gt_folder_apart(write_half, loc, -1);
	if (rc) {
		/* The half stays in the window; the next attempt comes when the other is full. */
		if (loc->failed)
			gt_warn_once(GT_WARN_SPACE,
				     "cannot write the trace to %s: %s; the program continues, "
				     "%s events are counted but not kept",
				     gt_proc_folder, gt_text_errno(rc), stays_so(rc) ? "further" : "some");
		loc->retry = stays_so(rc) ? 0 : loc->half / GT_SLOT;
		return 1 + (int)gt_folder_loss(rc, GT_LOSS_SPACE);
	}
	loc->failed = false;
	loc->flushes++;
	__atomic_store_n(&win->spooled, win->spooled + loc->half, __ATOMIC_RELEASE);
	return 0;
}

static void stop(struct gt_location *loc, int why)
{
	loc->stopped = why;
	loc->win->stopped = loc->limit;
}

/*
 * An event while recording has stopped: has it been so for as many as fill a half? What a confined child of
 * vfork() could not spool, the thread whose memory it shares can.
 */
static bool may_go_on(struct gt_location *loc)
{
	bool freed = loc->confined && !gt_sys_refused();

	if (!freed && (!loc->retry || --loc->retry))
		return false;
	loc->stopped = 0;
	loc->win->stopped = 0;
	return true;
}

/*
 * Opens the half that begins at limit. Returns false if it still holds events that could not be
 * spooled: then recording has stopped. The half before is spooled by the caller afterwards, so that
 * handlers can record meanwhile.
 */
static bool open_half(struct gt_location *loc, uint64_t tick)
{
	struct gt_win_header *win = loc->win;
	unsigned index = (loc->limit & loc->half) != 0;
	bool waited = loc->limit - win->spooled > loc->half;

	if (waited) { /* an attempt has failed before */
		int why = spool_half(loc);

		if (why) {
			stop(loc, why);
			return false;
		}
	}
	gt_kept_find(loc, loc->limit - 2 * loc->half, waited);
	win->half_base[index] = loc->limit;
	win->half_tick[index] = tick;
	gt_kept_empty(loc, loc->limit);
	__atomic_thread_fence(__ATOMIC_ACQ_REL); /* valid before the first slot is written */
	loc->limit += loc->half;
	if (!index) { /* signals are blocked: nobody sees one without the other */
		loc->turn += loc->hot->mask + 1;
		gt_local_add(&loc->hot->cur, -(loc->hot->mask + 1));
		gt_hot_stop(loc->hot); /* it was the window's end so far */
	}
	return true;
}

/*
 * The hot path knows addresses, everything else stream offsets. An address that a handler reserved,
 * or that waited while a handler went on to the next turn, belongs to the turn before: no
 * reservation lies beyond the end of the stream.
 */
static uint64_t to_offset(const struct gt_location *loc, uint64_t address)
{
	uint64_t end = gt_stream_end(loc);
	uint64_t back = (uint64_t)(uintptr_t)loc->hot->base + (end & loc->hot->mask) - address;

	return end - ((back - 1) & loc->hot->mask) - 1;
}

static uint64_t to_address(const struct gt_location *loc, uint64_t offset)
{
	return (uint64_t)(uintptr_t)loc->hot->base + (offset - loc->turn);
}

/* Reserves slots at the end of the stream; returns their offset. */
static uint64_t reserve(struct gt_location *loc, uint64_t bytes)
{
	return to_offset(loc, gt_local_add(&loc->hot->cur, bytes));
}

/* Must each event ask, for other reasons than these? */
static bool asks(const struct gt_location *loc, unsigned but)
{
	return __atomic_load_n(&gt_attention, __ATOMIC_RELAXED) & ~but || loc->scans_left ||
	       loc->off_marked || gt_location_off(loc);
}

/*
 * Where the hot path must ask next: at the end of this half, or where slots in it are kept. Behind these,
 * too: what has reserved one of them, and was interrupted before it asked for the limit, must find no higher
 * one.
 */
static uint64_t next_limit(const struct gt_location *loc)
{
	const struct gt_kept *kept = &loc->kept[((loc->limit - loc->half) & loc->half) != 0];

	return kept->to ? kept->from : loc->limit;
}

/* Lets the hot path go on up to there. Signals are blocked: a handler in between could
 * go on to another half, and its limit must not be replaced by ours. */
static void set_limit(struct gt_location *loc)
{
	uint64_t limit = to_address(loc, next_limit(loc));

	__atomic_store_n(&loc->hot->limit, limit, __ATOMIC_RELAXED);
	__atomic_store_n(&loc->hot->counted, limit, __ATOMIC_RELAXED);
	/* Pairs with gt_attention_set: either it sees our limit and zeroes it, or we see its bit. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (asks(loc, GT_ATT_METRICS))
		gt_hot_stop(loc->hot);
	else if (asks(loc, 0))
		__atomic_store_n(&loc->hot->limit, 0, __ATOMIC_RELAXED);
}

static bool limit_is_low(const struct gt_location *loc)
{
	uint64_t limit = __atomic_load_n(&loc->hot->counted, __ATOMIC_RELAXED);

	return !limit || (!loc->busy && limit < to_address(loc, next_limit(loc)));
}

static void refresh_limit(struct gt_location *loc)
{
	uint64_t mask;

	if (asks(loc, GT_ATT_METRICS))
		return; /* the limit is 0 and stays so */
	mask = gt_signals_block();
	set_limit(loc);
	gt_signals_restore(mask);
}

static bool give_up(struct gt_location *loc, uint64_t offset, uint64_t end, uint64_t tick)
{
	uint64_t mask = gt_signals_block();
	bool first = end > loc->limit || gt_give_up(loc, offset, end, tick);

	gt_signals_restore(mask);
	return first;
}

/* Gives back a reservation that will not be used. False: its event has been counted already. */
static bool unreserve(struct gt_location *loc, uint64_t offset, unsigned slots, uint64_t tick)
{
	uint64_t end = offset + (uint64_t)slots * GT_SLOT;

	return gt_local_exchange(&loc->hot->cur, to_address(loc, end), to_address(loc, offset)) ||
	       give_up(loc, offset, end, tick); /* a handler has recorded behind it */
}

/* Twice such a record, and the marks at the begin of a half, fit into one: whatever is left of this
 * half, it has room in the next. */
static bool too_long(const struct gt_location *loc, uint64_t bytes)
{
	return bytes > loc->half / 2 - 4 * GT_SLOT;
}

/* Says in the stream that events are missing about here: handlers', or until a half could be written. */
static void mark_gap(struct gt_location *loc, enum gt_loss cause, uint64_t *marked, uint64_t tick)
{
	uint64_t missing = loc->win->lost[cause] - *marked;

	if (!missing)
		return;
	*marked += missing;
	gt_write_in(loc, GT_WORD(GT_T_GAP, (uint64_t)cause << 48 | missing), NULL, 0, tick);
}

/*
 * Changes to the next half and spools the full one; the reservation [offset, end) lies at or across
 * limit. Does nothing if a handler that came before the signals were blocked has changed halves
 * already.
 *
 * When it lets the signals in again, a handler may record more than the window before it returns here: then
 * nothing may be unfinished. So what was reserved in the new half is filled. Returns the end of the stream
 * if the caller has to reserve again; until then it counts as lost, for a handler that jumps away. 0: no.
 */
static uint64_t change_half(struct gt_location *loc, uint64_t offset, uint64_t end, uint64_t tick)
{
	bool fills = end - offset >= GT_SLOT && !(loc->flags & GT_LOC_COMMITS), opened, states;
	uint64_t mask = gt_signals_block();
	uint64_t done, now, begin = loc->limit, stream_end = 0, sums[4];

	if (end <= loc->limit) {
		gt_signals_restore(mask);
		return 0;
	}
	if (tick < gt_lower_bound(loc, loc->limit - loc->half)) { /* has the counter gone back? */
		gt_clock_check();
		tick = gt_clock_read();
	}
	now = gt_clock_read();
	if (tick > now) /* a caller's own time: the next half must not begin in the future */
		tick = now;
	loc->busy = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (offset < loc->limit)
		gt_give_up(loc, offset, loc->limit, tick);
	gt_kept_leave(loc, loc->limit, tick);
	opened = open_half(loc, tick);
	/* In a signal handler, what was interrupted may still have to write its slot: then the half
	 * waits in the window until the next is full. (Nothing tells a handler for sure: with
	 * SA_NODEFER no signal is blocked in it.) */
	if (opened && !gt_half_unfinished(loc, loc->win->spooled, NULL)) {
		int why = spool_half(loc);

		loc->failed = why == 1 + GT_LOSS_SPACE;
		if (why == 1 + GT_LOSS_LIMIT)
			loc->failed = true; /* fill the other half, then stop */
	}
	if (opened) {
		gt_clock_note();
		states = loc->hot == gt_self && gt_location_spooled(loc, sums);
		if (__atomic_load_n(&gt_modules_dirty, __ATOMIC_RELAXED))
			gt_modules_scan();
		done = gt_clock_read();
		if (states) /* first: the event that made this half full follows FLUSH, and has its time */
			gt_write_in(loc, GT_WORDX(GT_T_STATES, 2, 0), sums, 2, done);
		gt_write_in(loc, GT_WORD(GT_T_FLUSH, done - tick), NULL, 0, tick);
		mark_gap(loc, GT_LOSS_NESTED, &loc->nested_marked, done);
		mark_gap(loc, GT_LOSS_SPACE, &loc->space_marked, done);
		mark_gap(loc, GT_LOSS_SANDBOX, &loc->sandbox_marked, done);
		/* Reservations that were refused meanwhile must not leave a hole. */
		if (gt_stream_end(loc) > loc->limit)
			loc->hot->cur = to_address(loc, loc->limit);
		if (fills) {
			gt_local_add(&loc->win->lost[GT_LOSS_TORN], 1);
			gt_give_up(loc, offset < begin ? begin : offset, end, tick);
			stream_end = gt_stream_end(loc);
		}
		set_limit(loc);
	} else if (offset < begin) { /* given up: who got it when recording goes on would pass for late */
		gt_local_exchange(&loc->hot->cur, to_address(loc, end), to_address(loc, begin));
	}
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	loc->busy = 0;
	gt_signals_restore(mask);
	return stream_end;
}

/* Returns where: at `end`, if nothing was recorded since. Else that lies before it, in time, too, but where
 * times are foreign. */
static uint64_t reserve_again(struct gt_location *loc, uint64_t end, uint64_t bytes, uint64_t *tick)
{
	uint64_t offset = reserve(loc, bytes), now;

	if (offset != end && !(loc->flags & GT_LOC_COMMITS) && *tick < (now = gt_clock_read()))
		*tick = now;
	return offset;
}

/* Is there anything to do about GT_ATT_* bits, and where the thread is switched off? */
static bool wants_attention(const struct gt_location *loc, unsigned bits)
{
	return bits & (GT_ATT_OFF | GT_ATT_CLOSING) || loc->off_marked || loc->scans_left ||
	       gt_location_off(loc);
}

/* A look at the memory map, and the mark that recording ends or goes on here. */
static void catch_up(struct gt_location *loc)
{
	bool off = __atomic_load_n(&gt_attention, __ATOMIC_RELAXED) & GT_ATT_OFF || gt_location_off(loc);

	if (loc->scans_left)
		loc->scans_left = gt_modules_scan() ? 0 : loc->scans_left - 1;
	if (off == loc->off_marked)
		return;
	loc->off_marked = off;
	gt_write_in(loc, GT_WORD(off ? GT_T_OFF : GT_T_ON, 0), NULL, 0, gt_clock_read());
}

/*
 * Does it. Returns false if the event is not to be recorded. Signals are blocked: a handler that jumps
 * away would leave `attending` set, and one that records would do so whether it may or not.
 */
static bool attend(struct gt_location *loc, unsigned bits)
{
	bool off = bits & GT_ATT_OFF || gt_location_off(loc);
	uint64_t mask;

	if (bits & GT_ATT_CLOSING)
		return false;
	if (off == loc->off_marked && !loc->scans_left)
		return !off;
	mask = gt_signals_block();
	loc->attending = 1; /* the marks must not come here again */
	catch_up(loc);
	loc->attending = 0;
	gt_signals_restore(mask);
	return !loc->off_marked;
}

struct gt_slot *gt_reserve_in(struct gt_hot *hot, uint64_t address, unsigned slots, uint64_t *tick)
{
	uint64_t bytes = (uint64_t)slots * GT_SLOT;
	struct gt_location *loc = hot->loc;
	uint64_t offset = loc ? to_offset(loc, address) : 0;
	uint64_t border, end;

	for (;;) {
		unsigned bits = __atomic_load_n(&gt_attention, __ATOMIC_ACQUIRE);

		loc = hot->loc;
		if (!loc)
			return NULL;
		if (loc->stopped && !may_go_on(loc)) {
			if (!unreserve(loc, offset, slots, *tick))
				return NULL;
			if (bits & GT_ATT_CLOSING) /* who assembles reads the windows' numbers only once */
				gt_count_lost(GT_LOSS_LATE, 1);
			else
				loc->win->lost[loc->stopped - 1]++;
			return NULL;
		}
		if (loc->busy && offset + bytes > loc->limit) {
			/* In a handler during a change of halves; change_half resets cur. */
			loc->win->lost[GT_LOSS_NESTED]++;
			return NULL;
		}
		if (wants_attention(loc, bits) && !loc->busy && !loc->attending) {
			if (!unreserve(loc, offset, slots, *tick))
				return NULL;
			if (bits & GT_ATT_CLOSING)
				gt_count_lost(GT_LOSS_LATE, 1);
			if (!attend(loc, bits))
				return NULL;
			refresh_limit(loc);
			offset = reserve_again(loc, offset, bytes, tick);
			continue;
		}
		border = loc->limit - loc->half;
		/* It straddles two halves, handlers have changed halves since, or late records go there. */
		if ((offset < border && offset + bytes > border) || offset < loc->win->spooled ||
		    (offset + bytes <= loc->limit && gt_is_kept(loc, offset, offset + bytes))) {
			if (!give_up(loc, offset, offset + bytes, *tick))
				return NULL;
			offset = reserve_again(loc, offset + bytes, bytes, tick);
			continue;
		}
		if (offset + bytes <= loc->limit) {
			uint64_t low = gt_lower_bound(loc, offset);

			if (limit_is_low(loc))
				refresh_limit(loc);
			if (*tick < low && !(loc->flags & GT_LOC_COMMITS))
				*tick = low;
			return gt_slot_at(loc, offset);
		}
		if (offset >= loc->limit + loc->half) { /* cannot happen; do not write wildly */
			loc->win->lost[GT_LOSS_NESTED]++;
			return NULL;
		}
		if (too_long(loc, bytes)) {
			if (unreserve(loc, offset, slots, *tick))
				loc->win->lost[GT_LOSS_SIZE]++;
			return NULL;
		}
		end = change_half(loc, offset, offset + bytes, *tick);
		if (end) {
			offset = reserve_again(loc, end, bytes, tick);
			gt_local_add(&loc->win->lost[GT_LOSS_TORN], UINT64_MAX);
		}
	}
}

/* Values of the turn before could pass for times, and a reading takes long enough for a handler that spools
 * the half. */
static struct gt_slot *fill_in_readings(struct gt_location *loc, struct gt_slot *slot, unsigned room,
					unsigned slots, bool now, uint64_t *tick)
{
	for (unsigned i = 0; i < room + slots; i++)
		slot[i].time = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return gt_metrics_fill(loc, slot, room, now, tick);
}

/* How many slots the readings of an event take; 0: they have to be prepared, or there are none. */
static inline unsigned ready_room(const struct gt_location *loc)
{
	bool ready = loc->hot == gt_self && !gt_metrics_inside(&loc->readings) && !gt_sys_refused();

	return ready ? loc->readings.room : 0;
}

struct gt_slot *gt_reserve_counted(struct gt_hot *hot, uint64_t address, unsigned slots, uint64_t *tick,
				   bool now)
{
	uint64_t end = address + (uint64_t)slots * GT_SLOT, limit, low;
	struct gt_location *loc = hot->loc;
	unsigned room = loc ? ready_room(loc) : 0;

	limit = end + (uint64_t)room * GT_SLOT;
	if (!room || limit > __atomic_load_n(&hot->counted, __ATOMIC_RELAXED))
		return NULL;
	gt_note_length(loc, limit - address);
	/* A handler that has recorded behind our slots makes it fail. */
	if (!gt_local_exchange(&hot->cur, end, limit))
		return NULL;
	if (!now && *tick < (low = gt_lower_bound(loc, address - (uint64_t)(uintptr_t)hot->base)))
		*tick = low;
	return fill_in_readings(loc, (struct gt_slot *)address, room, slots, now, tick);
}

/* With the readings of counters before it: gives back what was reserved, and reserves all of it. */
static struct gt_slot *reserve_with_metrics(struct gt_hot *hot, uint64_t address, unsigned slots,
					    uint64_t *tick, bool now)
{
	struct gt_location *loc = hot->loc;
	struct gt_slot *slot;
	unsigned room = 0;

	if (!loc)
		return NULL;
	if (!unreserve(loc, to_offset(loc, address), slots, *tick))
		return NULL;
	if (!loc->stopped && !gt_location_off(loc) &&
	    !(__atomic_load_n(&gt_attention, __ATOMIC_RELAXED) & (GT_ATT_OFF | GT_ATT_CLOSING)))
		room = gt_metrics_room(loc);
	gt_note_length(loc, (uint64_t)(room + slots) * GT_SLOT);
	address = gt_local_add(&hot->cur, (uint64_t)(room + slots) * GT_SLOT);
	slot = gt_reserve_in(hot, address, room + slots, tick);
	return slot && room ? fill_in_readings(loc, slot, room, slots, now, tick) : slot;
}

struct gt_slot *gt_reserve_event_in(struct gt_hot *hot, uint64_t address, unsigned slots, uint64_t *tick,
				    bool now)
{
	bool scans = now && hot->loc && hot->loc->scans_left;
	struct gt_slot *slot;

	if (gt_unlikely(__atomic_load_n(&gt_attention, __ATOMIC_RELAXED) & GT_ATT_METRICS)) {
		slot = gt_reserve_counted(hot, address, slots, tick, now);
		return slot ? slot : reserve_with_metrics(hot, address, slots, tick, now);
	}
	slot = gt_reserve_in(hot, address, slots, tick);
	if (scans) /* the first event in new code comes after the look that found the code */
		*tick = gt_clock_read();
	return slot;
}

void gt_write_in(struct gt_location *loc, uint64_t word, const uint64_t *data, unsigned extra, uint64_t tick)
{
	uint64_t address = gt_local_add(&loc->hot->cur, (1 + (uint64_t)extra) * GT_SLOT);
	struct gt_slot *slot = gt_reserve_in(loc->hot, address, 1 + extra, &tick);

	if (slot)
		gt_commit_in(loc, slot, word, data, extra, tick);
}

void gt_take_back(struct gt_location *loc, uint64_t from, uint64_t to)
{
	struct gt_def_cut cut = { loc->id, 1, from, to };
	uint64_t mask = gt_signals_block();
	bool spooled = from < loc->win->spooled;

	loc->cut_to = to; /* a handler's sample may be in between */
	if (!spooled)
		gt_fill(loc, from, to, gt_clock_read());
	gt_signals_restore(mask);
	if (spooled)
		gt_journal_put(GT_D_CUT, 0, &(struct gt_piece){ &cut, sizeof(cut) }, 1);
}

void gt_spool_now(struct gt_location *loc)
{
	uint64_t tick = gt_clock_read();
	uint64_t from = gt_stream_end(loc);
	uint64_t end = loc->limit, mask;

	/* A killed process loses nothing anyway; what a flush now saves is the flush later. That is
	 * worth the padding only if a good part of the half is used. */
	if (loc->stopped || loc->busy || loc->half - (end - from) < loc->half / 8 || from >= end)
		return;
	/* If a handler changes halves before, `from` or the limit tell. */
	mask = gt_signals_block();
	if (loc->limit == end &&
	    gt_local_exchange(&loc->hot->cur, to_address(loc, from), to_address(loc, end))) {
		gt_give_up(loc, from, end, tick);
		change_half(loc, end, end + 1, tick);
	}
	gt_signals_restore(mask);
}
