/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Metrics of single kernels or ranges, exactly (VT_CUPTI_KERNEL): CUPTI's range profiler.
 * Limits: see exact.c.
 */
#ifndef GT_CUDA_EXACT_H
#define GT_CUDA_EXACT_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/cuda.h"
#include "cuda/legacy/events.h"

/* What was measured of a launch. */
struct gt_cu_measured {
	uint64_t begin, end; /* ticks */
	unsigned count;      /* 0: there are no values */
	gt_ref refs[GT_CU_METRICS];
	uint64_t values[GT_CU_METRICS];
	const struct gt_cu_plan *plan; /* not NULL: there are counts of events, and no values yet */
	uint64_t events[GT_CU_EVENTS];
	uint64_t ns;                   /* with them: how long it took by the host's clock */
};

/* Reads the settings. Before a context is made. */
GT_HIDDEN void gt_cu_exact_setup(void);
/* A context was made, or is about to go. On the program's thread. */
GT_HIDDEN void gt_cu_exact_context(void *context);
GT_HIDDEN void gt_cu_exact_context_gone(void *context);
/* Around each launch, in the driver's callbacks, when kernels are replayed. `active`: it is recorded. */
GT_HIDDEN void gt_cu_exact_enter(const struct cu_call_data *call, bool graph, bool active);
GT_HIDDEN void gt_cu_exact_leave(const struct cu_call_data *call);
/* The call with this id never ends. */
GT_HIDDEN void gt_cu_exact_abandon(uint32_t correlation);
/*
 * What was measured of the launch with this id, once; `ns`: how long the kernel took, 0: not known. From the
 * reading thread.
 */
GT_HIDDEN bool gt_cu_exact_take(uint32_t correlation, uint64_t ns, struct gt_cu_measured *measured);
/* Records the values at a place; NULL: this thread's, now. */
GT_HIDDEN void gt_cu_exact_record(const struct gt_cu_measured *measured, struct gt_location *location,
				  uint64_t tick);
/* A range begins, ends on this thread, when ranges are measured. */
GT_HIDDEN void gt_cu_exact_push(const char *name);
GT_HIDDEN void gt_cu_exact_pop(void);
/* Writes the account; `last`: also messages. */
GT_HIDDEN void gt_cu_exact_account(bool last);
/* In a forked child. */
GT_HIDDEN void gt_cu_exact_forked(void);

#endif
