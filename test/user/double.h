/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stand-in for the core: implements what the user API needs of adapter.h and writes each call as
 * a line of text to a log, with names in place of ids.
 *
 * Limits: for tests; single-threaded but for the counts of calls, which are atomic.
 */
#ifndef TEST_USER_DOUBLE_H
#define TEST_USER_DOUBLE_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

extern bool double_active;         /* what gt_active() says */
extern bool double_quiet;          /* counts events, logs nothing (threads, speed) */
extern unsigned double_refuse;     /* the next so many definitions give GT_NONE */
extern const char *double_filter;  /* regions of this name always give GT_NONE */
extern unsigned long double_definitions, double_enters, double_leaves;
extern unsigned long double_lost[16]; /* by enum gt_loss */
extern const char *double_balance; /* value of VT_ONOFF_CHECK_STACK_BALANCE */
extern int double_verbose;

/* What was logged since the last call, in a buffer that the next call overwrites. */
const char *double_log(void);
/* As the core does it: when the process ends, and in a forked child. */
void double_end(void);
void double_fork_child(void);

#ifdef __cplusplus
}
#endif
#endif
