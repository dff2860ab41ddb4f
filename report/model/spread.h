/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A report by several processes, the ranks of a launcher: rank r reads each location whose place in the table
 * is r modulo their number, and writes its state into a file; rank 0 merges them in the order of the
 * locations, as if it had read all. What a state consists of, gt_analysis.carry says for both sides:
 *
 *	gt_carry_bytes(carry, &state->count, sizeof(state->count));
 *	state->items = gt_carry_array(carry, state->items, state->count, sizeof(*state->items));
 *
 * Limits: the same program on machines of one kind, which see one folder. A rank whose file does not grow for
 * GT_SPREAD_PATIENCE seconds, nor shows that it lives, is given up: the report fails.
 */
#ifndef GT_REPORT_SPREAD_H
#define GT_REPORT_SPREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/model/spans.h"
#include "report/model/sums.h"

enum { GT_SPREAD_PATIENCE = 60 };

struct gt_spread {
	uint32_t rank, size;
	const char *dir;  /* where ranks meet */
	const char *name; /* of the command, for what it says */
	struct gt_carry *carries; /* of rank 0: what it reads, by rank; of others: one, which they write */
};

static inline bool gt_spread_is_ours(const struct gt_spread *spread, size_t location)
{
	return !spread || location % spread->size == spread->rank;
}

/* Ends the process with a sentence and status 2 if ranks cannot meet, as everything here. */
void gt_spread_open(struct gt_spread *spread);
/* All has been written or read; rank 0 removes the files. */
void gt_spread_close(struct gt_spread *spread);
/* To be called by a rank that has failed, in any process of it: nobody waits for it. */
void gt_spread_fail(const struct gt_spread *spread);

/* Data sent to rank 0, or received from the rank that has read the location. */
struct gt_carry *gt_spread_carry(const struct gt_spread *spread, size_t location);
bool gt_carry_loads(const struct gt_carry *carry);
/* Writes these bytes, or fills them. */
void gt_carry_bytes(struct gt_carry *carry, void *data, size_t size);
/* The same of an array; loaded ones are allocated. NULL: it is empty. */
void *gt_carry_array(struct gt_carry *carry, void *items, size_t count, size_t size);
void gt_carry_sums(struct gt_carry *carry, struct gt_sums *sums);
void gt_carry_spans(struct gt_carry *carry, struct gt_spans *spans);

#endif
