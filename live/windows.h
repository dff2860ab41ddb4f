/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One location's window, read while its thread writes: counts events, keeps the call path and the newest
 * value of each metric.
 *
 * Limits: what was written and overwritten between two looks is counted in slots, and the call path is
 * unknown then until regions are entered again. Calls deeper than GT_LIVE_DEPTH are counted, not kept.
 */
#ifndef GT_LIVE_WINDOWS_H
#define GT_LIVE_WINDOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/format.h"

#define GT_LIVE_DEPTH   256u
#define GT_LIVE_BY_ID   (UINT64_C(1) << 63) /* a region by its id; else by its address */

struct gt_live_open {
	uint64_t region;
	uint64_t tick;
};

struct gt_live_value {
	uint32_t metric;
	uint64_t value, tick;
	uint64_t old_value, old_tick; /* at the look before */
};

struct gt_live_window {
	const struct gt_win_header *win; /* mapped; NULL: not there yet */
	size_t mapped;
	uint64_t at;           /* stream offset up to which everything was read */
	uint64_t events, old_events;
	uint64_t last_tick;    /* of the newest record */
	struct gt_live_open open[GT_LIVE_DEPTH];
	uint32_t depth;
	uint64_t left;         /* the region that was left last, 0: none */
	bool ended;
	struct gt_live_value *values;
	size_t value_count, value_room;
};

/* Maps l<id>.win of the folder. False: it is not there, or not finished. */
bool gt_live_window_map(struct gt_live_window *window, int folder, uint32_t id);
void gt_live_window_unmap(struct gt_live_window *window);

/* Reads what is new. `now`: no honest record is younger. */
void gt_live_window_look(struct gt_live_window *window, uint64_t now);

#endif
