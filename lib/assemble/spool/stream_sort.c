/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bringing a stream into order of time; activities of a GPU's stream that overlap are told apart as
 * lanes.
 *
 * Activities are sorted as a whole, by start. Where that alone is not the order of their records
 * (several lanes, single records in between), the records of each lane are sorted a second time:
 * then those of equal time follow each other as their activities do, so that nesting is legal. The
 * stream is read and sorted once for all its lanes.
 *
 * Limits: memory as sort.h for the whole stream, the same for all lanes that nobody has asked for yet, and
 * for each that is being read.
 */
#include "config.h"

#include "lib/assemble/spool/stream_sort.h"

#include "lib/assemble/spool/units.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#define SORT_RUN (8u << 20)
#define LANE_RUN (64u << 10) /* two units and more */

static int sort_units(struct gt_stream *stream, struct gt_sorter *sorter, struct gt_units *units)
{
	int rc;

	gt_units_open(units, stream);
	while ((rc = gt_units_next(units)) > 0) {
		rc = gt_sorter_add(sorter, units->start,
				   units->activity ? units->end - units->start : 0, units->slots,
				   units->used);
		if (rc)
			break;
	}
	stream->torn = units->torn;
	return rc ? rc : gt_sorter_finish(sorter);
}

/* A stream's lanes, made by whoever comes first to one of them. */
struct gt_split {
	pthread_mutex_t lock;
	bool made;
	int rc;
	uint64_t torn, cut_slots, pos; /* of the stream when it had been read */
	unsigned count;
	struct gt_sorter *lanes[]; /* not finished; NULL: somebody has it */
};

/*
 * Moves the records of a unit to its lane. Transfers are events of the stream itself, whatever lane their
 * activity is in: their partners name the stream.
 */
static int pick(struct gt_split *split, const struct gt_slot *slots, unsigned used, unsigned lane)
{
	unsigned begin = 0;
	uint64_t last = 0;
	int rc = 0;

	for (unsigned i = 0; !rc && i < used;) {
		unsigned type = GT_WORD_TYPE(slots[i].word);

		i += gt_slots_of(&slots[i]);
		if (GT_TYPE_IS_ATTR(type) && i < used)
			continue;
		if (slots[begin].time > last)
			last = slots[begin].time;
		rc = gt_sorter_add(split->lanes[gt_type_transfer(type) ? 0 : lane], last, 0, slots + begin,
				   (i > used ? used : i) - begin);
		begin = i;
	}
	return rc;
}

static int split_units(struct gt_split *split, struct gt_sorter *from, struct gt_slot *slots)
{
	struct gt_lanes lanes = { .count = 0 };
	uint64_t end;
	long n;
	int rc = 0;

	while (!rc && (n = gt_sorter_unit(from, slots, GT_UNIT_SLOTS)) != 0) {
		unsigned lane = 0;

		if (n < 0)
			return (int)n;
		if (gt_unit_activity(slots, (unsigned)n, &end))
			lane = gt_lane_of(&lanes, slots[0].time, end);
		if (lane < split->count)
			rc = pick(split, slots, (unsigned)n, lane);
		else
			split->torn++; /* it was not there when the lanes were counted */
	}
	return rc;
}

static int make_split(struct gt_split *split, struct gt_stream *stream, int dirfd)
{
	size_t run = SORT_RUN / split->count < LANE_RUN ? LANE_RUN : SORT_RUN / split->count;
	struct gt_sorter *sorter = gt_sorter_new(dirfd, SORT_RUN);
	struct gt_units *units = malloc(sizeof(*units));
	int rc = sorter && units ? 0 : -ENOMEM;

	for (unsigned i = 0; !rc && i < split->count; i++)
		if (!(split->lanes[i] = gt_sorter_new(dirfd, run)))
			rc = -ENOMEM;
	if (!rc)
		rc = sort_units(stream, sorter, units);
	split->torn = stream->torn;
	if (!rc)
		rc = split_units(split, sorter, units->slots);
	split->cut_slots = stream->cut_slots;
	split->pos = stream->pos;
	free(units);
	gt_sorter_free(sorter);
	return rc;
}

static struct gt_split *split_of(struct gt_loc *loc)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* workers come at the same time */
	unsigned count = loc->lanes ? loc->lanes : 1;

	pthread_mutex_lock(&lock);
	if (!loc->split) {
		loc->split = calloc(1, sizeof(*loc->split) + count * sizeof(loc->split->lanes[0]));
		if (loc->split) {
			loc->split->count = count;
			pthread_mutex_init(&loc->split->lock, NULL);
		}
	}
	pthread_mutex_unlock(&lock);
	return loc->split;
}

static int take_lane(struct gt_stream *stream, struct gt_loc *loc, unsigned lane, int dirfd)
{
	struct gt_split *split = split_of(loc);
	int rc;

	if (!split)
		return -ENOMEM;
	pthread_mutex_lock(&split->lock);
	if (!split->made)
		split->rc = make_split(split, stream, dirfd);
	split->made = true;
	rc = split->rc;
	if (!rc) {
		stream->sorter = split->lanes[lane];
		split->lanes[lane] = NULL;
	}
	pthread_mutex_unlock(&split->lock);
	stream->torn = split->torn;
	stream->cut_slots = split->cut_slots;
	stream->pos = split->pos;
	return rc ? rc : gt_sorter_finish(stream->sorter);
}

static int sort_whole(struct gt_stream *stream, int dirfd)
{
	struct gt_units *units = malloc(sizeof(*units));
	struct gt_sorter *sorter = gt_sorter_new(dirfd, SORT_RUN);
	int rc = sorter && units ? sort_units(stream, sorter, units) : -ENOMEM;

	free(units);
	stream->sorter = sorter;
	return rc;
}

int gt_stream_sort(struct gt_stream *stream, struct gt_loc *loc, unsigned lane, int dirfd)
{
	int rc = loc->win.kind == GT_LOC_GPU_STREAM && !loc->plain ? take_lane(stream, loc, lane, dirfd)
								   : sort_whole(stream, dirfd);

	stream->at = stream->end = stream->buffer;
	stream->eof = rc != 0;
	return rc;
}

void gt_stream_forget(struct gt_loc *loc)
{
	for (unsigned i = 0; loc->split && i < loc->split->count; i++)
		gt_sorter_free(loc->split->lanes[i]);
	free(loc->split);
	loc->split = NULL;
}
