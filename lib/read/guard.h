/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading archives that may be damaged: in a child process with limits of memory and time, because libotf2
 * crashes, loops or takes all memory on some of them. And finding the anchor file.
 *
 * Limits: what the child prints is kept in a temporary file (TMPDIR) until it ends.
 */
#ifndef GT_OTF2_GUARD_H
#define GT_OTF2_GUARD_H

#include <stddef.h>
#include <stdio.h>

/*
 * Calls `function` in a child and copies to stdout what it has printed on `out`. Returns what it returned (0
 * to 255), 128 + SIGPIPE if nobody reads what it writes, or -1 with the reason in `reason` if the child
 * crashed or had to be ended; then nothing is printed. The reason is valid until the next call.
 */
int gt_otf2_guarded(const char *anchor, int (*function)(const char *anchor, void *argument, FILE *out),
		    void *argument, const char **reason);

/*
 * The anchor file of what a user names: the file itself, DIR/traces.otf2, or the only *.otf2 there is in DIR.
 * `spool` becomes DIR/spool if recorded data are still there, else "". NULL, or why there is no archive.
 */
const char *gt_otf2_find_anchor(const char *name, char *anchor, size_t size, char *spool, size_t spool_size);

#endif
