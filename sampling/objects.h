/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Maps addresses to the files (or JIT code) that they belong to, and to their unwind tables: from
 * /proc/self/maps, read in the handler when an address is unknown, and from the headers in memory. An
 * object is what its headers say: loaded again at the same place it is the same, and another one there is
 * not.
 *
 * Limits: 2,048 mappings at a time. Executable memory that changes hands without gt_objects_changed() stays
 * what it was. What is unknown is looked for at once after a change, else for at most 2 % of the time.
 */
#ifndef SAMPLING_OBJECTS_H
#define SAMPLING_OBJECTS_H

#include "sampling/unwind.h"

#include <stddef.h>

enum { GT_OBJECT_NO_FILE = 1 };

/* Zeroed memory for *place, unless it has some. [signal-safe] */
GT_HIDDEN bool gt_objects_memory(void **place, size_t bytes);
GT_HIDDEN bool gt_objects_ready(void);
GT_HIDDEN void gt_objects_changed(void);
/* How often objects have changed. */
GT_HIDDEN uint32_t gt_objects_generation(void);
/* Finds the object of `address`: walker->object; uses the window. [signal-safe] */
GT_HIDDEN bool gt_objects_find(struct gt_walker *walker, uintptr_t address);

#endif
