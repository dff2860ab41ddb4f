/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The blocks of kernels that were compiled with include/gputrace/blocks.cuh: when each ran, on which
 * multiprocessor (SM), and what that says of each launch. As figures, and as a map of time and SMs.
 *
 * A launch is that of the trace whose CUDA_GRID_ID the device has written beside the times (launches.c).
 * CUPTI's times of a kernel are the GPU's timer, too, and enclose those of its blocks: what they have more is
 * divided between its begin and its end, and bounds the error.
 *
 * Limits: what is no line of DIR/gpu/blocks.* is counted and left out. Memory that cannot be had ends the
 * process, as in report/print/figures.h.
 */
#ifndef GT_REPORT_SOURCE_BLOCKS_H
#define GT_REPORT_SOURCE_BLOCKS_H

#include <stdio.h>

#include "report/print/figures.h"

struct gt_block {
	uint64_t begin, end; /* ns since the launch's first block began */
	uint64_t number;
	uint32_t sm;
};

/* A launch in the trace. */
struct gt_block_place {
	const char *region, *stream; /* definitions' names; NULL: it is not known */
	uint64_t start, end;         /* ns since the begin of the trace */
	uint64_t correlation;
};

struct gt_block_launch {
	char *kernel, *host;
	uint32_t pid;
	uint32_t grid;       /* the low half of CUDA_GRID_ID; 0: not known */
	uint64_t first;      /* ns of the GPU's timer at which the first block began */
	struct gt_block_place place;
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

/* Finds the launches in the archive. 0, or a negative errno; what is not found has no place. */
int gt_blocks_place(struct gt_block_launches *launches, const char *anchor);
/* When its first block began, in ns since the begin of the trace, and how many it is off at most. */
uint64_t gt_blocks_begin(const struct gt_block_launch *launch);
uint64_t gt_blocks_error(const struct gt_block_launch *launch);
uint64_t gt_blocks_span(const struct gt_block_launch *launch);

/* `each`: a row for each block, too. */
void gt_blocks_figures(const struct gt_block_launches *launches, bool each, struct gt_figures *figures);
/* The map of the longest launch. */
void gt_blocks_map(const struct gt_block_launches *launches, FILE *out, unsigned width);
/*
 * Times of blocks in `columns` parts of the launch's time, for `rows` parts of its multiprocessors: how many
 * there are at a time. To be freed. And the most on one multiprocessor at a time.
 */
double *gt_blocks_cells(const struct gt_block_launch *launch, unsigned rows, unsigned columns);
unsigned gt_blocks_most(const struct gt_block_launch *launch);
/* A page of HTML with the maps of the longest `most` launches (0: of all). */
void gt_blocks_html(const struct gt_block_launches *launches, const char *title, size_t most, FILE *out);

#endif
