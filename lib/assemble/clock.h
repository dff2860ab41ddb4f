/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From ticks to nanoseconds since the run began: each process gets one linear conversion, made from
 * the simultaneous clock readings of its host.
 *
 * Limits: linear between the first and the last reading; hosts are aligned by their wall clocks.
 */
#ifndef GT_ASSEMBLE_CLOCK_H
#define GT_ASSEMBLE_CLOCK_H

#include "lib/assemble/spool.h"

/* ns = base_ns + (tick - base_tick) * mult / 2^GT_SCALE_SHIFT */
#define GT_SCALE_SHIFT 44
struct gt_scale {
	uint64_t base_tick;
	uint64_t base_ns;
	uint64_t mult;
	uint64_t tick_max; /* ticks above are not believed (and would not fit) */
};

struct gt_clock {
	struct gt_scale *scales;  /* one per process, by its place in spool->procs */
	uint64_t start_real_ns;   /* wall clock at time 0 of the run */
	uint64_t end_ns;          /* latest end of a process */
	int64_t error_ns;         /* how far the readings may be from the truth; -1: unknown */
	unsigned hosts;
};

/* Works out the conversions. Returns 0 or -ENOMEM. */
int gt_clock_make(struct gt_clock *clock, const struct gt_spool *spool);
void gt_clock_free(struct gt_clock *clock);

/* Ticks before the base give the base's time. */
static inline uint64_t gt_scale_ns(const struct gt_scale *scale, uint64_t tick)
{
	if (tick <= scale->base_tick)
		return scale->base_ns;
	return scale->base_ns +
	       (uint64_t)((unsigned __int128)(tick - scale->base_tick) * scale->mult >> GT_SCALE_SHIFT);
}

#endif
