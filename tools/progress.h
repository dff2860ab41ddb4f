/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shows how far a command has read an archive, as a bar on stderr, if that is a terminal and VT_VERBOSE is
 * not 0.
 *
 * Limits: of archives from 32 MiB on; what comes after reading is not in the bar.
 */
#ifndef GT_TOOLS_PROGRESS_H
#define GT_TOOLS_PROGRESS_H

#include <stdbool.h>

/* From now on. False: there is nobody to see it. The name must live as long. */
bool gt_progress_begin(const char *name);
/* The line is free again, however reading has ended. */
void gt_progress_end(void);

#endif
