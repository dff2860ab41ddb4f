/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The metrics of the GPU that the user asks for: VT_CUPTI_METRICS and a file of names.
 *
 * Limits: GT_CU_METRICS names of fewer than GT_CU_METRIC_NAME characters.
 */
#ifndef GT_CUDA_METRICS_H
#define GT_CUDA_METRICS_H

#include "cuda/profiler.h"

struct gt_cu_wishes {
	char names[GT_CU_METRICS][GT_CU_METRIC_NAME];
	unsigned count;
	unsigned cut;      /* names that did not fit */
	bool usual;        /* "default" is among them */
	bool exact;        /* for kernels one by one: "default" is another set */
};

/* Adds the names in a text: between them blanks, commas, colons or line ends; # begins a comment. */
GT_HIDDEN void gt_cu_wishes_add(struct gt_cu_wishes *wishes, const char *text);
/* The same for a file. 0 or a negative errno. */
GT_HIDDEN int gt_cu_wishes_read(struct gt_cu_wishes *wishes, const char *path);

/*
 * What the user's settings ask for, in memory that stays; NULL: nothing. What cannot be read is said.
 */
GT_HIDDEN struct gt_cu_wishes *gt_cu_wishes_of_settings(bool exact);

/*
 * Makes a set of those wishes that the chip has and, for PM sampling, that fit into one pass together; of
 * each other `refuse` is told the reason. The set (type and chip are given) then has the names, and is not
 * open.
 */
typedef void gt_cu_refuse(const char *name, const char *why, void *argument);
GT_HIDDEN void gt_cu_wishes_fit(const struct gt_cu_wishes *wishes, struct gt_cu_set *set,
				gt_cu_refuse *refuse, void *argument);

/* gt_cu_set_passes() for a set of any type. */
GT_HIDDEN size_t gt_cu_wishes_passes(const struct gt_cu_set *set);

#endif
