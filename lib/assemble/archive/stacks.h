/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stacks that a location's thread has left, and will come back to: stacks.c. A record STACK is a switch.
 *
 * Limits: see stacks.c.
 */
#ifndef GT_ASSEMBLE_ARCHIVE_STACKS_H
#define GT_ASSEMBLE_ARCHIVE_STACKS_H

#include "lib/assemble/archive/records.h"

void gt_stacks_free(struct gt_track *t);

#endif
