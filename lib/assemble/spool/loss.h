/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words for what was lost and for how processes ended.
 *
 * Limits: English only.
 */
#ifndef GT_ASSEMBLE_SPOOL_LOSS_H
#define GT_ASSEMBLE_SPOOL_LOSS_H

#include "lib/assemble/spool/spool.h"

/* "SPACE" for GT_LOSS_SPACE, ...; NULL for causes that are not used. */
const char *gt_loss_name(unsigned cause);
/* "the disk was full", ... */
const char *gt_loss_reason(unsigned cause);
/* Is this cause a loss, and not something the user asked for? */
bool gt_loss_real(unsigned cause);

/* "exit 0", "killed or still running", ... into `text`, which is returned. */
const char *gt_end_text(const struct gt_proc *proc, char *text, size_t size);

#endif
