/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hooks of the allocator's wrappers: they count the bytes that the program holds.
 *
 * Limits: included by the generated wrappers only. What is allocated inside of an allocation (operator
 * new that calls malloc) is counted once: at operator new if all have the same, else at malloc, because
 * a library's own may give out memory of any kind.
 */
#ifndef GT_MEMORY_HOOKS_H
#define GT_MEMORY_HOOKS_H

#include <gputrace/wrap.h>

/* One call. */
struct gt_memory_hook {
	struct gt_wrap *gt_of, *gt_w; /* the function; NULL: no event */
	int gt_open;                 /* the region is entered */
	int gt_inside;               /* begun; 2: what it calls is counted, not itself */
	unsigned long long gt_held;  /* bytes that the call gives back */
	unsigned long long gt_answer;
};

extern GT_HIDDEN GT_TLS int gt_memory_depth;
extern GT_HIDDEN int gt_memory_events; /* VT_MEMTRACE_EVENTS */

GT_HIDDEN void gt_memory_begin(struct gt_memory_hook *hook, unsigned long long freed);
GT_HIDDEN void gt_memory_end(struct gt_memory_hook *hook, unsigned long long made);
GT_HIDDEN void gt_memory_done(struct gt_memory_hook *hook);
/* Is it of the arena that serves while the real functions are looked for? */
GT_HIDDEN int gt_memory_own(unsigned long long address);

/* An exception (std::bad_alloc) passes through. */
static inline void gt_hook_done(struct gt_memory_hook *hook)
{
	if (gt_unlikely(hook->gt_inside))
		gt_memory_done(hook);
}

#define GT_HOOK(w)                                                                         \
	struct gt_memory_hook gt_hook __attribute__((cleanup(gt_hook_done))) = {                  \
		.gt_of = &(w), .gt_w = gt_memory_events && !gt_memory_depth ? gt_wrap_ready(&(w)) : 0 }

/* malloc and the like */
static inline void gt_hook_make_begin(struct gt_memory_hook *hook)
{
	gt_memory_begin(hook, 0);
}

static inline void gt_hook_make_end(struct gt_memory_hook *hook, unsigned long long result)
{
	gt_memory_end(hook, result);
}

/* posix_memalign(&to, ...): 0 is success */
static inline void gt_hook_put_begin(struct gt_memory_hook *hook, unsigned long long to)
{
	hook->gt_answer = to;
	gt_memory_begin(hook, 0);
}

static inline void gt_hook_put_end(struct gt_memory_hook *hook, unsigned long long result)
{
	gt_memory_end(hook, result ? 0 : *(unsigned long *)hook->gt_answer);
}

/* free, delete */
static inline int gt_hook_free_begin(struct gt_memory_hook *hook, unsigned long long address)
{
	if (gt_unlikely(gt_memory_own(address)))
		return 1;
	gt_memory_begin(hook, address);
	return 0;
}

static inline void gt_hook_free_end(struct gt_memory_hook *hook, unsigned long long result)
{
	(void)result;
	gt_memory_end(hook, 0);
}

/* realloc */
GT_HIDDEN int gt_hook_change_begin(struct gt_memory_hook *hook, unsigned long long address,
				   unsigned long long bytes);
GT_HIDDEN void gt_hook_change_end(struct gt_memory_hook *hook, unsigned long long result);

#endif
