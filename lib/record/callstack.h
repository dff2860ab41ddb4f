/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Filter rules that depend on the moment: call limits, levels of the call stack, callees of what
 * is filtered, call paths, VT_MAX_STACK_DEPTH. A stack per location remembers what was decided for
 * each call, so that the leave of a dropped enter is dropped too.
 *
 * Limits: one thread uses a call stack at a time (its signal handlers may interrupt it). Calls deeper
 * than GT_CALLSTACK_DEPTH are dropped. After longjmp, exceptions without exit hooks, or a switch of the
 * thread's stack it is repaired at the next leave of a call that it knows, or at the next enter whose
 * frame lies where dead frames were.
 */
#ifndef GT_CALLSTACK_H
#define GT_CALLSTACK_H

#include "lib/record/hot.h"

#include <stdint.h>

#define GT_CALLSTACK_DEPTH 131072u

struct gt_callstack;

/* Memory for one location, 4 MiB that are touched as needed; NULL: none left. */
GT_HIDDEN struct gt_callstack *gt_callstack_new(void);
/* Another thread continues the location: its stack is empty, its call counts go on. */
GT_HIDDEN void gt_callstack_reset(struct gt_callstack *stack);

/* Where a call stands, as its hook sees it. */
struct gt_callstack_frame {
	uintptr_t frame;  /* __builtin_frame_address(0) of the hook, or of what it jumps to */
	uintptr_t site;   /* __builtin_return_address(0) of the same: in the function that begins */
	uintptr_t caller; /* the hook's call_site: in the function that calls it */
};

/*
 * A call of a function (key: its address) or region (GT_VERDICT_REGION) whose verdict is ASK begins
 * or ends: is the event recorded? `at` may be NULL, and is for regions; `frame` may be 0 likewise.
 * A stack of NULL records. [signal-safe]
 */
GT_HIDDEN bool gt_callstack_enter(struct gt_callstack *stack, uint64_t key,
				  const struct gt_callstack_frame *at);
GT_HIDDEN bool gt_callstack_leave(struct gt_callstack *stack, uint64_t key, uintptr_t frame);

#endif
