/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The definitions of I/O: paradigms, files and handles.
 *
 * Limits: see io.c.
 */
#ifndef GT_ASSEMBLE_ARCHIVE_IO_H
#define GT_ASSEMBLE_ARCHIVE_IO_H

#include "lib/assemble/archive/archive_int.h"

/* Makes the strings that gt_archive_write_io() names. */
void gt_archive_prepare_io(struct gt_defs *defs);
OTF2_ErrorCode gt_archive_write_io(OTF2_GlobalDefWriter *writer, struct gt_defs *defs);

#endif
