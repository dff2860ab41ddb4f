/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hooks that -finstrument-functions calls. They store the function's address; its name is looked
 * up when assembling. Budget: a recorded function the hot path; a filtered one nothing, once its calls are
 * switched off (patch.h), else one look at gt_dropped.
 *
 * Limits: no logic here; errno and everything else of the program stay as they are.
 */
#include "instrument/wrap.h"
#include "lib/record/record.h"
#include "lib/record/callstack.h"
#include "lib/record/patch.h"
#include "lib/record/verdict.h"

void __cyg_profile_func_enter(void *function, void *call_site);
void __cyg_profile_func_exit(void *function, void *call_site);

static void *callstack_of(const struct gt_location *loc)
{
	return loc ? loc->callstack : NULL;
}

static void count_filtered(struct gt_location *loc)
{
	if (loc)
		gt_local_add(&loc->win->lost[GT_LOSS_FILTER], 1);
}

/*
 * Functions whose rules depend on the moment: limits, levels, call paths. The hooks jump here with
 * the stack as they found it, so frame and return address are theirs, and the hooks need no frame.
 */
__attribute__((noinline)) static void ask_enter(uintptr_t function, uintptr_t caller)
{
	struct gt_callstack_frame at = {
		.frame = (uintptr_t)__builtin_frame_address(0),
		.site = (uintptr_t)__builtin_return_address(0),
		.caller = caller,
	};

	struct gt_location *loc = gt_own_location();

	if (gt_callstack_enter(callstack_of(loc), function, &at))
		gt_put(GT_WORD(GT_T_ENTER_ADDR, function));
	else
		count_filtered(loc);
}

__attribute__((noinline)) static void ask_leave(uintptr_t function)
{
	struct gt_location *loc = gt_own_location();

	if (gt_callstack_leave(callstack_of(loc), function, (uintptr_t)__builtin_frame_address(0)))
		gt_put(GT_WORD(GT_T_LEAVE_ADDR, function));
	else
		count_filtered(loc);
}

/* The hooks themselves, and no other library's in front of them. */
extern GT_HIDDEN __typeof__(__cyg_profile_func_enter) own_enter
	__attribute__((alias("__cyg_profile_func_enter")));
extern GT_HIDDEN __typeof__(__cyg_profile_func_exit) own_exit
	__attribute__((alias("__cyg_profile_func_exit")));

/* With a filter, unless it is plain that the function is dropped. Out of line, so that the hooks
 * need no frame; so these return where the hooks were called. */
__attribute__((noinline)) static void filtered_enter(uintptr_t function, uintptr_t caller)
{
	enum gt_verdict verdict = gt_verdict_of(function);

	if (verdict == GT_VERDICT_ASK)
		ask_enter(function, caller);
	else if (verdict == GT_VERDICT_RECORD)
		gt_put(GT_WORD(GT_T_ENTER_ADDR, function));
	else
		gt_patch_dropped(function, (uintptr_t)__builtin_return_address(0), (uintptr_t)own_enter);
}

__attribute__((noinline)) static void filtered_leave(uintptr_t function)
{
	enum gt_verdict verdict = gt_verdict_of(function);

	if (verdict == GT_VERDICT_ASK)
		ask_leave(function);
	else if (verdict == GT_VERDICT_RECORD)
		gt_put(GT_WORD(GT_T_LEAVE_ADDR, function));
	else
		gt_patch_dropped(function, (uintptr_t)__builtin_return_address(0), (uintptr_t)own_exit);
}

GT_API void __cyg_profile_func_enter(void *function, void *call_site)
{
	if (gt_unlikely(gt_verdict_mode())) {
		if (!gt_plainly_dropped((uintptr_t)function))
			filtered_enter((uintptr_t)function, (uintptr_t)call_site);
		return;
	}
	gt_put((uint64_t)(uintptr_t)function | (uint64_t)GT_T_ENTER_ADDR << GT_TYPE_SHIFT);
}

GT_API void __cyg_profile_func_exit(void *function, void *call_site)
{
	(void)call_site;
	if (gt_unlikely(gt_verdict_mode())) {
		if (!gt_plainly_dropped((uintptr_t)function))
			filtered_leave((uintptr_t)function);
		return;
	}
	gt_put((uint64_t)(uintptr_t)function | (uint64_t)GT_T_LEAVE_ADDR << GT_TYPE_SHIFT);
}
