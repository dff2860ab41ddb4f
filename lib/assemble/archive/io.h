/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The definitions of I/O: paradigms, files and handles.
 *
 * Limits: see io.c.
 */
#ifndef GT_ASSEMBLE_ARCHIVE_IO_H
#define GT_ASSEMBLE_ARCHIVE_IO_H

#include "lib/assemble/archive/archive_int.h"
#include "lib/assemble/archive/track.h"

/* Makes the strings that gt_archive_write_io() names. */
void gt_archive_prepare_io(struct gt_defs *defs);
OTF2_ErrorCode gt_archive_write_io(OTF2_GlobalDefWriter *writer, struct gt_defs *defs);

/* The number of a handle in the archive; OTF2_UNDEFINED_IO_HANDLE: it is not known. */
uint32_t gt_archive_handle(struct gt_track *t, uint64_t id);

#endif
