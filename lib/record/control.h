/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The core's interface for the user API (instrument/user.c): measurement control, and callers' structs.
 * Limits: not for adapters.
 */
#ifndef GT_CONTROL_H
#define GT_CONTROL_H

#include "gputrace/adapter.h"

#include <stdbool.h>

/* gt_active(), but also inside of gt_guard(), as in a handler that interrupts a call that is recorded. */
GT_HIDDEN bool gt_active_inside(void);
/* If it says no: counts events as lost, unless recording is off. */
GT_HIDDEN void gt_lost_inactive(unsigned events);
GT_HIDDEN void gt_switch(bool on);        /* this process, nests not */
GT_HIDDEN void gt_switch_thread(bool on); /* the calling thread, nests not */
GT_HIDDEN void gt_buffer_flush(void);     /* spools what the calling thread has recorded */
/* VT_UPDATE_COUNTER(): reads what the calling thread reads with its enters and leaves */
GT_HIDDEN void gt_update_counters(void);
GT_HIDDEN void gt_rewind_mark(void);
GT_HIDDEN void gt_rewind(void);
GT_HIDDEN void gt_timesync(void);         /* VT_TIMESYNC(): calls what gt_on_timesync() was given */

/* Copies what `caller`, an address in it, gave to `function` to a struct of ours (lib/common/sized.h). False:
 * it cannot be used, which is said once and counted. */
GT_HIDDEN bool gt_taken(void *copy, size_t bytes, size_t first, const void *given, const char *function,
			const void *caller);
#define GT_TAKEN(copy, first, given)                                                                         \
	gt_taken(&(copy), sizeof(copy), first, given, __func__, __builtin_return_address(0))

#endif
