/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bringing what a host has recorded on its own disk (VT_PFORM_LDIR) to the archive directory, where
 * the last host of the run finds it.
 *
 * Limits: on the host itself, when all its processes have ended; the caller holds the lock of the
 * host's run header.
 */
#ifndef GT_ASSEMBLE_COLLECT_H
#define GT_ASSEMBLE_COLLECT_H

#include <stddef.h>

/*
 * Moves the processes' folders to `home`, the folder of the host's run header. Returns 0, or a
 * negative errno: then all of them are still where they were.
 */
int gt_collect(const char *home);

/*
 * A new file with the content of another: -EISDIR if that is no file. `buffer` has GT_COPY_BUFFER bytes.
 * And what it is written with: all bytes, or the error. Both: 0 or a negative errno.
 */
#define GT_COPY_BUFFER (1u << 20)
int gt_copy_file(int from, const char *source, int to, const char *target, char *buffer);
int gt_copy_bytes(int fd, const void *data, size_t bytes);

#endif
