/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of calls: who asked the device for something, by correlation id. calls.c fills it, as part of its
 * callbacks; the readers of records look here.
 *
 * Limits: the latest GT_CU_CALLS calls.
 */
#include <sys/mman.h>

#include "cuda/cuda.h"

#define calls gt_cu_hot.calls

bool gt_cu_call_find(uint32_t correlation, struct gt_cu_call *call)
{
	const struct gt_cu_call *c = &calls[correlation % GT_CU_CALLS];

	if (!correlation || __atomic_load_n(&c->correlation, __ATOMIC_ACQUIRE) != correlation)
		return false;
	*call = *c;
	call->span = __atomic_load_n(&c->span, __ATOMIC_ACQUIRE);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&c->correlation, __ATOMIC_RELAXED) == correlation;
}

void gt_cu_call_mark(uint32_t correlation, uint32_t flags)
{
	struct gt_cu_call *c = &calls[correlation % GT_CU_CALLS];

	if (__atomic_load_n(&c->correlation, __ATOMIC_ACQUIRE) == correlation)
		__atomic_fetch_or(&c->flags, flags, __ATOMIC_RELAXED);
}

void gt_cu_table_touch(void)
{
	const size_t step = 4096 / sizeof(*calls);

	/* Adds nothing, in one instruction: calls may be there already. */
	for (size_t i = 0; i < GT_CU_CALLS; i += step)
		__atomic_fetch_or(&calls[i].span, 0, __ATOMIC_RELAXED);
}

bool gt_cu_table_make(void)
{
	void *p = mmap(NULL, GT_CU_CALLS * sizeof(*calls), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p != MAP_FAILED)
		calls = p;
	return p != MAP_FAILED;
}
