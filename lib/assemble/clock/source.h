/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One clock while the conversions are computed.
 *
 * Limits: for clock.c and chain.c only.
 */
#ifndef GT_ASSEMBLE_CLOCK_SOURCE_H
#define GT_ASSEMBLE_CLOCK_SOURCE_H

#include "lib/assemble/clock/clock.h"
#include "lib/assemble/clock/rate.h"

#include <stddef.h>
#include <stdint.h>

/* A host's counter. */
struct source {
	char host[64];
	uint32_t kind;
	uint64_t nominal_hz;
	struct gt_calib first, last;
	struct gt_def_calib *readings; /* those that were kept because the rate has changed */
	size_t reading_count;
	struct gt_rates rates;   /* none: straight from the first to the last */
	uint64_t mult;
	uint64_t begin, end;     /* ticks: of its processes */
	uint64_t tick_max;
	uint32_t processes;
	struct sync_point *sync_points;      /* by tick, once it has been placed */
	size_t point_count, point_room;
	enum { UNPLACED, PLACING, PLACED } state;
	int64_t shift;           /* without sync points: what is added to the host's CLOCK_MONOTONIC */
	int64_t error;           /* -1: unknown */
	struct gt_segment *segments;
	size_t segment_count;
};

/* A comparison: at `tick` the clock `kind` of host `reference` was at `other`. */
struct sync_point {
	uint64_t tick, other, width;
	char reference[64];
	uint32_t kind;
	__int128 ns;             /* what that is in the time of the clock at the chain's end */
	int64_t error;
	bool wide;               /* others say more of this moment */
};

static inline __int128 gt_scaled(__int128 ticks, uint64_t mult)
{
	return ticks * (__int128)mult >> GT_SCALE_SHIFT;
}

static inline __int128 gt_between(uint64_t from, uint64_t to)
{
	return (__int128)to - (__int128)from;
}

/* Time per tick of the straight line through two comparisons. */
static inline uint64_t gt_slope(const struct sync_point *a, const struct sync_point *b)
{
	return (uint64_t)(((b->ns - a->ns) << GT_SCALE_SHIFT) / gt_between(a->tick, b->tick));
}

/* A reading counts if it can be one, and lies before the last time that is believed. */
void gt_source_consider(struct source *source, const struct gt_calib *calib, uint64_t tick_max);
/* One that the recorder has kept. 0 or -ENOMEM. */
int gt_source_add(struct source *source, const struct gt_def_calib *reading, uint64_t tick_max);
/* Pieces, if readings were kept. 0 or -ENOMEM. */
int gt_source_segments(struct source *source);
/* Without the pieces: how far they lie from a straight line becomes an error. */
void gt_source_straight(struct source *source);
void gt_sources_free(struct source *sources, size_t count);

#endif
