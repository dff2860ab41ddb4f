/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Metrics of whole devices while the program runs (VT_CUPTI_METRICS): PM sampling.
 * Limits: see sampler.c.
 */
#ifndef GT_CUDA_SAMPLER_H
#define GT_CUDA_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include "gputrace/compiler.h"

/*
 * Reads the settings and makes the thread, if metrics are asked for. Before CUDA can be used. What CUPTI
 * loads to sample is torn down at exit before what was registered earlier: `finish` is registered with
 * atexit() after it.
 */
GT_HIDDEN void gt_cu_sampler_start(void (*finish)(void));

#endif
