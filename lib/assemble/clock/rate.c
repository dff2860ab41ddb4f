/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A counter's rate, segment by segment. Limits: see rate.h.
 */
#include "config.h"

#include "lib/assemble/clock/rate.h"

#include "lib/assemble/clock/clock.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define NEAR_NS  20000  /* readings nearer to each other say little about the rate */
#define SLEPT_NS 100000 /* by how much the kernel's clocks differ when the machine was suspended */
#define MOST_NS   (INT64_MAX / 4)
#define MOST_MULT (UINT64_C(1) << (GT_SCALE_SHIFT + 19)) /* a counter of 2 kHz */
#define RATES     64 /* of so many pieces one is taken for the usual rate */
#define MOST_PPM 500    /* how much the kernel corrects CLOCK_MONOTONIC at most */

/* From one reading to the next. */
struct piece {
	uint64_t ticks;
	int64_t mono, boot, ns; /* by the two clocks, and what is taken for true */
	int64_t doubt;          /* what the readings at both ends may be off */
	int64_t vague;          /* by how much they differ, if it is not known which is true */
	bool slept;
};

static int by_tick(const void *a, const void *b)
{
	const struct gt_def_calib *x = a, *y = b;

	if (x->at.tick == y->at.tick) /* the one that knows more comes first */
		return (x->boot_ns < y->boot_ns) - (x->boot_ns > y->boot_ns);
	return x->at.tick > y->at.tick ? 1 : -1;
}

/* The readings that make pieces: in order, and apart from each other; the last one in any case. */
static size_t choose(struct gt_def_calib *r, size_t count)
{
	size_t kept = 0;

	qsort(r, count, sizeof(*r), by_tick);
	for (size_t i = 0; i < count; i++) {
		bool near = kept && r[i].at.mono_ns - r[kept - 1].at.mono_ns < NEAR_NS;

		if (kept && r[i].at.tick == r[kept - 1].at.tick)
			continue;
		if (!near)
			r[kept++] = r[i];
		else if (kept > 1 && i + 1 == count && r[i].at.mono_ns > r[kept - 1].at.mono_ns)
			r[kept - 1] = r[i];
	}
	return kept;
}

static int64_t limited(__int128 ns)
{
	return ns > MOST_NS ? MOST_NS : (int64_t)ns;
}

static int64_t scaled(uint64_t ticks, uint64_t mult)
{
	return limited((__int128)((unsigned __int128)ticks * mult >> GT_SCALE_SHIFT));
}

/* Rounded up, so that conversion may round down. */
static uint64_t slope(const struct piece *p)
{
	unsigned __int128 mult = (((unsigned __int128)(uint64_t)p->ns << GT_SCALE_SHIFT) + p->ticks - 1) /
				 p->ticks;

	return mult > MOST_MULT ? MOST_MULT : (uint64_t)mult;
}

static int64_t distance(int64_t a, int64_t b)
{
	return a > b ? a - b : b - a;
}

static void measure(struct piece *p, const struct gt_def_calib *from, const struct gt_def_calib *to)
{
	p->ticks = to->at.tick - from->at.tick;
	p->mono = p->boot = p->ns = to->at.mono_ns - from->at.mono_ns;
	if (from->boot_ns > 0 && to->boot_ns > from->boot_ns)
		p->boot = to->boot_ns - from->boot_ns;
	p->doubt = limited((__int128)(from->at.width / 2 + to->at.width / 2) * p->mono / p->ticks);
	p->slept = distance(p->boot, p->mono) > SLEPT_NS;
}

/* The piece whose rate the counter had for most of the time, as far as it was awake; or NULL. */
static const struct piece *usual_piece(const struct piece *p, size_t n)
{
	const struct piece *best = NULL;
	int64_t most = 0;

	for (size_t i = 0; i < n; i += n / RATES + 1) {
		int64_t agree = 0;

		for (size_t k = 0; k < n && !p[i].slept; k++)
			if (!p[k].slept && distance(p[k].mono, scaled(p[k].ticks, slope(&p[i]))) <=
						   p[k].mono / (1000000 / MOST_PPM))
				agree += p[k].mono;
		if (agree > most) {
			most = agree;
			best = &p[i];
		}
	}
	return best;
}

/*
 * While the machine was suspended either the counter went on, or it stood still. If the usual rate is not
 * known well enough to be sure, the difference of the kernel's clocks becomes an error.
 */
static void decide(struct piece *p, size_t n)
{
	const struct piece *usual = usual_piece(p, n);

	for (size_t i = 0; i < n; i++) {
		int64_t apart = distance(p[i].boot, p[i].mono), own, doubt;

		if (!p[i].slept)
			continue;
		p[i].vague = apart;
		if (!usual)
			continue;
		own = scaled(p[i].ticks, slope(usual));
		doubt = limited((__int128)usual->doubt * p[i].ticks / usual->ticks);
		if (distance(p[i].boot, own) < distance(p[i].mono, own))
			p[i].ns = p[i].boot;
		if (doubt < apart / 2)
			p[i].vague = 0;
	}
}

/* How far piece `i` certainly is from having the rate of piece `k`. */
static int64_t unlike(const struct piece *p, size_t i, size_t k)
{
	int64_t off = distance(p[i].ns, scaled(p[i].ticks, slope(&p[k])));

	off -= limited(p[i].doubt + (__int128)p[k].doubt * p[i].ticks / p[k].ticks);
	return off > 0 ? off : 0;
}

/*
 * How far the true times may lie from the straight piece. With a rate unlike its neighbours' it has a
 * corner somewhere, where the one's rate ended and the other's began; beyond what the kernel corrects
 * the counter may have leapt as well.
 */
static int64_t piece_error(const struct piece *p, size_t i, size_t n)
{
	int64_t before = i ? unlike(p, i, i - 1) : INT64_MAX;
	int64_t after = i + 1 < n ? unlike(p, i, i + 1) : INT64_MAX;
	int64_t least = before < after ? before : after;

	if (before == INT64_MAX && after == INT64_MAX)
		return 0;
	if (least > p[i].ns / (1000000 / MOST_PPM))
		return least;
	if (!least || before == INT64_MAX || after == INT64_MAX)
		return 0;
	return (int64_t)((__int128)before * after / ((__int128)before + after));
}

static int64_t error_of(const struct piece *p, size_t n)
{
	int64_t error = 0;

	for (size_t i = 0; i < n; i++) {
		int64_t own = p[i].vague + piece_error(p, i, n);

		error = own > error ? own : error;
	}
	return error;
}

int gt_rates_make(struct gt_rates *rates, struct gt_def_calib *readings, size_t count)
{
	size_t n = choose(readings, count);
	struct piece *pieces = calloc(n + 1, sizeof(*pieces));

	*rates = (struct gt_rates){ calloc(n + 1, sizeof(*rates->list)), 0, 0 };
	if (!pieces || !rates->list) {
		free(pieces);
		return -ENOMEM;
	}
	for (size_t i = 0; i + 1 < n; i++)
		measure(&pieces[i], &readings[i], &readings[i + 1]);
	if (n > 1) {
		decide(pieces, n - 1);
		rates->error = error_of(pieces, n - 1);
		rates->count = n - 1;
	}
	for (size_t i = 0; i < rates->count; i++)
		rates->list[i] = (struct gt_rate){ readings[i].at.tick, slope(&pieces[i]),
						   i ? rates->list[i - 1].ns + pieces[i - 1].ns
						     : readings[0].at.mono_ns };
	free(pieces);
	return 0;
}

int64_t gt_rates_ns(const struct gt_rates *rates, uint64_t tick)
{
	const struct gt_rate *r = rates->list;
	size_t low = 0, high = rates->count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (r[middle].tick <= tick)
			low = middle;
		else
			high = middle;
	}
	r += low;
	return tick < r->tick ? r->ns - scaled(r->tick - tick, r->mult)
			      : r->ns + scaled(tick - r->tick, r->mult);
}

int64_t gt_rates_off(const struct gt_rates *rates, const struct gt_calib *first, uint64_t mult)
{
	int64_t off, most = 0;

	for (size_t i = 0; i < rates->count; i++) {
		const struct gt_rate *r = &rates->list[i];

		off = distance(r->ns, first->mono_ns + scaled(r->tick - first->tick, mult));
		most = off > most ? off : most;
	}
	return most;
}
