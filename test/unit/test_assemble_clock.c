/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters that misbehave, as their readings tell it: suspended machines, leaps, other rates. The times
 * are right within the stated error, and that is no larger than it must be.
 *
 * Limits: the readings are made up.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdlib.h>

#include "lib/assemble/clock/clock.h"
#include "lib/assemble/clock/rate.h"
#include "test/unit/expect.h"

/*
 * A counter of 2 GHz beside the kernel's clocks, as the recorder would have read them: `ns` is the true
 * time. Suspends and jumps lie between the readings.
 */
struct world {
	struct gt_def_calib read[64];
	size_t count;
	uint64_t tick, hz;
	int64_t ns, mono, boot;
	struct gt_segment truth[64]; /* tick and ns at each moment that matters */
	size_t moments;
};

static void moment_of(struct world *w)
{
	w->truth[w->moments++] = (struct gt_segment){ w->tick, (uint64_t)w->ns, 0 };
}

static void runs(struct world *w, int64_t ns)
{
	w->tick += (uint64_t)ns * (w->hz / 1000) / 1000000;
	w->ns += ns;
	w->mono += ns;
	w->boot += ns;
	moment_of(w);
}

static void is_read(struct world *w)
{
	w->read[w->count++] = (struct gt_def_calib){
		{ w->tick, 40, w->mono + (int64_t)(w->count * 7 % 21) - 10, w->mono }, w->boot
	};
}

static void begins(struct world *w)
{
	*w = (struct world){ .tick = 1000000, .hz = 2000000000, .ns = 5000000000, .mono = 5000000000,
			     .boot = 7000000000 };
	moment_of(w);
	is_read(w);
	runs(w, 1000000); /* the end of the set-up */
	is_read(w);
}

/* The times that come out lie within the stated error and that of a reading, and the error is no more
 * than `most`. */
static void expect_times(struct world *w, int64_t most)
{
	struct gt_rates rates;

	cr_assert(eq(int, gt_rates_make(&rates, w->read, w->count), 0));
	cr_assert(gt(sz, rates.count, 0));
	cr_expect(rates.error <= most, "error %ld", (long)rates.error);
	for (size_t i = 0; i < w->moments; i++) {
		int64_t off = gt_rates_ns(&rates, w->truth[i].tick) - (int64_t)w->truth[i].ns;

		cr_expect(off <= rates.error + 25 && off >= -rates.error - 25, "%zu: %ld ns off, %ld stated",
			  i, (long)off, (long)rates.error);
	}
	free(rates.list);
}

/* CLOCK_MONOTONIC stands still for two seconds; the counter goes on (suspend-to-idle). */
Test(clock, suspended_and_the_counter_goes_on)
{
	struct world w;

	begins(&w);
	runs(&w, 500000000);
	runs(&w, 2000000000);
	w.mono -= 2000000000;
	runs(&w, 500000000);
	is_read(&w);
	expect_times(&w, 50);
}

/* A short sleep in a long time, and a rate that is known from a millisecond: either may be true. */
Test(clock, suspended_too_shortly_to_be_sure)
{
	struct world w;

	begins(&w);
	runs(&w, INT64_C(100000000000));
	w.mono -= 300000;
	is_read(&w);
	expect_times(&w, 301000);
}

/* All stand still but CLOCK_BOOTTIME: the trace does, too. */
Test(clock, suspended_and_the_counter_stops)
{
	struct world w;

	begins(&w);
	runs(&w, 500000000);
	w.boot += 2000000000;
	runs(&w, 500000000);
	is_read(&w);
	expect_times(&w, 50);
}

/* The rate changes by 1000 ppm, as when a virtual machine moves, 4 ms before somebody looks. */
Test(clock, another_rate)
{
	struct world w;

	begins(&w);
	runs(&w, 900000000);
	is_read(&w);
	runs(&w, 6000000);
	w.hz += 2000000;
	runs(&w, 4000000);
	is_read(&w);
	runs(&w, 10000000);
	is_read(&w);
	runs(&w, 10000000);
	is_read(&w);
	runs(&w, 2000000000);
	is_read(&w);
	expect_times(&w, 10000);
}

/* The counter leaps a second ahead: nobody knows when, and the error says so. */
Test(clock, a_leap)
{
	struct world w;

	begins(&w);
	runs(&w, 900000000);
	is_read(&w);
	runs(&w, 3000000);
	w.tick += 2000000000;
	runs(&w, 7000000);
	is_read(&w);
	runs(&w, 10000000);
	is_read(&w);
	runs(&w, 900000000);
	is_read(&w);
	expect_times(&w, 1000000000);
}

/* The kernel steers CLOCK_MONOTONIC by 300 ppm for a while: times follow it. */
Test(clock, a_steered_clock)
{
	struct world w;

	begins(&w);
	for (int i = 0; i < 30; i++) {
		w.hz = i > 10 && i < 20 ? 2000600000 : 2000000000;
		runs(&w, 100000000);
		is_read(&w);
	}
	expect_times(&w, 8000);
}

/* Two regions of half a second, before and after a suspend, in the archive. */
Test(clock, regions_around_a_suspend)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	uint32_t a = mk_region(p, "alpha");
	struct gt_def_calib c;
	int64_t base;

	mk_enter(l, AT(0), a);
	mk_leave(l, AT(500000000), a);
	mk_enter(l, AT(2500000000), a);
	mk_leave(l, AT(3000000000), a);
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(3000000000));
	base = p->header.first.mono_ns;
	p->header.last.mono_ns = base + 1000000000;
	c = (struct gt_def_calib){ p->header.first, base };
	mk_def(p, GT_D_CALIB, 0, &c, sizeof(c));
	c = (struct gt_def_calib){ { AT(1000000), 40, base + 1000000, base }, base + 1000000 };
	mk_def(p, GT_D_CALIB, 0, &c, sizeof(c));
	c = (struct gt_def_calib){ p->header.last, base + 3000000000 };
	mk_def(p, GT_D_CALIB, 0, &c, sizeof(c));
	mk_proc_write(p);
	expect_events(dir, "0 0 BEGIN prog [ProcessId=4711]\n0 0 ENTER alpha\n0 500000000 LEAVE alpha\n"
			   "0 2500000000 ENTER alpha\n0 3000000000 LEAVE alpha\n"
			   "0 3000000000 END 0 [ProcessId=4711]\n");
	mk_proc_free(p);
	mk_remove(dir);
}
