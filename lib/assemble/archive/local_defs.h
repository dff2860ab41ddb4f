/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files of single locations beside their events: local definitions, by which the numbers of a partial
 * archive become those of the whole one.
 *
 * Limits: see archive.h.
 */
#ifndef GT_ASSEMBLE_ARCHIVE_LOCAL_DEFS_H
#define GT_ASSEMBLE_ARCHIVE_LOCAL_DEFS_H

#include "lib/assemble/archive/archive.h"

/* Maps a part's numbers to those of the archive, by kind of definition. NULL: they are equal. */
enum gt_map { GT_MAP_STRING, GT_MAP_ATTRIBUTE, GT_MAP_REGION, GT_MAP_COMM, GT_MAP_METRIC,
	      GT_MAP_PARAMETER, GT_MAP_WINDOW, GT_MAP_FILE, GT_MAP_HANDLE, GT_MAP_CONTEXT, GT_MAP_GENERATOR,
	      GT_MAPS };

struct gt_local_defs;

/*
 * Local definitions for locations of a part: mapping tables, those that change nothing left out, and
 * `offsets` of its clock. NULL without memory. Then the definitions of a location, which may be the `same` as
 * another one's (GT_UNDEFINED: they are not); then the end.
 */
struct gt_local_defs *gt_local_defs_new(uint32_t *const maps[GT_MAPS], const uint32_t counts[GT_MAPS]);
void gt_local_defs_write(struct gt_archive *archive, const struct gt_local_defs *local,
			 uint32_t number, uint32_t same, const struct gt_offset *offsets,
			 size_t n, double deviation);
void gt_local_defs_free(struct gt_local_defs *local);

/* For a location whose events have the archive's numbers already: no mapping. */
void gt_local_defs_none(struct gt_archive *archive, uint32_t number);

/* Gives location `number` an event file without events. */
void gt_archive_empty(struct gt_archive *archive, uint32_t number);

#endif
