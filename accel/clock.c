/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Converts a clock in nanoseconds to the core's ticks. Both clocks are sampled together from time to time,
 * and times in between are interpolated along a piecewise linear curve through these pairs.
 *
 * Invariant: a time that has been converted once always converts to the same tick. A new pair therefore only
 * changes the curve beyond the latest time that was asked for; otherwise an activity could appear to start
 * before the one that it waited for had ended.
 *
 * Limits: when the table is full, some of the older half of PIECES are dropped, which shifts times of long
 * ago. Times up to NEW_PAIR after the last pair count as asked for.
 */
#include "accel/accel.h"

#define PIECES   2048u
#define NEW_PAIR 1000000u /* nanoseconds */
#define SHIFT    32

struct pair {
	uint64_t tick, ns;
};
/* The line from here to where the next piece begins. */
static struct piece {
	struct pair from;
	uint64_t rate; /* ticks per nanosecond, times 2^32 */
} pieces[PIECES];
static unsigned piece_count;
static struct pair base, latest; /* the last pair, and one before it that is NEW_PAIR older if any is */
static uint64_t asked_for;	 /* the latest time that was, as far as it counts; nanoseconds */
static uint32_t pieces_locked;	 /* a lock; nobody calls anything while it has it */
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

static void lock_pieces(void)
{
	while (__atomic_exchange_n(&pieces_locked, 1, __ATOMIC_ACQUIRE))
		;
}

static void unlock_pieces(void)
{
	__atomic_store_n(&pieces_locked, 0, __ATOMIC_RELEASE); /* pairs with lock_pieces() */
}

static bool is_after(struct pair a, struct pair b)
{
	return a.ns > b.ns && a.tick > b.tick;
}

static uint64_t rate_between(struct pair a, struct pair b)
{
	unsigned __int128 rate =
		b.tick > a.tick ? ((unsigned __int128)(b.tick - a.tick) << SHIFT) / (b.ns - a.ns) : 0;

	return !rate ? 1 : rate < UINT64_MAX ? (uint64_t)rate : UINT64_MAX;
}

static __int128 tick_on(const struct piece *piece, uint64_t ns)
{
	return (__int128)piece->from.tick +
	       ((__int128)(int64_t)(ns - piece->from.ns) * (__int128)piece->rate >> SHIFT);
}

/* Those of the older half stay that are a sixteenth of their age apart; these are less than 750. */
static void thin_out(void)
{
	unsigned kept = 1, i = 1;

	for (; i < PIECES / 2; i++)
		if (pieces[i].from.ns - pieces[kept - 1].from.ns >= (latest.ns - pieces[i].from.ns) / 16)
			pieces[kept++] = pieces[i];
	piece_count = kept;
	for (; i < PIECES; i++)
		pieces[piece_count++] = pieces[i];
	for (i = 0; i < kept; i++)
		pieces[i].rate = rate_between(pieces[i].from, pieces[i + 1].from);
}

static void append(struct pair from)
{
	if (piece_count == PIECES)
		thin_out();
	pieces[piece_count++] = (struct piece){ .from = from };
}

/* The line leads from what is settled to the pair, and goes on at the rate of the latest pairs. If it is past
 * the pair already, it leads to where the clocks will be a while later. */
static void add(struct pair pair)
{
	struct piece *last = &pieces[piece_count ? piece_count - 1 : 0];
	uint64_t rate;

	if (!piece_count) {
		base = latest = pair;
		append(pair);
		pieces[0].rate = (uint64_t)1 << SHIFT;
		return;
	}
	if (!is_after(pair, latest))
		return;
	if (pair.ns - latest.ns >= NEW_PAIR)
		base = latest;
	latest = pair;
	rate = rate_between(base, latest);
	if (asked_for > last->from.ns) {
		append((struct pair){ (uint64_t)tick_on(last, asked_for), asked_for });
		last = &pieces[piece_count - 1];
	}
	if (is_after(pair, last->from)) {
		last->rate = rate_between(last->from, pair);
		append(pair);
	} else {
		pair.ns = (pair.ns > last->from.ns ? pair.ns : last->from.ns) + NEW_PAIR;
		pair.tick = (uint64_t)tick_on(&(struct piece){ latest, rate }, pair.ns);
		rate = rate_between(last->from, pair);
	}
	pieces[piece_count - 1].rate = rate;
}

static bool has_new_pair(void)
{
	uint64_t now = read_clock();
	bool new;

	lock_pieces();
	new = latest.ns - base.ns >= NEW_PAIR && now < latest.ns + NEW_PAIR;
	unlock_pieces();
	return new;
}

void gt_accel_clock_note(void)
{
	struct pair pair;

	if (has_new_pair())
		return;
	pair = measure();
	lock_pieces();
	add(pair);
	unlock_pieces();
}

void gt_accel_clock_setup(uint64_t (*read)(void))
{
	read_clock = read;
	add(measure());
}

/* The piece of a time of either clock. With the pieces taken. */
static const struct piece *find(uint64_t time, bool tick)
{
	unsigned low = 0, high = piece_count;

	while (high - low > 1) {
		unsigned mid = (low + high) / 2;

		if ((tick ? pieces[mid].from.tick : pieces[mid].from.ns) <= time)
			low = mid;
		else
			high = mid;
	}
	return &pieces[low];
}

static uint64_t convert(uint64_t time, bool tick)
{
	const struct piece *piece;
	__int128 to;

	if (__atomic_load_n(&piece_count, __ATOMIC_RELAXED) < 2)
		gt_accel_clock_note();
	lock_pieces();
	piece = find(time, tick);
	if (tick) {
		to = (__int128)(int64_t)(time - piece->from.tick) * ((__int128)1 << SHIFT);
		to = (__int128)piece->from.ns + to / (__int128)piece->rate;
		time = to > 0 ? (uint64_t)to : 0;
	} else {
		to = tick_on(piece, time);
	}
	if (time > asked_for && time < latest.ns + NEW_PAIR)
		asked_for = time;
	unlock_pieces();
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
