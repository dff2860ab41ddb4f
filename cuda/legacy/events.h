/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CUPTI's Event and Metric API: counts of kernels and ranges on GPUs before compute capability 7.5, which the
 * range profiler does not know.
 *
 * Limits: see events.c. Of one context one thread at a time, under gt_guard().
 */
#ifndef GT_CUDA_EVENTS_H
#define GT_CUDA_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/profiler.h"

#define GT_CU_EVENTS         256u
#define GT_CU_EVENTS_BEFORE  75u /* compute capability */

/* What is counted on a device: metrics, events, and the events that the metrics are made of. */
struct gt_cu_plan;
/* The same in a context. */
struct gt_cu_groups;

/* Is this device (its compute capability) one whose counters only events reach? */
GT_HIDDEN bool gt_cu_events_device(unsigned device);
/* Does CUPTI count events on it? 0, or CUPTI's result: CU_ERROR_LEGACY if it does so no more. */
GT_HIDDEN int gt_cu_events_offered(unsigned device);

/*
 * As gt_cu_set_open() and so on, for a set of type CU_PROFILER_EVENTS, whose `host` is a struct gt_cu_plan.
 * The context must be current.
 */
GT_HIDDEN int gt_cu_events_open(struct gt_cu_set *set);
GT_HIDDEN void gt_cu_events_close(struct gt_cu_set *set);
GT_HIDDEN size_t gt_cu_events_passes(const struct gt_cu_set *set);

/* Of a name: *p, as gt_cu_metric_properties(); *sum: it adds up. False: the device has none of this name. */
GT_HIDDEN bool gt_cu_events_describe(unsigned device, const char *name, struct cu_host_properties *p,
				     bool *sum);
/* Why this name cannot be counted on the set's device. */
GT_HIDDEN void gt_cu_events_explain(const struct gt_cu_set *set, const char *name, char *why, size_t size);
/* Every metric and event of the device. */
GT_HIDDEN void gt_cu_events_list(unsigned device, void (*each)(const char *name, void *argument),
				 void *argument);

/* Prepares a context, which must be current. 0, or CUPTI's result. `user`: ranges, else kernels. */
GT_HIDDEN int gt_cu_groups_open(struct gt_cu_plan *plan, void *context, bool user,
				struct gt_cu_groups **groups);
GT_HIDDEN void gt_cu_groups_close(struct gt_cu_groups *groups);
/* Counting begins and ends; both wait for the context, which is current. 0, or CUPTI's result. */
GT_HIDDEN int gt_cu_groups_start(struct gt_cu_groups *groups);
/* *complete: all passes are there; `read`: what was counted is wanted. */
GT_HIDDEN int gt_cu_groups_stop(struct gt_cu_groups *groups, bool read, bool *complete);
/* What was counted, by event, values[GT_CU_EVENTS], and how long it took once by the host's clock. */
GT_HIDDEN void gt_cu_groups_values(const struct gt_cu_groups *groups, uint64_t *values, uint64_t *ns);

/*
 * One of the set's metrics or events, of these counts, which took `ns`: in *value as OTF2 has it. False:
 * there is none, as a counter overflowed, or CUPTI refuses.
 */
GT_HIDDEN bool gt_cu_plan_value(const struct gt_cu_plan *plan, unsigned index, const uint64_t *values,
				uint64_t ns, uint64_t *value);
/* Are there instances of counters that cannot be read, so that counts are extrapolated? */
GT_HIDDEN bool gt_cu_plan_extrapolates(const struct gt_cu_plan *plan);

/* This thread is in a call of CUDA of ours. */
GT_HIDDEN bool gt_cu_events_waiting(void);

#endif
