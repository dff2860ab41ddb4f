/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The blocks of kernels that were compiled with include/gputrace/blocks.cuh: when each ran, on which
 * multiprocessor (SM), and what that says of each launch. As figures, and as a map of time and SMs.
 *
 * Limits: what is no line of DIR/gpu/blocks.* is counted and left out. Memory that cannot be had ends the
 * process, as in report/figures.h.
 */
#ifndef GT_REPORT_SOURCE_BLOCKS_H
#define GT_REPORT_SOURCE_BLOCKS_H

#include <stdio.h>

#include "report/figures.h"

struct gt_block {
	uint64_t begin, end; /* ns since the launch's first block began */
	uint32_t sm;
};

struct gt_block_launch {
	char *kernel;
	uint32_t pid;
	uint64_t launched;   /* blocks; more than there are here: the others had no room, or did not end */
	struct gt_block *blocks; /* by SM and begin */
	size_t count, room;
};

struct gt_block_launches {
	struct gt_block_launch *items; /* as they were written */
	size_t count, room;
	uint64_t bad;        /* lines */
};

/*
 * Launches of kernels whose name holds `kernel` (NULL: all). 0, -ENOENT: there are none, or a negative errno.
 */
int gt_blocks_read(struct gt_block_launches *launches, int dir, const char *kernel);

void gt_blocks_figures(const struct gt_block_launches *launches, struct gt_figures *figures);
/* The map of the longest launch. */
void gt_blocks_map(const struct gt_block_launches *launches, FILE *out, unsigned width);

#endif
