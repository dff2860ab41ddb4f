/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples and counts of instructions: PC samples (VT_CUPTI_PCSAMPLING), SASS metrics (VT_CUPTI_SASS), and the
 * cubins that both need.
 *
 * Limits: see the .c files. One of both in a run.
 */
#ifndef GT_CUDA_SAMPLES_H
#define GT_CUDA_SAMPLES_H

#include "cuda/cuda.h"

/* ---- instructions of kernels (code.c) -------------------------------------------------------------- */

/* Sets up; records go to a location of this name. False: this CUPTI lacks the functions needed. */
GT_HIDDEN bool gt_cu_code_setup(const char *name);
/* A module was loaded (CUPTI's description of it): its cubin is recorded. In CUPTI's callbacks. */
GT_HIDDEN void gt_cu_code_module(void *descriptor);
/* Calls it, guarded and under the lock; not if a call of CUPTI's hangs there. */
GT_HIDDEN void gt_cu_code_locked(void (*function)(void *), void *argument);
GT_HIDDEN bool gt_cu_code_hangs(void);
GT_HIDDEN void gt_cu_code_give_up(void);
/* Under the lock: a record, and the string of a name that CUPTI keeps. */
GT_HIDDEN void gt_cu_code_put(gt_ref kind, const uint64_t *data, unsigned words);
GT_HIDDEN gt_ref gt_cu_code_name(const char *name);

/* ---- PC samples (pcsampling.c) ----------------------------------------------------------------- */

/* Before CUPTI's callbacks are enabled. What cannot be is said. */
GT_HIDDEN void gt_cu_pc_setup(void);

/* ---- counts of instructions (sass.c) --------------------------------------------------------------- */

/* False: it cannot be, for the reason given. Else kernels must be recorded one at a time. */
GT_HIDDEN bool gt_cu_sass_setup(void);

#endif
