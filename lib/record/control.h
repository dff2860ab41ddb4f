/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measurement control: what the user API (instrument/user.c) asks for.
 * Limits: not for adapters.
 */
#ifndef GT_CONTROL_H
#define GT_CONTROL_H

#include "gputrace/adapter.h"

#include <stdbool.h>

GT_HIDDEN void gt_switch(bool on);        /* this process, nests not */
GT_HIDDEN void gt_switch_thread(bool on); /* the calling thread, nests not */
GT_HIDDEN void gt_buffer_flush(void);     /* spools what the calling thread has recorded */
/* VT_UPDATE_COUNTER(): reads what the calling thread reads with its enters and leaves */
GT_HIDDEN void gt_update_counters(void);
GT_HIDDEN void gt_rewind_mark(void);
GT_HIDDEN void gt_rewind(void);
GT_HIDDEN void gt_timesync(void);         /* VT_TIMESYNC(): calls what gt_on_timesync() was given */

#endif
