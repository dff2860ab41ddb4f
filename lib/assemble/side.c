/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records that arrive late, for a location that others write.
 */
#include "config.h"

#include "lib/assemble/side.h"

#include <errno.h>
#include <stdlib.h>

#define SORT_RUN (4u << 20)

/* Adds what one stream holds for the location. */
static int add_stream(struct gt_side *side, struct gt_units *units, const struct gt_loc *from,
		      uint32_t location, struct gt_slot *buffer)
{
	struct gt_stream stream;
	int rc = gt_stream_open(&stream, from, buffer);

	if (rc)
		return gt_spool_try_again(rc) ? rc : 0;
	gt_units_open(units, &stream);
	while ((rc = gt_units_next(units)) > 0) {
		if (units->location != location)
			continue;
		rc = gt_sorter_add(side->sorter, units->start, 0, units->slots, units->used);
		if (rc)
			break;
	}
	gt_stream_close(&stream);
	return rc < 0 ? rc : 0;
}

int gt_side_open(struct gt_side **result, const struct gt_loc *loc, int dirfd)
{
	struct gt_side *side = NULL;
	struct gt_units *units = NULL;
	struct gt_slot *buffer = NULL;
	int rc = -ENOMEM;

	*result = NULL;
	if (!loc->side && !loc->idle)
		return 0;
	side = calloc(1, sizeof(*side));
	units = malloc(sizeof(*units));
	buffer = malloc(GT_STREAM_BUFFER);
	if (side)
		side->sorter = loc->idle ? loc->idle : gt_sorter_new(dirfd, SORT_RUN);
	if (!side || !units || !buffer || !side->sorter)
		goto out;
	rc = 0;
	for (size_t i = 0; !rc && !loc->idle && i < loc->proc->loc_count; i++) {
		const struct gt_loc *from = &loc->proc->locs[i];

		if (from->win.kind == GT_LOC_SIDE && from->begin < from->end)
			rc = add_stream(side, units, from, loc->id, buffer);
	}
	if (!rc && !loc->idle)
		rc = gt_sorter_finish(side->sorter);
	if (!rc)
		rc = gt_side_next(side);
out:
	free(units);
	free(buffer);
	if (rc) {
		gt_side_close(side);
		return rc;
	}
	*result = side;
	return 0;
}

void gt_side_close(struct gt_side *side)
{
	if (!side)
		return;
	gt_sorter_free(side->sorter); /* idle times can be read once only */
	free(side);
}

int gt_side_next(struct gt_side *side)
{
	long n = gt_sorter_unit(side->sorter, side->slots, GT_UNIT_SLOTS);
	unsigned i = 0;

	side->time = UINT64_MAX;
	side->used = 0;
	if (n <= 0)
		return (int)n;
	side->used = (unsigned)n;
	while (i + gt_slots_of(&side->slots[i]) < side->used)
		i += gt_slots_of(&side->slots[i]);
	side->time = side->slots[i].time;
	side->enter = GT_WORD_TYPE(side->slots[i].word) == GT_T_ENTER;
	side->region = side->enter || GT_WORD_TYPE(side->slots[i].word) == GT_T_LEAVE;
	return 0;
}
