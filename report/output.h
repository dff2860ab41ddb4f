/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Outputs that have their names only when they are whole: until then they are "NAME.part". What is no regular
 * file is never replaced.
 *
 * Limits: whoever reads archives may crash: then the parent discards what is left.
 */
#ifndef GT_REPORT_OUTPUT_H
#define GT_REPORT_OUTPUT_H

#include <stdbool.h>

/* A pipe or a device: it has no other name under which it could be written. */
bool gt_output_special(const char *name);
/* "NAME.part", NAME itself if it is special; to be freed. */
char *gt_output_part(const char *name);
/* Gives what is whole now its name. False: it cannot (errno). */
bool gt_output_keep(const char *part, const char *name);
/* Removes NAME.part, a file or a folder with all that is in it, if it is there; not what is special. */
void gt_output_discard(const char *name);

#endif
