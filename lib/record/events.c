/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The events and switches of adapter.h, out of line, for adapters and the user API.
 * Limits: no buffer code here (hot.h, buffer.c); these functions only form the records.
 */
#include "gputrace/accel.h"
#include "gputrace/call.h"
#include "gputrace/io.h"
#include "gputrace/ranks.h"
#include "gputrace/thread.h"
#include "lib/common/text.h"
#include "lib/record/call_paths.h"
#include "lib/record/callstack.h"
#include "lib/record/control.h"
#include "lib/record/record.h"
#include "lib/record/verdict.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

uint64_t gt_now(void)
{
	return gt_clock_read();
}

/* An event is not recorded: its attributes are not for the next. */
static __attribute__((noinline)) void drop_attributes(struct gt_location *loc)
{
	if (gt_stream_end(loc) == loc->attr_to)
		gt_take_back(loc, loc->attr_from, loc->attr_to);
	loc->attr_to = 0;
}

static inline bool refused(void)
{
	struct gt_location *loc = gt_self->loc;

	if (gt_unlikely(loc && loc->attr_to))
		drop_attributes(loc);
	return false;
}

/* Does the filter let this call of the region pass? Filtered regions were never defined. */
static bool passes(gt_ref region, bool enter)
{
	uint64_t key = GT_VERDICT_REGION(region);
	struct gt_location *loc;

	if (!region)
		return refused();
	if (gt_likely(gt_verdict_of(key) != GT_VERDICT_ASK))
		return true;
	loc = gt_own_location();
	return !loc ||
	       (enter ? gt_callstack_enter(loc->callstack, key, NULL)
		      : gt_callstack_leave(loc->callstack, key, 0)) ||
	       refused();
}

static __attribute__((noinline)) bool judge_enter(gt_ref region, bool always, uint64_t tick)
{
	if (!passes(region, true))
		return false;
	if (gt_verdict_mode() & GT_VERDICT_PATHS)
		gt_path_enter(region, always, tick ? tick : gt_clock_read());
	return true;
}

static __attribute__((noinline)) bool judge_leave(gt_ref region, uint64_t *tick, const void *caller)
{
	if (!passes(region, false))
		return false;
	if (gt_verdict_mode() & GT_VERDICT_PATHS)
		*tick = gt_path_leave(region, *tick ? *tick : gt_clock_read(), caller);
	return true;
}

/* Is the enter of a call recorded, which is at `tick`, or now (0)? `always`: see gt_call_watch(). */
static inline bool enters(gt_ref region, bool always, uint64_t tick)
{
	return gt_likely(region && !gt_verdict_mode()) || judge_enter(region, always, tick);
}

/* Is the leave? If its call path is recorded, too, that takes time, which is not the call's: then *tick is
 * set. */
static inline bool leaves(gt_ref region, uint64_t *tick, const void *caller)
{
	return gt_likely(region && !gt_verdict_mode()) || judge_leave(region, tick, caller);
}

static void put_at(uint64_t word, uint64_t tick)
{
	if (tick)
		gt_write_event(word, NULL, 0, tick);
	else
		gt_put(word);
}

void gt_enter(gt_ref region)
{
	if (enters(region, false, 0))
		gt_put(GT_WORD(GT_T_ENTER, region));
}

/*
 * A limit that is not 0 says that the process is being recorded, and this thread, by the hot path's
 * clock; what is left to ask is whether it is inside of gputrace.
 */
static inline bool plain(const struct gt_hot *hot, gt_ref region, unsigned slots)
{
	return gt_likely(region && !gt_depth && !gt_verdict_mode() &&
			 hot->cur + (uint64_t)slots * GT_SLOT <=
				 __atomic_load_n(&hot->limit, __ATOMIC_RELAXED));
}

/* Apart, so that the quick way needs no frame. */
static __attribute__((noinline)) bool enter_slow(gt_ref region)
{
	if (!gt_active())
		return refused();
	gt_enter(region);
	return true;
}

static __attribute__((noinline)) bool put_slow(struct gt_hot *hot, uint64_t address, uint64_t word)
{
	gt_put_slow(hot, address, word);
	return true;
}

/* gt_put() for the end of a function that returns true. */
static inline bool put(struct gt_hot *hot, uint64_t word)
{
	uint64_t address = gt_local_add(&hot->cur, GT_SLOT);

	if (gt_unlikely(address >= __atomic_load_n(&hot->limit, __ATOMIC_RELAXED)))
		return put_slow(hot, address, word);
	gt_commit((struct gt_slot *)address, word, NULL, 0, gt_hot_ticks());
	return true;
}

bool gt_enter_if_active(gt_ref region)
{
	struct gt_hot *hot = gt_self;

	return gt_likely(plain(hot, region, 1)) ? put(hot, GT_WORD(GT_T_ENTER, region)) : enter_slow(region);
}

static __attribute__((noinline)) void leave_slow(gt_ref region, const void *caller)
{
	uint64_t tick = 0;

	if (judge_leave(region, &tick, caller))
		put_at(GT_WORD(GT_T_LEAVE, region), tick);
}

void gt_leave(gt_ref region)
{
	if (gt_likely(region && !gt_verdict_mode()))
		gt_put(GT_WORD(GT_T_LEAVE, region));
	else
		leave_slow(region, __builtin_return_address(0));
}

/*
 * Two records at one time, with one reservation. `slot` is where it begins; false: a handler came in
 * between and left no room, and nothing was written.
 */
static inline bool put_both(struct gt_hot *hot, unsigned slots, struct gt_slot **slot, uint64_t *now)
{
	uint64_t address = gt_local_add(&hot->cur, (uint64_t)slots * GT_SLOT);

	*slot = (struct gt_slot *)address;
	*now = gt_hot_ticks();
	if (gt_unlikely(address + (uint64_t)slots * GT_SLOT >
			__atomic_load_n(&hot->limit, __ATOMIC_RELAXED)))
		*slot = gt_reserve_slow(&hot, address, slots, now);
	return *slot != NULL;
}

bool gt_enter_record(gt_ref region, unsigned type, uint64_t low, const uint64_t *data, unsigned extra)
{
	struct gt_hot *hot = gt_self;
	struct gt_slot *slot;
	uint64_t now;

	if (gt_unlikely(!plain(hot, region, 2 + extra) || 2 + extra > GT_KEPT_LEAST)) {
		if (!gt_enter_if_active(region))
			return false;
		gt_record(type, low, data, extra);
		return true;
	}
	if (gt_unlikely(!put_both(hot, 2 + extra, &slot, &now)))
		return true; /* counted */
	gt_commit(slot, GT_WORD(GT_T_ENTER, region), NULL, 0, now);
	gt_commit(slot + 1, GT_WORDX(type, extra, low), data, extra, now);
	return true;
}

/* As gt_enter_record(); the record comes first. */
static __attribute__((noinline)) void leave_record(gt_ref region, unsigned type, uint64_t low,
						   const uint64_t *data, unsigned extra, const void *caller)
{
	struct gt_hot *hot = gt_self;
	struct gt_slot *slot;
	uint64_t now;

	if (gt_unlikely(!plain(hot, region, 2 + extra) || 2 + extra > GT_KEPT_LEAST)) {
		gt_record(type, low, data, extra);
		leave_slow(region, caller);
		return;
	}
	if (gt_unlikely(!put_both(hot, 2 + extra, &slot, &now)))
		return; /* counted */
	gt_commit(slot, GT_WORDX(type, extra, low), data, extra, now);
	gt_commit(slot + 1 + extra, GT_WORD(GT_T_LEAVE, region), NULL, 0, now);
}

static __attribute__((noinline)) void leave_woken_slow(gt_ref region, uint64_t woken, const void *caller)
{
	uint64_t now = gt_clock_read();

	/* as in gt_enter_attribute() */
	if (judge_leave(region, &now, caller))
		gt_write_event(woken, (uint64_t[2]){ now, GT_WORD(GT_T_LEAVE, region) }, 1, now);
}

void gt_leave_woken(gt_ref region, uint64_t by, uint64_t tick)
{
	uint64_t woken = GT_WOKEN_WORD(by, tick), now;
	struct gt_hot *hot = gt_self;
	struct gt_slot *slot;

	if (gt_unlikely(!plain(hot, region, 2))) {
		leave_woken_slow(region, woken, __builtin_return_address(0));
		return;
	}
	if (gt_unlikely(!put_both(hot, 2, &slot, &now)))
		return; /* counted */
	gt_commit(slot + 1, GT_WORD(GT_T_LEAVE, region), NULL, 0, now); /* first: see call.h */
	gt_commit(slot, woken, NULL, 0, now);
}

static inline bool fits(const struct gt_hot *hot, gt_ref region, uint64_t bytes)
{
	return gt_likely(plain(hot, region, 1) && region < GT_MESSAGE_REGIONS && bytes <= GT_MESSAGE_MOST);
}

/* A message and the enter or leave of its call in one slot; 0: they do not fit, or the channel is new. */
static inline uint64_t message_word(const struct gt_hot *hot, unsigned type, gt_ref region, gt_ref comm,
				    uint32_t peer, uint32_t tag, uint64_t bytes)
{
	struct gt_channel *place;
	gt_ref channel = fits(hot, region, bytes) ? gt_channel_find(comm, peer, tag, &place) : GT_NONE;

	return gt_likely(channel) ? GT_MESSAGE_WORD(type, region, channel, bytes) : 0;
}

static __attribute__((noinline)) bool send_slow(gt_ref region, gt_ref comm, uint32_t peer, uint32_t tag,
						uint64_t bytes)
{
	const uint64_t data[2] = { peer | (uint64_t)tag << 32, bytes };
	gt_ref channel = fits(gt_self, region, bytes) ? gt_def_channel(comm, peer, tag) : GT_NONE;

	return channel ? put(gt_self, GT_MESSAGE_WORD(GT_T_MPI_SEND_ENTER, region, channel, bytes))
		       : gt_enter_record(region, GT_T_MPI_SEND, comm, data, 1);
}

/* It is jumped to, so its return address is that of gt_leave_recv(), which saves no registers for it. */
static __attribute__((noinline)) void recv_slow(gt_ref region, gt_ref comm, uint32_t peer, uint32_t tag,
						uint64_t bytes)
{
	const uint64_t data[2] = { peer | (uint64_t)tag << 32, bytes };
	gt_ref channel = fits(gt_self, region, bytes) ? gt_def_channel(comm, peer, tag) : GT_NONE;

	if (channel)
		gt_put(GT_MESSAGE_WORD(GT_T_MPI_RECV_LEAVE, region, channel, bytes));
	else
		leave_record(region, GT_T_MPI_RECV, comm, data, 1, __builtin_return_address(0));
}

bool gt_enter_send(gt_ref region, gt_ref comm, uint32_t peer, uint32_t tag, uint64_t bytes)
{
	struct gt_hot *hot = gt_self;
	uint64_t word = message_word(hot, GT_T_MPI_SEND_ENTER, region, comm, peer, tag, bytes);

	return gt_likely(word) ? put(hot, word) : send_slow(region, comm, peer, tag, bytes);
}

void gt_leave_recv(gt_ref region, gt_ref comm, uint32_t peer, uint32_t tag, uint64_t bytes)
{
	uint64_t word = message_word(gt_self, GT_T_MPI_RECV_LEAVE, region, comm, peer, tag, bytes);

	if (gt_likely(word))
		gt_put(word);
	else
		recv_slow(region, comm, peer, tag, bytes);
}

void gt_enter_at(gt_ref region, uint64_t tick)
{
	if (enters(region, false, tick))
		gt_write(NULL, GT_WORD(GT_T_ENTER, region), NULL, 0, tick);
}

bool gt_enter_attribute(gt_ref region, gt_ref attribute, uint64_t value, uint64_t tick)
{
	uint64_t enter = GT_WORD(GT_T_ENTER, region);

	if (!enters(region, attribute, tick))
		return false;
	if (!tick)
		tick = gt_clock_read();
	/* One reservation: what follows a record in it is written as it is, here a record of its own. */
	if (!attribute)
		gt_write_event(enter, NULL, 0, tick);
	else if (value <= UINT32_MAX && attribute < 1u << 24)
		gt_write_event(GT_WORD(GT_T_TAG, (uint64_t)attribute << 32 | value),
			       (uint64_t[2]){ tick, enter }, 1, tick);
	else
		gt_write_event(GT_WORDX(GT_T_ATTR, 1, attribute), (uint64_t[4]){ value, 0, tick, enter }, 2,
			       tick);
	return true;
}

void gt_leave_at(gt_ref region, uint64_t tick)
{
	if (leaves(region, &tick, __builtin_return_address(0)))
		gt_write_event(GT_WORD(GT_T_LEAVE, region), NULL, 0, tick);
}

/* The out-of-line slow paths of call.h. */
const unsigned *gt_call_prepare(struct gt_call *call)
{
	*call = (struct gt_call){ &gt_self, &gt_depth };
	return &gt_verdicts.mode;
}

uint64_t gt_call_enter_slow(struct gt_hot *hot, uint64_t address, uint64_t word, uint64_t enter)
{
	uint64_t now = gt_clock_read();
	struct gt_slot *slot = gt_reserve_event(&hot, address, 2, &now, true);

	if (slot) { /* else it is counted */
		gt_commit(slot + 1, enter, NULL, 0, now);
		gt_commit(slot, word, NULL, 0, now);
	}
	return now;
}

uint64_t gt_call_leave_slow(struct gt_hot *hot, uint64_t address, uint64_t leave, uint64_t after)
{
	uint64_t now = gt_clock_read();
	struct gt_slot *slot;

	now = now < after ? after : now;
	slot = gt_reserve_event(&hot, address, 1, &now, true);
	if (slot)
		gt_commit(slot, leave, NULL, 0, now);
	gt_depth--;
	return now;
}

void gt_record_at(unsigned type, uint64_t low, const uint64_t *data, unsigned extra, uint64_t tick)
{
	if (extra > GT_MAX_EXTRA)
		gt_count_lost(GT_LOSS_SIZE, 1);
	else
		gt_write(NULL,
			 GT_TYPE_HAS_EXTRA(type) ? GT_WORDX(type, extra, low) : GT_WORD(type, low),
			 data, extra, tick);
}

void gt_record(unsigned type, uint64_t low, const uint64_t *data, unsigned extra)
{
	gt_record_at(type, low, data, extra, gt_clock_read());
}

/* Does it fit into one slot? */
static inline bool short_io(gt_ref region, gt_ref handle)
{
	return region && region < GT_IO_REGIONS && handle && handle < GT_IO_HANDLES;
}

static __attribute__((noinline)) uint64_t io_begin(gt_ref region, gt_ref handle, unsigned mode,
						   uint64_t bytes)
{
	static uint64_t ids;
	uint64_t id, tick;

	if (!gt_active())
		return GT_IO_NOT;
	if (!enters(region, false, 0))
		return 0;
	if (short_io(region, handle) && (bytes <= GT_IO_MOST || bytes == UINT64_MAX)) {
		gt_put(GT_IO_WORD(GT_T_IO_ENTER, mode, region, handle, bytes & GT_IO_UNKNOWN));
		return 0;
	}
	if (!handle) {
		gt_put(GT_WORD(GT_T_ENTER, region));
		return 0;
	}
	/* Those of short records count up from 1. */
	id = UINT64_C(1) << 63 | __atomic_add_fetch(&ids, 1, __ATOMIC_RELAXED);
	tick = gt_clock_read();
	gt_write_event(GT_WORD(GT_T_ENTER, region), NULL, 0, tick);
	gt_record_at(GT_T_IO_BEGIN, handle, (uint64_t[4]){ mode, bytes, id, 0 }, 2, tick);
	return id;
}

/* As in call.h: a limit that is not 0 says that this thread is being recorded. */
uint64_t gt_io_begin(gt_ref region, gt_ref handle, unsigned mode, uint64_t bytes)
{
	if (gt_unlikely(gt_depth || gt_verdict_mode() || !short_io(region, handle) || bytes > GT_IO_MOST ||
			!__atomic_load_n(&gt_self->limit, __ATOMIC_RELAXED)))
		return io_begin(region, handle, mode, bytes);
	gt_put(GT_IO_WORD(GT_T_IO_ENTER, mode, region, handle, bytes));
	return 0;
}

static __attribute__((noinline)) void io_end(gt_ref region, gt_ref handle, uint64_t bytes, uint64_t id,
					     const void *caller)
{
	uint64_t tick = 0;

	if (!leaves(region, &tick, caller))
		return;
	if (handle && !id && bytes <= GT_IO_MOST) {
		put_at(GT_IO_WORD(GT_T_IO_LEAVE, 0, region, handle, bytes), tick);
		return;
	}
	if (!tick)
		tick = gt_clock_read();
	if (handle)
		gt_record_at(GT_T_IO_COMPLETE, handle, (uint64_t[4]){ 0, 0, id, bytes }, 2, tick);
	gt_write_event(GT_WORD(GT_T_LEAVE, region), NULL, 0, tick);
}

void gt_io_end(gt_ref region, gt_ref handle, uint64_t bytes, uint64_t id)
{
	if (gt_unlikely(gt_verdict_mode() || !region || !handle || id || bytes > GT_IO_MOST))
		io_end(region, handle, bytes, id, __builtin_return_address(0));
	else
		gt_put(GT_IO_WORD(GT_T_IO_LEAVE, 0, region, handle, bytes));
}

/* ENTER, PARAM_UINT with its value, LEAVE */
#define SPAN_SLOTS 4u
#define PROCESS_STACK 32768u /* bytes: paths and what is read of /proc lie there */
#define THREAD_STACK  3072u

void gt_repeat(struct gt_repeated *last, gt_ref region, gt_ref counter, uint64_t begin)
{
	struct gt_location *loc = region ? gt_own_location() : NULL;
	uint64_t end = loc ? gt_stream_end(loc) : 0, now;
	struct gt_slot *leave;

	if (!loc)
		return;
	/* A handler that records between here and the stores has later slots; order is restored. */
	if (last->end == end && last->region == region && end >= loc->win->spooled + SPAN_SLOTS * GT_SLOT &&
	    end > loc->limit - loc->half + SPAN_SLOTS * GT_SLOT) {
		leave = (struct gt_slot *)(loc->hot->base + ((end - GT_SLOT) & loc->hot->mask));
		now = gt_clock_read();
		/* If the time between two calls is longer than a call, the program works there. */
		if (leave->word == GT_WORD(GT_T_LEAVE, region) && begin - leave->time <= now - begin &&
		    leave[-2].word == GT_WORDX(GT_T_PARAM_UINT, 1, counter)) {
			leave[-1].time++;
			leave->time = now;
			return;
		}
	}
	gt_enter_at(region, begin);
	gt_record_at(GT_T_PARAM_UINT, counter, (uint64_t[2]){ 1, 0 }, 1, begin);
	if (gt_likely(!(__atomic_load_n(&gt_attention, __ATOMIC_RELAXED) & GT_ATT_METRICS)))
		leave_slow(region, __builtin_return_address(0));
	else if (passes(region, false)) /* a span that may become longer has no readings in it */
		gt_write(NULL, GT_WORD(GT_T_LEAVE, region), NULL, 0, gt_clock_read());
	last->end = gt_stream_end(loc);
	last->region = region;
}

bool gt_enter_early(gt_ref region, uint64_t *begin, uint64_t *mark)
{
	struct gt_hot *hot = gt_self;
	struct gt_slot *slot;

	if (gt_unlikely(!plain(hot, region, 1)))
		return false;
	if (gt_unlikely(!put_both(hot, 1, &slot, begin))) {
		*mark = UINT64_MAX; /* counted */
		return true;
	}
	gt_commit(slot, GT_WORD(GT_T_ENTER, region), NULL, 0, *begin);
	*mark = gt_stream_end(gt_self->loc);
	return true;
}

bool gt_enter_withdraw(uint64_t mark)
{
	struct gt_hot *hot = gt_self;
	uint64_t end, time;
	struct gt_slot *slot;

	if (!hot->loc || gt_stream_end(hot->loc) != mark)
		return false;
	end = __atomic_load_n(&hot->cur, __ATOMIC_RELAXED);
	slot = (struct gt_slot *)(end - GT_SLOT);
	time = slot->time;
	slot->time = 0; /* whoever looks into the window of a killed process must not find it */
	if (gt_local_exchange(&hot->cur, end, end - GT_SLOT))
		return true;
	slot->time = time; /* a handler came and has recorded */
	return false;
}

void gt_lost(unsigned cause, uint64_t events)
{
	if (cause < GT_LOSS_N)
		gt_count_lost(cause, events);
}

static void one_value(unsigned type, gt_ref ref, uint64_t value)
{
	if (ref)
		gt_record(type, ref, (uint64_t[2]){ value, 0 }, 1);
}

void gt_metric_uint(gt_ref metric, uint64_t value)
{
	one_value(GT_T_METRIC, metric, value);
}

void gt_metric_int(gt_ref metric, int64_t value)
{
	one_value(GT_T_METRIC, metric, (uint64_t)value);
}

void gt_metric_double(gt_ref metric, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	one_value(GT_T_METRIC, metric, bits);
}

void gt_attribute(gt_ref attribute, uint64_t value)
{
	struct gt_location *loc = attribute ? gt_own_location() : NULL;
	uint64_t from = loc ? gt_stream_end(loc) : 0;

	one_value(GT_T_ATTR, attribute, value);
	if (!loc)
		return;
	if (loc->attr_to != from) /* the first of its event */
		loc->attr_from = from;
	loc->attr_to = gt_stream_end(loc);
}

void gt_marker(gt_ref marker, const char *text)
{
	one_value(GT_T_MARKER, marker, gt_def_string(text ? text : ""));
}

/* ---- control ---------------------------------------------------------------------------------- */

void gt_switch(bool on)
{
	if (!gt_start())
		return;
	if (on)
		gt_attention_clear(GT_ATT_OFF);
	else
		gt_attention_set(GT_ATT_OFF);
	/* The mark in this thread's stream is made now, not at its next event. */
	if (gt_own_location())
		gt_put(GT_WORD(GT_T_PAD, 0));
}

void gt_switch_thread(bool on)
{
	struct gt_location *loc;

	if (!gt_start())
		return;
	loc = gt_own_location(); /* that it begins is recorded in any case */
	gt_thread_off = !on;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (!loc)
		return;
	if (!on)
		gt_hot_stop(loc->hot);
	gt_put(GT_WORD(GT_T_PAD, 0)); /* the mark is made now */
}

bool gt_is_on(void)
{
	return !gt_thread_off && !(__atomic_load_n(&gt_attention, __ATOMIC_RELAXED) & GT_ATT_OFF) &&
	       (gt_state_now() == GT_READY || gt_state_now() == GT_FORKED);
}

/* Slots of a sample with so many new frames, two to a slot. */
static unsigned sample_slots(unsigned frames)
{
	return 1 + (frames + 1) / 2;
}

/* Is there stack enough to begin recording the thread, or the process with it? */
static bool has_room(void)
{
	return gt_raw_stack_left() >= (gt_state_now() == GT_READY ? THREAD_STACK : PROCESS_STACK);
}

bool gt_sample(uint64_t *half, uint64_t low, uint64_t *frames, unsigned n, unsigned kept, uint64_t tick)
{
	struct gt_location *loc;
	uint64_t at, end, first;
	unsigned fresh;

	if (!gt_is_on() || gt_sys_refused() || (!gt_self->loc && !has_room()))
		return false;
	loc = gt_own_location();
	if (!loc || (!tick && loc->attr_to && gt_stream_end(loc) == loc->attr_to))
		return false;
	at = gt_stream_end(loc);
	end = at + sample_slots(n - kept) * GT_SLOT;
	if (*half <= loc->cut_to || (end - 1) / loc->half != (*half - 1) / loc->half)
		kept = 0;
	fresh = n - kept;
	first = frames[fresh];
	frames[fresh] = 0;
	gt_record_at(GT_T_SAMPLE, low | (uint64_t)kept << 32, frames, sample_slots(fresh) - 1,
		     tick ? tick : gt_clock_read());
	frames[fresh] = first;
	*half = gt_stream_end(loc);
	return true;
}

void gt_note_states(uint64_t apart, uint64_t tick)
{
	struct gt_location *loc = gt_self->loc;
	uint64_t sums[4];

	if (loc && gt_state_now() == GT_READY && gt_is_on() && !gt_sys_refused() &&
	    (!loc->attr_to || gt_stream_end(loc) != loc->attr_to) && gt_location_again(loc, apart, sums))
		gt_record_at(GT_T_STATES, 0, sums, 2, tick ? tick : gt_clock_read());
}

void gt_buffer_flush(void)
{
	struct gt_location *loc = gt_start() ? gt_own_location() : NULL;

	if (loc)
		gt_spool_now(loc);
}

/* The readings stand before an event: one that is nothing. */
void gt_update_counters(void)
{
	struct gt_hot *hot = gt_self;
	uint64_t address, tick;
	struct gt_slot *slot;

	if (!(__atomic_load_n(&gt_attention, __ATOMIC_RELAXED) & GT_ATT_METRICS) || !gt_active())
		return;
	address = gt_local_add(&hot->cur, GT_SLOT);
	tick = gt_clock_read();
	slot = gt_reserve_event(&hot, address, 1, &tick, true);
	if (slot)
		gt_commit(slot, GT_WORD(GT_T_PAD, 0), NULL, 0, tick);
}

void gt_rewind_mark(void)
{
	struct gt_location *loc = gt_start() ? gt_own_location() : NULL;

	if (!loc)
		return;
	loc->mark = gt_stream_end(loc);
	loc->mark_set = true;
}

void gt_rewind(void)
{
	struct gt_location *loc = gt_start() ? gt_own_location() : NULL;
	struct gt_def_cut cut;

	if (!loc || !loc->mark_set)
		return;
	loc->cut_to = UINT64_MAX; /* a sample that comes now must not build upon one that goes */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	cut = (struct gt_def_cut){ loc->id, 0, loc->mark, gt_stream_end(loc) };
	if (cut.to > cut.from)
		gt_journal_put(GT_D_CUT, 0, &(struct gt_piece){ &cut, sizeof(cut) }, 1);
	loc->cut_to = cut.to;
	loc->mark_set = false;
}

/* ---- the rest --------------------------------------------------------------------------------------- */

uint32_t gt_interruption(void)
{
	return gt_run ? __atomic_load_n(&gt_run->interruption_ns, __ATOMIC_RELAXED) : 0;
}

#define SETTINGS_MOST 128u
#define SETTING_TEXT  32u /* bytes of a number or a word */
/* Texts are what they are; of the others, which are short, whoever comes first writes what all would. */
static const char *setting_text(size_t i)
{
	static char texts[SETTINGS_MOST][SETTING_TEXT];
	const struct gt_setting_row *row = &gt_setting_rows[i];
	char text[SETTING_TEXT];

	if (row->type == GT_SET_PATH || row->type == GT_SET_TEXT)
		return *(const char *const *)((const char *)&gt_settings + row->offset);
	gt_settings_text(row, text, sizeof(text));
	memcpy(texts[i], text, sizeof(text));
	return texts[i];
}

const char *gt_setting(const char *name)
{
	if (gt_state_begun() == GT_COLD) /* they are not read yet */
		return NULL;
	for (size_t i = 0; i < gt_setting_count && i < SETTINGS_MOST; i++)
		if (!strcmp(gt_setting_rows[i].name, name))
			return setting_text(i);
	return NULL;
}
