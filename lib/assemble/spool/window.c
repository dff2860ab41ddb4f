/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looking into a window: a process that was killed has left its last records there, and nothing but
 * their times says which of the slots were finished.
 */
#include "config.h"

#include "lib/assemble/util/io.h"
#include "lib/assemble/spool/unpack.h"
#include "lib/assemble/spool/window.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HALF_LEAST GT_PAGE
#define HALF_MOST  (1u << 30)
#define PIECE      (64u << 10)
#define STREAM_MAX (UINT64_C(1) << 56)

/* Types of one slot, a bit each. */
static const uint32_t short_types = 0
#define GT_RECORD(name, code, least, handler, owner, payload, data, otf2)                                    \
	| ((code) < 32 ? 1u << ((code) & 31) : 0)
#include "gputrace/records.def"
#undef GT_RECORD
	;

bool gt_type_known(unsigned type)
{
	return GT_TYPE_HAS_EXTRA(type) ? type < GT_T_FIRST_RESERVED
				       : type != GT_T_NONE && short_types >> type & 1;
}

void gt_walk_slots(struct gt_slot_walk *walk, struct gt_slot *slots, size_t n, uint64_t offset)
{
	const struct gt_slot pad = { .time = walk->low, .word = GT_WORD(GT_T_PAD, 0) };
	uint64_t pending = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned type = GT_WORD_TYPE(slots[i].word);
		uint64_t at = offset + i * GT_SLOT;
		uint64_t bytes = GT_SLOT;

		if (walk->skip) {
			walk->skip--;
			if (walk->late)
				slots[i] = pad;
			continue;
		}
		if (GT_TYPE_HAS_EXTRA(type))
			bytes += (uint64_t)GT_WORD_EXTRA(slots[i].word) * GT_SLOT;
		if (slots[i].time < walk->low || slots[i].time > walk->high ||
		    !gt_type_known(type) || at + bytes > walk->half_end) {
			bool empty = !slots[i].time && !slots[i].word; /* as when this turn began */

			/* A late record that is being written was counted when it was begun. */
			if (!empty && at >= walk->kept_from && at < walk->kept_to) {
				slots[i] = pad;
				continue;
			}
			slots[i] = (struct gt_slot){ .time = GT_TORN_TIME, .word = 0 };
			pending++;
			continue;
		}
		/* It may lie ahead of all that was reserved, where nothing goes in this turn. */
		if (type == GT_T_PAD)
			continue;
		walk->skip = (unsigned)(bytes / GT_SLOT - 1);
		walk->late = at < walk->kept_to && at + bytes > walk->kept_from;
		if (walk->late) {
			slots[i] = pad;
			continue;
		}
		walk->torn += pending;
		pending = 0;
		walk->valid_end = at + bytes;
		if (slots[i].time > walk->last_tick)
			walk->last_tick = slots[i].time;
	}
}

static unsigned half_index(const struct gt_win_header *win, uint64_t offset)
{
	return (unsigned)(offset / win->half_bytes & 1);
}

uint64_t gt_window_low(const struct gt_loc *loc, uint64_t offset)
{
	const struct gt_win_header *win = &loc->win;
	unsigned index = half_index(win, offset);

	if (win->half_base[index] != offset / win->half_bytes * win->half_bytes)
		return UINT64_MAX; /* the half holds something else */
	if (win->flags & GT_LOC_COMMITS)
		return 0;
	/* Killed between setting the base and the time of a new turn: nothing is in it yet. */
	if (win->half_base[index ^ 1] < win->half_base[index] &&
	    win->half_tick[index] < win->half_tick[index ^ 1])
		return UINT64_MAX;
	return win->half_tick[index];
}

void gt_walk_half(struct gt_slot_walk *walk, const struct gt_loc *loc, uint64_t base)
{
	unsigned index = half_index(&loc->win, base);

	walk->low = gt_window_low(loc, base);
	walk->high = loc->proc->tick_max;
	walk->half_end = base + loc->win.half_bytes;
	walk->kept_from = loc->win.kept_from[index];
	walk->kept_to = loc->win.kept_to[index];
	walk->skip = 0;
}

/* Walks over what is finished in the half at `base`. */
static int look(struct gt_loc *loc, int fd, uint64_t base, struct gt_slot_walk *walk)
{
	const struct gt_win_header *win = &loc->win;
	uint64_t place = win->header_bytes + base % (2 * (uint64_t)win->half_bytes);
	struct gt_slot *slots = malloc(PIECE);
	int rc = 0;

	if (!slots)
		return -ENOMEM;
	gt_walk_half(walk, loc, base);
	for (uint64_t at = 0; at < win->half_bytes && walk->low != UINT64_MAX; at += PIECE) {
		size_t size = win->half_bytes - at < PIECE ? win->half_bytes - at : PIECE;
		ssize_t n = gt_read_at(fd, slots, size, place + at);

		if (n < 0)
			rc = (int)n;
		if (n <= 0)
			break;
		gt_walk_slots(walk, slots, (size_t)n / GT_SLOT, base + at);
		if ((size_t)n < size)
			break;
	}
	free(slots);
	return rc;
}

/* The end of the stream of a process that could not say it. */
static int find_end(struct gt_loc *loc, int fd)
{
	const struct gt_win_header *win = &loc->win;
	struct gt_slot_walk walk = { .valid_end = win->spooled };
	int rc = 0;

	for (uint64_t base = win->spooled; !rc && base <= win->spooled + win->half_bytes;
	     base += win->half_bytes)
		rc = look(loc, fd, base, &walk);
	loc->end = walk.valid_end;
	loc->last_tick = walk.last_tick;
	for (unsigned i = 0; i < 2; i++) /* all is spooled: the last record is younger than this */
		if (win->half_base[i] != UINT64_MAX && win->half_tick[i] > loc->last_tick &&
		    win->half_tick[i] <= loc->proc->tick_max)
			loc->last_tick = win->half_tick[i];
	return rc;
}

static bool believable(const struct gt_win_header *win, uint32_t id)
{
	uint32_t half = win->half_bytes;

	return win->version == GT_FORMAT_VERSION && win->id == id && win->kind <= GT_LOC_DEFERRED &&
	       win->header_bytes >= sizeof(*win) && win->header_bytes % GT_SLOT == 0 &&
	       win->header_bytes <= 1u << 20 && half >= HALF_LEAST && half <= HALF_MOST &&
	       !(half & (half - 1)) && win->ring_bytes % half == 0 &&
	       win->ring_bytes <= STREAM_MAX && win->spooled % half == 0 &&
	       win->spooled <= STREAM_MAX &&
	       (win->committed == UINT64_MAX ||
		(win->committed % GT_SLOT == 0 &&
		 win->committed <= win->spooled + 2 * (uint64_t)half));
}

/* Of a file of `size` bytes that may lack some, and a header that may be damaged. */
static void trust_packed(struct gt_win_header *win, uint64_t size)
{
	uint64_t stage = win->stage_bytes;

	if (!stage || stage & (stage - 1) || win->written > STREAM_MAX) {
		win->stage_bytes = 0;
		win->written = win->packed_bytes;
	}
	if (win->packed_bytes > win->written + win->stage_bytes)
		win->packed_bytes = win->written;
	if (win->packed_bytes > size && win->written > size)
		win->packed_bytes = size;
}

/* How much of what has been spooled is there. An error only if it may be otherwise another time. */
static int measure_raw(struct gt_loc *loc, int win_fd, bool spooling)
{
	struct gt_win_header *win = &loc->win;
	uint64_t ring = win->ring_bytes;
	uint64_t size = 0;
	int fd = gt_loc_open(loc, "raw", O_RDONLY);
	struct stat st = { .st_size = 0 };
	int rc = fd < 0 ? fd : 0;

	if (fd >= 0 && fstat(fd, &st))
		rc = -errno;
	else if (st.st_size > 0)
		size = (uint64_t)st.st_size / GT_SLOT * GT_SLOT;
	if ((!rc || rc == -ENOENT) && win->flags & GT_LOC_PACKED) {
		struct gt_packed packed;

		trust_packed(win, (uint64_t)st.st_size);
		packed = gt_packed_of(win, fd, win_fd);
		rc = gt_unpack_extent(&packed, win->spooled, &size);
	}
	if (fd >= 0)
		close(fd);
	loc->begin = 0;
	loc->raw_end = win->spooled;
	if (!ring && size < win->spooled) {
		loc->raw_end = size;
	} else if (ring && win->spooled > ring) {
		loc->begin = win->spooled - ring;
		if (spooling) { /* its oldest half was being overwritten */
			loc->begin += win->half_bytes;
			loc->lost[GT_LOSS_RING] += win->half_bytes / GT_SLOT;
		}
	}
	if (ring && size < (win->spooled < ring ? win->spooled : ring))
		loc->raw_end = loc->begin;
	loc->missing = (win->spooled - loc->raw_end) / GT_SLOT;
	return gt_spool_try_again(rc) ? rc : 0;
}

int gt_window_read(struct gt_loc *loc)
{
	struct gt_win_header *win = &loc->win;
	int fd = gt_loc_open(loc, "win", O_RDONLY);
	bool killed;
	int rc = 0;
	ssize_t n;

	if (fd < 0)
		return fd;
	n = gt_read_at(fd, win, sizeof(*win), 0);
	if (n < 0)
		rc = (int)n;
	else if ((size_t)n < sizeof(*win) || !win->magic)
		rc = -ENODATA;
	else if (win->magic != GT_MAGIC_WIN || !believable(win, loc->id))
		rc = -EINVAL;
	if (rc)
		goto out;
	killed = win->committed == UINT64_MAX;
	memcpy(loc->lost, win->lost, sizeof(loc->lost));
	if (killed)
		rc = find_end(loc, fd);
	else
		loc->end = win->committed > win->spooled ? win->committed : win->spooled;
	if (!rc)
		rc = measure_raw(loc, fd, killed && win->half_base[half_index(
							win, win->spooled + win->half_bytes)] ==
							win->spooled + win->half_bytes);
	if (loc->begin > loc->end)
		loc->begin = loc->end;
out:
	close(fd);
	return rc;
}
