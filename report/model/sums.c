/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums by key: an open hash table of indices into an array.
 *
 * Limits: see sums.h.
 */
#include "config.h"

#include "report/model/sums.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/assemble/util/memory.h"

static uint32_t hash(const uint64_t *key)
{
	uint64_t h = 0;

	for (unsigned i = 0; i < GT_SUM_KEYS; i++) {
		h = (h ^ key[i]) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 29;
	}
	return (uint32_t)(h >> 16);
}

static uint32_t *slot_of(const struct gt_sums *sums, const uint64_t *key)
{
	uint32_t mask = sums->slot_count - 1, i = hash(key) & mask;

	while (sums->slots[i] && memcmp(sums->items[sums->slots[i] - 1].key, key, sizeof(sums->items->key)))
		i = (i + 1) & mask;
	return &sums->slots[i];
}

static void grow(struct gt_sums *sums)
{
	sums->room = sums->room ? 2 * sums->room : 16;
	sums->items = gt_resized(sums->items, sums->room, sizeof(*sums->items));
	free(sums->slots);
	sums->slot_count = 2 * sums->room;
	sums->slots = gt_zeroed(sums->slot_count, sizeof(*sums->slots));
	for (uint32_t i = 0; i < sums->count; i++)
		*slot_of(sums, sums->items[i].key) = i + 1;
}

struct gt_sum *gt_sums_at(struct gt_sums *sums, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	const uint64_t key[GT_SUM_KEYS] = { a, b, c, d };
	uint32_t *slot;

	if (sums->count == sums->room)
		grow(sums);
	slot = slot_of(sums, key);
	if (!*slot) {
		struct gt_sum *sum = &sums->items[sums->count];

		*sum = (struct gt_sum){ .key = { a, b, c, d } };
		*slot = ++sums->count;
	}
	return &sums->items[*slot - 1];
}

const struct gt_sum *gt_sums_find(const struct gt_sums *sums, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	uint32_t index = sums->count ? *slot_of(sums, (const uint64_t[GT_SUM_KEYS]){ a, b, c, d }) : 0;

	return index ? &sums->items[index - 1] : NULL;
}

void gt_sums_merge(struct gt_sums *to, const struct gt_sums *from)
{
	for (uint32_t i = 0; i < from->count; i++) {
		const struct gt_sum *one = &from->items[i];
		struct gt_sum *sum = gt_sums_at(to, one->key[0], one->key[1], one->key[2], one->key[3]);

		if (one->count && (!sum->count || one->least < sum->least))
			sum->least = one->least;
		if (one->most > sum->most)
			sum->most = one->most;
		gt_sum_join(sum, one);
	}
}

static int compare(const void *a, const void *b, void *context)
{
	const struct gt_sum *x = a, *y = b;
	enum gt_sums_order order = *(enum gt_sums_order *)context;

	if (order == GT_SUMS_BY_NS && x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	if (order == GT_SUMS_BY_BYTES && x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	if (order <= GT_SUMS_BY_COUNT && x->count != y->count)
		return x->count < y->count ? 1 : -1;
	for (unsigned i = 0; i < GT_SUM_KEYS; i++)
		if (x->key[i] != y->key[i])
			return x->key[i] < y->key[i] ? -1 : 1;
	return 0;
}

void gt_sums_sort(struct gt_sums *sums, enum gt_sums_order order)
{
	if (sums->count)
		qsort_r(sums->items, sums->count, sizeof(*sums->items), compare, &order);
}

void gt_sums_free(struct gt_sums *sums)
{
	free(sums->items);
	free(sums->slots);
	*sums = (struct gt_sums){0};
}
