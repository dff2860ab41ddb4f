/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What recording costs, and the thresholds of findings that both the summary of a run and `gputrace report`
 * compute (gputrace-findings(7)).
 *
 * Limits: the summary has these values only; --threshold changes them in the report.
 */
#ifndef GT_ASSEMBLE_UTIL_RULES_H
#define GT_ASSEMBLE_UTIL_RULES_H

#include <stdint.h>
#include <string.h>

/* ns. A recorded call that need not wait for its lock takes some 100; short is below a time slice. */
enum { GT_LEAST_WAIT = 1000, GT_SHORT_WAIT = 10000000 };
/* Short waits for a lock, percent of the run that each thread waits; operations on a file, mean bytes. */
enum { GT_MANY_WAITS = 100, GT_CONVOY = 10, GT_MANY_OPERATIONS = 1000, GT_TINY_BYTES = 4096 };
/* ns of a call, and calls, of a function that may cost more to record than it tells. */
enum { GT_SHORT_CALL = 300, GT_MANY_CALLS = 100000 };

/* ns: a call, one of a script, one that a filter leaves out, what a GPU did (gputrace-metrics(7), "COST"). */
enum { GT_COST_OF_CALL = 30, GT_COST_OF_SCRIPT = 110, GT_COST_FILTERED = 2, GT_COST_OF_ACTIVITY = 300 };

/* Of a call of a function of this source file. */
static inline uint64_t gt_cost_of_call(const char *file)
{
	size_t length = strlen(file);

	return length > 3 && !strcmp(file + length - 3, ".py") ? GT_COST_OF_SCRIPT : GT_COST_OF_CALL;
}

#endif
