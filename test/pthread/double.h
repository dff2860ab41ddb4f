/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A double of the core: keeps what the adapter told it, for the unit tests to compare.
 *
 * Limits: one log for the process; overlong logs are cut.
 */
#ifndef GT_TEST_PTHREAD_DOUBLE_H
#define GT_TEST_PTHREAD_DOUBLE_H

#include <stdbool.h>

extern bool double_active;         /* what gt_active() says */
extern bool double_guarded;        /* recording is on all the same: inside of a tool's code */
extern bool double_inside;         /* what gt_inside() says */
extern const char *double_locks;   /* VT_PTHREAD_LOCKS */
extern const char *double_filtered;/* a region that the user's filter excludes, or NULL */
extern unsigned long double_time;  /* what gt_now() says */
extern unsigned long double_joined; /* number that gt_thread_join() was told last */

/* All that was told since the last call, one word or phrase per call, separated by "; ". */
const char *double_log(void);

#endif
