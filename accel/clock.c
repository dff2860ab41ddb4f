/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A clock of nanoseconds and the core's ticks: the same moment on both is taken from time to time, and times
 * between two such pairs are interpolated.
 *
 * Limits: PAIRS pairs; of more, every second one is kept.
 */
#include "accel/accel.h"

#define PAIRS    4096u
#define NEW_PAIR 1000000u /* nanoseconds */

static struct pair {
	uint64_t tick, ns;
} pairs[PAIRS];
static unsigned pair_count;
static uint32_t pairs_taken; /* a lock; nobody calls anything while it has it */
static uint64_t (*read_clock)(void);

/* The pair with the least time between two readings of the tick. */
static struct pair measure(void)
{
	uint64_t width = UINT64_MAX;
	struct pair best = { 0, 0 };

	for (int i = 0; i < 10; i++) {
		uint64_t before = gt_now(), ns = read_clock(), after = gt_now();

		if (after - before >= width)
			continue;
		width = after - before;
		best = (struct pair){ before + width / 2, ns };
	}
	return best;
}

static void take_pairs(void)
{
	while (__atomic_exchange_n(&pairs_taken, 1, __ATOMIC_ACQUIRE))
		;
}

static void leave_pairs(void)
{
	__atomic_store_n(&pairs_taken, 0, __ATOMIC_RELEASE);
}

/* A pair that is close to the one before it says little of the rate: a new one takes its place. */
static void add(struct pair pair)
{
	if (pair_count && (pair.ns <= pairs[pair_count - 1].ns || pair.tick <= pairs[pair_count - 1].tick))
		return;
	if (pair_count == PAIRS) {
		for (unsigned i = 0; i < PAIRS / 2; i++)
			pairs[i] = pairs[2 * i];
		pair_count = PAIRS / 2;
	}
	if (pair_count > 1 && pairs[pair_count - 1].ns < pairs[pair_count - 2].ns + NEW_PAIR)
		pair_count--;
	pairs[pair_count++] = pair;
}

static bool is_new(void)
{
	uint64_t now = read_clock();
	bool new;

	take_pairs();
	new = pair_count > 1 && pairs[pair_count - 1].ns > pairs[pair_count - 2].ns + NEW_PAIR &&
	      now < pairs[pair_count - 1].ns + NEW_PAIR;
	leave_pairs();
	return new;
}

void gt_accel_clock_note(void)
{
	struct pair pair;

	if (is_new())
		return;
	pair = measure();
	take_pairs();
	add(pair);
	leave_pairs();
}

void gt_accel_clock_setup(uint64_t (*read)(void))
{
	read_clock = read;
	add(measure());
}

/* The last pair that is not after a time of either clock, and is not the last one. With the pairs taken. */
static unsigned find(uint64_t time, bool tick)
{
	unsigned low = 0, high = pair_count;

	while (high - low > 1) {
		unsigned mid = (low + high) / 2;

		if ((tick ? pairs[mid].tick : pairs[mid].ns) <= time)
			low = mid;
		else
			high = mid;
	}
	return low && low == pair_count - 1 ? low - 1 : low;
}

static uint64_t convert(uint64_t time, bool tick)
{
	const struct pair *a, *b;
	__int128 by, to;
	unsigned at;

	if (__atomic_load_n(&pair_count, __ATOMIC_RELAXED) < 2)
		gt_accel_clock_note();
	take_pairs();
	at = find(time, tick);
	a = &pairs[at];
	b = at + 1 < pair_count ? a + 1 : a;
	by = tick ? (int64_t)(time - a->tick) : (int64_t)(time - a->ns);
	if (b > a)
		by = tick ? by * (int64_t)(b->ns - a->ns) / (int64_t)(b->tick - a->tick)
			  : by * (int64_t)(b->tick - a->tick) / (int64_t)(b->ns - a->ns);
	to = (__int128)(tick ? a->ns : a->tick) + by;
	leave_pairs();
	return to > 0 ? (uint64_t)to : 0;
}

uint64_t gt_accel_ticks(uint64_t ns)
{
	return convert(ns, false);
}

uint64_t gt_accel_ns(uint64_t tick)
{
	return convert(tick, true);
}
