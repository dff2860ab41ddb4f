/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allocation for code that cannot go on without memory: on failure the process ends with a message and a
 * status. The traced process and the conversion do not use it; they count what they lose and go on.
 *
 * Limits: the process ends at once: nothing is flushed and no exit handler runs, since other threads may be
 * at work.
 */
#ifndef GT_ASSEMBLE_MEMORY_H
#define GT_ASSEMBLE_MEMORY_H

#include <stddef.h>

/*
 * How such a process ends. 0: with a line on stderr and status 2. Else with this status, in a child whose
 * parent says it (lib/read/guard.h).
 */
extern int gt_no_memory_status;

_Noreturn void gt_no_memory(void);

/* `memory`, unless it is NULL. */
static inline void *gt_need(void *memory)
{
	if (__builtin_expect(!memory, 0))
		gt_no_memory();
	return memory;
}

/* realloc() of `count` items of a size; and new ones, zeroed. Not NULL if there are none. */
void *gt_resized(void *old, size_t count, size_t size);
void *gt_zeroed(size_t count, size_t size);

/* `items`, which may move, with room for one more than the `count` that there are. */
static inline void *gt_grown(void *items, size_t count, size_t *room, size_t size)
{
	if (__builtin_expect(count < *room, 1))
		return items;
	*room = *room ? 2 * *room : 16;
	return gt_resized(items, *room, size);
}

#endif
