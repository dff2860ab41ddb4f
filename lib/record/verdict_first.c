/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The verdict on a function that may have none yet: at its first call it is found out what file it lies in,
 * and at the first call of all the process is set up.
 *
 * Limits: see verdict.h.
 */
#include "lib/record/record.h"
#include "lib/record/verdict.h"

enum gt_verdict gt_verdict_slow(uint64_t key)
{
	struct gt_module_range range;
	enum gt_verdict verdict;
	bool in_module = false;

	if (gt_verdicts.mode & GT_VERDICT_UNSET) {
		if (!gt_start() && gt_state_now() == GT_DEAD)
			return GT_VERDICT_DROP; /* nothing will ever be recorded: no more work */
		if (gt_state_now() != GT_READY || gt_verdicts.mode & GT_VERDICT_UNSET ||
		    !gt_verdict_filters())
			return GT_VERDICT_RECORD;
		return gt_verdict_of(key);
	}
	if (gt_verdict_known(key, &verdict))
		return verdict;
	if (!(key >> 61)) {
		in_module = gt_modules_find(key, &range);
		if (!in_module && gt_modules_scan())
			in_module = gt_modules_find(key, &range);
	}
	return gt_verdict_judge(key, in_module ? &range : NULL);
}
