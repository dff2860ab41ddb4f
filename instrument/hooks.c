/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hooks that -finstrument-functions calls. They store the function's address; its name is looked
 * up when assembling. Budget: a filtered function one table probe, a recorded one the hot path.
 *
 * Limits: no logic here; errno and everything else of the program stay as they are.
 */
#include "lib/record/hot.h"

void __cyg_profile_func_enter(void *function, void *call_site);
void __cyg_profile_func_exit(void *function, void *call_site);

#define GT_EXPORT __attribute__((visibility("default")))

GT_EXPORT void __cyg_profile_func_enter(void *function, void *call_site)
{
	(void)call_site;
	gt_put((uint64_t)(uintptr_t)function | (uint64_t)GT_T_ENTER_ADDR << GT_TYPE_SHIFT);
}

GT_EXPORT void __cyg_profile_func_exit(void *function, void *call_site)
{
	(void)call_site;
	gt_put((uint64_t)(uintptr_t)function | (uint64_t)GT_T_LEAVE_ADDR << GT_TYPE_SHIFT);
}
