/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call paths of calls: who is told of their begins and ends (gt_call_watch() in call.h).
 *
 * Limits: for events.c and define.c only.
 */
#ifndef GT_CALL_PATHS_H
#define GT_CALL_PATHS_H

#include "gputrace/adapter.h"

#define GT_PATH_REGIONS 65536u

/* A region has been defined. */
GT_HIDDEN void gt_path_region(gt_ref region, const struct gt_region_info *info);

/* If gt_verdict_mode() has GT_VERDICT_PATHS: a call of the region begins, or ends, at `tick`. The second
 * returns the time that its leave is to have. [signal-safe] */
GT_HIDDEN void gt_path_enter(gt_ref region, bool always, uint64_t tick);
GT_HIDDEN uint64_t gt_path_leave(gt_ref region, uint64_t tick, const void *caller);

#endif
