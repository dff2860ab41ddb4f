/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Limits of processor time: the quotas of a process's cgroups (both versions), and for how long these have
 * been throttled.
 *
 * Limits: cgroups must be mounted in the usual place. Inside a container those of its host cannot be seen.
 * Async-signal-safe.
 */
#ifndef GT_QUOTA_H
#define GT_QUOTA_H

#include "gputrace/compiler.h"
#include "lib/format.h"

#define GT_QUOTA_ROOT "/sys/fs/cgroup"

/*
 * groups: as in /proc/self/cgroup; root: the folder of all groups (GT_QUOTA_ROOT, but for tests). Fills in
 * the groups that have a quota, innermost first, with `after`; the rest of the list is 0. Their number; a
 * negative errno where it is not known, or there are more than GT_QUOTAS.
 */
GT_HIDDEN int gt_quotas_read(const char *root, const char *groups, struct gt_quota list[GT_QUOTAS]);

#endif
