/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computes how fast a counter ran, segment by segment, from readings of it beside two clocks of the
 * kernel, of which CLOCK_MONOTONIC stands still while the machine is suspended and CLOCK_BOOTTIME does
 * not.
 *
 * Limits: where neither of the two agrees with the counter in a segment (it stopped or jumped there), the
 * segment is linear all the same, and the error says by how much it may be off.
 */
#ifndef GT_ASSEMBLE_CLOCK_RATE_H
#define GT_ASSEMBLE_CLOCK_RATE_H

#include "lib/format.h"

#include <stddef.h>
#include <stdint.h>

/* From `tick` on: ns + (t - tick) * mult / 2^44 (GT_SCALE_SHIFT); the first also holds before. */
struct gt_rate {
	uint64_t tick, mult;
	int64_t ns;
};

struct gt_rates {
	struct gt_rate *list;
	size_t count;  /* 0: too few readings */
	int64_t error; /* ns, beside that of a reading */
};

/* Sorts the readings; boot_ns 0: not known. Returns 0 or -ENOMEM. */
int gt_rates_make(struct gt_rates *rates, struct gt_def_calib *readings, size_t count);

/* The nanoseconds at a tick; count > 0. */
int64_t gt_rates_ns(const struct gt_rates *rates, uint64_t tick);

/* How far they lie from the straight line through a reading. */
int64_t gt_rates_off(const struct gt_rates *rates, const struct gt_calib *first, uint64_t mult);

#endif
