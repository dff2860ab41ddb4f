/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of calls: who asked the device for something, by correlation id. The program's threads fill it;
 * the readers of records look here.
 *
 * Limits: the latest GT_ACCEL_CALLS calls.
 */
#include <sys/mman.h>

#include "accel/accel.h"
#include "gputrace/syscall.h"

bool gt_accel_call_find(const struct gt_accel_call *table, uint32_t correlation, struct gt_accel_call *call)
{
	const struct gt_accel_call *c = &table[correlation % GT_ACCEL_CALLS];

	if (!correlation || __atomic_load_n(&c->correlation, __ATOMIC_ACQUIRE) != correlation)
		return false;
	*call = *c;
	call->span = __atomic_load_n(&c->span, __ATOMIC_ACQUIRE);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&c->correlation, __ATOMIC_RELAXED) == correlation;
}

void gt_accel_call_mark(struct gt_accel_call *table, uint32_t correlation, uint32_t flags)
{
	struct gt_accel_call *c = &table[correlation % GT_ACCEL_CALLS];

	if (__atomic_load_n(&c->correlation, __ATOMIC_ACQUIRE) == correlation)
		__atomic_fetch_or(&c->flags, flags, __ATOMIC_RELAXED);
}

void gt_accel_calls_touch(struct gt_accel_call *table)
{
	const size_t step = 4096 / sizeof(*table);

	/* Adds nothing, in one instruction: calls may be there already. */
	for (size_t i = 0; i < GT_ACCEL_CALLS; i += step)
		__atomic_fetch_or(&table[i].span, 0, __ATOMIC_RELAXED);
}

struct gt_accel_call *gt_accel_calls_make(void)
{
	return gt_raw_memory(GT_ACCEL_CALLS * sizeof(struct gt_accel_call), MAP_PRIVATE | MAP_NORESERVE);
}
