/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading windows that are being written; see windows.h. */
#include "config.h"

#include "live/windows.h"

#include "lib/assemble/util/array.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define HALF_MOST (1u << 30)
#define AHEAD     64u /* unfinished slots in a row, behind which nothing finished is looked for */

static bool believable(const struct gt_win_header *win, uint32_t id, uint64_t bytes)
{
	uint32_t half = win->half_bytes;

	return win->magic == GT_MAGIC_WIN && win->version == GT_FORMAT_VERSION && win->id == id &&
	       win->header_bytes == GT_PAGE && half >= GT_PAGE && half <= HALF_MOST && !(half & (half - 1)) &&
	       bytes >= GT_PAGE + 2 * (uint64_t)half;
}

bool gt_live_window_map(struct gt_live_window *window, int folder, uint32_t id)
{
	const struct gt_win_header *win;
	char name[24];
	struct stat st;
	int fd;

	snprintf(name, sizeof(name), "l%u.win", id);
	fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return false;
	win = fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size < (off_t)GT_PAGE
		      ? MAP_FAILED
		      : mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (win == MAP_FAILED)
		return false;
	if (!believable(win, id, (uint64_t)st.st_size)) {
		munmap((void *)(uintptr_t)win, (size_t)st.st_size);
		return false;
	}
	window->win = win;
	window->mapped = (size_t)st.st_size;
	return true;
}

void gt_live_window_unmap(struct gt_live_window *window)
{
	if (window->win)
		munmap((void *)(uintptr_t)window->win, window->mapped);
	free(window->values);
	memset(window, 0, sizeof(*window));
}

/* ---- what a record means -------------------------------------------------------------------------- */

static void enter(struct gt_live_window *window, uint64_t region, uint64_t tick)
{
	if (window->depth < GT_LIVE_DEPTH)
		window->open[window->depth] = (struct gt_live_open){region, tick};
	window->depth++;
}

/* Regions above it that were not left are over, too. One that was never seen to begin closes nothing. */
static void leave(struct gt_live_window *window, uint64_t region)
{
	uint32_t depth = window->depth;

	window->left = region;
	if (depth > GT_LIVE_DEPTH) {
		window->depth--;
		return;
	}
	while (depth && window->open[depth - 1].region != region)
		depth--;
	if (depth)
		window->depth = depth - 1;
}

static struct gt_live_value *value_of(struct gt_live_window *window, uint32_t metric)
{
	struct gt_live_value *values;

	for (size_t i = 0; i < window->value_count; i++)
		if (window->values[i].metric == metric)
			return &window->values[i];
	if (!gt_array_has_room(window->values, window->value_count, &window->value_room))
		return NULL;
	values = &window->values[window->value_count++];
	*values = (struct gt_live_value){.metric = metric};
	return values;
}

static void note_value(struct gt_live_window *window, uint32_t metric, uint64_t value, uint64_t tick)
{
	struct gt_live_value *v = value_of(window, metric);

	if (v && tick >= v->tick) {
		v->value = value;
		v->tick = tick;
	}
}

/* `data`: the words of the continuation slots. */
static void note_values(struct gt_live_window *window, const uint64_t *data, unsigned extra, uint32_t first,
			uint64_t tick)
{
	uint64_t count = extra ? data[0] : 0;

	for (uint64_t i = 0; i < count && i + 1 < 2 * (uint64_t)extra; i++)
		note_value(window, first + (uint32_t)i, data[1 + i], tick);
}

static bool is_event(unsigned type)
{
	return type != GT_T_PAD && type != GT_T_FLUSH && type != GT_T_GAP && type != GT_T_ON &&
	       type != GT_T_OFF && type != GT_T_FOR_LOCATION && type != GT_T_METRICS &&
	       !GT_TYPE_IS_ATTR(type);
}

static void note(struct gt_live_window *window, const struct gt_slot *slots, uint64_t word, uint64_t tick)
{
	unsigned type = GT_WORD_TYPE(word), extra = GT_TYPE_HAS_EXTRA(type) ? GT_WORD_EXTRA(word) : 0;
	const uint64_t *data = (const uint64_t *)(slots + 1);

	window->events += is_event(type);
	switch (type) {
	case GT_T_ENTER_ADDR:
		enter(window, GT_WORD_PAYLOAD(word), tick);
		break;
	case GT_T_LEAVE_ADDR:
		leave(window, GT_WORD_PAYLOAD(word));
		break;
	case GT_T_ENTER:
		enter(window, GT_LIVE_BY_ID | GT_WORD_PAYLOAD(word), tick);
		break;
	case GT_T_LEAVE:
		leave(window, GT_LIVE_BY_ID | GT_WORD_PAYLOAD(word));
		break;
	case GT_T_IO_ENTER:
		enter(window, GT_LIVE_BY_ID | GT_IO_WORD_REGION(word), tick);
		break;
	case GT_T_IO_LEAVE:
		leave(window, GT_LIVE_BY_ID | GT_IO_WORD_REGION(word));
		break;
	case GT_T_MPI_SEND_ENTER:
		enter(window, GT_LIVE_BY_ID | GT_MESSAGE_REGION(word), tick);
		break;
	case GT_T_MPI_RECV_LEAVE:
		leave(window, GT_LIVE_BY_ID | GT_MESSAGE_REGION(word));
		break;
	case GT_T_METRIC:
		if (extra)
			note_value(window, (uint32_t)GT_WORD_LOW(word), data[0], tick);
		break;
	case GT_T_METRICS:
		note_values(window, data, extra, (uint32_t)GT_WORD_LOW(word), tick);
		break;
	case GT_T_THREAD_BEGIN:
		window->depth = 0;
		window->ended = false;
		break;
	case GT_T_THREAD_END:
		window->depth = 0;
		window->ended = true;
		break;
	}
}

/* ---- where records are ---------------------------------------------------------------------------- */

static const uint32_t short_types = 0
#define GT_RECORD(name, code, least, handler, owner, payload, data, otf2)                                    \
	| ((code) < 32 ? 1u << ((code)&31) : 0)
#include "gputrace/records.def"
#undef GT_RECORD
	;

static bool type_known(unsigned type)
{
	return GT_TYPE_HAS_EXTRA(type) ? type < GT_T_FIRST_RESERVED
				       : type != GT_T_NONE && short_types >> type & 1;
}

static uint64_t half_base(const struct gt_win_header *win, unsigned index)
{
	return __atomic_load_n(&win->half_base[index], __ATOMIC_ACQUIRE);
}

/* The lowest time that is valid there; UINT64_MAX: its turn is just beginning, nothing is in it yet. */
static uint64_t half_low(const struct gt_win_header *win, unsigned index)
{
	uint64_t low = __atomic_load_n(&win->half_tick[index], __ATOMIC_ACQUIRE);

	if (win->flags & GT_LOC_COMMITS)
		return 0;
	return half_base(win, index ^ 1) < half_base(win, index) &&
			       low < __atomic_load_n(&win->half_tick[index ^ 1], __ATOMIC_ACQUIRE)
		       ? UINT64_MAX
		       : low;
}

/*
 * Reads the half that begins at `base` from window->at on. Returns false where what is finished ends before
 * the end of the half. What was copied counts only if the half is still the same afterwards.
 */
static bool read_half(struct gt_live_window *window, uint64_t base, uint64_t now)
{
	const struct gt_win_header *win = window->win;
	uint64_t half = win->half_bytes, at = window->at;
	unsigned index = (unsigned)(base / half & 1);
	const char *slots = (const char *)win + GT_PAGE + base % (2 * half);
	bool foreign = win->flags & GT_LOC_COMMITS;
	uint64_t low = half_low(win, index);
	uint64_t end = foreign ? __atomic_load_n(&win->committed, __ATOMIC_ACQUIRE) : base + half;
	unsigned unfinished = 0;
	bool late; /* it was counted as lost when its turn ended */
	struct gt_slot copy[1 + GT_MAX_EXTRA];

	if (end > base + half)
		end = base + half;
	while (at < end && unfinished < AHEAD) {
		const struct gt_slot *slot = (const struct gt_slot *)(slots + (at - base));
		uint64_t tick = __atomic_load_n(&slot->time, __ATOMIC_ACQUIRE);
		uint64_t word = __atomic_load_n(&slot->word, __ATOMIC_RELAXED);
		unsigned type = GT_WORD_TYPE(word);
		uint64_t bytes = GT_SLOT *
				 (1 + (uint64_t)(GT_TYPE_HAS_EXTRA(type) ? GT_WORD_EXTRA(word) : 0));

		if (tick < low || (tick > now && !foreign) || !type_known(type) || at + bytes > end) {
			unfinished++;
			at += GT_SLOT;
			continue;
		}
		late = at < win->kept_to[index] && at + bytes > win->kept_from[index];
		memcpy(copy, slot, bytes);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (half_base(win, index) != base)
			return false;
		if (late) {
			at += bytes;
			if (!unfinished) /* else there is room before it, for what will be written yet */
				window->at = at;
			continue;
		}
		note(window, copy, word, tick);
		if (tick > window->last_tick)
			window->last_tick = tick;
		at += bytes;
		window->at = at;
		unfinished = 0;
	}
	return window->at == base + half;
}

/* The slots below `to` were overwritten unread: whatever was open may have been left. */
static void skip(struct gt_live_window *window, uint64_t to)
{
	window->events += (to - window->at) / GT_SLOT;
	window->at = to;
	window->depth = 0;
}

void gt_live_window_look(struct gt_live_window *window, uint64_t now)
{
	const struct gt_win_header *win = window->win;

	for (unsigned turn = 0; turn < 3; turn++) {
		uint64_t half = win->half_bytes, base = window->at / half * half;
		unsigned index = (unsigned)(base / half & 1);
		uint64_t here = half_base(win, index), other = half_base(win, index ^ 1);

		if (here != base) { /* a later turn, or none yet */
			uint64_t oldest = here < other ? here : other;

			if (here == UINT64_MAX || here < base || oldest % half || oldest < window->at)
				return;
			skip(window, oldest);
			continue;
		}
		if (!read_half(window, base, now))
			return;
	}
}
