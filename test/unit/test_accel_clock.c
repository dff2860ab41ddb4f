/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clock of an accelerator's runtime beside the core's: what was told of a time stays, times keep their
 * order, and are right to what a reading is wrong by.
 *
 * Limits: both clocks are made up, and one thread asks.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <inttypes.h>
#include <stdlib.h>

#include "accel/accel.h"

#define TOLD 4000

/* Where the rate changed: from `ns` on there are `mhz` / 1000 ticks in a nanosecond. */
static struct {
	uint64_t ns;
	double tick, mhz;
} turns[4000];
static size_t turn_count;
static uint64_t clock_ns, seed;
static bool loaded;

static uint64_t random_below(uint64_t most)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (seed >> 33) % most;
}

static double truth(uint64_t ns)
{
	size_t i = turn_count - 1;

	while (i && turns[i].ns > ns)
		i--;
	return turns[i].tick + ((double)ns - (double)turns[i].ns) * turns[i].mhz / 1000;
}

/* The rate changes by up to 2e-5 each tenth of a second. */
static void passes(uint64_t ns)
{
	clock_ns += ns;
	while (turns[turn_count - 1].ns + 100000000 < clock_ns) {
		uint64_t next = turns[turn_count - 1].ns + 100000000;

		cr_assert(lt(sz, turn_count, sizeof(turns) / sizeof(*turns)));
		turns[turn_count].tick = truth(next);
		turns[turn_count].mhz = 2100 + (double)random_below(42) / 1000 - 0.021;
		turns[turn_count++].ns = next;
	}
}

uint64_t gt_now(void)
{
	passes(20 + random_below(20) + (loaded && !random_below(4) ? random_below(100000) : 0));
	return (uint64_t)truth(clock_ns);
}

static uint64_t runtime_clock(void)
{
	passes(20 + random_below(20));
	return clock_ns;
}

static void begins(uint64_t number)
{
	seed = number;
	clock_ns = UINT64_C(5000000000);
	turns[0].ns = clock_ns;
	turns[0].tick = 1e9;
	turns[0].mhz = 2100;
	turn_count = 1;
	gt_accel_clock_setup(runtime_clock);
}

static struct told {
	uint64_t ns, tick;
} told[TOLD];

static int by_ns(const void *a, const void *b)
{
	const struct told *one = a, *two = b;

	return one->ns < two->ns ? -1 : one->ns > two->ns;
}

/* Times of the last `back` nanoseconds are asked for, in any order, from either side; some are told twice. */
static void asks(size_t at, size_t count, uint64_t back)
{
	for (size_t i = at; i < at + count; i++) {
		uint64_t ns = clock_ns - random_below(back);

		if (i && !random_below(8))
			ns = told[random_below(i)].ns;
		if (!random_below(4))
			ns = gt_accel_ns((uint64_t)truth(ns));
		told[i] = (struct told){ ns, gt_accel_ticks(ns) };
	}
}

static void keep_what_was_told(size_t count)
{
	for (size_t i = 0; i < count; i++)
		cr_assert(eq(u64, gt_accel_ticks(told[i].ns), told[i].tick), "time %zu of %zu", i, count);
	qsort(told, count, sizeof(*told), by_ns);
	for (size_t i = 1; i < count; i++)
		cr_assert(le(u64, told[i - 1].tick, told[i].tick), "time %zu of %zu", i, count);
}

static void are_right(size_t count, double most)
{
	for (size_t i = 0; i < count; i++) {
		double off = ((double)told[i].tick - truth(told[i].ns)) / 2.1;

		cr_assert(lt(dbl, off < 0 ? -off : off, most), "time %zu of %zu: %.0f ns", i, count, off);
	}
}

/* Readings take 60 to 120 ns. */
static void runs(uint64_t number, uint64_t longest, double most)
{
	size_t count = 0;

	begins(number);
	passes(random_below(2000000));
	while (count + 10 <= 1000) {
		size_t more = random_below(10);

		gt_accel_clock_note();
		asks(count, more, count ? longest : 1000);
		count += more;
		passes(random_below(longest));
	}
	keep_what_was_told(count);
	are_right(count, most);
}

Test(accel_clock, stays_as_told)
{
	runs(1, 50000, 150);
}

Test(accel_clock, stays_as_told_at_rare_readings)
{
	runs(2, 20000000, 150);
}

Test(accel_clock, stays_as_told_under_load)
{
	loaded = true;
	runs(3, 300000, 1000);
}

/* In a pause the rate is not known better than by its ends. */
Test(accel_clock, goes_on_after_a_pause)
{
	begins(4);
	for (size_t i = 0; i < 40; i++) {
		passes(2000000000);
		gt_accel_clock_note();
		asks(i * 20, 20, 1000);
	}
	keep_what_was_told(800);
	are_right(800, 150);
}

/* Longer than there is room for: what is old moves, by no more than the rate has changed. */
Test(accel_clock, has_room)
{
	begins(5);
	for (size_t i = 0; i < TOLD; i++) {
		passes(4000000);
		gt_accel_clock_note();
		told[i].ns = clock_ns - random_below(1000);
		told[i].tick = gt_accel_ticks(told[i].ns);
		if (i >= 100)
			cr_assert(eq(u64, gt_accel_ticks(told[i - 100].ns), told[i - 100].tick));
	}
	qsort(told, TOLD, sizeof(*told), by_ns);
	for (size_t i = 0; i < TOLD; i++)
		told[i].tick = gt_accel_ticks(told[i].ns);
	for (size_t i = 1; i < TOLD; i++)
		cr_assert(le(u64, told[i - 1].tick, told[i].tick));
	are_right(TOLD, 5000);
}

/* The one that reads the clocks may be late: times after its reading have been asked for. */
Test(accel_clock, is_asked_ahead)
{
	begins(6);
	for (size_t i = 0; i < 40; i++) {
		gt_accel_clock_note();
		told[i].ns = clock_ns + 900000;
		told[i].tick = gt_accel_ticks(told[i].ns);
		passes(20000);
	}
	keep_what_was_told(40);
}

/* A clock that is made to run faster, by as much as Linux does it. */
Test(accel_clock, follows_the_rate)
{
	begins(7);
	for (size_t i = 0; i < 200; i++) {
		passes(1500000);
		if (i == 100) {
			turns[turn_count].ns = clock_ns;
			turns[turn_count].tick = truth(clock_ns);
			turns[turn_count++].mhz = 2100 * 1.0005;
		}
		gt_accel_clock_note();
		gt_accel_ticks(clock_ns);
		passes(900000);
		told[i].ns = clock_ns;
		told[i].tick = gt_accel_ticks(clock_ns);
		if (i == 100)
			told[i].tick = (uint64_t)truth(clock_ns); /* not known yet */
	}
	are_right(200, 350);
}
