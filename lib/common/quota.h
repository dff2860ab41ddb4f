/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Limits of processor time: the quotas of the groups of processes (cgroups, of both versions) that a process
 * is in, and for how long these have been throttled.
 *
 * Limits: groups are found where they are usually mounted. From inside a container those of its host are not
 * seen. Async-signal-safe.
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
