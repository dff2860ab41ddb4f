/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hot path: one event into the calling thread's window. Budget: about 10 instructions and one
 * clock read; no call, no lock, no branch that is taken.
 *
 * How it is safe without a guard: a slot is reserved by one instruction (xadd), so a signal handler
 * that interrupts anywhere gets slots of its own. The clock is read after the reservation; what a
 * handler records in between has smaller times in later slots, and the assembly restores the order.
 * The time is stored last: a slot with a time from before its half was opened was never finished.
 * `cur` is an address, because what the clock read has to wait for is paid in full: no base is added
 * and no mask taken here, and the slow path goes back to the beginning of the window.
 *
 * How it is safe in forked children: struct gt_hot lies in memory that the kernel wipes in a child
 * (MADV_WIPEONFORK); limit 0 sends the child's first event to the slow path, whatever made the child.
 *
 * Limits: only include this in files that record; everything rare is in buffer.c.
 */
#ifndef GT_HOT_H
#define GT_HOT_H

#include "gputrace/window.h"
#include "lib/format.h"

#include <stdbool.h>
#include <stddef.h>

/* The calling thread's buffer, or one of the gt_hot_* below, which all have limit 0. */
extern GT_HIDDEN GT_TLS struct gt_hot *gt_self;

GT_HIDDEN void gt_put_slow(struct gt_hot *hot, uint64_t address, uint64_t word);

/* Records one slot with the present time. */
static inline void gt_put(uint64_t word)
{
	struct gt_hot *hot = gt_self;
	uint64_t address = gt_local_add(&hot->cur, GT_SLOT);

	if (gt_unlikely(address >= __atomic_load_n(&hot->limit, __ATOMIC_RELAXED))) {
		gt_put_slow(hot, address, word);
		return;
	}
	gt_commit((struct gt_slot *)address, word, NULL, 0, gt_hot_ticks());
}

#endif
