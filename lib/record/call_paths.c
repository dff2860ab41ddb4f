/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selects the calls that have call paths, which the adapter that called gt_call_watch() records. While
 * nobody has asked this costs nothing, because the hot path looks at gt_verdict_mode() in any case.
 *
 * Limits: regions whose numbers are not below GT_PATH_REGIONS have no call paths.
 */
#include "lib/record/call_paths.h"

#include "gputrace/call.h"
#include "lib/record/verdict.h"

#define BITS 64u

static uint64_t regions[GT_PATH_REGIONS / BITS]; /* those that can have one; atomic */
static void (*begins)(gt_ref region, bool always, uint64_t tick);
static uint64_t (*ends)(gt_ref region, uint64_t tick, const void *caller);

/* The others stand for code of the program's own. */
static bool is_call(const struct gt_region_info *info)
{
	if (info->phase || info->paradigm == GT_PARADIGM_COMPILER)
		return false;
	switch (info->role) {
	case GT_REGION_ROLE_CODE:
	case GT_REGION_ROLE_LOOP:
	case GT_REGION_ROLE_PARALLEL:
	case GT_REGION_ROLE_SECTIONS:
	case GT_REGION_ROLE_SECTION:
	case GT_REGION_ROLE_WORKSHARE:
	case GT_REGION_ROLE_SINGLE:
	case GT_REGION_ROLE_SINGLE_SBLOCK:
	case GT_REGION_ROLE_MASTER:
	case GT_REGION_ROLE_CRITICAL_SBLOCK:
	case GT_REGION_ROLE_ORDERED_SBLOCK:
	case GT_REGION_ROLE_TASK:
	case GT_REGION_ROLE_TASK_UNTIED:
		return false;
	default:
		return true;
	}
}

void gt_path_region(gt_ref region, const struct gt_region_info *info)
{
	if (region < GT_PATH_REGIONS && is_call(info))
		__atomic_fetch_or(&regions[region / BITS], UINT64_C(1) << region % BITS, __ATOMIC_RELAXED);
}

static bool can_have(gt_ref region)
{
	return region < GT_PATH_REGIONS &&
	       __atomic_load_n(&regions[region / BITS], __ATOMIC_RELAXED) >> region % BITS & 1;
}

void gt_path_enter(gt_ref region, bool always, uint64_t tick)
{
	if (can_have(region))
		begins(region, always, tick);
}

uint64_t gt_path_leave(gt_ref region, uint64_t tick, const void *caller)
{
	return can_have(region) ? ends(region, tick, caller) : tick;
}

void gt_call_watch(void (*enter)(gt_ref, bool, uint64_t), uint64_t (*leave)(gt_ref, uint64_t, const void *))
{
	begins = enter;
	ends = leave;
	gt_verdict_ask_paths();
}
