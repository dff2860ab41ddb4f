/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Levels of detail.
 *
 * A tile is written when one begins that is not the next: nothing that ends then can have begun in it, but
 * for spans that belong to a level above. Its sums go to the level above first.
 *
 * Limits: see pyramid.h.
 */
#include "config.h"

#include "report/page/pyramid.h"

#include <stdlib.h>
#include <string.h>

#include "lib/assemble/util/memory.h"

enum { BUCKETS = 1 << GT_BUCKETS_LOG2, KEPT = 4, MOST_SUM_LEVELS = 12 };

/* What is short in one bucket, at one depth; of samples level->functions has more. */
struct gathering {
	uint64_t bucket; /* of the level */
	uint64_t count, ns;
	double squares;  /* of the ns of samples */
	struct kept {
		uint32_t region, mark; /* mark: of a function's first sample */
		uint64_t ns;
	} kept[KEPT];
};

struct bucket {
	uint32_t depth, bucket, region, cover;
	uint64_t count;
	uint32_t part, mark; /* of samples, as is what follows */
	uint64_t even;       /* how many of equal weight would be as exact */
};

struct sum {
	uint32_t region, mark; /* mark: as in struct kept */
	bool used;
	uint64_t count, ns, bytes;
	uint64_t inclusive;
};

/* A hash table. */
struct sum_table {
	struct sum *items;
	uint32_t count, room;
};

struct slot {
	bool used;
	uint64_t tile, end;    /* end: of the last span */
	uint64_t spans;
	struct gt_bytes bytes; /* of the spans */
	uint64_t copies, copy; /* spans that copied something; the place of the last one */
	struct gt_bytes sizes; /* of the copies */
	struct bucket *buckets;
	size_t count, room;
	struct sum_table sums;
};

struct gt_pyramid_level {
	struct slot slots[2]; /* by the lowest bit of their tiles */
	struct gathering *depths;
	uint32_t depth_count;
	struct sum_table functions; /* of the bucket of samples that is gathered */
};

static unsigned log2_of(uint64_t n)
{
	return n ? 63 - (unsigned)__builtin_clzll(n) : 0;
}

unsigned gt_pyramid_levels(unsigned span_log2, uint64_t events)
{
	enum { FEW = 1 << 17, DENSE = 512 };
	unsigned most = span_log2 - GT_BUCKETS_LOG2 + 1, n = 2 + log2_of(events / DENSE);

	return events < FEW || n > most ? most : n;
}

void gt_pyramid_open(struct gt_pyramid *p, struct gt_store *store, enum gt_tile_kind kind, uint32_t row,
		     unsigned span_log2, uint64_t events)
{
	enum { DENSE = 256 };
	unsigned sums = 1 + log2_of(events / DENSE);

	*p = (struct gt_pyramid){ .store = store, .kind = kind, .row = row, .span_log2 = span_log2,
				  .levels = gt_pyramid_levels(span_log2, events), .exact = true };
	sums = sums < MOST_SUM_LEVELS ? sums : MOST_SUM_LEVELS;
	p->sum_levels = kind != GT_TILE_CALLS ? 0 : sums < p->levels ? sums : p->levels;
	p->level = gt_zeroed(p->levels, sizeof(*p->level));
}

static unsigned tile_log2(const struct gt_pyramid *p, unsigned k)
{
	return p->span_log2 - k;
}

static unsigned bucket_log2(const struct gt_pyramid *p, unsigned k)
{
	return p->span_log2 - k - GT_BUCKETS_LOG2;
}

/* ---- sums ---------------------------------------------------------------------------------------- */

static struct sum *find_sum(const struct sum_table *sums, uint32_t region)
{
	uint32_t i = (region * UINT32_C(0x9e3779b1) >> 7) & (sums->room - 1);

	while (sums->items[i].used && sums->items[i].region != region)
		i = (i + 1) & (sums->room - 1);
	return &sums->items[i];
}

static void grow_sums(struct sum_table *sums)
{
	struct sum_table old = *sums;

	sums->room = old.room ? 2 * old.room : 16;
	sums->items = gt_zeroed(sums->room, sizeof(*sums->items));
	for (uint32_t i = 0; i < old.room; i++)
		if (old.items[i].used)
			*find_sum(sums, old.items[i].region) = old.items[i];
	free(old.items);
}

static struct sum *sum_of(struct sum_table *sums, uint32_t region)
{
	struct sum *sum;

	if (2 * sums->count >= sums->room)
		grow_sums(sums);
	sum = find_sum(sums, region);
	if (!sum->used) {
		*sum = (struct sum){ .region = region, .used = true };
		sums->count++;
	}
	return sum;
}

static void clear_sums(struct sum_table *sums)
{
	sums->count = 0;
	if (sums->room)
		memset(sums->items, 0, sums->room * sizeof(*sums->items));
}

static void add_sum(struct slot *slot, const struct sum *more)
{
	struct sum *sum = sum_of(&slot->sums, more->region);

	sum->count += more->count;
	sum->ns += more->ns;
	sum->bytes += more->bytes;
	sum->inclusive += more->inclusive;
}

/* ---- writing a tile ------------------------------------------------------------------------------ */

static int by_place(const void *va, const void *vb)
{
	const struct bucket *a = va, *b = vb;

	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	return a->bucket < b->bucket ? -1 : a->bucket > b->bucket;
}

static int by_region(const void *va, const void *vb)
{
	const struct sum *a = va, *b = vb;

	if (a->used != b->used)
		return a->used ? -1 : 1;
	return a->region < b->region ? -1 : a->region > b->region;
}

static void put_buckets(struct gt_bytes *out, struct slot *slot, bool samples)
{
	uint64_t depths = 0;

	if (slot->count)
		qsort(slot->buckets, slot->count, sizeof(*slot->buckets), by_place);
	for (size_t i = 0; i < slot->count; i++)
		depths += !i || slot->buckets[i].depth != slot->buckets[i - 1].depth;
	gt_bytes_number(out, depths);
	for (size_t i = 0, n; i < slot->count; i += n) {
		const struct bucket *b = &slot->buckets[i];
		uint32_t before = 0;

		for (n = 1; i + n < slot->count && b[n].depth == b->depth; n++)
			;
		gt_bytes_number(out, b->depth);
		gt_bytes_number(out, n);
		for (size_t j = 0; j < n; before = b[j++].bucket) {
			gt_bytes_number(out, b[j].bucket - before);
			gt_bytes_number(out, b[j].region);
			gt_bytes_number(out, b[j].cover);
			gt_bytes_number(out, b[j].count);
			if (samples) {
				gt_bytes_number(out, b[j].part);
				gt_bytes_number(out, b[j].even);
				gt_bytes_number(out, b[j].mark);
			}
		}
	}
}

static void put_sums(struct gt_bytes *out, struct sum_table *sums)
{
	uint32_t before = 0;

	if (sums->room)
		qsort(sums->items, sums->room, sizeof(*sums->items), by_region);
	gt_bytes_number(out, sums->count);
	for (uint32_t i = 0; i < sums->count; before = sums->items[i++].region) {
		gt_bytes_number(out, sums->items[i].region - before);
		gt_bytes_number(out, sums->items[i].count);
		gt_bytes_number(out, sums->items[i].ns);
		gt_bytes_number(out, sums->items[i].bytes);
		gt_bytes_number(out, sums->items[i].inclusive - sums->items[i].ns);
	}
}

static void write_slot(struct gt_pyramid *p, unsigned k, struct slot *slot)
{
	struct gt_bytes out = { .count = 0 };

	if (slot->spans || slot->count || slot->sums.count) {
		gt_bytes_number(&out, slot->spans);
		gt_bytes_add(&out, slot->bytes.data, slot->bytes.count);
		put_buckets(&out, slot, p->kind == GT_TILE_SAMPLES);
		put_sums(&out, &slot->sums);
		if (slot->copies) {
			gt_bytes_number(&out, slot->copies);
			gt_bytes_add(&out, slot->sizes.data, slot->sizes.count);
		}
		gt_store_add(p->store, p->kind, p->row, k, slot->tile, &out);
		p->used = k >= p->used ? k + 1 : p->used;
		free(out.data);
	}
	slot->used = false;
	slot->spans = slot->bytes.count = slot->count = 0;
	slot->copies = slot->copy = slot->sizes.count = 0;
	clear_sums(&slot->sums);
}

/* ---- tiles --------------------------------------------------------------------------------------- */

static struct slot *slot_of(struct gt_pyramid *p, unsigned k, uint64_t tile);

/* The region with the most time; exact for samples. */
static struct kept most_of(const struct gathering *g, const struct sum_table *functions)
{
	struct kept most = { .ns = 0 };

	for (unsigned i = 0; i < KEPT; i++)
		if (g->kept[i].ns > most.ns)
			most = g->kept[i];
	for (uint32_t i = 0; i < functions->room; i++) {
		const struct sum *of = &functions->items[i];

		if (of->ns > most.ns || (of->ns && of->ns == most.ns && of->region < most.region))
			most = (struct kept){ .region = of->region, .mark = of->mark, .ns = of->ns };
	}
	return most;
}

static void put_gathering(struct gt_pyramid *p, unsigned k, uint32_t depth, struct slot *slot)
{
	struct gathering *g = &p->level[k].depths[depth];
	struct kept most = most_of(g, &p->level[k].functions);
	uint64_t cover = ((g->ns << 8) - g->ns) >> bucket_log2(p, k), even = 0; /* cover: in 255ths */

	if (p->kind == GT_TILE_SAMPLES && g->ns <= g->count)
		cover = 0; /* it is not known for how much time they stand */
	else
		cover = cover > 255 ? 255 : cover ? cover : 1;
	if (g->squares > 0)
		even = (uint64_t)((double)g->ns * (double)g->ns / g->squares + 0.5);
	if (slot->count == slot->room) {
		slot->room = slot->room ? 2 * slot->room : 64;
		slot->buckets = gt_resized(slot->buckets, slot->room, sizeof(*slot->buckets));
	}
	slot->buckets[slot->count++] =
		(struct bucket){ .depth = depth, .bucket = g->bucket & (BUCKETS - 1),
				 .region = most.region, .mark = most.mark,
				 .cover = (uint32_t)cover, .count = g->count,
				 .even = even,
				 .part = g->ns ? (uint32_t)(((most.ns << 8) - most.ns) / g->ns) : 0 };
	p->exact = p->exact && k + 1 < p->levels;
	clear_sums(&p->level[k].functions);
	*g = (struct gathering){ .count = 0 };
}

static void evict(struct gt_pyramid *p, unsigned k, struct slot *slot)
{
	struct gt_pyramid_level *level = &p->level[k];

	for (uint32_t d = 0; d < level->depth_count; d++)
		if ((level->depths[d].count || level->depths[d].ns) &&
		    level->depths[d].bucket >> GT_BUCKETS_LOG2 == slot->tile)
			put_gathering(p, k, d, slot);
	if (k && k < p->sum_levels) {
		struct slot *above = slot_of(p, k - 1, slot->tile >> 1);

		for (uint32_t i = 0; i < slot->sums.room; i++)
			if (slot->sums.items[i].used)
				add_sum(above, &slot->sums.items[i]);
	}
	write_slot(p, k, slot);
}

static unsigned older(const struct slot *slots)
{
	return slots[0].used && slots[1].used && slots[1].tile < slots[0].tile;
}

/* Only the tile before this one stays; finer levels first, because their sums go up. */
static void make_room(struct gt_pyramid *p, unsigned k, uint64_t tile)
{
	unsigned finest = p->sum_levels > k + 1 ? p->sum_levels - 1 : k;

	for (unsigned j = finest + 1; j-- > k;) {
		struct slot *slots = p->level[j].slots;
		unsigned first = older(slots);

		for (unsigned i = 0; i < 2; i++)
			if (slots[first ^ i].used && (slots[first ^ i].tile >> (j - k)) + 1 < tile)
				evict(p, j, &slots[first ^ i]);
	}
}

static struct slot *slot_of(struct gt_pyramid *p, unsigned k, uint64_t tile)
{
	struct slot *slot = &p->level[k].slots[tile & 1];

	if (slot->used && slot->tile == tile)
		return slot;
	make_room(p, k, tile);
	slot->used = true;
	slot->tile = tile;
	slot->end = tile << tile_log2(p, k);
	return slot;
}

/* ---- spans --------------------------------------------------------------------------------------- */

static struct gathering *gathering_of(struct gt_pyramid *p, unsigned k, uint32_t depth, uint64_t bucket)
{
	struct gt_pyramid_level *level = &p->level[k];
	struct gathering *g;

	if (depth >= level->depth_count) {
		uint32_t count = 2 * depth + 4;

		level->depths = gt_resized(level->depths, count, sizeof(*level->depths));
		memset(level->depths + level->depth_count, 0,
		       (count - level->depth_count) * sizeof(*level->depths));
		level->depth_count = count;
	}
	g = &level->depths[depth];
	if (g->bucket == bucket && (g->count || g->ns))
		return g;
	if (g->count || g->ns)
		put_gathering(p, k, depth, slot_of(p, k, g->bucket >> GT_BUCKETS_LOG2));
	slot_of(p, k, bucket >> GT_BUCKETS_LOG2);
	g->bucket = bucket;
	return g;
}

/* If there are too many regions, the one with the least makes room and hands on what it has. */
static void gather(struct gathering *g, uint32_t region, uint64_t ns)
{
	unsigned least = 0;

	g->ns += ns;
	for (unsigned i = 0; i < KEPT; i++) {
		if (g->kept[i].region == region && g->kept[i].ns) {
			g->kept[i].ns += ns;
			return;
		}
		if (g->kept[i].ns < g->kept[least].ns)
			least = i;
	}
	g->kept[least].region = region;
	g->kept[least].ns += ns;
}

/* A span that is shorter than a bucket of the level is in one of them, or in two. */
static void add_short(struct gt_pyramid *p, unsigned k, uint64_t begin, uint64_t end, uint32_t region,
		      uint32_t depth)
{
	unsigned shift = bucket_log2(p, k);
	uint64_t last = (end > begin ? end - 1 : end) >> shift;
	struct gathering *g;

	if (begin >> shift != last) {
		gather(gathering_of(p, k, depth, begin >> shift), region, (last << shift) - begin);
		begin = last << shift;
	}
	g = gathering_of(p, k, depth, last);
	gather(g, region, end > begin ? end - begin : 0);
	g->count++;
}

/* Of the span that comes next. */
static void add_copy(struct slot *slot, uint64_t bytes)
{
	gt_bytes_number(&slot->sizes, slot->spans - slot->copy);
	gt_bytes_number(&slot->sizes, bytes);
	slot->copy = slot->spans;
	slot->copies++;
}

/* The first level whose buckets are not longer. */
static unsigned own_level(const struct gt_pyramid *p, uint64_t length)
{
	unsigned finest = p->span_log2 - GT_BUCKETS_LOG2;

	return log2_of(length) < finest ? finest - log2_of(length) : 0;
}

static void put_span(struct gt_pyramid *p, unsigned own, uint64_t end, uint64_t length, uint32_t region,
		     uint32_t mark, uint64_t bytes)
{
	struct slot *slot;

	if (own >= p->levels)
		return;
	slot = slot_of(p, own, end >> tile_log2(p, own));
	gt_bytes_number(&slot->bytes, end - slot->end);
	gt_bytes_number(&slot->bytes, length);
	gt_bytes_number(&slot->bytes, region);
	gt_bytes_number(&slot->bytes, mark);
	slot->end = end;
	if (bytes)
		add_copy(slot, bytes);
	slot->spans++;
}

void gt_pyramid_span(struct gt_pyramid *p, uint64_t begin, uint64_t end, uint32_t region, uint32_t depth,
		     uint32_t mark, uint64_t bytes)
{
	uint64_t most = (UINT64_C(1) << p->span_log2) - 1;
	unsigned own;

	end = end < most ? end : most;
	begin = begin < end ? begin : end;
	if (depth > GT_PYRAMID_DEPTH)
		return;
	own = own_level(p, end - begin);
	for (unsigned k = 0; k < own && k < p->levels; k++)
		add_short(p, k, begin, end, region, depth);
	put_span(p, own, end, end - begin, region, mark, bytes);
}

void gt_pyramid_sample(struct gt_pyramid *p, uint64_t time, uint64_t ns, uint32_t region, uint32_t mark)
{
	enum { USUAL = 1 << 20 };
	uint64_t most = (UINT64_C(1) << p->span_log2) - 1, weight = ns ? ns : 1;
	unsigned own = own_level(p, ns ? ns : USUAL);

	time = time < most ? time : most;
	for (unsigned k = 0; k < own && k < p->levels; k++) {
		struct gathering *g = gathering_of(p, k, 0, time >> bucket_log2(p, k));
		struct sum *function = sum_of(&p->level[k].functions, region);

		function->mark = function->ns ? function->mark : mark;
		function->ns += weight;
		g->ns += weight;
		g->squares += (double)weight * (double)weight;
		g->count++;
	}
	put_span(p, own, time, ns, region, mark, 0);
}

static uint64_t within(const struct gt_pyramid *p, uint64_t now)
{
	uint64_t most = (UINT64_C(1) << p->span_log2) - 1;

	return now < most ? now : most;
}

static struct sum *finest_sum(struct gt_pyramid *p, uint64_t tile, uint32_t region)
{
	return sum_of(&slot_of(p, p->sum_levels - 1, tile)->sums, region);
}

/* A tile is over: what is open was so until now. */
static void spend_open(struct gt_pyramid *p, uint64_t tile)
{
	for (size_t i = 0; i < p->open_count; i++) {
		finest_sum(p, tile, p->open[i].region)->inclusive += p->time - p->open[i].since;
		p->open[i].since = p->time;
	}
}

void gt_pyramid_spend(struct gt_pyramid *p, uint64_t now, uint32_t region, uint64_t bytes)
{
	unsigned shift = tile_log2(p, p->sum_levels - 1);
	uint64_t begin = p->time, copied = 0;

	now = within(p, now);
	while (p->time < now) {
		uint64_t tile = p->time >> shift, border = (tile + 1) << shift;
		uint64_t until = border < now ? border : now;
		uint64_t so_far = gt_pyramid_bytes(bytes, until - begin, now - begin);
		struct sum *sum = finest_sum(p, tile, region);

		sum->ns += until - p->time;
		sum->bytes += so_far - copied;
		copied = so_far;
		p->time = until;
		if (until == border)
			spend_open(p, tile);
	}
	if (bytes > copied) /* in no time */
		finest_sum(p, p->time >> shift, region)->bytes += bytes - copied;
}

void gt_pyramid_skip(struct gt_pyramid *p, uint64_t now)
{
	now = within(p, now);
	p->time = now > p->time ? now : p->time;
}

static uint32_t *nested(struct gt_pyramid *p, uint32_t region)
{
	if (region >= p->nested_room) {
		uint32_t room = region + region / 2 + 64;

		p->nested = gt_resized(p->nested, room, sizeof(*p->nested));
		memset(p->nested + p->nested_room, 0, (room - p->nested_room) * sizeof(*p->nested));
		p->nested_room = room;
	}
	return &p->nested[region];
}

void gt_pyramid_enter(struct gt_pyramid *p, uint32_t region)
{
	finest_sum(p, p->time >> tile_log2(p, p->sum_levels - 1), region)->count++;
	if ((*nested(p, region))++)
		return;
	if (p->open_count == p->open_room) {
		p->open_room = 2 * p->open_room + 16;
		p->open = gt_resized(p->open, p->open_room, sizeof(*p->open));
	}
	p->open[p->open_count].region = region;
	p->open[p->open_count++].since = p->time;
}

void gt_pyramid_leave(struct gt_pyramid *p, uint32_t region)
{
	uint64_t inside = 0;

	if (!--*nested(p, region))
		inside = p->time - p->open[--p->open_count].since;
	if (inside)
		finest_sum(p, p->time >> tile_log2(p, p->sum_levels - 1), region)->inclusive += inside;
}

/* The older tile of a level first; finer levels first, because their sums go up. */
void gt_pyramid_close(struct gt_pyramid *p)
{
	for (unsigned k = p->levels; p->level && k-- > 0;) {
		struct slot *slots = p->level[k].slots;
		unsigned first = older(slots);

		for (unsigned i = 0; i < 2; i++)
			if (slots[first ^ i].used)
				evict(p, k, &slots[first ^ i]);
		for (unsigned i = 0; i < 2; i++) {
			free(slots[i].bytes.data);
			free(slots[i].sizes.data);
			free(slots[i].buckets);
			free(slots[i].sums.items);
		}
		free(p->level[k].depths);
		free(p->level[k].functions.items);
	}
	p->levels = p->used ? p->used : 1;
	p->sum_levels = p->sum_levels < p->levels ? p->sum_levels : p->levels;
	free(p->level);
	free(p->open);
	free(p->nested);
	p->level = NULL;
	p->open = NULL;
	p->nested = NULL;
}
