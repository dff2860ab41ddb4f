/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that come after ours in the search order.
 *
 * Limits: looked up at the first intercepted call, or by the constructor. A function that this
 * C library lacks returns ENOSYS (nobody can have been linked against it).
 */
#ifndef GT_PTHREAD_REAL_H
#define GT_PTHREAD_REAL_H

#include <pthread.h>
#include <semaphore.h>
#include <sys/prctl.h>
#include <threads.h>

#include "pthread/events.h"

struct gt_pt_real {
#define GT_PT_FUNCTION(name, version) __typeof__(name) *name;
#include "pthread/functions.def"
#undef GT_PT_FUNCTION
};
extern GT_HIDDEN struct gt_pt_real gt_pt_real;

/* Looks them up, and begins the adapter. May be called by several threads, and from within itself. */
GT_HIDDEN void gt_pt_begin(void);

/* Before a thread ends otherwise than by returning: unwind.c. */
GT_HIDDEN void gt_pt_find_unwinder(void);

/* Before every use of gt_pt_real outside the fast paths: other libraries' constructors and malloc
 * replacements call us before our own constructor has run. */
static inline void gt_pt_need(void)
{
	if (gt_unlikely(gt_pt_mode == GT_PT_UNREADY))
		gt_pt_begin();
}

#endif
