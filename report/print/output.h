/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Outputs that have their names only when they are whole: until then they are "NAME.XXXXXX.part", which
 * nobody else has and no link can wait for. What is no regular file is never replaced.
 *
 * Limits: whoever reads archives may crash: then the parent discards what is left. A process that is killed
 * leaves it.
 */
#ifndef GT_REPORT_OUTPUT_H
#define GT_REPORT_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

/* A pipe or a device: it has no other name under which it could be written. */
bool gt_output_special(const char *name);
/* To be called before fork(): parent and child mean the same by a name. */
void gt_output_begin(void);
/* "NAME.XXXXXX.part", NAME itself if it is special; to be freed. */
char *gt_output_part(const char *name);
/* Opens what gt_output_part() has named: a new file, or what is special. NULL: errno. */
FILE *gt_output_open(const char *part, const char *name);
/* Gives what is whole now its name. False: it cannot (errno). */
bool gt_output_keep(const char *part, const char *name);
/* Removes the part of NAME, a file or a folder with all that is in it, if it is there; nothing special. */
void gt_output_discard(const char *name);

#endif
