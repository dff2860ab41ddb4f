/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which ends of connections between MPI programs belong together, from made-up spools: each program is one
 * process that has one connection, and sends one message over it. Messages whose other end is not known
 * are counted.
 *
 * Limits: as test_assemble.c; one host. test/mpi/dynamic.test has real programs.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdio.h>
#include <string.h>

#include "test/unit/expect.h"

#define MPI 4 /* OTF2_PARADIGM_MPI */

static const char *dir;
static uint32_t programs;

static uint32_t members(struct mk_proc *p, uint32_t kind, const uint32_t *numbers, uint32_t count)
{
	struct {
		struct gt_def_group group;
		uint32_t numbers[4];
	} def = { .group = { .kind = kind, .count = count } };
	uint32_t words = kind == 3 ? 2 * count : count;

	memcpy(def.numbers, numbers, words * sizeof(*numbers));
	return mk_def(p, GT_D_GROUP, 0, &def, sizeof(def.group) + words * sizeof(*numbers));
}

static uint32_t link_end(struct mk_proc *p, enum gt_link_kind kind, uint32_t group, uint64_t begin,
			 uint64_t end, const char *place)
{
	struct {
		struct gt_def_link link;
		char place[64];
	} def = { .link = { .key = programs, .group = group, .near = 1, .far = 1, .kind = kind,
			    .root = 1, .begin = begin, .end = end } };

	snprintf(def.place, sizeof(def.place), "%s", place);
	return mk_def(p, GT_D_LINK, 0, &def, sizeof(def));
}

/* A program that begins at `born` and connects from `begin` to `end` (ns). */
static void program(enum gt_link_kind kind, uint64_t born, uint64_t begin, uint64_t end, const char *place)
{
	struct mk_proc *p = mk_proc(dir, programs, 4711 + programs, "prog", AT(born));
	bool first = kind == GT_LINK_SPAWN || kind == GT_LINK_ACCEPT ||
		     (kind == GT_LINK_JOIN && programs % 2);
	uint32_t self[1] = { 0 }, both[4] = { 0, 0, 0, 0 };
	struct gt_def_shared comm = { .paradigm = MPI, .key = 7 };
	struct mk_loc *l;
	char job[32];

	programs++;
	snprintf(job, sizeof(job), "%x", programs);
	mk_property(p, "job", job);
	mk_property(p, "job-size", "1");
	p->header.rank = 0;
	both[first ? 2 : 0] = link_end(p, kind, members(p, 1, self, 1), begin ? AT(begin) : 0, AT(end),
				       place);
	comm.name = mk_string(p, "both");
	comm.group = members(p, 3, both, 2);
	comm.flags = 1u << GT_COMM_LINK_SHIFT;
	l = mk_loc(p, 0, 4096, 0, AT(born));
	mk_record(l, AT(end + 1), GT_T_MPI_SEND, mk_def(p, GT_D_COMM, 0, &comm, sizeof(comm)),
		  (uint64_t[]){ first, 4 }, 1);
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(1000));
	mk_proc_free(p);
}

static void begin(void)
{
	dir = mk_run();
	programs = 0;
}

static void end(const char *unmatched)
{
	cr_assert(eq(int, assemble(dir), 0));
	expect_property(dir, unmatched);
	expect_property(dir, "UNKNOWN_RECORDS=0");
	mk_remove(dir);
}

#define NONE_IS_ALONE "UNMATCHED_MESSAGES=0"

Test(links, one)
{
	begin();
	program(GT_LINK_ACCEPT, 0, 10, 20, "port");
	program(GT_LINK_CONNECT, 0, 15, 21, "port");
	cr_assert(eq(int, assemble(dir), 0));
	expect_property(dir, NONE_IS_ALONE);
	/* Either sends to the other one, whose place is its end's. */
	expect_text(rb_events, dir, "0 21 SEND to 1 tag 0 4 bytes on both\n");
	expect_text(rb_events, dir, "1 22 SEND to 0 tag 0 4 bytes on both\n");
	mk_remove(dir);
}

Test(links, another_place)
{
	begin();
	program(GT_LINK_ACCEPT, 0, 10, 20, "port");
	program(GT_LINK_CONNECT, 0, 15, 21, "portal");
	end("UNMATCHED_MESSAGES=2");
}

Test(links, another_time)
{
	begin();
	program(GT_LINK_ACCEPT, 0, 10, 20, "port");
	program(GT_LINK_CONNECT, 0, 21, 30, "port");
	end("UNMATCHED_MESSAGES=2");
}

Test(links, another_kind)
{
	begin();
	program(GT_LINK_ACCEPT, 0, 10, 20, "");
	program(GT_LINK_PARENT, 11, 0, 20, "");
	end("UNMATCHED_MESSAGES=2");
}

/* Who was there before the call was not spawned by it. */
Test(links, spawned_later)
{
	begin();
	program(GT_LINK_SPAWN, 0, 10, 20, "1.0");
	program(GT_LINK_PARENT, 9, 0, 20, "");
	program(GT_LINK_PARENT, 12, 0, 20, "");
	end("UNMATCHED_MESSAGES=1");
}

/* Two at the same time: only who knows its parent can be told apart. */
Test(links, spawns)
{
	begin();
	program(GT_LINK_SPAWN, 0, 10, 20, "1.0");
	program(GT_LINK_SPAWN, 0, 11, 20, "2.0");
	program(GT_LINK_PARENT, 12, 0, 20, "");
	program(GT_LINK_PARENT, 13, 0, 20, "");
	end("UNMATCHED_MESSAGES=4");
	begin();
	program(GT_LINK_SPAWN, 0, 10, 20, "1.0");
	program(GT_LINK_SPAWN, 0, 11, 20, "2.0");
	program(GT_LINK_PARENT, 12, 0, 20, "2.0");
	program(GT_LINK_PARENT, 13, 0, 20, "");
	end(NONE_IS_ALONE);
}

/* The second waits while the first is served. */
Test(links, one_after_the_other)
{
	begin();
	program(GT_LINK_ACCEPT, 0, 10, 20, "port");
	program(GT_LINK_ACCEPT, 0, 22, 40, "port");
	program(GT_LINK_CONNECT, 0, 12, 30, "port");
	program(GT_LINK_CONNECT, 0, 5, 15, "port");
	end(NONE_IS_ALONE);
}

/* Of whom one accepted may not have been recorded. */
Test(links, not_sure)
{
	begin();
	program(GT_LINK_ACCEPT, 0, 10, 20, "port");
	program(GT_LINK_ACCEPT, 0, 22, 40, "port");
	program(GT_LINK_CONNECT, 0, 12, 30, "port");
	end("UNMATCHED_MESSAGES=3");
}

/* As many of each: the first accepted the only one that was there; which of the others is which? */
Test(links, as_many)
{
	begin();
	program(GT_LINK_ACCEPT, 0, 10, 20, "port");
	program(GT_LINK_ACCEPT, 0, 30, 60, "port");
	program(GT_LINK_ACCEPT, 0, 31, 61, "port");
	program(GT_LINK_CONNECT, 0, 15, 50, "port");
	program(GT_LINK_CONNECT, 0, 25, 50, "port");
	program(GT_LINK_CONNECT, 0, 26, 50, "port");
	end("UNMATCHED_MESSAGES=4");
}

Test(links, joined)
{
	begin();
	program(GT_LINK_JOIN, 0, 10, 20, "1, 2");
	program(GT_LINK_JOIN, 0, 10, 20, "1, 3");
	program(GT_LINK_JOIN, 0, 10, 20, "1, 2");
	program(GT_LINK_JOIN, 0, 10, 20, "");
	end("UNMATCHED_MESSAGES=2");
	begin();
	program(GT_LINK_JOIN, 0, 10, 20, "");
	program(GT_LINK_JOIN, 0, 15, 25, "");
	program(GT_LINK_JOIN, 0, 18, 28, "");
	program(GT_LINK_JOIN, 0, 30, 40, "");
	program(GT_LINK_JOIN, 0, 30, 40, "");
	end("UNMATCHED_MESSAGES=3");
}

/* Damaged: a link that goes back to itself, one that is not there, members without an end. */
Test(links, damaged)
{
	struct gt_def_link bad = { .key = 1, .link = 1, .group = 9, .near = 1, .far = 1,
				   .kind = GT_LINK_CONNECT, .root = 1 };
	struct gt_def_shared comm = { .paradigm = MPI, .key = 7, .flags = 1u << GT_COMM_LINK_SHIFT };
	unsigned char text[sizeof(bad) + 8] = { 0 };
	uint32_t both[4] = { 1, 0, 77, 3 };
	struct mk_proc *p;

	begin();
	program(GT_LINK_ACCEPT, 0, 10, 20, "");
	p = mk_proc(dir, 1, 5000, "prog", AT(0));
	mk_property(p, "job", "99");
	p->header.rank = 0;
	memcpy(text, &bad, sizeof(bad));
	mk_def(p, GT_D_LINK, 0, text, sizeof(text));
	bad.link = 55;
	memcpy(text, &bad, sizeof(bad));
	mk_def(p, GT_D_LINK, 0, text, sizeof(text));
	comm.group = members(p, 3, both, 2);
	mk_def(p, GT_D_COMM, 0, &comm, sizeof(comm));
	comm.flags = 66u << GT_COMM_LINK_SHIFT;
	mk_def(p, GT_D_COMM, 0, &comm, sizeof(comm));
	comm.flags = 2u << GT_COMM_LINK_SHIFT;
	mk_def(p, GT_D_COMM, 0, &comm, sizeof(comm));
	mk_proc_end(p, GT_END_EXIT, 0, AT(1000));
	mk_proc_free(p);
	end("UNMATCHED_MESSAGES=1");
}
