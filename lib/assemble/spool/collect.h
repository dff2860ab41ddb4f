/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies a spool on a host's own disk (VT_PFORM_LDIR) to the archive directory, where the last host of
 * the run finds it.
 *
 * Limits: on the host itself, when all its processes have ended; the caller holds the lock of the
 * host's run header.
 */
#ifndef GT_ASSEMBLE_SPOOL_COLLECT_H
#define GT_ASSEMBLE_SPOOL_COLLECT_H

/*
 * Moves the processes' folders to `home`, the folder of the host's run header. Returns 0, or a
 * negative errno: then all of them are still where they were.
 */
int gt_collect(const char *home);

#endif
