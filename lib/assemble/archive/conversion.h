/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a location's stream to its events in the archive: time order, nesting, names, profile.
 *
 * Limits: one worker converts one location at a time.
 */
#ifndef GT_ASSEMBLE_ARCHIVE_CONVERSION_H
#define GT_ASSEMBLE_ARCHIVE_CONVERSION_H

#include "lib/assemble/archive/worker.h"

/*
 * Converts one location. Returns 0, or a negative errno after which the archive is useless. A full
 * disk ends the location early, is counted as lost events, and gives 0.
 */
int gt_convert_location(struct gt_worker *worker, uint32_t location);

#endif
