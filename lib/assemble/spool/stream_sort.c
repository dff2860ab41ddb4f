/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bringing a stream into order of time; activities of a GPU's stream that overlap are told apart as
 * lanes.
 *
 * Activities are sorted as a whole, by start. Where that alone is not the order of their records
 * (several lanes, single records in between), the records of the wanted lane are sorted a second
 * time: then those of equal time follow each other as their activities do, so that nesting is legal.
 *
 * Limits: see stream.h.
 */
#include "config.h"

#include "lib/assemble/spool/units.h"

#include <errno.h>
#include <stdlib.h>

#define SORT_RUN (8u << 20)

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

/*
 * Moves what belongs to the lane from a unit. Transfers are events of the stream itself, whatever lane
 * their activity is in: their partners name the stream.
 */
static int pick(struct gt_sorter *to, const struct gt_slot *slots, unsigned used, bool of_lane,
		bool first_lane)
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
		if (gt_type_transfer(type) ? first_lane : of_lane)
			rc = gt_sorter_add(to, last, 0, slots + begin,
					   (i > used ? used : i) - begin);
		begin = i;
	}
	return rc;
}

static int sort_lane(struct gt_sorter *from, struct gt_sorter *to, struct gt_slot *slots,
		     unsigned lane)
{
	struct gt_lanes lanes = { .count = 0 };
	uint64_t end;
	long n;
	int rc = 0;

	while (!rc && (n = gt_sorter_unit(from, slots, GT_UNIT_SLOTS)) != 0) {
		unsigned mine = 0;

		if (n < 0)
			return (int)n;
		if (gt_unit_activity(slots, (unsigned)n, &end))
			mine = gt_lane_of(&lanes, slots[0].time, end);
		rc = pick(to, slots, (unsigned)n, mine == lane, lane == 0);
	}
	return rc ? rc : gt_sorter_finish(to);
}

int gt_stream_sort(struct gt_stream *stream, unsigned lane, int dirfd)
{
	struct gt_sorter *sorter = gt_sorter_new(dirfd, SORT_RUN), *second = NULL;
	struct gt_units *units = malloc(sizeof(*units));
	int rc = sorter && units ? 0 : -ENOMEM;

	if (!rc)
		rc = sort_units(stream, sorter, units);
	if (!rc && stream->loc->win.kind == GT_LOC_GPU_STREAM && !stream->loc->plain) {
		second = gt_sorter_new(dirfd, SORT_RUN);
		rc = second ? sort_lane(sorter, second, units->slots, lane) : -ENOMEM;
		gt_sorter_free(sorter);
		sorter = second;
	}
	free(units);
	stream->sorter = sorter;
	stream->at = stream->end = stream->buffer;
	stream->eof = rc != 0;
	return rc;
}
