/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hooks by which counters and samples are told of calls, records and other events of the program and its GPU.
 * calls.c, records.c, nvtx.c, account.c and life.c run them without knowing who has registered them; unless a
 * setting asks for counters or samples, there are none.
 *
 * Limits: hooks are added during set-up, before CUPTI's first callback, and never removed.
 */
#ifndef GT_CUDA_HOOKS_H
#define GT_CUDA_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/cuda.h"

/* Each may be NULL. */
struct gt_cu_hooks {
	/* On the program's threads, in CUPTI's callbacks. */
	bool (*ours)(void); /* Is this thread in a call of CUDA that is not the program's? */
	void (*context)(void *context);      /* was made; under gt_guard() */
	void (*context_gone)(void *context); /* is about to go */
	void (*module)(void *descriptor);    /* was loaded: CUPTI's description of it */
	/* A launch by the driver's call: when entered, and before it is left. `active`: it is recorded. */
	void (*launch)(const struct cu_call_data *call, bool graph, bool active);
	void (*launched)(const struct cu_call_data *call);
	void (*launch_over)(void);                 /* any launch: when it has been left */
	void (*abandoned)(uint32_t correlation);   /* the call with this id never ends */
	/* A range of NVTX begins, ends on this thread. */
	void (*range)(const char *name);
	void (*range_over)(void);

	/* From the reading thread. */
	bool (*hides)(const char *kernel); /* Is this kernel one that the measurement launched? */
	/*
	 * What was measured of the launch with this id, once; `ns`: how long the kernel took, 0: not known.
	 * True: something was, from *begin to *end (ticks); `values` records it then, into this location.
	 */
	bool (*kernel)(uint32_t correlation, uint64_t ns, uint64_t *begin, uint64_t *end);
	void (*values)(struct gt_location *location, uint64_t tick);
	void (*account)(bool last); /* writes what is counted; `last`: also messages */

	/*
	 * At an end, and before what may be one: brings in samples of devices (`sample`) or of the program's
	 * work (`collect`), waits limit_ms at most, and says once if that was not enough. `last`: no more are
	 * taken. goes_on: it was no end.
	 */
	void (*sample)(bool last, unsigned limit_ms);
	void (*collect)(bool last, unsigned limit_ms);
	void (*goes_on)(void);
	void (*forked)(void); /* in a forked child */

	struct gt_cu_hooks *next; /* by gt_cu_hooks_add() */
};

extern GT_HIDDEN struct gt_cu_hooks *gt_cu_hooks; /* NULL: nobody asked */
GT_HIDDEN void gt_cu_hooks_add(struct gt_cu_hooks *hooks);

#define GT_CU_EACH_HOOK(h) \
	for (const struct gt_cu_hooks *h = gt_cu_hooks; gt_unlikely(h != NULL); h = h->next)

/* Calls this function of all that have one. */
#define GT_CU_HOOK(function, ...) \
	do { \
		GT_CU_EACH_HOOK(h_) \
			if (h_->function) \
				h_->function(__VA_ARGS__); \
	} while (0)

#endif
