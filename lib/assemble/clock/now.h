/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads this host's clocks now: for a process that was killed before its second reading, so that the rate
 * of its counter is unknown.
 *
 * Limits: on the host where it ran, which has neither been started again nor slept since; else there is none.
 */
#ifndef GT_ASSEMBLE_CLOCK_NOW_H
#define GT_ASSEMBLE_CLOCK_NOW_H

#include "lib/assemble/spool/proc.h"

/* Reads the clocks of the process's host. False: this is not that host. */
bool gt_clock_now(const struct gt_proc *proc, struct gt_calib *calib);
/* The same of the machine that this runs on. False: it has no clock of that kind. */
bool gt_clock_pair(uint32_t kind, struct gt_calib *calib);
/* Has it slept since it was started? Then its counter may have run meanwhile, and CLOCK_MONOTONIC not. */
bool gt_clock_slept(void);

#endif
