/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tiles of links, from the whole run down.
 *
 * Limits: see links.h.
 */
#include "config.h"

#include "report/page/links.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/assemble/spool/sort.h"
#include "lib/assemble/util/memory.h"
#include "report/page/pyramid.h"

enum { RUN_BYTES = 16 << 20, SLOTS = sizeof(struct gt_link) / sizeof(struct gt_slot) };

/* Links of one type, from and to the same rows. */
struct bundle {
	uint32_t type, from, to;
	uint64_t count, bytes, first, last;
};

struct bundles {
	struct bundle *items; /* a hash table */
	size_t count, room;
};

static void failed(void)
{
	fputs("gputrace: no temporary file can be written (TMPDIR)\n", stderr);
	exit(2);
}

void gt_links_open(struct gt_links *links, struct gt_store *store, unsigned span_log2, uint32_t nobody)
{
	*links = (struct gt_links){ .store = store, .span_log2 = span_log2, .nobody = nobody,
				    .log = { .size = sizeof(struct gt_link) } };
	gt_spill_open(&links->spill);
	links->sorter = gt_need(gt_sorter_new(dup(links->spill.dir), RUN_BYTES));
}

void gt_links_add(struct gt_links *links, const struct gt_link *link)
{
	uint64_t last = (UINT64_C(1) << links->span_log2) - 1;
	union {
		struct gt_link link;
		struct gt_slot slots[SLOTS];
	} one = { .link = *link };

	one.link.begin = link->begin < last ? link->begin : last;
	one.link.end = link->end < one.link.begin ? one.link.begin : link->end < last ? link->end : last;
	if (gt_sorter_add(links->sorter, one.link.begin, (uint64_t)link->from << 16 ^ link->to, one.slots,
			  SLOTS))
		failed();
}

static void sort(struct gt_links *links)
{
	long n;

	if (gt_sorter_finish(links->sorter))
		failed();
	for (;;) {
		union {
			struct gt_link link;
			struct gt_slot slots[SLOTS];
		} one;

		n = gt_sorter_unit(links->sorter, one.slots, SLOTS);
		if (n <= 0)
			break;
		*(struct gt_link *)gt_log_add(&links->spill, &links->log) = one.link;
	}
	if (n < 0)
		failed();
	gt_sorter_free(links->sorter);
}

static struct gt_link *at(struct gt_links *links, uint64_t index)
{
	gt_spill_used(&links->spill);
	return gt_log_at(&links->log, index);
}

/* The first one of [from, to) that does not begin before `time`. */
static uint64_t find(struct gt_links *links, uint64_t from, uint64_t to, uint64_t time)
{
	while (from < to) {
		uint64_t middle = from + (to - from) / 2;

		if (at(links, middle)->begin < time)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* ---- bundles ------------------------------------------------------------------------------------- */

static struct bundle *bundle_of(struct bundles *all, uint32_t type, uint32_t from, uint32_t to)
{
	size_t i = ((uint64_t)from << 35 ^ (uint64_t)to << 3 ^ type) * UINT64_C(0x9e3779b97f4a7c15) >> 32;

	for (i &= all->room - 1; all->items[i].count; i = (i + 1) & (all->room - 1))
		if (all->items[i].type == type && all->items[i].from == from && all->items[i].to == to)
			break;
	return &all->items[i];
}

static void grow(struct bundles *all)
{
	struct bundles old = *all;

	all->room = old.room ? 2 * old.room : 256;
	all->items = gt_zeroed(all->room, sizeof(*all->items));
	for (size_t i = 0; i < old.room; i++)
		if (old.items[i].count)
			*bundle_of(all, old.items[i].type, old.items[i].from, old.items[i].to) = old.items[i];
	free(old.items);
}

static void add_to(struct bundle *bundle, const struct bundle *more)
{
	bundle->first = !bundle->count || more->first < bundle->first ? more->first : bundle->first;
	bundle->last = more->last > bundle->last ? more->last : bundle->last;
	bundle->bytes += more->bytes;
	bundle->count += more->count;
}

static void bundle(struct bundles *all, const struct gt_link *link)
{
	const struct bundle one = { .count = 1, .bytes = link->bytes, .first = link->begin,
				    .last = link->end };
	struct bundle *found;

	if (2 * all->count >= all->room)
		grow(all);
	found = bundle_of(all, link->type, link->from, link->to);
	if (!found->count) {
		all->count++;
		*found = (struct bundle){ .type = link->type, .from = link->from, .to = link->to };
	}
	add_to(found, &one);
}

/* Those with most links first; of as many, in a fixed order. */
static int most_first(const void *va, const void *vb)
{
	const struct bundle *a = va, *b = vb;

#define BY(field, less, more)                                                                      \
	if (a->field != b->field)                                                                  \
	return a->field < b->field ? (less) : (more)
	BY(count, 1, -1);
	BY(type, -1, 1);
	BY(from, -1, 1);
	BY(to, -1, 1);
#undef BY
	return 0;
}

/* Joins excess links, one for each type. */
static void shorten(struct bundles *all, uint32_t nobody)
{
	struct bundle rest[GT_LINK_LOCK + 1] = { { .count = 0 } };

	if (all->count)
		qsort(all->items, all->room, sizeof(*all->items), most_first);
	if (all->count <= GT_LINK_PAIRS)
		return;
	for (size_t i = GT_LINK_PAIRS; i < all->count; i++)
		add_to(&rest[all->items[i].type], &all->items[i]);
	all->count = GT_LINK_PAIRS;
	for (uint32_t type = 0; type <= GT_LINK_LOCK; type++)
		if (rest[type].count) {
			rest[type].type = type;
			rest[type].from = rest[type].to = nobody;
			all->items[all->count++] = rest[type];
		}
}

static void put_bundles(struct gt_bytes *out, const struct bundles *all, uint64_t begin)
{
	gt_bytes_number(out, all->count);
	for (size_t i = 0; i < all->count; i++) {
		const struct bundle *b = &all->items[i];

		gt_bytes_number(out, b->type);
		gt_bytes_number(out, b->from);
		gt_bytes_number(out, b->to);
		gt_bytes_number(out, b->count);
		gt_bytes_number(out, b->bytes);
		gt_bytes_number(out, b->first - begin);
		gt_bytes_number(out, b->last - begin);
	}
}

/* ---- tiles --------------------------------------------------------------------------------------- */

static void put_link(struct gt_bytes *out, const struct gt_link *link, uint64_t before)
{
	gt_bytes_number(out, link->type);
	gt_bytes_number(out, link->begin - before);
	gt_bytes_number(out, link->end - link->begin);
	gt_bytes_number(out, link->from);
	gt_bytes_number(out, link->to);
	gt_bytes_number(out, link->bytes);
	gt_bytes_number(out, link->comm);
	gt_bytes_number(out, link->tag);
}

static uint64_t left_in(struct gt_links *links, uint64_t from, uint64_t to)
{
	uint64_t n = 0;

	for (uint64_t i = from; i < to; i++)
		n += !at(links, i)->done;
	return n;
}

/* Writes the links [from, to) of the tile. Returns how many levels there are from this one on. */
static unsigned tile(struct gt_links *links, unsigned k, uint64_t number, uint64_t from, uint64_t to)
{
	unsigned shift = links->span_log2 - k, below = 0, other;
	uint64_t left = left_in(links, from, to), begin = number << shift, before = begin, n = 0, middle;
	bool all = left <= GT_LINK_FEW || shift <= GT_BUCKETS_LOG2;
	struct gt_bytes exact = { .count = 0 }, out = { .count = 0 };
	struct bundles bundles = { .count = 0 };

	if (!left)
		return 0;
	for (uint64_t i = from; i < to; i++) {
		struct gt_link *link = at(links, i);

		if (link->done)
			continue;
		if (all || (n < GT_LINK_FEW && link->end - link->begin >= UINT64_C(1) << (shift - 1))) {
			put_link(&exact, link, before);
			before = link->begin;
			link->done = true;
			n++;
		} else {
			bundle(&bundles, link);
		}
	}
	shorten(&bundles, links->nobody);
	gt_bytes_number(&out, n);
	gt_bytes_add(&out, exact.data, exact.count);
	put_bundles(&out, &bundles, begin);
	gt_store_add(links->store, GT_TILE_LINKS, 0, k, number, &out);
	free(bundles.items);
	free(exact.data);
	free(out.data);
	if (all || n == left)
		return 1;
	middle = find(links, from, to, begin + (UINT64_C(1) << (shift - 1)));
	below = tile(links, k + 1, 2 * number, from, middle);
	other = tile(links, k + 1, 2 * number + 1, middle, to);
	return 1 + (below > other ? below : other);
}

unsigned gt_links_close(struct gt_links *links)
{
	unsigned levels;

	sort(links);
	levels = tile(links, 0, 0, 0, links->log.count);
	gt_log_free(&links->log);
	gt_spill_close(&links->spill);
	return levels;
}
