/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A double of the parts of the core that lib/record/verdict.c asks: set-up and memory map.
 *
 * Limits: one thread sets it up, before anything runs.
 */
#ifndef GT_DOUBLE_CORE_H
#define GT_DOUBLE_CORE_H

#include "lib/record/record.h"

extern struct gt_module_range double_modules[8];
extern unsigned double_module_count;
extern unsigned double_scans;    /* calls of gt_modules_scan */
extern bool double_start_result; /* what gt_start() says */
extern void (*double_on_start)(void);

#endif
