/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the process, its run and its threads are just now: variables that all files of the core look at.
 *
 * Limits: knows no other file.
 */
#include "lib/record/record.h"

GT_HIDDEN int gt_state, gt_pid, gt_confined;
GT_HIDDEN char gt_proc_folder[1024], gt_run_dir[1024];
GT_HIDDEN struct gt_run_header *gt_run;
GT_HIDDEN struct gt_proc_header gt_proc_early;
GT_HIDDEN struct gt_proc_header *gt_proc = &gt_proc_early;

GT_HIDDEN struct gt_hot gt_hot_new, gt_hot_gone, gt_hot_closed, gt_hot_lost;
/* In one line with gt_depth, for call.h. */
GT_HIDDEN GT_TLS struct gt_hot *gt_self __attribute__((aligned(64))) = &gt_hot_new;
GT_HIDDEN GT_TLS int gt_depth;
GT_HIDDEN GT_TLS const char *gt_guard_frame;
GT_HIDDEN GT_TLS bool gt_thread_off;

GT_HIDDEN unsigned gt_attention;
GT_HIDDEN struct gt_location *gt_locations;

bool gt_is_our_process(void)
{
	return gt_sys_refused() || gt_sys_getpid() == gt_pid;
}

bool gt_is_confined(void)
{
	return gt_sys_refused();
}

void gt_guard(void)
{
	if (!gt_depth)
		gt_guard_frame = __builtin_frame_address(0);
	gt_depth++;
}

void gt_unguard(void)
{
	if (gt_depth == 1)
		gt_guard_frame = NULL;
	gt_depth--;
}

void gt_attention_set(unsigned bits)
{
	__atomic_fetch_or(&gt_attention, bits, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	/* Pairs with set_limit() in buffer.c and with make() in location.c. */
	for (struct gt_location *loc = __atomic_load_n(&gt_locations, __ATOMIC_ACQUIRE); loc;
	     loc = __atomic_load_n(&loc->next, __ATOMIC_ACQUIRE))
		gt_hot_stop(loc->hot);
}

void gt_attention_clear(unsigned bits)
{
	__atomic_fetch_and(&gt_attention, ~bits, __ATOMIC_SEQ_CST);
}
