/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading archives that may be damaged: in a child process with limits of memory and of its processors' time,
 * because libotf2 crashes, loops or takes all memory on some of them. And finding the anchor file.
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
 * The same of several archives: `function` is given the first. If it fails, `which` is the one that it is
 * about, or NULL if that is not known.
 */
int gt_otf2_guarded_all(const char *const anchors[], unsigned count,
			int (*function)(const char *anchor, void *argument, FILE *out),
			void *argument, const char **which, const char **reason);

/*
 * What the child may take: `seconds` of each processor's time and `per_mib` more for each MiB of the
 * archives; and so many seconds may pass, while its parent runs, in which it neither prints nor takes any
 * time. Tests change it.
 */
extern struct gt_otf2_patience {
	unsigned seconds, per_mib, silent;
} gt_otf2_patience;

/*
 * The anchor file of what a user names: the file itself, DIR/traces.otf2, or the only *.otf2 there is in DIR.
 * `spool` becomes DIR/spool if recorded data are still there, else "". NULL, or why there is no archive.
 */
const char *gt_otf2_find_anchor(const char *name, char *anchor, size_t size, char *spool, size_t spool_size);

#endif
