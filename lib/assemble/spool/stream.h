/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading a location's stream of slots in order, from its .raw file and its window, without what
 * VT_REWIND has cut out.
 *
 * Limits: one reader, one buffer of fixed size. Slots that were not finished come out with word 0
 * and time GT_TORN_TIME; slots that are all zero were never written (a hole in the file).
 */
#ifndef GT_ASSEMBLE_SPOOL_STREAM_H
#define GT_ASSEMBLE_SPOOL_STREAM_H

#include "lib/assemble/spool/sort.h"
#include "lib/assemble/spool/spool.h"
#include "lib/assemble/spool/unpack.h"
#include "lib/assemble/spool/window.h"

#define GT_STREAM_PIECE (256u << 10)                                    /* bytes read at once */
#define GT_STREAM_TAIL  (2u * (GT_MAX_EXTRA + 1u) * (unsigned)GT_SLOT)  /* kept for looking ahead */

struct gt_cut {
	uint64_t from, to;
	bool own;                   /* nobody asked for it */
};

struct gt_stream {
	const struct gt_loc *loc;
	int raw, win;               /* descriptors, -1: not open */
	struct gt_unpacker unpacker;/* reads `raw` if it is packed */
	struct gt_sorter *sorter;   /* after gt_stream_sort: everything is in it */
	struct gt_cut *cuts;        /* sorted, disjoint */
	size_t cut_count, cut_next;
	uint64_t pos;               /* stream offset that is read next */
	uint64_t cut_slots;         /* left out because of cuts that were asked for */
	uint64_t torn;              /* activities without an end, left out by the sorting */
	struct gt_slot_walk walk;
	struct gt_slot *buffer;     /* GT_STREAM_TAIL + GT_STREAM_PIECE bytes */
	struct gt_slot *at, *end;   /* what has been read and not been consumed */
	/* so many slots nearer to the begin of the buffer is what was not consumed */
	size_t moved;
	const struct gt_slot *fresh;/* behind it, what was read last */
	bool turn;                  /* the fresh slots begin a half */
	uint64_t low;               /* their times are at least that, if they are finished; 0: unknown */
	bool eof;                   /* nothing follows behind `end` */
};

/* Prepares reading; `buffer` belongs to the caller and may be used again after the close. */
int gt_stream_open(struct gt_stream *stream, const struct gt_loc *loc, struct gt_slot *buffer);
void gt_stream_close(struct gt_stream *stream);

/*
 * Reads the next piece behind what has not been consumed (at..end, at most GT_STREAM_TAIL bytes,
 * moves to the front of the buffer). Returns 0, also at the end (eof), or a negative errno.
 */
int gt_stream_more(struct gt_stream *stream);

/* Times below which the slots of a half are of the turn before, if they are also below times before. */
struct gt_floors {
	unsigned count;
	struct gt_floor {
		const struct gt_slot *from; /* the half's first slot in the buffer */
		uint64_t low;
	} list[GT_STREAM_TAIL / GT_PAGE + 2]; /* the last one is that of what was read last */
};

void gt_floors_move(struct gt_floors *floors, const struct gt_stream *stream); /* after gt_stream_more */

/* Of this slot, before which the last time was `last`; *end: where the next half begins in the buffer. */
static inline uint64_t gt_floor_at(struct gt_floors *floors, const struct gt_slot *slot, uint64_t last,
				   const struct gt_slot **end)
{
	unsigned i = floors->count;

	while (i > 1 && slot < floors->list[i - 1].from)
		i--;
	if (!i)
		return 0;
	if (i < floors->count)
		*end = floors->list[i].from;
	if (!floors->list[i - 1].low) /* nobody has said it: what comes now is younger than all before */
		floors->list[i - 1].low = last;
	return floors->list[i - 1].low;
}

/* Offset in the .raw file below which nothing will be read again. */
uint64_t gt_stream_done(const struct gt_stream *stream);

#define GT_STREAM_BUFFER (GT_STREAM_TAIL + GT_STREAM_PIECE)

#endif
