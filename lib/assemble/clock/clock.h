/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From ticks to nanoseconds since the run began: each process gets a piecewise linear conversion. On one
 * host that is one segment, from the simultaneous clock readings of its processes; where clocks of hosts
 * were compared (GT_D_SYNC), one for each interval between two comparisons.
 *
 * Limits: hosts whose clocks were never compared are aligned by their wall clocks, with an unknown
 * error.
 */
#ifndef GT_ASSEMBLE_CLOCK_CLOCK_H
#define GT_ASSEMBLE_CLOCK_CLOCK_H

#include "lib/assemble/spool/spool.h"

/* From `tick` on: ns + (t - tick) * mult / 2^GT_SCALE_SHIFT. */
#define GT_SCALE_SHIFT 44
struct gt_segment {
	uint64_t tick, ns, mult;
};

struct gt_scale {
	uint64_t base_tick;
	uint64_t base_ns;
	uint64_t mult;
	uint64_t tick_max; /* ticks above are not believed (and would not fit) */
	const struct gt_segment *segments; /* behind the base, ascending */
	size_t segment_count;
};

struct gt_clock {
	struct gt_scale *scales;  /* one per process, by its place in spool->procs */
	int64_t *errors;          /* likewise: how far its times may be off, in ns; -1: unknown */
	uint32_t *comparisons;    /* likewise: of its host's clock with another host's */
	struct gt_segment **segments;   /* that scales refer to */
	size_t segment_lists;
	uint64_t start_real_ns;   /* wall clock at time 0 of the run */
	uint64_t end_ns;          /* latest end of a process */
	int64_t error_ns;         /* the largest error; -1: unknown */
	int64_t reading_ns;       /* how far readings of one host's clocks may be off */
	unsigned hosts;
};

/* Works out the conversions. Returns 0 or -ENOMEM. */
int gt_clock_make(struct gt_clock *clock, const struct gt_spool *spool);
void gt_clock_free(struct gt_clock *clock);

/*
 * For hosts that are converted by themselves: what is known of one clock, a host's counter, and how
 * its ticks were converted.
 */
struct gt_sync_point {
	uint64_t tick, other, width; /* at `tick` the clock `kind` of host `reference` was at `other` */
	char reference[64];
	uint32_t kind;
};

struct gt_origin {
	char host[64];
	uint32_t kind;
	uint32_t processes;
	uint64_t nominal_hz;
	struct gt_calib first, last;
	uint64_t begin, end;     /* ticks: of its processes */
	uint64_t tick_max;
	int64_t reading_ns;
	uint64_t common;         /* which common time the scale leads to; 0: the host's own */
	int64_t error;           /* of that time */
	struct gt_scale scale;
	struct gt_sync_point *sync_points;
	size_t point_count;
};

struct gt_origins {
	struct gt_origin *list;
	size_t count;
	uint32_t *which;         /* by place in spool->procs; may be NULL */
};

/*
 * As gt_clock_make, but time 0 is that of the wall clock, so that hosts that know nothing of each other
 * come near to each other. Where the journals have the chains of clocks (GT_D_CLOCK) it is the common time of
 * all hosts. `clock` must outlive the origins.
 */
int gt_clock_alone(struct gt_clock *clock, const struct gt_spool *spool, struct gt_origins *origins);

/* The common time of them all: clock->scales, errors and comparisons are by place in `origins`. */
int gt_clock_join(struct gt_clock *clock, const struct gt_origins *origins);
void gt_origins_free(struct gt_origins *origins);

/* Offsets between two conversions, at times of the first. */
struct gt_offset {
	uint64_t ns;
	int64_t offset;
};

/*
 * The straight pieces of the difference over the time of the origin. Returns how many points there
 * are, at most `room`; 0: there is no difference; or -ENOMEM.
 */
long gt_clock_offsets(const struct gt_origin *origin, const struct gt_scale *to,
		      struct gt_offset *points, size_t room);

/* A time with what is to be added; beyond the last point it goes on as before it. */
uint64_t gt_offset_apply(const struct gt_offset *points, size_t count, uint64_t ns);

static inline uint64_t gt_segment_ns(uint64_t ns, uint64_t ticks, uint64_t mult)
{
	return ns + (uint64_t)((unsigned __int128)ticks * mult >> GT_SCALE_SHIFT);
}

/* Where a tick lies that is not before the first segment. */
static inline size_t gt_scale_segment(const struct gt_scale *scale, uint64_t tick)
{
	size_t low = 0, high = scale->segment_count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (scale->segments[middle].tick <= tick)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Behind the first segment. */
static inline uint64_t gt_scale_in_segments(const struct gt_scale *scale, uint64_t tick)
{
	const struct gt_segment *segment = &scale->segments[gt_scale_segment(scale, tick)];

	return gt_segment_ns(segment->ns, tick - segment->tick, segment->mult);
}

/* Ticks before the base give the base's time. */
static inline uint64_t gt_scale_ns(const struct gt_scale *scale, uint64_t tick)
{
	if (tick <= scale->base_tick)
		return scale->base_ns;
	if (scale->segment_count && tick >= scale->segments->tick)
		return gt_scale_in_segments(scale, tick);
	return gt_segment_ns(scale->base_ns, tick - scale->base_tick, scale->mult);
}

/* The straight piece in which `tick` lies, for loops: it holds from there to *most. */
static inline struct gt_segment gt_scale_straight(const struct gt_scale *scale, uint64_t tick,
					       uint64_t *most)
{
	struct gt_segment piece = { scale->base_tick, scale->base_ns, scale->mult };
	size_t next = 0;

	if (tick <= scale->base_tick) {
		piece.mult = 0;
		*most = scale->base_tick;
		return piece;
	}
	if (scale->segment_count && tick >= scale->segments->tick) {
		next = gt_scale_segment(scale, tick);
		piece = scale->segments[next++];
	}
	*most = next < scale->segment_count ? scale->segments[next].tick - 1 : UINT64_MAX;
	return piece;
}

#endif
