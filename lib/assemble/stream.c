/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading a location's stream: where an offset lies, and what is left out.
 *
 * Limits: see stream.h. A read error ends the stream with that error; a file that is shorter than
 * its header says is a hole.
 */
#include "config.h"

#include "lib/assemble/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SORT_RUN   (8u << 20)
#define UNIT_SLOTS 1000u /* of a record and its attributes */

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
		};
	}
	if (count)
		qsort(stream->cuts, count, sizeof(*stream->cuts), compare_cuts);
	for (size_t i = 0; i < count; i++) {
		if (kept && stream->cuts[i].from <= stream->cuts[kept - 1].to) {
			if (stream->cuts[i].to > stream->cuts[kept - 1].to)
				stream->cuts[kept - 1].to = stream->cuts[i].to;
		} else {
			stream->cuts[kept++] = stream->cuts[i];
		}
	}
	stream->cut_count = kept;
	return 0;
}

int gt_stream_open(struct gt_stream *stream, const struct gt_loc *loc, struct gt_slot *buffer)
{
	int rc;

	memset(stream, 0, sizeof(*stream));
	stream->loc = loc;
	stream->raw = stream->win = -1;
	stream->buffer = stream->at = stream->end = buffer;
	stream->pos = loc->begin;
	rc = find_cuts(stream);
	if (!rc && loc->raw_end > loc->begin) {
		stream->raw = gt_loc_open(loc, "raw", O_RDONLY);
		if (stream->raw < 0)
			rc = stream->raw;
		else
			gt_unpacker_open(&stream->unpacker, stream->raw, loc->win.packed_bytes);
	}
	if (!rc && loc->end > loc->win.spooled) {
		stream->win = gt_loc_open(loc, "win", O_RDONLY);
		if (stream->win < 0)
			rc = stream->win;
	}
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
				stream->cut_slots += (to - stream->pos) / GT_SLOT;
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
	char *to = data;

	while (bytes) {
		ssize_t n = pread(fd, to, bytes, (off_t)place);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n) {
			memset(to, 0, bytes);
			return 0;
		}
		to += n;
		place += (uint64_t)n;
		bytes -= (size_t)n;
	}
	return 0;
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
	if (stream->walk.half_end <= pos) {
		stream->walk.low = gt_window_low(loc, pos);
		stream->walk.high = loc->proc->tick_max;
		stream->walk.half_end = pos / win->half_bytes * win->half_bytes + win->half_bytes;
		stream->walk.skip = 0;
	}
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
	if (kept)
		memmove(stream->buffer, stream->at, kept * sizeof(*stream->at));
	stream->at = stream->buffer;
	stream->end = stream->buffer + kept;
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

/* ---- sorting -------------------------------------------------------------------------------- */

/* Attributes wait for the record they belong to. */
struct unit {
	struct gt_slot slots[UNIT_SLOTS];
	unsigned used;
	bool foreign;  /* of a stream that carries records for other locations ... */
	bool wanted;   /* ... the next one is for this location */
	uint32_t location;
};

/* The record at stream->at is complete: moves it, with its attributes, into the sorter. */
static int add_unit(struct gt_sorter *sorter, struct unit *unit, const struct gt_slot *slot,
		    unsigned slots)
{
	int rc = 0;

	if (unit->used + slots > UNIT_SLOTS) {
		rc = gt_sorter_add(sorter, slot->time, unit->slots, unit->used);
		unit->used = 0;
	}
	memcpy(unit->slots + unit->used, slot, slots * sizeof(*slot));
	unit->used += slots;
	if (rc || GT_WORD_TYPE(slot->word) == GT_T_ATTR)
		return rc;
	/* All records of the unit get the last one's time, so that none seems to go back. */
	for (unsigned i = 0; i + slots < unit->used; i += 1 + GT_WORD_EXTRA(unit->slots[i].word))
		unit->slots[i].time = slot->time;
	rc = gt_sorter_add(sorter, slot->time, unit->slots, unit->used);
	unit->used = 0;
	return rc;
}

/* One record at stream->at. */
static int sort_record(struct gt_stream *stream, struct gt_sorter *sorter, struct unit *unit)
{
	const struct gt_slot *slot = stream->at;
	size_t rest = (size_t)(stream->end - slot);
	unsigned type = GT_WORD_TYPE(slot->word);
	unsigned slots = GT_TYPE_HAS_EXTRA(type) ? 1 + GT_WORD_EXTRA(slot->word) : 1;
	bool wanted = unit->wanted;

	if (!gt_type_known(type) || slots > rest) {
		stream->at++;
		unit->wanted = false;
		/* Rubbish is counted when the events are written: it comes first then. */
		return unit->foreign ? 0 : gt_sorter_add(sorter, 0, slot, 1);
	}
	stream->at += slots;
	if (type == GT_T_PAD)
		return 0;
	if (!unit->foreign)
		return add_unit(sorter, unit, slot, slots);
	if (type == GT_T_FOR_LOCATION) {
		unit->wanted = GT_WORD_LOW(slot->word) == unit->location;
		return 0;
	}
	if (type != GT_T_ATTR)
		unit->wanted = false;
	return wanted ? add_unit(sorter, unit, slot, slots) : 0;
}

static int sort_all(struct gt_stream *stream, struct gt_sorter *sorter, struct unit *unit)
{
	int rc = 0;

	while (!rc) {
		if ((size_t)(stream->end - stream->at) * sizeof(*stream->at) < GT_STREAM_TAIL &&
		    !stream->eof) {
			rc = gt_stream_more(stream);
			continue;
		}
		if (stream->at == stream->end)
			break;
		rc = sort_record(stream, sorter, unit);
	}
	if (!rc && unit->used)
		rc = gt_sorter_add(sorter, unit->slots[0].time, unit->slots, unit->used);
	unit->used = 0;
	return rc;
}

/* Adds what the process's other streams hold for this location. */
static int sort_foreign(const struct gt_loc *loc, struct gt_sorter *sorter, struct unit *unit)
{
	struct gt_slot *buffer = NULL;
	int rc = 0;

	unit->foreign = true;
	unit->location = loc->id;
	for (size_t i = 0; !rc && i < loc->proc->loc_count; i++) {
		const struct gt_loc *side = &loc->proc->locs[i];
		struct gt_stream stream;

		if (side->win.kind != GT_LOC_SIDE || side->begin >= side->end)
			continue;
		if (!buffer)
			buffer = malloc(GT_STREAM_BUFFER);
		rc = buffer ? gt_stream_open(&stream, side, buffer) : -ENOMEM;
		if (rc)
			break;
		unit->wanted = false;
		rc = sort_all(&stream, sorter, unit);
		gt_stream_close(&stream);
	}
	free(buffer);
	return rc;
}

bool gt_stream_needs_sort(const struct gt_loc *loc)
{
	if (loc->win.flags & GT_LOC_UNSORTED)
		return true;
	for (size_t i = 0; i < loc->proc->loc_count; i++)
		if (loc->proc->locs[i].win.kind == GT_LOC_SIDE &&
		    loc->proc->locs[i].begin < loc->proc->locs[i].end)
			return true;
	return false;
}

int gt_stream_sort(struct gt_stream *stream, int dirfd)
{
	struct gt_sorter *sorter = gt_sorter_new(dirfd, SORT_RUN);
	struct unit *unit = calloc(1, sizeof(*unit));
	int rc = sorter && unit ? 0 : -ENOMEM;

	if (!rc)
		rc = sort_all(stream, sorter, unit);
	if (!rc)
		rc = sort_foreign(stream->loc, sorter, unit);
	if (!rc)
		rc = gt_sorter_finish(sorter);
	free(unit);
	stream->sorter = sorter;
	stream->at = stream->end = stream->buffer;
	stream->eof = rc != 0;
	return rc;
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
