/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A double of the parts of the core that lib/record/verdict.c asks.
 *
 * Limits: see double_core.h.
 */
#include "test/unit/double_core.h"

struct gt_module_range double_modules[8];
unsigned double_module_count;
unsigned double_scans;
bool double_start_result = true;
void (*double_on_start)(void);

int gt_state = GT_READY;

bool gt_start(void)
{
	if (double_on_start)
		double_on_start();
	return double_start_result;
}

bool gt_modules_scan(void)
{
	__atomic_fetch_add(&double_scans, 1, __ATOMIC_RELAXED);
	return false;
}

bool gt_modules_find(uintptr_t address, struct gt_module_range *out)
{
	for (unsigned i = 0; i < double_module_count; i++)
		if (address >= double_modules[i].start && address < double_modules[i].end) {
			*out = double_modules[i];
			return true;
		}
	return false;
}

int gt_folder_apart(int (*function)(void *), void *argument, int other)
{
	(void)other;
	return function(argument);
}
