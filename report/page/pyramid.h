/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spans of time of one row at all levels of detail, as tiles. Level k divides the run, 2^span_log2 ns, into
 * 2^k tiles of 512 buckets each. A span is in the first level whose buckets are not longer than it, once, in
 * the tile in which it ends; in the levels above it is part of the buckets that it touches.
 *
 * Spans of one depth come in order and do not overlap; all of a row come in the order of their ends. So a
 * level has two tiles in memory at most.
 *
 * Limits: depths up to GT_PYRAMID_DEPTH; what is deeper is left out. The region of a bucket is the one with
 * the most time of the four that it keeps; of samples it is exact, for which each
 * level has all functions of one bucket in memory.
 */
#ifndef GT_REPORT_PAGE_PYRAMID_H
#define GT_REPORT_PAGE_PYRAMID_H

#include "report/page/store.h"

enum { GT_BUCKETS_LOG2 = 9, GT_PYRAMID_DEPTH = 255, GT_SPAN_MOST = 52 };

struct gt_pyramid {
	struct gt_store *store;
	enum gt_tile_kind kind;
	uint32_t row;
	unsigned span_log2, levels; /* closed: those that have tiles, at least one */
	unsigned used;
	unsigned sum_levels; /* the first ones have sums */
	uint64_t time;       /* up to which there are sums */
	bool exact;          /* the last level's buckets are empty */
	/* the outermost open call of each region, and since when the finest tile has not counted it */
	struct gt_pyramid_running {
		uint32_t region;
		uint64_t since;
	} *open;
	size_t open_count, open_room;
	uint32_t *nested, nested_room; /* open calls by region */
	struct gt_pyramid_level *level;
};

/* Levels that are worth it for so many events. */
unsigned gt_pyramid_levels(unsigned span_log2, uint64_t events);
void gt_pyramid_open(struct gt_pyramid *p, struct gt_store *store, enum gt_tile_kind kind, uint32_t row,
		     unsigned span_log2, uint64_t events);
/* `mark` is written in place of the depth; it is the depth of calls. A copy or set has copied `bytes`. */
void gt_pyramid_span(struct gt_pyramid *p, uint64_t begin, uint64_t end, uint32_t region, uint32_t depth,
		     uint32_t mark, uint64_t bytes);
/*
 * A sample, which stands for `ns`, or 0 if that is not known: a point in time. Its level is that of a span as
 * long; in the levels above, the bucket that it is in has its whole weight. They come in order.
 */
void gt_pyramid_sample(struct gt_pyramid *p, uint64_t time, uint64_t ns, uint32_t region, uint32_t mark);
/* From the time of the last call on, `region` was the innermost, and `bytes` were copied. */
void gt_pyramid_spend(struct gt_pyramid *p, uint64_t now, uint32_t region, uint64_t bytes);
/* The same, but of nothing. */
void gt_pyramid_skip(struct gt_pyramid *p, uint64_t now);
/* Calls of a row, for the sums; each after the time until now was spent. */
void gt_pyramid_enter(struct gt_pyramid *p, uint32_t region);
void gt_pyramid_leave(struct gt_pyramid *p, uint32_t region);
/* Writes what is left. */
void gt_pyramid_close(struct gt_pyramid *p);

/* How many of `bytes` are copied in the first `part` of `whole` ns: those of successive parts add up. */
static inline uint64_t gt_pyramid_bytes(uint64_t bytes, uint64_t part, uint64_t whole)
{
	return part < whole ? (uint64_t)((unsigned __int128)bytes * part / whole) : bytes;
}

#endif
