/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end for want of memory.
 *
 * Limits: see memory.h.
 */
#include "lib/assemble/util/memory.h"

#include <stdlib.h>
#include <unistd.h>

int gt_no_memory_status;

void gt_no_memory(void)
{
	static const char text[] = "gputrace: out of memory\n";

	if (!gt_no_memory_status && write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(2);
	_exit(gt_no_memory_status ? gt_no_memory_status : 2);
}

void *gt_resized(void *old, size_t count, size_t size)
{
	return gt_need(reallocarray(old, count ? count : 1, size));
}

void *gt_zeroed(size_t count, size_t size)
{
	return gt_need(calloc(count ? count : 1, size));
}
