/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The names of a function in the process itself: what filter files are compared with.
 *
 * Limits: not thread-safe (verdict.c holds its lock); the names stay valid until the next call.
 */
#ifndef GT_VERDICT_NAME_H
#define GT_VERDICT_NAME_H

#include "lib/common/filter.h"
#include "lib/record/record.h"

/*
 * Fills name, full and plain as far as they are known; leaves the group alone. Returns how many
 * bytes of the function lie behind the address, 0 if that is not known.
 */
GT_HIDDEN uint32_t gt_verdict_names(uint64_t address, const struct gt_module_range *range,
				    struct gt_filter_names *n);

/* The linker's name of the function in which the address lies; NULL: there is none. `bytes`: as above. */
GT_HIDDEN const char *gt_verdict_symbol(uint64_t address, const struct gt_module_range *range,
					uint32_t *bytes);

/* Fills full and plain of a function that the linker knows as n->name. */
GT_HIDDEN void gt_verdict_demangle(struct gt_filter_names *n);

/* Files mapped in [start, end) are gone. */
GT_HIDDEN void gt_verdict_names_forget(uint64_t start, uint64_t end);

#endif
