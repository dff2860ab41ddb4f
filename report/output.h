/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Outputs that have their names only when they are whole: until then they are "NAME.part".
 *
 * Limits: whoever reads archives may crash: then the parent discards what is left.
 */
#ifndef GT_REPORT_OUTPUT_H
#define GT_REPORT_OUTPUT_H

/* "NAME.part", to be freed. */
char *gt_output_part(const char *name);
/* Removes NAME.part, a file or a folder with all that is in it, if it is there. */
void gt_output_discard(const char *name);

#endif
