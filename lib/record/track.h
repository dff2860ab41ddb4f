/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Filter rules that depend on the moment: call limits, levels of the call stack, callees of what
 * is filtered, call paths, VT_MAX_STACK_DEPTH. A stack per location remembers what was decided for
 * each call, so that the leave of a dropped enter is dropped too.
 *
 * Limits: one thread uses a track at a time (its signal handlers may interrupt it). Calls deeper
 * than GT_TRACK_DEPTH are dropped. After longjmp, exceptions without exit hooks, or switches of the
 * stack the track finds back at the next leave of a call that it knows, or at the next enter whose
 * frame lies where dead frames were.
 */
#ifndef GT_TRACK_H
#define GT_TRACK_H

#include "lib/record/hot.h"

#include <stdint.h>

#define GT_TRACK_DEPTH 131072u

struct gt_track;

/* Memory for one location, 4 MiB that are touched as needed; NULL: none left. */
GT_HIDDEN struct gt_track *gt_track_new(void);
GT_HIDDEN void gt_track_free(struct gt_track *track);
/* Another thread continues the location: its stack is empty, its call counts go on. */
GT_HIDDEN void gt_track_reset(struct gt_track *track);
/* Events that were dropped: enters and leaves. */
GT_HIDDEN uint64_t gt_track_dropped(const struct gt_track *track);

/*
 * A call of a function (key: its address) or region (GT_VERDICT_REGION) whose verdict is ASK begins
 * or ends: is the event recorded? A track of NULL records. [signal-safe]
 *
 * `frame` and `site` are __builtin_frame_address(0) and __builtin_return_address(0) of the hook (or
 * the frame of the function it calls for this); 0 where they mean nothing, as for regions.
 */
GT_HIDDEN bool gt_track_enter(struct gt_track *track, uint64_t key, uintptr_t frame,
			      uintptr_t site);
GT_HIDDEN bool gt_track_leave(struct gt_track *track, uint64_t key, uintptr_t frame);

#endif
