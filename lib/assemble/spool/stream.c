/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading a location's stream: where an offset lies, and what is left out.
 *
 * Limits: a read error ends the stream with that error; a file that is shorter than
 * its header says is a hole.
 */
#include "config.h"

#include "lib/assemble/spool/stream.h"

#include "lib/assemble/util/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int compare_cuts(const void *a, const void *b)
{
	const struct gt_cut *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

/* The cuts of this location, sorted and merged. */
static int find_cuts(struct gt_stream *stream)
{
	const struct gt_journal *journal = &stream->loc->proc->journal;
	size_t n = gt_journal_count(journal, GT_D_CUT);
	size_t count = 0, kept = 0;

	for (size_t i = 0; i < n; i++) {
		const struct gt_def_cut *cut = gt_journal_nth(journal, GT_D_CUT, i, NULL, NULL);

		if (cut->location != stream->loc->id || cut->from >= cut->to)
			continue;
		if (!stream->cuts)
			stream->cuts = malloc((n - i) * sizeof(*stream->cuts));
		if (!stream->cuts)
			return -ENOMEM;
		stream->cuts[count++] = (struct gt_cut){
			(cut->from + GT_SLOT - 1) / GT_SLOT * GT_SLOT,
			cut->to / GT_SLOT * GT_SLOT,
			cut->own == 1,
		};
	}
	if (count)
		qsort(stream->cuts, count, sizeof(*stream->cuts), compare_cuts);
	for (size_t i = 0; i < count; i++) {
		struct gt_cut *last = kept ? &stream->cuts[kept - 1] : NULL;

		if (last && stream->cuts[i].from < last->to) {
			if (stream->cuts[i].to > last->to)
				last->to = stream->cuts[i].to;
			last->own &= stream->cuts[i].own;
		} else {
			stream->cuts[kept++] = stream->cuts[i];
		}
	}
	stream->cut_count = kept;
	return 0;
}

int gt_stream_open(struct gt_stream *stream, const struct gt_loc *loc, struct gt_slot *buffer)
{
	bool staged = loc->win.flags & GT_LOC_PACKED && loc->win.written < loc->win.packed_bytes;
	struct gt_packed packed;
	int rc;

	memset(stream, 0, sizeof(*stream));
	stream->loc = loc;
	stream->raw = stream->win = -1;
	stream->buffer = stream->at = stream->end = buffer;
	stream->pos = loc->begin;
	rc = find_cuts(stream);
	if (!rc && loc->raw_end > loc->begin && (!staged || loc->win.written)) {
		stream->raw = gt_loc_open(loc, "raw", O_RDONLY);
		if (stream->raw < 0)
			rc = stream->raw;
	}
	if (!rc && (loc->end > loc->win.spooled || staged)) {
		stream->win = gt_loc_open(loc, "win", O_RDONLY);
		if (stream->win < 0)
			rc = stream->win;
	}
	packed = gt_packed_of(&loc->win, stream->raw, stream->win);
	gt_unpacker_open(&stream->unpacker, &packed);
	if (rc)
		gt_stream_close(stream);
	return rc;
}

void gt_stream_close(struct gt_stream *stream)
{
	if (stream->raw >= 0)
		close(stream->raw);
	if (stream->win >= 0)
		close(stream->win);
	gt_unpacker_close(&stream->unpacker);
	gt_sorter_free(stream->sorter);
	stream->sorter = NULL;
	free(stream->cuts);
	stream->cuts = NULL;
	stream->raw = stream->win = -1;
	stream->eof = true;
	stream->at = stream->end = stream->buffer;
}

/* Moves `pos` over cuts and over what is missing. Returns the end of the bytes that can be read. */
static uint64_t skip_over(struct gt_stream *stream)
{
	const struct gt_loc *loc = stream->loc;

	for (;;) {
		uint64_t end = loc->end;

		if (stream->pos >= loc->raw_end && stream->pos < loc->win.spooled)
			stream->pos = loc->win.spooled;
		if (stream->pos < loc->raw_end && end > loc->raw_end)
			end = loc->raw_end;
		while (stream->cut_next < stream->cut_count &&
		       stream->cuts[stream->cut_next].to <= stream->pos)
			stream->cut_next++;
		if (stream->cut_next < stream->cut_count) {
			const struct gt_cut *cut = &stream->cuts[stream->cut_next];
			uint64_t to = cut->to < loc->end ? cut->to : loc->end;

			if (cut->from <= stream->pos && stream->pos < to) {
				stream->cut_slots += cut->own ? 0 : (to - stream->pos) / GT_SLOT;
				stream->pos = to;
				continue;
			}
			if (cut->from > stream->pos && cut->from < end)
				end = cut->from;
		}
		return end;
	}
}

/* Reads `bytes`; what the file does not have reads as zero. */
static int read_at(int fd, void *data, size_t bytes, uint64_t place)
{
	ssize_t n = gt_read_at(fd, data, bytes, place);

	if (n >= 0)
		memset((char *)data + n, 0, bytes - (size_t)n);
	return n < 0 ? (int)n : 0;
}

static int read_piece(struct gt_stream *stream, struct gt_slot *to, size_t bytes)
{
	const struct gt_loc *loc = stream->loc;
	const struct gt_win_header *win = &loc->win;
	uint64_t pos = stream->pos;
	int rc;

	stream->low = 0;
	if (pos < win->spooled && win->flags & GT_LOC_PACKED) {
		rc = gt_unpacker_read(&stream->unpacker, pos, to, bytes);
		if (rc == -ENODATA) { /* damaged: a hole, as in a file that is too short */
			memset(to, 0, bytes);
			rc = 0;
		}
		stream->low = stream->unpacker.low;
		return rc;
	}
	if (pos < win->spooled)
		return read_at(stream->raw, to, bytes,
			       win->ring_bytes ? pos % win->ring_bytes : pos);
	rc = read_at(stream->win, to, bytes,
		     win->header_bytes + pos % (2 * (uint64_t)win->half_bytes));
	if (rc)
		return rc;
	if (stream->walk.half_end <= pos)
		gt_walk_half(&stream->walk, loc, pos / win->half_bytes * win->half_bytes);
	stream->low = stream->walk.low == UINT64_MAX ? 0 : stream->walk.low;
	gt_walk_slots(&stream->walk, to, bytes / GT_SLOT, pos);
	return 0;
}

static int read_sorted(struct gt_stream *stream)
{
	const struct gt_slot *limit = stream->buffer + GT_STREAM_BUFFER / sizeof(*limit);
	long n = gt_sorter_next(stream->sorter, stream->end, (size_t)(limit - stream->end));

	if (n < 0)
		return (int)n;
	stream->eof = n == 0;
	stream->end += n;
	return 0;
}

int gt_stream_more(struct gt_stream *stream)
{
	uint64_t half = stream->loc->win.half_bytes;
	size_t kept = (size_t)(stream->end - stream->at);
	uint64_t end, bytes;
	int rc;

	if (stream->eof)
		return 0;
	stream->moved = (size_t)(stream->at - stream->buffer);
	if (kept)
		memmove(stream->buffer, stream->at, kept * sizeof(*stream->at));
	stream->at = stream->buffer;
	stream->fresh = stream->end = stream->buffer + kept;
	stream->turn = false;
	if (stream->sorter)
		return read_sorted(stream);
	end = skip_over(stream);
	if (stream->pos >= end) {
		stream->eof = true;
		return 0;
	}
	bytes = end - stream->pos;
	if (bytes > GT_STREAM_PIECE)
		bytes = GT_STREAM_PIECE;
	if (bytes > half - stream->pos % half)
		bytes = half - stream->pos % half;
	rc = read_piece(stream, stream->end, bytes);
	if (rc)
		return rc;
	stream->turn = stream->pos % half == 0;
	stream->pos += bytes;
	stream->end += bytes / GT_SLOT;
	return 0;
}

void gt_floors_move(struct gt_floors *floors, const struct gt_stream *stream)
{
	const unsigned room = sizeof(floors->list) / sizeof(*floors->list);
	unsigned gone = 0;

	for (unsigned i = 0; i < floors->count; i++) {
		struct gt_floor *floor = &floors->list[i];

		floor->from -= (size_t)(floor->from - stream->buffer) < stream->moved
				       ? (size_t)(floor->from - stream->buffer)
				       : stream->moved;
		if (i && floor->from == stream->buffer)
			gone = i;
	}
	if (stream->turn && floors->count - gone == room)
		gone++;
	floors->count -= gone;
	memmove(floors->list, floors->list + gone, floors->count * sizeof(*floors->list));
	if (stream->turn)
		floors->list[floors->count++] = (struct gt_floor){ stream->fresh, stream->low };
}

uint64_t gt_stream_done(const struct gt_stream *stream)
{
	const struct gt_loc *loc = stream->loc;

	if (loc->win.ring_bytes || stream->sorter)
		return 0;
	if (loc->win.flags & GT_LOC_PACKED)
		return stream->unpacker.place;
	return stream->pos < loc->raw_end ? stream->pos : loc->raw_end;
}
