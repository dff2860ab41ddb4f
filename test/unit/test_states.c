/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of lib/record/sched.c: what a thread did up to a moment never becomes less.
 *
 * Limits: readings made up; those of a kernel are test/proc/states.test's.
 */
#include "lib/record/sched.c"

#include <criterion/criterion.h>

struct gt_proc_header *gt_proc;
int gt_pid = 1;

uint64_t gt_clock_read(void)
{
	return 0;
}

uint64_t gt_monotonic(void)
{
	return 2000000;
}

static struct gt_win_header win = { .tid = 2 };
static struct gt_location loc = { .win = &win };

/* Of a reading at `at`. */
static uint64_t blocked(uint64_t at, uint64_t running, uint64_t ready)
{
	uint64_t sums[4];

	take(&win.states, &(struct gt_sched){ .at = at, .running = running, .ready = ready });
	cr_assert(gt_location_sums(&loc, sums));
	cr_assert(sums[0] == running && sums[1] == ready);
	cr_assert(sums[0] + sums[1] + sums[2] == win.states.last.at - 1000);
	return sums[2];
}

Test(states, blocked)
{
	gt_states_begin(&win.states, &(struct gt_sched){ .at = 1000 }, true);
	cr_assert(blocked(1001000, 300000, 200000) == 500000);
	/* It lost its processor for 60 us before the kernel's text, which has that already. */
	cr_assert(blocked(1011000, 310000, 260000) == 500000);
	cr_assert(win.states.last.at == 1071000);
	/* So it goes on. */
	cr_assert(blocked(2001000, 400000, 260000) == 1340000);
}

/* One that was never blocked: a reading takes a moment. */
Test(states, busy)
{
	gt_states_begin(&win.states, &(struct gt_sched){ .at = 1000 }, true);
	take(&win.states, &(struct gt_sched){ .at = 1001000, .running = 1000030 });
	cr_assert(win.states.last.at == 1001000);
}

/* It was never blocked, and lost its processor before the kernel's text. */
Test(states, ready)
{
	gt_states_begin(&win.states, &(struct gt_sched){ .at = 1000 }, true);
	cr_assert(blocked(1001000, 400000, 14600000) == 0);
	cr_assert(win.states.last.at == 1000 + 400000 + 14600000);
	/* The next reading: the time has passed. */
	cr_assert(blocked(20001000, 5400000, 14600000) == 0);
}

/* The next thread of the location: the sums go on. */
Test(states, next)
{
	uint64_t sums[4];

	gt_states_begin(&win.states, &(struct gt_sched){ .at = 1000 }, true);
	cr_assert(blocked(1001000, 300000, 200000) == 500000);
	win.states.until = 1000500; /* no later than the reading */
	gt_states_next(&win.states);
	cr_assert(!win.states.unknown);
	gt_states_begin(&win.states, &(struct gt_sched){ .at = 5000000 }, true);
	take(&win.states, &(struct gt_sched){ .at = 5000100, .running = 100 });
	cr_assert(gt_location_sums(&loc, sums));
	cr_assert(sums[0] == 300100 && sums[1] == 200000);
}
