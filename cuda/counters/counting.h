/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CUPTI's range profiler, or its events, as exact.c uses them: sessions of contexts, which count the same
 * metrics.
 * Limits: see counting.c.
 */
#ifndef GT_CUDA_COUNTING_H
#define GT_CUDA_COUNTING_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/counters/older.h"
#include "cuda/cuda.h"

/* Measurements of a launch. */
struct gt_cu_measured {
	uint64_t begin, end; /* ticks */
	unsigned count;      /* 0: there are no values */
	gt_ref refs[GT_CU_METRICS];
	uint64_t values[GT_CU_METRICS];
	const struct gt_cu_plan *plan; /* not NULL: there are counts of events, and no values yet */
	uint64_t events[GT_CU_EVENTS];
	uint64_t ns;                   /* with them: how long it took by the host's clock */
};

struct gt_cu_session;

/* Reads the metrics that the settings name, before a context is made. False: none. */
GT_HIDDEN bool gt_cu_counting_setup(void);
GT_HIDDEN void gt_cu_counting_forked(void);

/* A context was made; the first of a device says what it costs there. */
GT_HIDDEN void gt_cu_session_add(void *context);
/* NULL: it is not known; `usable`: or nothing can be counted in it. */
GT_HIDDEN struct gt_cu_session *gt_cu_session_of(const void *context, bool usable);
/* The context goes; `counts`: between start and stop. */
GT_HIDDEN void gt_cu_session_end(struct gt_cu_session *session, bool counts);

/*
 * Counting begins, in a range with a name (NULL: of what is launched). 0, or CUPTI's result: then it has not
 * begun.
 */
GT_HIDDEN int gt_cu_session_start(struct gt_cu_session *session, const char *range);
/* It stops. 0, or CUPTI's result; *complete: there are values, else the range must come again. */
GT_HIDDEN int gt_cu_session_stop(struct gt_cu_session *session, bool range, bool *complete);
/*
 * The values, once they are complete: *m gets them, but not its times. *ns: how long it took on the
 * device, 0: not known. The session is ready for the next then, also if it fails with CUPTI's result.
 */
GT_HIDDEN int gt_cu_session_values(struct gt_cu_session *session, struct gt_cu_measured *m, uint64_t *ns);
/* The same, but of what was counted nothing is wanted; the context may not be waited for. */
GT_HIDDEN void gt_cu_session_drop(struct gt_cu_session *session);
/* Values that depend on the time, which the kernel or range took; those that there are not are left out. */
GT_HIDDEN void gt_cu_counts_evaluate(struct gt_cu_measured *m, uint64_t ns);
/* How many were left out. */
GT_HIDDEN uint64_t gt_cu_counts_without_value(void);
/* Is a range under way that must come again? */
GT_HIDDEN bool gt_cu_session_waits(const struct gt_cu_session *session);

#endif
