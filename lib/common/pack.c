/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packing and unpacking of spool blocks; see pack.h. Budget: 1 ns per slot.
 * Limits: see pack.h.
 */
#include "lib/common/pack.h"

#include "gputrace/compiler.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define ESCAPE   2047u
#define SHORT    (UINT64_C(1) << 21)
#define LONG     (UINT64_C(1) << 40)
#define LITERAL  (ESCAPE | 1u << 11)
#define COUNTED  (ESCAPE | 2u << 11)
#define VALUES   (ESCAPE | 3u << 11)
#define QUICK    (ESCAPE | 4u << 11)
#define STEP     (1u << 11)
#define SOON     (UINT64_C(1) << 9)
#define RUN      32  /* slots: a shorter run of 16-bit tokens is not worth its change of pace */
#define PATIENCE 256 /* slots until the next try */

_Static_assert(GT_T_METRIC >> 1 == GT_T_METRICS >> 1, "GT_PACK_VALUES() takes both for records of metrics");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "two tokens are written as one word");

uint64_t gt_pack_check(const void *data, size_t bytes)
{
	const char *at = data;
	uint64_t a = 0, b = 0, word;

#pragma GCC unroll 4
	for (; bytes >= 8; at += 8, bytes -= 8) {
		memcpy(&word, at, 8);
		a += word;
		b += a;
	}
	word = 0;
	memcpy(&word, at, bytes);
	a += word;
	b += a;
	return a ^ (b << 32 | b >> 32);
}

static void fill_header(struct gt_pack_header *header, uint32_t slots, uint64_t offset,
			uint64_t last, const void *bytes, size_t size)
{
	*header = (struct gt_pack_header){
		.magic = GT_MAGIC_PACK,
		.offset = offset,
		.slots = slots,
		.bytes = (uint32_t)size,
		.last = last,
		.check = gt_pack_check(bytes, size),
	};
}

void gt_pack_raw_header(struct gt_pack_header *header, const void *slots_at, uint32_t slots,
			uint64_t offset)
{
	fill_header(header, slots, offset, 0, slots_at, (size_t)slots * 16);
}

/* The words of 16-bit tokens. */
struct near {
	uint64_t words[128];
	uint64_t count;
	uint8_t number[GT_PACK_NEAR]; /* by hash: where the word may be */
};
_Static_assert(sizeof(struct near) == (GT_PACK_WORDS - GT_PACK_NEAR) * sizeof(uint64_t), "room for it");

static struct near *near_of(uint64_t *table)
{
	return (struct near *)(table + GT_PACK_NEAR);
}

/* This word stands in the block. */
static void note_near(struct near *near, uint64_t word)
{
	uint32_t h = gt_pack_hash(word);

	if (near->count == sizeof(near->words) / sizeof(*near->words) || GT_PACK_COUNTS(word) ||
	    near->words[near->number[h]] == word)
		return;
	near->number[h] = (uint8_t)near->count;
	near->words[near->count++] = word;
}

/*
 * The common case, two slots at a time: as long as both make short tokens. The times are loaded
 * "atomically" to be loaded by themselves: gcc would take both words of a slot into a vector
 * register and pick it apart again, which is a third slower.
 */
static inline char *short_pairs(const uint64_t **at, const uint64_t *end, uint64_t *last, char *to,
				const uint64_t *table)
{
	const uint64_t *slot = *at;
	uint64_t before = *last;

#pragma GCC unroll 2
	for (size_t n = (size_t)(end - slot) / 4; n; n--) {
		uint64_t word1 = slot[1], word2 = slot[3];
		uint64_t time1 = __atomic_load_n(&slot[0], __ATOMIC_RELAXED);
		uint64_t time2 = __atomic_load_n(&slot[2], __ATOMIC_RELAXED);
		uint64_t d1 = time1 - before, d2 = time2 - time1;
		uint64_t h1 = gt_pack_hash(word1), h2 = gt_pack_hash(word2);

		if (gt_unlikely(table[h1] != word1) ||
		    gt_unlikely(table[h2] != word2) ||
		    gt_unlikely((d1 | d2) >= SHORT))
			break;
		h1 |= d1 << 11 | h2 << 32 | d2 << 43;
		memcpy(to, &h1, 8);
		to += 8;
		before = time2;
		slot += 4;
	}
	*at = slot;
	*last = before;
	return to;
}

/*
 * Calls of small functions: a run of slots that all make 16-bit tokens, four at a time. Too few: nothing is
 * done until `*retry`.
 */
static inline char *quick_run(const uint64_t **at, const uint64_t *end, const uint64_t **retry,
			      uint64_t *last, char *to, const struct near *near)
{
	const uint64_t *const words = near->words;
	const uint64_t *slot = *at;
	uint64_t before = *last;
	char *token = to + 4;
	uint32_t head;

	for (size_t n = (size_t)(end - slot) / 8; n; n--) {
		uint64_t word1 = slot[1], word2 = slot[3], word3 = slot[5], word4 = slot[7];
		uint64_t time1 = __atomic_load_n(&slot[0], __ATOMIC_RELAXED);
		uint64_t time2 = __atomic_load_n(&slot[2], __ATOMIC_RELAXED);
		uint64_t time3 = __atomic_load_n(&slot[4], __ATOMIC_RELAXED);
		uint64_t time4 = __atomic_load_n(&slot[6], __ATOMIC_RELAXED);
		uint64_t d1 = time1 - before, d2 = time2 - time1, d3 = time3 - time2, d4 = time4 - time3;
		uint64_t i1 = near->number[gt_pack_hash(word1)], i2 = near->number[gt_pack_hash(word2)];
		uint64_t i3 = near->number[gt_pack_hash(word3)], i4 = near->number[gt_pack_hash(word4)];

		if (gt_unlikely(words[i1] != word1) || gt_unlikely(words[i2] != word2) ||
		    gt_unlikely(words[i3] != word3) || gt_unlikely(words[i4] != word4) ||
		    gt_unlikely((d1 | d2 | d3 | d4) >= SOON))
			break;
		i1 |= d1 << 7 | i2 << 16 | d2 << 23 | i3 << 32 | d3 << 39 | i4 << 48 | d4 << 55;
		memcpy(token, &i1, 8);
		token += 8;
		before = time4;
		slot += 8;
	}
	if (slot - *at < 2 * RUN) {
		*retry = end - *at > 2 * PATIENCE ? *at + 2 * PATIENCE : end;
		return to;
	}
	head = QUICK | (uint32_t)(slot - *at) / 2 << 16;
	memcpy(to, &head, 4);
	*at = slot;
	*last = before;
	return token;
}

/* Does the table have the word's family, with a low half that is less by a step? */
static inline bool counts_on(uint64_t word, uint32_t h, const uint64_t *table)
{
	return GT_PACK_COUNTS(word) && h != ESCAPE && (table[h] ^ word) >> 32 == 0 &&
	       (uint32_t)(word - table[h]) < STEP;
}

/* A word that counts_on(), d < SHORT. */
static inline char *put_counted(char *to, uint64_t word, uint64_t d, uint32_t h, uint64_t *table)
{
	uint64_t token = COUNTED | h << 16 | (d << 11 | (uint32_t)(word - table[h])) << 32;

	memcpy(to, &token, 8);
	table[h] = word;
	return to + 8;
}

/*
 * Launches are an attribute that counts, an enter and a leave, over and over: what follows `*at`, which
 * is such an attribute, as long as it is an enter, a leave and the next attribute.
 */
static inline char *launches(const uint64_t **at, const uint64_t *end, uint64_t *last, char *to,
			     uint64_t *table)
{
	const uint64_t *slot = *at;
	uint64_t before = *last;

	for (; end - slot >= 8; slot += 6) {
		uint64_t d1 = slot[2] - before, d2 = slot[4] - slot[2], d3 = slot[6] - slot[4];
		uint64_t h1 = gt_pack_hash(slot[3]), h2 = gt_pack_hash(slot[5]);
		uint32_t h3 = gt_pack_hash(slot[7] & ~GT_PACK_LOW);

		if (table[h1] != slot[3] || table[h2] != slot[5] || (d1 | d2 | d3) >= SHORT ||
		    !counts_on(slot[7], h3, table))
			break;
		h1 |= d1 << 11 | h2 << 32 | d2 << 43;
		memcpy(to, &h1, 8);
		to = put_counted(to + 8, slot[7], d3, h3, table);
		before = slot[6];
	}
	*at = slot;
	*last = before;
	return to;
}

/* Records of metrics, by their first slots. */
struct bases {
	const uint64_t *at[GT_PACK_BASES];
	unsigned count;
};

/* Of the word; bases->count: it has none. */
static inline unsigned find_base(const struct bases *bases, uint64_t word)
{
	unsigned k = 0;

	while (k < bases->count && bases->at[k][1] != word)
		k++;
	return k;
}

/* Makes the record at `slot` a base; false: there are too many. */
static bool note_base(struct bases *bases, const uint64_t *slot)
{
	unsigned k = find_base(bases, slot[1]);

	if (k == GT_PACK_BASES)
		return false;
	bases->at[k] = slot;
	bases->count += k == bases->count;
	return true;
}

/* The numbers at `at` less those at `base`; returns m. Most have not changed. */
static inline uint32_t put_four(char **to, const uint64_t *at, const uint64_t *base, unsigned n)
{
	uint32_t map = 0;

	for (unsigned i = 0; i < n; i++) {
		int64_t d = (int64_t)(at[i] - base[i]);
		uint32_t size;

		if (!d)
			continue;
		size = 1u + (d != (int16_t)d) + (d != (int32_t)d);
		memcpy(*to, &d, 8);
		*to += 1u << size;
		map |= size << 2 * i;
	}
	return map;
}

static inline char *put_values(char *to, const uint64_t *slot, const uint64_t *base, unsigned k, uint64_t d)
{
	unsigned n = 2 * GT_WORD_EXTRA(slot[1]);
	uint64_t token = VALUES | k << 16 | d << 32;
	char *at = to + 8;

	token |= put_four(&at, slot + 2, base + 2, n < 4 ? n : 4) << 24;
	memcpy(to, &token, 8);
	for (unsigned i = 4; i < n; i += 4) {
		char *map = at++;

		*map = (char)put_four(&at, slot + 2 + i, base + 2 + i, n - i < 4 ? n - i : 4);
	}
	return at;
}

/*
 * Where counters are read these records and events stand by turns: what follows `*at`, which is such a
 * record, as long as that is so.
 */
static inline char *readings(const uint64_t **at, const uint64_t *end, uint64_t *last, char *to,
			     const uint64_t *table, struct bases *bases)
{
	const uint64_t *slot = *at;

	while (slot < end && GT_PACK_VALUES(slot[1])) {
		const uint64_t *next = slot + 2 + 2 * (size_t)GT_WORD_EXTRA(slot[1]), *base;
		unsigned k = find_base(bases, slot[1]);

		if (k == bases->count || next > end || slot[0] - *last > UINT32_MAX)
			break;
		base = bases->at[k];
		if (base + (next - slot) > slot)
			break;
		to = put_values(to, slot, base, k, slot[0] - *last);
		bases->at[k] = slot;
		*last = slot[0];
		slot = next;
		if (slot < end && table[gt_pack_hash(slot[1])] == slot[1] && slot[0] - *last < SHORT) {
			uint32_t token = (uint32_t)(slot[0] - *last) << 11 | gt_pack_hash(slot[1]);

			memcpy(to, &token, 4);
			to += 4;
			*last = slot[0];
			slot += 2;
		}
	}
	*at = slot;
	return to;
}

size_t gt_pack(const void *slots_at, uint32_t slots, uint64_t offset, void *out, uint64_t *table)
{
	const uint64_t *slot = slots_at;
	const uint64_t *end = slot + 2 * (size_t)slots;
	char *begin = (char *)out + sizeof(struct gt_pack_header);
	char *restrict to = begin;
	uint64_t first = slots ? slot[0] : 0;
	const uint64_t *retry = slots > RUN ? slot + 2 * RUN : end; /* here a run of 16-bit tokens is tried */
	uint64_t last = first;
	struct gt_pack_header header;
	struct bases bases = { .count = 0 };

	memset(table, 0, GT_PACK_WORDS * sizeof(*table));
	for (; slot < end; slot += 2) {
		uint64_t time, word, d;
		uint32_t h, token;

		if (slot >= retry)
			to = quick_run(&slot, end, &retry, &last, to, near_of(table));
		if (slot < retry)
			to = short_pairs(&slot, retry, &last, to, table);
		if (slot < end && GT_PACK_VALUES(slot[1]))
			to = readings(&slot, end, &last, to, table, &bases);
		if (slot >= end)
			break;
		time = slot[0];
		word = slot[1];
		d = time - last;
		h = gt_pack_hash(word);
		if (gt_likely(table[h] == word)) {
			if (gt_likely(d < SHORT)) {
				token = (uint32_t)d << 11 | h;
				memcpy(to, &token, 4);
				to += 4;
				last = time;
				continue;
			}
			if (d < LONG) {
				token = ESCAPE | h << 16;
				memcpy(to, &token, 4);
				memcpy(to + 4, &d, 8);
				to += 12;
				last = time;
				continue;
			}
		}
		h = gt_pack_family(word);
		if (d < SHORT && counts_on(word, h, table)) {
			to = put_counted(to, word, d, h, table);
			last = time;
			to = launches(&slot, end, &last, to, table);
			continue;
		}
		token = LITERAL;
		memcpy(to, &token, 4);
		memcpy(to + 4, &time, 8);
		memcpy(to + 12, &word, 8);
		to += 20;
		/* ESCAPE: an index that must not hit */
		if (!(GT_PACK_VALUES(word) && note_base(&bases, slot))) {
			if (h != ESCAPE)
				table[h] = word;
			note_near(near_of(table), word);
		}
		if (d < LONG)
			last = time;
	}
	if ((size_t)(to - begin) >= (size_t)slots * 16) { /* no gain: as they are */
		memcpy(begin, slots_at, (size_t)slots * 16);
		to = begin + (size_t)slots * 16;
	}
	fill_header(&header, slots, offset, first, begin, (size_t)(to - begin));
	memcpy(out, &header, sizeof(header));
	return sizeof(header) + (size_t)(to - begin);
}

/* The common case of unpacking: two short tokens at a time. */
static inline const char *short_tokens(const char *at, const char *end, uint64_t *restrict *slot,
				       const uint64_t *stop, uint64_t *last, const uint64_t *table)
{
	uint64_t *restrict to = *slot;
	uint64_t time = *last;
	size_t room = (size_t)(stop - to) / 4, there = (size_t)(end - at) / 8;

	for (size_t n = room < there ? room : there; n; n--) {
		uint64_t two, h1, h2;

		memcpy(&two, at, 8);
		h1 = two & ESCAPE;
		h2 = two >> 32 & ESCAPE;
		if (gt_unlikely(h1 == ESCAPE) || gt_unlikely(h2 == ESCAPE))
			break;
		time += (uint32_t)two >> 11;
		to[0] = time;
		to[1] = table[h1];
		time += two >> 43;
		to[2] = time;
		to[3] = table[h2];
		at += 8;
		to += 4;
	}
	*slot = to;
	*last = time;
	return at;
}

/* A run of n 16-bit tokens. False: it cannot be right. */
static bool quick_tokens(const char **from, const char *end, uint64_t *restrict slot, const uint64_t *stop,
			 uint64_t *last, const struct near *near, uint32_t n)
{
	const char *at = *from;
	uint64_t time = *last;

	if (!n || n % 4 || stop - slot < 2 * (ptrdiff_t)n || end - at < 2 * (ptrdiff_t)n)
		return false;
	for (; n; n -= 4, at += 8, slot += 8) {
		uint64_t four;

		memcpy(&four, at, 8);
		slot[0] = time += four >> 7 & (SOON - 1);
		slot[1] = near->words[four & 127];
		slot[2] = time += four >> 23 & (SOON - 1);
		slot[3] = near->words[four >> 16 & 127];
		slot[4] = time += four >> 39 & (SOON - 1);
		slot[5] = near->words[four >> 32 & 127];
		slot[6] = time += four >> 55;
		slot[7] = near->words[four >> 48 & 127];
	}
	*from = at;
	*last = time;
	return true;
}

/* The record at `slot` whose token has m; returns how many slots follow it, -1: it cannot be right. */
static int take_values(const char **from, const char *end, uint64_t *slot, const uint64_t *stop,
		       const uint64_t *base, uint32_t map)
{
	ptrdiff_t n = 2 * (ptrdiff_t)GT_WORD_EXTRA(base[1]);
	const char *at = *from;

	if (slot - base < 2 + n || stop - slot < 2 + n)
		return -1;
	for (ptrdiff_t i = 0; i < n; i++, map >>= 2) {
		ptrdiff_t size;
		int64_t d = 0;

		if (i && i % 4 == 0) {
			if (at == end)
				return -1;
			map = (unsigned char)*at++;
		}
		size = (1 << (map & 3)) & ~1;
		if (end - at < size)
			return -1;
		memcpy(&d, at, (size_t)size);
		at += size;
		if (size && size < 8)
			d = (int64_t)((uint64_t)d << (64 - 8 * size)) >> (64 - 8 * size);
		slot[2 + i] = base[2 + i] + (uint64_t)d;
	}
	*from = at;
	return (int)n / 2;
}

/* A slot that stands there as it is. False: it does not. */
static bool take_literal(const char **at, const char *end, uint64_t *slot, uint64_t *last, uint64_t *table,
			 struct bases *bases)
{
	if (end - *at < 16)
		return false;
	memcpy(slot, *at, 16);
	*at += 16;
	if (!(GT_PACK_VALUES(slot[1]) && note_base(bases, slot))) {
		table[gt_pack_family(slot[1])] = slot[1];
		note_near(near_of(table), slot[1]);
	}
	if (slot[0] - *last < LONG)
		*last = slot[0];
	return true;
}

/* A word that counts; h is of its token. */
static bool take_counted(const char **at, const char *end, uint64_t *slot, uint64_t *last, uint64_t *table,
			 uint32_t h)
{
	uint32_t token;
	uint64_t word;

	if (h >= ESCAPE || end - *at < 4)
		return false;
	memcpy(&token, *at, 4);
	*at += 4;
	*last += token >> 11;
	word = table[h];
	word = (word & ~GT_PACK_LOW) | (uint32_t)(word + (token & (STEP - 1)));
	table[h] = word;
	slot[0] = *last;
	slot[1] = word;
	return true;
}

int gt_unpack(const struct gt_pack_header *header, const void *bytes, void *out, uint64_t *table)
{
	const char *at = bytes;
	const char *end = at + header->bytes;
	uint64_t *restrict slot = out;
	const uint64_t *stop = slot + 2 * (size_t)header->slots;
	uint64_t last = header->last;
	struct bases bases = { .count = 0 };

	if (header->check != gt_pack_check(bytes, header->bytes))
		return -EPROTO;
	if (header->bytes == (uint64_t)header->slots * 16) {
		memcpy(out, bytes, header->bytes);
		return 0;
	}
	memset(table, 0, GT_PACK_WORDS * sizeof(*table));
	for (; slot < stop; slot += 2) {
		uint64_t d;
		uint32_t token;

		at = short_tokens(at, end, &slot, stop, &last, table);
		if (slot >= stop)
			break;
		if (end - at < 4)
			return -EPROTO;
		memcpy(&token, at, 4);
		at += 4;
		if (gt_likely((token & ESCAPE) != ESCAPE)) {
			last += token >> 11;
			slot[0] = last;
			slot[1] = table[token & ESCAPE];
			continue;
		}
		if (token == LITERAL) {
			if (!take_literal(&at, end, slot, &last, table, &bases))
				return -EPROTO;
			continue;
		}
		if ((token & 0xffffu) == QUICK) {
			if (!quick_tokens(&at, end, slot, stop, &last, near_of(table), token >> 16))
				return -EPROTO;
			slot += 2 * (size_t)(token >> 16) - 2;
			continue;
		}
		if ((token & 0xffffu) == COUNTED) {
			if (!take_counted(&at, end, slot, &last, table, token >> 16))
				return -EPROTO;
			continue;
		}
		if ((token & 0xffffu) == VALUES) {
			unsigned k = token >> 16 & 0xff;
			uint32_t step;
			int n;

			if (k >= bases.count || end - at < 4)
				return -EPROTO;
			memcpy(&step, at, 4);
			at += 4;
			n = take_values(&at, end, slot, stop, bases.at[k], token >> 24);
			if (n < 0)
				return -EPROTO;
			last += step;
			slot[0] = last;
			slot[1] = bases.at[k][1];
			bases.at[k] = slot;
			slot += 2 * n;
			continue;
		}
		if (token & 0xf800u || token >> 16 >= GT_PACK_WORDS || end - at < 8)
			return -EPROTO;
		memcpy(&d, at, 8);
		at += 8;
		last += d;
		slot[0] = last;
		slot[1] = table[token >> 16];
	}
	return at == end ? 0 : -EPROTO;
}
