/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory for what grows with the number of events: beyond 128 MiB in a temporary file without a name that is
 * mapped, so that the kernel can write it out.
 *
 * Limits: without room for the file (TMPDIR, /tmp) it is plain memory. What is freed is freed with the whole.
 */
#ifndef GT_REPORT_SPILL_H
#define GT_REPORT_SPILL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/model/spread.h"

struct gt_spill {
	pthread_mutex_t lock;
	int dir, file; /* -1: none */
	struct gt_spill_chunk *chunks;
	unsigned count;
	bool full; /* nothing more goes into the file */
	uint64_t uses;
};

/* An array that grows at its end. The last block is in memory of its own until it is full or the log ends. */
struct gt_log {
	uint32_t size; /* of an element */
	unsigned block_count;
	uint64_t count;
	char **blocks, *open; /* open: the last one, or NULL */
};

/*
 * Records of all locations, sorted by key, then tie, when all have been added; then by location and segment,
 * so that it does not matter which thread or process added what first.
 */
struct gt_item {
	uint64_t key;
	uint64_t tie;
	uint64_t time, begin;
	uint32_t location, segment;
	uint32_t what, value;
};

struct gt_bag {
	struct gt_sorter *sorter;
	struct gt_item *ahead;    /* of the same key and tie, in order; `at` is the next one */
	size_t at, count, room;
	struct gt_item behind;    /* the first of another key or tie, if it is `read` */
	bool read, finished;
};

void gt_spill_open(struct gt_spill *spill);
void gt_spill_close(struct gt_spill *spill);

/* Takes what is in the file out of memory; the kernel brings it back when it is used. */
void gt_spill_drop(struct gt_spill *spill);

/* To be called for each few elements that are used. It does not matter if threads count some as one. */
static inline void gt_spill_used(struct gt_spill *spill)
{
	uint64_t uses = __atomic_load_n(&spill->uses, __ATOMIC_RELAXED) + 1;

	__atomic_store_n(&spill->uses, uses, __ATOMIC_RELAXED);
	if (!(uses & 0x3fff))
		gt_spill_drop(spill);
}

/* A new element, zero. Ends the process without memory, as everything here. */
void *gt_log_add(struct gt_spill *spill, struct gt_log *log);
/* Room for up to *count new ones that lie there so; sets *count to how many. log->count is the caller's. */
void *gt_log_room(struct gt_spill *spill, struct gt_log *log, uint64_t *count);
/* Up to *count new ones, not set, that lie there one after the other; sets *count to how many they are. */
void *gt_log_add_some(struct gt_spill *spill, struct gt_log *log, uint64_t *count);
/* There will be no more: the last block goes where the others are. */
void gt_log_end(struct gt_spill *spill, struct gt_log *log);
void gt_log_free(struct gt_log *log);
/* Of a state (model/spread.h); elements have `size` bytes. */
void gt_log_carry(struct gt_spill *spill, struct gt_carry *carry, struct gt_log *log, uint32_t size);

/*
 * A log's blocks double in size, so that small ones are small: block k has FIRST << k elements, from block
 * DOUBLINGS on all are equal.
 */
enum { GT_LOG_FIRST = 64, GT_LOG_DOUBLINGS = 7 };

static inline uint64_t gt_log_elements(unsigned block)
{
	return (uint64_t)GT_LOG_FIRST << (block < GT_LOG_DOUBLINGS ? block : GT_LOG_DOUBLINGS);
}

static inline unsigned gt_log_block(uint64_t index, uint64_t *offset)
{
	const uint64_t doubled = GT_LOG_FIRST * ((UINT64_C(1) << GT_LOG_DOUBLINGS) - 1);
	const uint64_t whole = (uint64_t)GT_LOG_FIRST << GT_LOG_DOUBLINGS;
	unsigned block;

	if (index >= doubled) {
		*offset = (index - doubled) % whole;
		return GT_LOG_DOUBLINGS + (unsigned)((index - doubled) / whole);
	}
	block = 63 - (unsigned)__builtin_clzll(index / GT_LOG_FIRST + 1);
	*offset = index - GT_LOG_FIRST * ((UINT64_C(1) << block) - 1);
	return block;
}

static inline void *gt_log_at(const struct gt_log *log, uint64_t index)
{
	uint64_t offset;
	unsigned block = gt_log_block(index, &offset);

	return log->blocks[block] + offset * log->size;
}

/* The same; of `most` elements *count lie there one after the other. */
static inline void *gt_log_span(const struct gt_log *log, uint64_t index, uint64_t most, uint64_t *count)
{
	uint64_t offset;
	unsigned block = gt_log_block(index, &offset);
	uint64_t there = gt_log_elements(block) - offset;

	*count = most < there ? most : there;
	return log->blocks[block] + offset * log->size;
}

/* Callers hold the lock if several threads add. */
void gt_bag_add(struct gt_spill *spill, struct gt_bag *bag, const struct gt_item *item);
/* The next one in order, which stays the next until it is taken; NULL at the end. */
const struct gt_item *gt_bag_next(struct gt_bag *bag);
struct gt_item gt_bag_take(struct gt_bag *bag);
void gt_bag_free(struct gt_bag *bag);

#endif
