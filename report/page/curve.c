/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters.
 *
 * Limits: see curve.h.
 */
#include "config.h"

#include "report/page/curve.h"

#include <math.h>
#include <stdlib.h>

#include "lib/assemble/util/memory.h"
#include "report/page/pyramid.h"

struct gt_curve_level {
	uint64_t bucket, count; /* being filled; count 0: none */
	double least, most, last;
	uint64_t tile, before;  /* of what is in `bytes`; the bucket before in it */
	uint64_t written;
	bool dense;             /* the level above cannot show all of it */
	struct gt_bytes bytes;
};

void gt_curve_open(struct gt_curve *curve, struct gt_store *store, uint32_t id, unsigned span_log2,
		   uint64_t events)
{
	*curve = (struct gt_curve){ .store = store, .id = id, .span_log2 = span_log2,
				    .levels = gt_pyramid_levels(span_log2, events) };
	curve->level = gt_zeroed(curve->levels, sizeof(*curve->level));
}

static void write_tile(struct gt_curve *curve, unsigned k)
{
	struct gt_curve_level *level = &curve->level[k];
	struct gt_bytes out = { .count = 0 };

	if (level->written && (level->dense || !k)) {
		gt_bytes_number(&out, level->written);
		gt_bytes_add(&out, level->bytes.data, level->bytes.count);
		gt_store_add(curve->store, GT_TILE_TRACK, curve->id, k, level->tile, &out);
		free(out.data);
	}
	level->bytes.count = level->written = level->before = 0;
	level->dense = false;
}

static void put_bucket(struct gt_curve *curve, unsigned k)
{
	const uint64_t mask = (1 << GT_BUCKETS_LOG2) - 1;
	struct gt_curve_level *level = &curve->level[k];
	uint64_t tile = level->bucket >> GT_BUCKETS_LOG2, place = level->bucket & mask;

	if (!level->count)
		return;
	if (level->written && level->tile != tile)
		write_tile(curve, k);
	level->tile = tile;
	if (level->count > 1 || (level->written && level->before >> 1 == place >> 1))
		level->dense = true;
	gt_bytes_number(&level->bytes, place - level->before);
	gt_bytes_number(&level->bytes, level->count);
	gt_bytes_double(&level->bytes, level->least);
	gt_bytes_double(&level->bytes, level->most);
	gt_bytes_double(&level->bytes, level->last);
	level->before = place;
	level->written++;
	level->count = 0;
}

static void add(struct gt_curve *curve, unsigned k, uint64_t time, double value)
{
	struct gt_curve_level *level = &curve->level[k];
	uint64_t bucket = time >> (curve->span_log2 - k - GT_BUCKETS_LOG2);

	if (level->count && level->bucket != bucket)
		put_bucket(curve, k);
	if (!level->count++) {
		level->bucket = bucket;
		level->least = level->most = value;
	}
	level->least = value < level->least ? value : level->least;
	level->most = value > level->most ? value : level->most;
	level->last = value;
}

void gt_curve_value(struct gt_curve *curve, uint64_t time, double value)
{
	uint64_t last = (UINT64_C(1) << curve->span_log2) - 1;

	if (!isfinite(value))
		return;
	if (!curve->count++)
		curve->least = curve->most = value;
	curve->least = value < curve->least ? value : curve->least;
	curve->most = value > curve->most ? value : curve->most;
	for (unsigned k = 0; k < curve->levels; k++)
		add(curve, k, time < last ? time : last, value);
}

void gt_curve_close(struct gt_curve *curve)
{
	for (unsigned k = 0; curve->level && k < curve->levels; k++) {
		put_bucket(curve, k);
		write_tile(curve, k);
		free(curve->level[k].bytes.data);
	}
	free(curve->level);
	curve->level = NULL;
}
