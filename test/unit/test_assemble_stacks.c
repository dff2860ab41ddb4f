/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that switch between stacks (lib/assemble/archive/stacks.c): what is open on each, in the archive.
 *
 * Limits: as test_assemble.c.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "test/unit/expect.h"

#define ONE 0x10000u
#define TWO 0x20000u

/* The thread leaves the one stack with its pointer there, and goes on where the other one's was. */
static void change(struct mk_loc *l, unsigned ns, unsigned flags, uint64_t from, uint64_t to)
{
	mk_record(l, AT(ns), GT_T_STACK, flags, (uint64_t[]){ from, to }, 1);
}

static void ends(const char *dir, struct mk_proc *p, struct mk_loc *l, const char *events)
{
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(100));
	expect_events(dir, events);
	mk_proc_free(p);
	mk_remove(dir);
}

Test(stacks, calls_on_two)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	uint32_t main = mk_region(p, "main"), a = mk_region(p, "a"), b = mk_region(p, "b");

	mk_enter(l, AT(10), main);
	mk_enter(l, AT(11), a);
	change(l, 20, GT_STACK_FRESH, ONE, TWO);
	mk_enter(l, AT(21), a);
	mk_enter(l, AT(22), b);
	change(l, 30, 0, TWO + 64, ONE - 100);
	mk_leave(l, AT(31), a);
	change(l, 40, GT_STACK_JUMP, ONE, TWO + 8); /* setcontext() */
	mk_leave(l, AT(41), b);
	mk_leave(l, AT(42), a);
	change(l, 50, GT_STACK_ENDED, 0, ONE - 8); /* uc_link */
	mk_leave(l, AT(60), main);
	ends(dir, p, l, "0 0 BEGIN prog [ProcessId=4711]\n0 10 ENTER main\n0 11 ENTER a\n"
			"0 20 LEAVE a\n0 20 LEAVE main\n0 21 ENTER a\n0 22 ENTER b\n"
			"0 30 LEAVE b\n0 30 LEAVE a\n"
			"0 30 ENTER main [CONTINUES=1]\n0 30 ENTER a [CONTINUES=1]\n"
			"0 31 LEAVE a\n0 40 LEAVE main\n"
			"0 40 ENTER a [CONTINUES=1]\n0 40 ENTER b [CONTINUES=1]\n0 41 LEAVE b\n0 42 LEAVE a\n"
			"0 50 ENTER main [CONTINUES=1]\n0 60 LEAVE main\n0 100 END 0 [ProcessId=4711]\n");
}

/* A jump on the same stack changes nothing; a stack that was given up and is used anew is empty. */
Test(stacks, used_anew)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	uint32_t main = mk_region(p, "main"), a = mk_region(p, "a");

	mk_enter(l, AT(10), main);
	change(l, 15, GT_STACK_JUMP, ONE, ONE + 4096);
	change(l, 20, GT_STACK_FRESH, ONE, TWO);
	mk_enter(l, AT(21), a);
	change(l, 30, 0, TWO, ONE);
	change(l, 40, GT_STACK_FRESH, ONE, TWO + 100);
	mk_enter(l, AT(41), a);
	mk_leave(l, AT(42), a);
	change(l, 50, 0, TWO, ONE);
	mk_leave(l, AT(60), main);
	ends(dir, p, l, "0 0 BEGIN prog [ProcessId=4711]\n0 10 ENTER main\n0 20 LEAVE main\n"
			"0 21 ENTER a\n0 30 LEAVE a\n0 30 ENTER main [CONTINUES=1]\n0 40 LEAVE main\n"
			"0 41 ENTER a\n0 42 LEAVE a\n0 50 ENTER main [CONTINUES=1]\n0 60 LEAVE main\n"
			"0 100 END 0 [ProcessId=4711]\n");
}

/* What another thread has left there nobody knows here: that is said. */
Test(stacks, of_another_thread)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	uint32_t main = mk_region(p, "main"), a = mk_region(p, "a");

	mk_enter(l, AT(10), main);
	change(l, 20, 0, ONE, TWO);
	mk_leave(l, AT(30), a);
	change(l, 40, 0, TWO, ONE);
	mk_leave(l, AT(60), main);
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(100));
	expect_events(dir, "0 0 BEGIN prog [ProcessId=4711]\n0 10 ENTER main\n0 20 LEAVE main\n"
			   "0 40 ENTER main [CONTINUES=1]\n0 60 LEAVE main\n0 100 END 0 [ProcessId=4711]\n");
	expect_property(dir, "STACKS_SWITCHED=1");
	mk_proc_free(p);
	mk_remove(dir);
}
