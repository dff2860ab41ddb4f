/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words for how processes ended.
 *
 * Limits: English only.
 */
#ifndef GT_ASSEMBLE_SPOOL_ENDED_H
#define GT_ASSEMBLE_SPOOL_ENDED_H

#include "lib/assemble/spool/spool.h"

/* "exit 0", "killed or still running", ... into `text`, which is returned. */
const char *gt_end_text(const struct gt_proc *proc, char *text, size_t size);

#endif
