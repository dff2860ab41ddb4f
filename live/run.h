/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processes of a run on this host, followed while they record; and their publication.
 *
 * Limits: processes whose folders this user may not read, or that are in another pid namespace, are left out.
 */
#ifndef GT_LIVE_RUN_H
#define GT_LIVE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "live/follow.h"

struct gt_live_run;

/* The run in the archive directory; NULL with a sentence in `why`. */
struct gt_live_run *gt_live_run_open(const char *dir, const char *host, char *why, size_t size);
void gt_live_run_close(struct gt_live_run *run);

/* Looks at all its processes. Returns how many live. */
size_t gt_live_run_look(struct gt_live_run *run, uint64_t interval_ns);
/* The i-th process of the last look, NULL behind the last. */
const struct gt_image *gt_live_run_image(const struct gt_live_run *run, size_t i);
/* Is the run over, and its archive made or being made? */
bool gt_live_run_over(const struct gt_live_run *run);

/*
 * Publishes the run in `dir` at an interval until its last process has ended; `*stop` becoming true says that
 * none will come any more. Returns 0, or 1 with a sentence in `why`.
 */
int gt_live_publish(const char *dir, const char *host, uint64_t interval_ns, const volatile int *stop,
		    char *why, size_t size);

/*
 * The same in a child of `gputrace run`, which gives up its terminal and standard streams; returns an exit
 * status. gt_live_dismiss() lets it end as soon as no process of the run is left, and waits for that a
 * little.
 */
int gt_live_beside(const char *dir, const char *host, uint64_t interval_ns);
void gt_live_dismiss(int pid);

#endif
