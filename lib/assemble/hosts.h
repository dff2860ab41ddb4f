/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Archives of several hosts: what each has converted by itself is joined; what messages between them prove of
 * their clocks.
 *
 * Limits: see assemble.h and partial.h.
 */
#ifndef GT_ASSEMBLE_HOSTS_H
#define GT_ASSEMBLE_HOSTS_H

#include "lib/assemble/assembly.h"

/* Some hosts have converted their events already: the rest, and all together. 0, positive: it lacks events,
 * or a negative errno. */
int gt_hosts_join(struct gt_assembly *a);

/* Several hosts are converted at once: corrects their times. 0 or a negative errno. */
int gt_hosts_order(struct gt_assembly *a);

#endif
