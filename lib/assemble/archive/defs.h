/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The global definitions, and with them the end of an archive.
 *
 * Limits: see archive.h.
 */
#ifndef GT_ASSEMBLE_ARCHIVE_DEFS_H
#define GT_ASSEMBLE_ARCHIVE_DEFS_H

#include "lib/assemble/archive/archive.h"

struct gt_archive_clock {
	uint64_t length_ns;     /* of the whole trace */
	uint64_t offset_ns;     /* the time at which it begins */
	uint64_t start_real_ns; /* wall clock at that moment */
	const struct gt_properties *properties; /* of processes and locations */
};

/* Writes all global definitions and closes the archive. Returns 0 or -EIO; frees it in any case. */
int gt_archive_close(struct gt_archive *archive, const struct gt_layout *layout,
		     struct gt_defs *defs, const struct gt_archive_clock *clock);

#endif
