/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations shared by runtime.c, dlsym.c and the hooks of a wrapper project.
 *
 * Limits: for these only; generated wrappers see gputrace/wrap.h.
 */
#ifndef GT_WRAP_FIND_H
#define GT_WRAP_FIND_H

#include <gputrace/wrap.h>

/* Above 0: this thread looks for a real function now, and wants no wrapper. */
extern GT_HIDDEN GT_TLS int gt_wrap_finding;

/* The result of gt_wrap_find() if the library is loaded, or NULL. Loads nothing, preserves errno. */
GT_HIDDEN void *gt_wrap_known(struct gt_wrap *gt_w, const void *gt_caller);

/* Is the real function one that only some objects see, each perhaps another? */
GT_HIDDEN int gt_wrap_scoped(struct gt_wrap *gt_w);

/*
 * For a constructor of hooks: finds what the C library has. A lookup frees the text that dlerror() has given
 * to the program, which may be about to print it by one of these functions.
 */
GT_HIDDEN void gt_wrap_early(void);

#endif
