/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that do the same work together, again and again: each call returns when all have done their part.
 *
 * Limits: by one thread at a time, and the work itself starts none.
 */
#ifndef GT_REPORT_CREW_H
#define GT_REPORT_CREW_H

#include <stdint.h>

/* `member` is 0 to gt_crew_size() - 1; the caller is 0. */
typedef void (*gt_crew_work)(void *user, unsigned member);

/* How many that is, at most: 0: as many as there are processors. */
unsigned gt_crew_threads(unsigned threads);
/* Fewer if they cannot be started. Aborts without memory. */
struct gt_crew *gt_crew_new(unsigned threads);
void gt_crew_free(struct gt_crew *crew);
unsigned gt_crew_size(const struct gt_crew *crew);
void gt_crew_run(struct gt_crew *crew, gt_crew_work work, void *user);

#endif
