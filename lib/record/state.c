/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The current state of the process, its run and its threads: variables that all files of the core share.
 *
 * Limits: depends on no other file.
 */
#include "lib/record/record.h"

#include <string.h>

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
GT_HIDDEN unsigned gt_no_location = GT_LOSS_NO_LOCATION;
GT_HIDDEN struct gt_location *gt_locations;
GT_HIDDEN void (*gt_counts_late)(void);

bool gt_is_our_process(void)
{
	return gt_sys_refused() ? !gt_confined_here() : gt_sys_getpid() == gt_pid;
}

/* ---- a child that shares our memory, and has confined itself alone ----------------------------------- */

GT_HIDDEN int gt_confined_children;
static GT_TLS unsigned here; /* how often: it may have the storage of its parent's thread, which waits */
static GT_TLS bool leaving;  /* it was about to be gone: who asks is the parent, or it has failed */

bool gt_confined_here(void)
{
	if (leaving && here)
		gt_confined_child(-(int)here);
	leaving = false;
	return here;
}

void gt_confined_child(int more)
{
	unsigned was = here;

	here += (unsigned)more;
	__atomic_fetch_add(&gt_confined_children, !was - !here, __ATOMIC_RELAXED);
}

void gt_confined_leaves(bool leaves)
{
	leaving = leaves && here;
}

bool gt_is_confined(void)
{
	return gt_sys_refused();
}

/* ---- memory of the adapters -------------------------------------------------------------------------- */

#define RESERVE (UINT64_C(1) << 20)

static char *reserve; /* for a process that has confined itself */
static size_t reserve_used;

/* It costs nothing until it is touched. */
void gt_memory_reserve(void)
{
	char *none = NULL, *mine = reserve ? NULL : gt_sys_memory(RESERVE);

	/* Pairs with gt_memory(). */
	if (mine && !__atomic_compare_exchange_n(&reserve, &none, mine, false, __ATOMIC_RELEASE,
						 __ATOMIC_RELAXED))
		gt_sys_munmap(mine, RESERVE);
}

static size_t in_reserve(size_t bytes)
{
	return bytes < RESERVE ? (bytes + 63) & ~(size_t)63 : RESERVE + 1;
}

void *gt_memory(size_t bytes)
{
	char *from = __atomic_load_n(&reserve, __ATOMIC_ACQUIRE);
	size_t at = __atomic_load_n(&reserve_used, __ATOMIC_RELAXED), size = in_reserve(bytes);

	if (!gt_sys_refused())
		return gt_sys_memory(bytes);
	do {
		if (!from || size > RESERVE - at)
			return NULL;
	} while (!__atomic_compare_exchange_n(&reserve_used, &at, at + size, false, __ATOMIC_ACQUIRE,
					      __ATOMIC_RELAXED));
	return from + at;
}

void gt_memory_free(void *memory, size_t bytes)
{
	size_t at = (uintptr_t)memory - (uintptr_t)reserve, end = at + in_reserve(bytes);

	if (!reserve || at >= RESERVE) {
		gt_sys_munmap(memory, bytes);
		return;
	}
	memset(memory, 0, bytes);
	/* What was taken last can be taken again. */
	/* Pairs with gt_memory(). */
	__atomic_compare_exchange_n(&reserve_used, &end, at, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

/* ---- gputrace's own code ----------------------------------------------------------------------------- */

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
