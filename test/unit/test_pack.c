/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of lib/common/pack.c: what goes in comes out, bit by bit, and rubbish is refused.
 *
 * Limits: random streams with fixed seeds; the failing seed is printed.
 */
#include "lib/common/pack.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SLOTS 4096u

static uint64_t slots[2 * SLOTS], back[2 * SLOTS], table[GT_PACK_WORDS];
static char block[GT_PACK_ROOM(16 * SLOTS)];

static uint64_t any(void)
{
	return (uint64_t)rand() << 42 ^ (uint64_t)rand() << 21 ^ (uint64_t)rand();
}

/* Mostly enter/leave of few functions, with rare words, pauses and data in between. */
static void make_stream(uint32_t n, unsigned words)
{
	uint64_t time = any(), counter = any();

	for (uint32_t i = 0; i < n; i++) {
		int kind = rand() % 32;

		if (kind == 0)
			time = any();
		else if (kind < 4)
			time += UINT64_C(1) << rand() % 46;
		else
			time += (uint64_t)rand() % 4000;
		slots[2 * i] = time;
		slots[2 * i + 1] = kind == 5 ? any()
					     : 0x555555550000u + ((uint64_t)rand() % words) * 48 +
						       ((uint64_t)(1 + rand() % 2) << 56);
		if (kind >= 6 && kind < 10) /* a number that mostly counts */
			slots[2 * i + 1] = UINT64_C(0x0b) << 56 | (uint64_t)(rand() % 3) << 32 |
					   (uint32_t)(counter += (uint64_t)(rand() % 64 ? 1 : 3000));
	}
}

static struct gt_pack_header pack(uint32_t n)
{
	struct gt_pack_header header;
	size_t size = gt_pack(slots, n, 4096, block, table);

	memcpy(&header, block, sizeof(header));
	cr_assert_eq(size, sizeof(header) + header.bytes);
	cr_assert_leq(header.bytes, 16 * (size_t)n);
	cr_assert_eq(header.slots, n);
	cr_assert_eq(header.offset, 4096);
	return header;
}

Test(pack, random_streams_come_back)
{
	for (unsigned seed = 0; seed < 300; seed++) {
		uint32_t n = seed < 3 ? seed : 1 + seed * 37 % SLOTS;
		struct gt_pack_header header;

		srand(seed);
		make_stream(n, 1 + seed * 11 % 5000);
		header = pack(n);
		memset(back, 0xee, sizeof(back));
		cr_assert_eq(gt_unpack(&header, block + sizeof(header), back, table), 0,
			     "seed %u", seed);
		cr_assert_eq(memcmp(slots, back, 16 * (size_t)n), 0, "seed %u", seed);
	}
}

Test(pack, usual_events_take_about_four_bytes)
{
	uint64_t time = 1000;

	for (uint32_t i = 0; i < SLOTS; i++) {
		slots[2 * i] = time += 700;
		slots[2 * i + 1] = 0x555555550000u + i / 2 % 20 * 64 + ((uint64_t)(1 + i % 2) << 56);
	}
	cr_assert_lt(pack(SLOTS).bytes, 5 * SLOTS);
}

Test(pack, calls_in_quick_succession_take_about_two_bytes)
{
	uint64_t time = 1000;

	for (uint32_t i = 0; i < SLOTS; i++) {
		slots[2 * i] = time += 40;
		slots[2 * i + 1] = 0x555555550000u + i / 2 % 4 * 64 + ((uint64_t)(1 + i % 2) << 56);
	}
	cr_assert_lt(pack(SLOTS).bytes, 5 * SLOTS / 2);
}

/* The smallest word from this one on with this hash, which is that of escapes. */
static uint64_t word_of(uint64_t word, uint32_t hash)
{
	while (gt_pack_hash(word) != hash)
		word++;
	return word;
}

/* The same with pauses, words of one hash, and more words than fit into quick tokens. */
Test(pack, quick_calls_with_odd_ones_among_them_come_back)
{
	const uint64_t escape = word_of(0x555555550000u, 2047), other = word_of(escape + 1, 2047);
	const uint64_t words[] = { escape, 77, word_of(78, gt_pack_hash(77)), 79, 80, 81, other };

	for (unsigned seed = 0; seed < 600; seed++) {
		uint32_t n = 1 + seed * 37 % SLOTS, some = 1 + seed % 6, far = seed % 5 * 50;
		struct gt_pack_header header;
		uint64_t time = 1000;

		srand(seed);
		for (uint32_t i = 0; i < n; i++) {
			bool odd = rand() % (seed % 3 ? 200 : 20) == 0;

			time += odd ? UINT64_C(1) << rand() % 44 : (uint64_t)rand() % 512;
			slots[2 * i] = odd && rand() % 4 == 0 ? time -= 600 : time;
			slots[2 * i + 1] = words[i && rand() % 40 ? 1 + (uint32_t)rand() % some : 0];
			if (rand() % 300 == 0)
				slots[2 * i + 1] = rand() % 2 ? any() : UINT64_C(0x0b) << 56 | i;
			if (far && rand() % 10 == 0)
				slots[2 * i + 1] = 1000 + (uint32_t)rand() % far;
		}
		header = pack(n);
		memset(back, 0xee, sizeof(back));
		cr_assert_eq(gt_unpack(&header, block + sizeof(header), back, table), 0, "seed %u", seed);
		cr_assert_eq(memcmp(slots, back, 16 * (size_t)n), 0, "seed %u", seed);
	}
}

/* Tokens of a run of calls, before a page that nobody may read; `*run` is its first token, which has n. */
static struct gt_pack_header pack_run(uint32_t n, char **bytes, uint32_t **run)
{
	char *pages = mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct gt_pack_header header;

	for (uint32_t i = 0; i < n; i++) {
		slots[2 * i] = 1000 + 40 * i;
		slots[2 * i + 1] = 77;
	}
	header = pack(n);
	cr_assert(pages != MAP_FAILED && !mprotect(pages + 4096, 4096, PROT_NONE));
	*bytes = pages + 4096 - header.bytes;
	memcpy(*bytes, block + sizeof(header), header.bytes);
	for (*run = (uint32_t *)*bytes; (**run & 0xffff) != (2047 | 4 << 11); ++*run)
		;
	return header;
}

Test(pack, runs_that_are_longer_than_their_block_are_refused)
{
	uint32_t *run, n;
	char *bytes;
	struct gt_pack_header header = pack_run(400, &bytes, &run);

	n = *run >> 16;
	cr_assert_eq(gt_unpack(&header, bytes, back, table), 0);
	header.slots = 3000; /* there is room: they are not there */
	for (uint32_t more = 1; more < 1200; more++) {
		*run = (*run & 0xffff) | (n + more) << 16;
		header.check = gt_pack_check(bytes, header.bytes);
		cr_assert_neq(gt_unpack(&header, bytes, back, table), 0, "%u", more);
	}
	*run = (*run & 0xffff) | n << 16;
	header.check = gt_pack_check(bytes, header.bytes);
	header.slots = 300; /* they are there, and have no room */
	memset(back, 0xee, sizeof(back));
	cr_assert_neq(gt_unpack(&header, bytes, back, table), 0);
	for (uint32_t i = 600; i < 2 * SLOTS; i++)
		cr_assert_eq(back[i], 0xeeeeeeeeeeeeeeee);
}

Test(pack, random_data_is_kept_as_it_is)
{
	struct gt_pack_header header;

	srand(7);
	for (uint32_t i = 0; i < 2 * SLOTS; i++)
		slots[i] = any();
	header = pack(SLOTS);
	cr_assert_eq(header.bytes, 16 * SLOTS);
	cr_assert_eq(gt_unpack(&header, block + sizeof(header), back, table), 0);
	cr_assert_eq(memcmp(slots, back, sizeof(slots)), 0);
}

Test(pack, damage_is_found)
{
	srand(11);
	for (int i = 0; i < 500; i++) {
		struct gt_pack_header header;

		make_stream(500, 30);
		header = pack(500);
		block[sizeof(header) + (uint32_t)rand() % header.bytes] ^= (char)(1 << rand() % 8);
		cr_assert_neq(gt_unpack(&header, block + sizeof(header), back, table), 0);
	}
}

/* A correct check sum over wrong tokens must not make it read or write outside. */
Test(pack, hostile_tokens_are_refused_or_harmless)
{
	srand(13);
	for (int i = 0; i < 2000; i++) {
		struct gt_pack_header header;

		make_stream(200, 20);
		header = pack(200);
		for (int k = 0; k < 4; k++)
			block[sizeof(header) + (uint32_t)rand() % header.bytes] = (char)rand();
		header.check = gt_pack_check(block + sizeof(header), header.bytes);
		gt_unpack(&header, block + sizeof(header), back, table);
	}
}

/* A call of the GPU's: what counts takes 8 bytes, enter and leave 4 each. */
Test(pack, numbers_that_count_are_short)
{
	for (uint32_t i = 0; i < 1000; i++) {
		slots[6 * i] = slots[6 * i + 2] = 1000 * i;
		slots[6 * i + 4] = 1000 * i + 500;
		slots[6 * i + 1] = UINT64_C(0x0b) << 56 | UINT64_C(1) << 32 | (i + 7);
		slots[6 * i + 3] = UINT64_C(4) << 56 | 5;
		slots[6 * i + 5] = UINT64_C(5) << 56 | 5;
	}
	cr_assert_leq(pack(3000).bytes, 16 * 1000 + 100);
}

/* The same with all that can be unusual about one of them. */
Test(pack, calls_with_odd_ones_among_them_come_back)
{
	for (unsigned seed = 0; seed < 300; seed++) {
		uint32_t n = 1 + seed * 37 % SLOTS, counter = seed % 2 ? 5 : UINT32_MAX - 30;
		struct gt_pack_header header;
		uint64_t time = 1000;

		srand(seed);
		for (uint32_t i = 0; i < n; i++) {
			bool odd = rand() % 24 == 0;

			time += odd ? UINT64_C(1) << rand() % 44 : (uint64_t)rand() % 4000;
			slots[2 * i] = time;
			if (i % 3)
				slots[2 * i + 1] = (uint64_t)(3 + i % 3) << 56 |
						   (unsigned)(5 + odd * rand() % 9000);
			else
				slots[2 * i + 1] = UINT64_C(0x0b) << 56 | (uint64_t)(1 + odd) << 32 |
						   (counter += 1 + (uint32_t)odd * (unsigned)rand() % 5000);
			if (rand() % 60 == 0) /* something in between */
				slots[2 * i + 1] = any();
		}
		header = pack(n);
		memset(back, 0xee, sizeof(back));
		cr_assert_eq(gt_unpack(&header, block + sizeof(header), back, table), 0, "seed %u", seed);
		cr_assert_eq(memcmp(slots, back, 16 * (size_t)n), 0, "seed %u", seed);
	}
}

/* Readings of up to `sources` sources before each event; some of them are odd. Returns the slots. */
static uint32_t make_readings(unsigned sources, unsigned oddness)
{
	uint64_t time = any(), values[24][16] = { { 0 } };
	uint32_t n = 0;

	while (n + 1 + sources * 9 < SLOTS) {
		time += (uint64_t)rand() % 4000;
		for (unsigned s = 0; s < sources; s++) {
			unsigned extra = 1 + s % 8;
			bool odd = rand() % 64 < (int)oddness;

			slots[2 * n] = odd ? time + (UINT64_C(1) << rand() % 46) : time;
			slots[2 * n + 1] = GT_WORDX(s % 5 == 4 ? GT_T_METRIC : GT_T_METRICS, extra, 3 * s);
			n++;
			for (unsigned i = 0; i < 2 * extra; i++) {
				values[s][i] += (uint64_t)rand() >> rand() % 32;
				if (odd && rand() % 2)
					values[s][i] = rand() % 2 ? any() : GT_WORDX(GT_T_METRICS, 2, 0);
				slots[2 * n + i] = values[s][i];
			}
			n += extra;
			if (odd && rand() % 8 == 0) /* a broken one: what follows is data */
				n -= extra - 1;
		}
		slots[2 * n] = time;
		slots[2 * n++ + 1] = (uint64_t)(1 + rand() % 2) << 56 | 5;
	}
	return n;
}

Test(pack, readings_come_back)
{
	for (unsigned seed = 0; seed < 400; seed++) {
		struct gt_pack_header header;
		uint32_t n;

		srand(seed);
		n = make_readings(1 + seed % 24, seed % 7 * 2);
		n -= seed % 5; /* the last is cut */
		header = pack(n);
		memset(back, 0xee, sizeof(back));
		cr_assert_eq(gt_unpack(&header, block + sizeof(header), back, table), 0, "seed %u", seed);
		cr_assert_eq(memcmp(slots, back, 16 * (size_t)n), 0, "seed %u", seed);
	}
}

Test(pack, readings_that_are_damaged_are_refused_or_harmless)
{
	for (unsigned seed = 0; seed < 2000; seed++) {
		struct gt_pack_header header;

		srand(seed);
		header = pack(make_readings(1 + seed % 4, 1) % 300 + 100);
		for (int k = 0; k < 4; k++)
			block[sizeof(header) + (uint32_t)rand() % header.bytes] = (char)rand();
		header.check = gt_pack_check(block + sizeof(header), header.bytes);
		gt_unpack(&header, block + sizeof(header), back, table);
	}
}

/* Two counters before each event: 8 bytes, what they have counted, and 4 for the event. */
Test(pack, readings_are_differences)
{
	for (uint64_t i = 0; i < 1000; i++) {
		const uint64_t four[8] = { 1000 * i, GT_WORDX(GT_T_METRICS, 2, 1), 2, 123456789 + 300 * i,
					   77, 0, 1000 * i, (1 + i % 2) << 56 | 5 };

		memcpy(slots + 8 * i, four, sizeof(four));
	}
	cr_assert_leq(pack(4000).bytes, 14 * 1000 + 200);
}
