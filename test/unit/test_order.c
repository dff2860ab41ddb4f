/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hosts whose clocks are off against each other: the messages between them put their times in order, no
 * span of a host's time changes by more than a 1024th unless the clocks' rates are further off, and what
 * nobody can believe changes nothing.
 *
 * Limits: made-up messages; the archive at the end has one.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/assemble/pair/order.h"
#include "test/unit/expect.h"

#define HOSTS    4
#define MESSAGES 20000
#define MS       INT64_C(1000000)

/* A message by the hosts' clocks, as they were recorded. */
struct sent {
	uint32_t from, to;
	uint64_t sent, received;
};

static struct world {
	struct sent list[MESSAGES];
	size_t count;
	int64_t errors[HOSTS];
	struct gt_corrections times[HOSTS];
	struct gt_order order;
	uint64_t seed;
} w;

static uint64_t any(uint64_t most)
{
	w.seed = w.seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (w.seed >> 33) % most;
}

static void begin(void)
{
	memset(&w, 0, sizeof(w));
	w.seed = 1;
	for (int i = 0; i < HOSTS; i++)
		w.errors[i] = MS;
}

static void message(uint32_t from, uint32_t to, uint64_t sent, uint64_t received)
{
	w.list[w.count++] = (struct sent){ from, to, sent, received };
}

static void solve(void)
{
	int dirfd = open("/tmp", O_RDONLY | O_DIRECTORY);
	struct gt_messages *ends;

	cr_assert(eq(int, gt_messages_new(&ends, dirfd), 0));
	for (size_t i = 0; i < w.count; i++) {
		const struct sent *s = &w.list[i];
		struct gt_pair_message one = { .pair = s->from * HOSTS + s->to, .ns = s->sent,
					  .location = s->from, .send = 1 };

		cr_assert(eq(int, gt_messages_add(ends, &one), 0));
		one.ns = s->received;
		one.location = s->to;
		one.send = 0;
		cr_assert(eq(int, gt_messages_add(ends, &one), 0));
	}
	cr_assert(eq(int, gt_order_make(&w.order, ends, w.errors, HOSTS), 0));
	gt_messages_free(ends);
	close(dirfd);
	for (int i = 0; i < HOSTS; i++)
		cr_assert(eq(int, gt_shift_correct(&w.times[i], &w.order.shifts[i]), 0));
}

static uint64_t corrected(uint32_t host, uint64_t ns)
{
	return gt_offset_apply(w.times[host].points, w.times[host].count, ns);
}

static void end(void)
{
	for (int i = 0; i < HOSTS; i++)
		free(w.times[i].points);
	gt_order_free(&w.order);
}

static size_t count_early(void)
{
	size_t early = 0;

	for (size_t i = 0; i < w.count; i++)
		early += corrected(w.list[i].from, w.list[i].sent) >
			 corrected(w.list[i].to, w.list[i].received);
	return early;
}

static void expect_lengths(uint64_t begin, uint64_t end, uint64_t part)
{
	for (uint32_t h = 0; h < HOSTS; h++)
		for (uint64_t ns = begin, next; ns < end; ns = next) {
			uint64_t span = 1000 + any(50000), most = span / part + 3;
			uint64_t then = corrected(h, ns + span) - corrected(h, ns);

			next = ns + span;
			cr_assert(then + most >= span && then <= span + most, "host %u: %lu became %lu",
				  h, (unsigned long)span, (unsigned long)then);
		}
}

/*
 * True times, and clocks that are wrong by a constant, a rate and a step of the rate; a message takes 1 to 20
 * us. `begin` is where the hosts' time begins.
 */
static void random_world(uint64_t begin_ns, int64_t scatter, unsigned clocks_ppm)
{
	uint64_t last[HOSTS][HOSTS] = { 0 }; /* messages do not overtake each other */
	int64_t off[HOSTS], rate[HOSTS];
	uint64_t now = begin_ns + 50 * (uint64_t)MS;

	for (int h = 0; h < HOSTS; h++) {
		off[h] = (int64_t)any(2 * (uint64_t)scatter) - scatter;
		rate[h] = clocks_ppm ? (int64_t)any(2 * clocks_ppm) - clocks_ppm : 0;
	}
	while (w.count < MESSAGES) {
		uint32_t from = (uint32_t)any(HOSTS), to = (from + 1 + (uint32_t)any(HOSTS - 1)) % HOSTS;
		uint64_t sent = now, received = now + 1000 + any(19000);
		int64_t past = (int64_t)(now - begin_ns);

		if (received <= last[from][to])
			received = last[from][to] + 1;
		last[from][to] = received;
		message(from, to, sent + (uint64_t)(off[from] + past * rate[from] / 1000000),
			received + (uint64_t)(off[to] + past * rate[to] / 1000000));
		now += any(30000);
	}
}

static void try_world(uint64_t begin_ns, int64_t scatter, unsigned ppm, uint64_t part)
{
	begin();
	for (int i = 0; i < HOSTS; i++)
		w.errors[i] += ppm * 300; /* ns, after so many ms */
	random_world(begin_ns, scatter, ppm);
	cr_assert(gt(sz, count_early(), 100));
	solve();
	cr_expect(eq(sz, (size_t)w.order.left, 0));
	cr_expect(eq(sz, count_early(), 0));
	cr_expect(w.order.worst <= 3 * w.order.earliest, "%ld for %ld", (long)w.order.worst,
		  (long)w.order.earliest);
	expect_lengths(begin_ns, begin_ns + 400 * (uint64_t)MS, part);
	end();
}

Test(order, clocks_that_are_off)
{
	try_world(0, 100000, 0, 1024);
	try_world(UINT64_C(1700000000) * 1000000000, 100000, 0, 1024);
}

Test(order, clocks_that_drift)
{
	try_world(0, 30000, 100, 1024);
}

/* As where bad comparisons, on a busy machine, are close to each other. */
Test(order, clocks_whose_rates_are_wrong)
{
	try_world(0, 30000, 3000, 64);
	try_world(0, 30000, 12000, 16);
}

/* The correction comes behind another one: that of the comparisons of clocks. */
Test(order, behind_another_correction)
{
	begin();
	random_world(UINT64_C(5000000000), 100000, 0);
	w.errors[2] = -1;
	for (uint32_t h = 0; h < HOSTS; h++) {
		w.times[h].points = calloc(3, sizeof(*w.times[h].points));
		w.times[h].points[0] = (struct gt_offset){ 5000000000u, -3 * MS };
		w.times[h].points[1] = (struct gt_offset){ 5200000000u, -3 * MS - 50000 };
		w.times[h].points[2] = (struct gt_offset){ 6000000000u, -3 * MS };
		w.times[h].count = 3;
	}
	for (size_t i = 0; i < w.count; i++) { /* the solver sees corrected times */
		w.list[i].sent = corrected(w.list[i].from, w.list[i].sent);
		w.list[i].received = corrected(w.list[i].to, w.list[i].received);
	}
	solve();
	for (size_t i = 0; i < w.count; i++) { /* back to those before; 2 ns are lost on the way */
		const struct sent *s = &w.list[i];
		uint64_t sent = s->sent + (uint64_t)gt_shift_at(&w.order.shifts[s->from], s->sent);
		uint64_t received = s->received + (uint64_t)gt_shift_at(&w.order.shifts[s->to], s->received);

		cr_assert(ge(u64, received, sent + 2));
	}
	for (uint32_t h = 0; h < HOSTS; h++)
		for (uint64_t ns = 5000000000u; ns < 5400000000u; ns += 12345) {
			struct gt_offset p[3] = { { 5000000000u, -3 * MS }, { 5200000000u, -3 * MS - 50000 },
						  { 6000000000u, -3 * MS } };
			uint64_t base = gt_offset_apply(p, 3, ns);
			int64_t off = (int64_t)(corrected(h, ns) - base) -
				      gt_shift_at(&w.order.shifts[h], base);

			cr_assert(off >= -2 && off <= 2, "%ld at %lu", (long)off, (unsigned long)ns);
		}
	end();
}

/* One early message shifts the receive as far as needed, and what is far away not at all. */
Test(order, one_message)
{
	begin();
	message(0, 1, 500 * MS, 500 * MS - 10000);
	solve();
	cr_expect(eq(u64, w.order.early, 1));
	cr_expect(eq(i64, w.order.worst, 10004));
	cr_expect(eq(u64, corrected(1, 500 * MS - 10000), 500 * MS + 4));
	cr_expect(eq(u64, corrected(1, 480 * MS), 480 * MS));
	cr_expect(eq(u64, corrected(1, 520 * MS), 520 * MS));
	cr_expect(eq(u64, corrected(1, 900 * MS), 900 * MS));
	cr_expect(eq(u64, corrected(0, 500 * MS), 500 * MS));
	end();
}

static void expect_nothing(void)
{
	for (uint32_t h = 0; h < HOSTS; h++)
		cr_expect(eq(sz, w.times[h].count, 0));
	cr_expect(eq(i64, w.order.worst, 0));
}

Test(order, nothing_is_early)
{
	begin();
	message(0, 1, 500, 500);
	message(1, 0, 600, 700);
	solve();
	cr_expect(eq(u64, w.order.messages, 2));
	expect_nothing();
	end();
}

Test(order, earlier_than_the_clocks_can_be_off)
{
	begin();
	message(0, 1, 500 * MS, 497 * MS);
	solve();
	expect_nothing();
	end();
}

/* Each is received before the other one is sent: no clocks make that true. */
Test(order, a_contradiction)
{
	begin();
	message(0, 1, 500 * MS, 500 * MS - 1000);
	message(1, 0, 500 * MS, 500 * MS - 1000);
	solve();
	cr_expect(eq(u64, w.order.left, 2));
	expect_nothing();
	end();
}

/* Two hosts, the second one 100 us behind by its wall clock: `lost` messages of the first one are missing. */
static const char *two_hosts(unsigned lost)
{
	static const uint32_t ranks[2] = { 0, 1 };
	const char *dir = mk_run();

	for (uint32_t rank = 0; rank < 2; rank++) {
		struct mk_proc *p = mk_proc(dir, rank, 4711 + rank, "prog", BEGIN);
		struct gt_def_shared comm = { .paradigm = 4, .key = 7, .name = mk_string(p, "world") };
		struct {
			struct gt_def_group group;
			uint32_t ranks[2];
		} group = { .group = { .kind = 1, .count = 2 }, .ranks = { ranks[0], ranks[1] } };
		struct mk_loc *l;
		uint32_t id;

		mk_property(p, "job", "abc");
		mk_property(p, "job-size", "2");
		p->header.rank = rank;
		snprintf(p->header.host, sizeof(p->header.host), "host%u", rank);
		p->header.first.real_ns = p->header.first.mono_ns + 1600000000000000000 - rank * 100000;
		comm.group = mk_def(p, GT_D_GROUP, 0, &group, sizeof(group));
		id = mk_def(p, GT_D_COMM, 0, &comm, sizeof(comm));
		l = mk_loc(p, 0, 4096, 0, BEGIN);
		for (unsigned i = rank ? 0 : lost; i < 3; i++)
			mk_record(l, AT(300 * MS + i * 1000000 + rank * 20000),
				  rank ? GT_T_MPI_RECV : GT_T_MPI_SEND, id, (uint64_t[]){ !rank, 4 }, 1);
		mk_loc_close(l);
		mk_proc_end(p, GT_END_EXIT, 0, AT(600 * MS));
		p->header.last.real_ns = p->header.last.mono_ns + 1600000000000000000 - rank * 100000;
		mk_proc_write(p);
		mk_proc_free(p);
	}
	return dir;
}

Test(order, in_the_archive)
{
	const char *dir = two_hosts(0);

	cr_assert(eq(int, assemble(dir), 0));
	expect_property(dir, "CLOCK_MESSAGES_EARLY=3");
	expect_property(dir, "CLOCK_MESSAGES_EARLY_LEFT=0");
	expect_property(dir, "CLOCK_CORRECTION_NS=80004");
	/* The second host begins 100 us before the first one, which is time 0. */
	expect_text(rb_events, dir, "0 300100000 SEND to 1 tag 0 4 bytes on world\n");
	expect_text(rb_events, dir, "1 300100004 RECV from 0 tag 0 4 bytes on world\n");
	expect_text(rb_events, dir, "1 301100004 RECV from 0 tag 0 4 bytes on world\n");
	expect_text(rb_events, dir, "1 302100004 RECV from 0 tag 0 4 bytes on world\n");
	expect_text(rb_events, dir, "1 600000000 END");
	mk_remove(dir);
}

Test(order, messages_that_are_missing_prove_nothing)
{
	const char *dir = two_hosts(1);

	cr_assert(eq(int, assemble(dir), 0));
	expect_text(rb_events, dir, "0 302100000 SEND to 1 tag 0 4 bytes on world\n");
	expect_text(rb_events, dir, "1 302020000 RECV from 0 tag 0 4 bytes on world\n");
	mk_remove(dir);
}
