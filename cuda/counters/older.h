/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The interface of a second backend for counters, for devices that CUPTI's profiler does not support. The
 * backend sets gt_cu_older when the library is loaded; counting.c calls it and knows nothing else about it.
 *
 * Limits: one backend. One thread at a time for each context, under gt_guard().
 */
#ifndef GT_CUDA_OLDER_H
#define GT_CUDA_OLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/profiler.h"

#define GT_CU_EVENTS 256u

/* The metrics and events counted on a device, and the events that the metrics are computed from. */
struct gt_cu_plan;
/* The same in a context. */
struct gt_cu_groups;

struct gt_cu_older {
	/* Is this device one whose counters only this way reaches? */
	bool (*is_for)(unsigned device);
	/* Does CUPTI count on it? 0, or CUPTI's result: CU_ERROR_LEGACY if it does so no more. */
	int (*offered)(unsigned device);
	/* This thread is in a call of CUDA of ours. */
	bool (*waiting)(void);

	/*
	 * As gt_cu_set_open() and so on, for a set of type CU_PROFILER_EVENTS, whose `host` is a struct
	 * gt_cu_plan. The context must be current.
	 */
	int (*open)(struct gt_cu_set *set);
	void (*close)(struct gt_cu_set *set);
	size_t (*passes)(const struct gt_cu_set *set);

	/* Of a name: *p, as gt_cu_metric_properties(); *sum: it adds up. False: the device has none of it. */
	bool (*describe)(unsigned device, const char *name, struct cu_host_properties *p, bool *sum);
	/* Why this name cannot be counted on the set's device. */
	void (*explain)(const struct gt_cu_set *set, const char *name, char *why, size_t size);
	/* Every metric and event of the device. */
	void (*list)(unsigned device, void (*each)(const char *name, void *argument), void *argument);

	/* Prepares a context, which must be current. 0, or CUPTI's result. `user`: ranges, else kernels. */
	int (*groups_open)(struct gt_cu_plan *plan, void *context, bool user, struct gt_cu_groups **groups);
	void (*groups_close)(struct gt_cu_groups *groups);
	/* Counting begins and ends; both wait for the context, which is current. 0, or CUPTI's result. */
	int (*start)(struct gt_cu_groups *groups);
	/* *complete: all passes are there; `read`: what was counted is wanted. */
	int (*stop)(struct gt_cu_groups *groups, bool read, bool *complete);
	/* The counts by event, values[GT_CU_EVENTS], and the duration of one pass by the host's clock. */
	void (*values)(const struct gt_cu_groups *groups, uint64_t *values, uint64_t *ns);

	/*
	 * One of the set's metrics or events, of these counts, which took `ns`: in *value as OTF2 has it.
	 * False: there is none, as a counter overflowed, or CUPTI refuses.
	 */
	bool (*evaluate)(const struct gt_cu_plan *plan, unsigned index, const uint64_t *values, uint64_t ns,
			 uint64_t *value);
	/* Are there instances of counters that cannot be read, so that counts are extrapolated? */
	bool (*extrapolates)(const struct gt_cu_plan *plan);
};

extern GT_HIDDEN const struct gt_cu_older *gt_cu_older; /* NULL: there is no such way */

static inline bool gt_cu_older_is_for(unsigned device)
{
	return gt_cu_older && gt_cu_older->is_for(device);
}

#endif
