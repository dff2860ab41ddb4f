/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Metrics of single kernels or ranges, exactly (VT_CUPTI_KERNEL): CUPTI's range profiler.
 * Limits: see exact.c.
 */
#ifndef GT_CUDA_EXACT_H
#define GT_CUDA_EXACT_H

#include "gputrace/compiler.h"

/* Reads the settings, and asks to be called if anything is to be measured. Before a context is made. */
GT_HIDDEN void gt_cu_exact_setup(void);

#endif
