/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The thresholds of findings that both the summary of a run and `gputrace report` compute
 * (gputrace-findings(7)).
 *
 * Limits: the summary has these values only; --threshold changes them in the report.
 */
#ifndef GT_ASSEMBLE_UTIL_RULES_H
#define GT_ASSEMBLE_UTIL_RULES_H

/* ns. A recorded call that need not wait for its lock takes some 100; short is below a time slice. */
enum { GT_LEAST_WAIT = 1000, GT_SHORT_WAIT = 10000000 };
/* Short waits for a lock, percent of the run that each thread waits; operations on a file, mean bytes. */
enum { GT_MANY_WAITS = 100, GT_CONVOY = 10, GT_MANY_OPERATIONS = 1000, GT_TINY_BYTES = 4096 };

#endif
