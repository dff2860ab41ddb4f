/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums by key: what analyses count per location (messages by size, kernels by shape, ...) and then add up.
 *
 *	struct gt_sum *sum = gt_sums_at(&sums, region, size_class, 0, 0);
 *
 *	gt_sum_add(sum, nanoseconds, bytes);
 *
 * Limits: everything is kept in memory, 80 bytes for each key. Keys are never removed.
 */
#ifndef GT_REPORT_SUMS_H
#define GT_REPORT_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GT_SUM_KEYS = 4 };

struct gt_sum {
	uint64_t key[GT_SUM_KEYS];
	uint64_t count, ns, bytes;
	uint64_t least, most; /* ns of one; undefined if there is none */
	double squares;       /* of the ns of each */
};

struct gt_sums {
	struct gt_sum *items; /* in the order in which their keys were met */
	uint32_t count, room;
	uint32_t *slots;      /* index + 1 */
	uint32_t slot_count;  /* a power of two */
};

/* The sum of a key, zero at first. Valid until the next call. */
struct gt_sum *gt_sums_at(struct gt_sums *sums, uint64_t a, uint64_t b, uint64_t c, uint64_t d);
/* The same, or NULL if there is none. */
const struct gt_sum *gt_sums_find(const struct gt_sums *sums, uint64_t a, uint64_t b, uint64_t c, uint64_t d);
/* Adds all of `from`. */
void gt_sums_merge(struct gt_sums *to, const struct gt_sums *from);
/* Sorts by ns (or by bytes, count), largest first; afterwards no key can be looked up. */
enum gt_sums_order { GT_SUMS_BY_NS, GT_SUMS_BY_BYTES, GT_SUMS_BY_COUNT, GT_SUMS_BY_KEY };
void gt_sums_sort(struct gt_sums *sums, enum gt_sums_order order);
void gt_sums_free(struct gt_sums *sums);

static inline void gt_sum_add(struct gt_sum *sum, uint64_t ns, uint64_t bytes)
{
	if (!sum->count++ || ns < sum->least)
		sum->least = ns;
	if (ns > sum->most)
		sum->most = ns;
	sum->ns += ns;
	sum->bytes += bytes;
	sum->squares += (double)ns * (double)ns;
}

/* Adds another one, of which `least` and `most` are not wanted. */
static inline void gt_sum_join(struct gt_sum *sum, const struct gt_sum *one)
{
	sum->count += one->count;
	sum->ns += one->ns;
	sum->bytes += one->bytes;
	sum->squares += one->squares;
}

#endif
