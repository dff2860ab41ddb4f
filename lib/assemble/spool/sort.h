/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams whose records are not in order of time (GT_LOC_UNSORTED: a GPU's, written when its
 * buffers arrive): sorted in runs that fit into memory, and merged.
 *
 * Limits: memory for one run and a few kilobytes for each of the others; the runs are in a temporary
 * file. What was added as one unit stays together; units of equal time and tie keep their order.
 */
#ifndef GT_ASSEMBLE_SPOOL_SORT_H
#define GT_ASSEMBLE_SPOOL_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/format.h"

struct gt_sorter;

/* Temporary files go into the folder `dirfd`. NULL without memory. */
struct gt_sorter *gt_sorter_new(int dirfd, size_t run_bytes);
void gt_sorter_free(struct gt_sorter *sorter);

/* Adds one unit: several records that follow each other. Those of equal time come in order of `tie`.
 * 0 or a negative errno. */
int gt_sorter_add(struct gt_sorter *sorter, uint64_t time, uint64_t tie,
		  const struct gt_slot *slots, unsigned count);

/* No more units: prepares the merge. */
int gt_sorter_finish(struct gt_sorter *sorter);

/*
 * The next units in order of time, as many as fit into `room` slots; at least one. Returns the
 * number of slots, 0 at the end, or a negative errno. -E2BIG: `room` is too small for one unit.
 */
long gt_sorter_next(struct gt_sorter *sorter, struct gt_slot *slots, size_t room);

/* The same for one unit. */
long gt_sorter_unit(struct gt_sorter *sorter, struct gt_slot *slots, size_t room);

/* A temporary file without a name in the folder: a descriptor, or a negative errno. */
int gt_sorter_file(int dirfd);

/* The time of the next unit; false at the end. */
bool gt_sorter_time(const struct gt_sorter *sorter, uint64_t *time);

#endif
