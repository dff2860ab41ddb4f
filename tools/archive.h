/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens an archive for a command: finds it, reads it in a child process (lib/read/guard.h), and says why
 * it cannot be read.
 *
 * Limits: tools only; one archive at a time.
 */
#ifndef GT_TOOLS_ARCHIVE_H
#define GT_TOOLS_ARCHIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tools/options.h"

/*
 * The launcher of a parallel program may return before the archive is made (doc/adr/0011). If the run in
 * `name` has ended and somebody is about to make its archive, waits for that, with a sentence if it takes
 * long.
 */
void gt_archive_wait(const struct gt_usage *usage, const char *name);

/*
 * Calls `function` in a child process with the anchor file of the archive that the user calls `name` (a
 * directory or an anchor file) and with `argument`; what it prints on `out` goes to stdout when it has ended.
 * Returns the exit status: what `function` returned, or GT_RC_USAGE after a sentence on stderr if there is no
 * such archive or the child crashed or took too long. Then what there is of the output is removed
 * (report/print/output.h); output: NULL if there is none.
 */
int gt_archive_read(const struct gt_usage *usage, const char *name, const char *output,
		    int (*function)(const char *anchor, void *argument, FILE *out), void *argument);

/* The first line of a text about what could be read. `name`: of the archive, if there are several. */
void gt_archive_incomplete(const char *name, uint64_t damaged, size_t locations, FILE *out);

/*
 * The same on stderr of what a page shows (`compared`: beside another archive), if anything is damaged: then
 * GT_RC_BAD, else GT_RC_OK.
 */
int gt_archive_damage(const char *name, uint64_t damaged, size_t locations, bool compared);

/* Prints "gputrace export: NAME cannot be read: REASON" on stderr; returns GT_RC_USAGE. */
int gt_archive_unreadable(const struct gt_usage *usage, const char *name, const char *reason);

#endif
