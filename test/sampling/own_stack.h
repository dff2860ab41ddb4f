/* SPDX-License-Identifier: BSD-3-Clause */
/* The bounds of the calling thread's stack, for a walker. */
#ifndef TEST_SAMPLING_OWN_STACK_H
#define TEST_SAMPLING_OWN_STACK_H

#include "sampling/unwind.h"

#include <pthread.h>

static void walk_own_stack(struct gt_walker *walker)
{
	pthread_attr_t attributes;
	size_t bytes;
	void *low;

	pthread_getattr_np(pthread_self(), &attributes);
	pthread_attr_getstack(&attributes, &low, &bytes);
	pthread_attr_destroy(&attributes);
	gt_walker_begin(walker, (uintptr_t)low, (uintptr_t)low + bytes);
}

#endif
