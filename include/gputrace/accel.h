/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For adapters of accelerators: calls of a device's interface, and the asynchronous work that they start.
 * Locations that are not threads are in adapter.h.
 *
 * Limits: as adapter.h.
 */
#ifndef GPUTRACE_ACCEL_H
#define GPUTRACE_ACCEL_H

#include "gputrace/adapter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The local id of the calling thread's location, by which records refer to it; UINT32_MAX: none. */
GT_API uint32_t gt_self_location(void);

/* A set of parameters with values, for GT_T_PARAMS. */
GT_API gt_ref gt_def_params(const struct gt_def_param *params, unsigned count);
/* A window for one-sided records (GT_T_RMA_*); arguments as for gt_def_comm(). */
GT_API gt_ref gt_def_window(const char *name, gt_ref parent, uint32_t paradigm, uint64_t key);

#ifdef __cplusplus
}
#endif
#endif
