/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranges (lib/assemble/archive/ranges.h): how regions nest that do not end in the function that began them.
 *
 * Limits: as test_assemble.c.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "test/unit/expect.h"

/* As `with range:` in Python: __enter__ pushes and returns, __exit__ pops. */
Test(ranges, outlive_functions)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	uint32_t main = mk_region(p, "main"), in = mk_region(p, "__enter__"), push = mk_region(p, "push");
	uint32_t out = mk_region(p, "__exit__"), step = mk_range(p, "step", "NVTX");

	mk_enter(l, AT(10), main);
	for (unsigned i = 0; i < 200; i += 100) {
		mk_enter(l, AT(i + 20), in);
		mk_enter(l, AT(i + 21), push);
		mk_enter(l, AT(i + 22), step);
		mk_leave(l, AT(i + 23), push);
		mk_leave(l, AT(i + 25), in);
		mk_enter(l, AT(i + 90), out);
		mk_leave(l, AT(i + 92), step);
		mk_leave(l, AT(i + 94), out);
	}
	mk_leave(l, AT(300), main);
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(300));
	expect_events(dir, "0 0 BEGIN prog [ProcessId=4711]\n0 10 ENTER main\n"
			   "0 20 ENTER __enter__\n0 21 ENTER push\n0 23 LEAVE push\n0 25 LEAVE __enter__\n"
			   "0 25 ENTER step\n0 90 LEAVE step\n0 90 ENTER __exit__\n0 94 LEAVE __exit__\n"
			   "0 120 ENTER __enter__\n0 121 ENTER push\n0 123 LEAVE push\n"
			   "0 125 LEAVE __enter__\n0 125 ENTER step\n0 190 LEAVE step\n"
			   "0 190 ENTER __exit__\n0 194 LEAVE __exit__\n"
			   "0 300 LEAVE main\n0 300 END 0 [ProcessId=4711]\n");
	expect_property(dir, "REPAIRED_LEAVES_ADDED=0");
	expect_property(dir, "REPAIRED_LEAVES_DROPPED=0");
	expect_property(dir, "REPAIRED_PARTS=0");
	mk_proc_free(p);
	mk_remove(dir);
}

/* A function that began a range goes on for long before it returns, and another ends it. */
Test(ranges, go_on)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 65536, 0, BEGIN);
	uint32_t main = mk_region(p, "main"), begin = mk_region(p, "begin"), end = mk_region(p, "end");
	uint32_t work = mk_region(p, "work"), step = mk_range(p, "step", "NVTX");

	mk_enter(l, AT(10), main);
	mk_enter(l, AT(20), begin);
	mk_enter(l, AT(30), step);
	for (unsigned i = 0; i < 600; i++) {
		mk_enter(l, AT(1000 + 2 * i), work);
		mk_leave(l, AT(1001 + 2 * i), work);
	}
	mk_leave(l, AT(3000), begin);
	mk_enter(l, AT(4000), end);
	mk_leave(l, AT(5000), step);
	mk_leave(l, AT(6000), end);
	mk_leave(l, AT(7000), main);
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(7000));
	cr_assert(eq(int, assemble_with(dir, 1, false), 0));
	expect_text(rb_events, dir, "0 3000 LEAVE step\n0 3000 LEAVE begin\n0 3000 ENTER step\n"
				    "0 4000 LEAVE step\n0 4000 ENTER end\n0 6000 LEAVE end\n"
				    "0 7000 LEAVE main\n");
	expect_property(dir, "REPAIRED_LEAVES_ADDED=0");
	expect_property(dir, "REPAIRED_LEAVES_DROPPED=0");
	expect_property(dir, "REPAIRED_PARTS=1");
	mk_proc_free(p);
	mk_remove(dir);
}

/* A range that the program forgets to end, or jumps over, is over when its function is. */
Test(ranges, without_an_end)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	uint32_t f = mk_region(p, "f"), g = mk_region(p, "g"), r = mk_range(p, "r", "Application");
	uint32_t o = mk_range(p, "o", "Application");

	for (unsigned i = 0; i < 20; i += 10) {
		mk_enter(l, AT(i + 1), f);
		mk_enter(l, AT(i + 2), r);
		mk_leave(l, AT(i + 3), f);
	}
	mk_enter(l, AT(30), f);
	mk_enter(l, AT(31), o); /* the end of an outer one ends r, and what was jumped over */
	mk_enter(l, AT(32), r);
	mk_enter(l, AT(33), g);
	mk_leave(l, AT(34), o);
	mk_leave(l, AT(35), f);
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(40));
	expect_events(dir, "0 0 BEGIN prog [ProcessId=4711]\n"
			   "0 1 ENTER f\n0 2 ENTER r\n0 3 LEAVE r\n0 3 LEAVE f\n"
			   "0 11 ENTER f\n0 12 ENTER r\n0 13 LEAVE r\n0 13 LEAVE f\n"
			   "0 30 ENTER f\n0 31 ENTER o\n0 32 ENTER r\n0 33 ENTER g\n"
			   "0 34 LEAVE g\n0 34 LEAVE r\n0 34 LEAVE o\n0 35 LEAVE f\n"
			   "0 40 END 0 [ProcessId=4711]\n");
	expect_property(dir, "REPAIRED_LEAVES_ADDED=4");
	expect_property(dir, "REPAIRED_PARTS=0");
	mk_proc_free(p);
	mk_remove(dir);
}

/* An early return leaves one of two without an end. */
Test(ranges, one_without_an_end)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	uint32_t main = mk_region(p, "main"), f = mk_region(p, "f"), r = mk_range(p, "r", "Application");

	mk_enter(l, AT(1), main);
	mk_enter(l, AT(10), f);
	mk_enter(l, AT(11), r);
	mk_leave(l, AT(12), r);
	mk_leave(l, AT(13), f);
	mk_enter(l, AT(20), f);
	mk_enter(l, AT(21), r);
	mk_leave(l, AT(23), f);
	mk_leave(l, AT(90), main);
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(90));
	expect_events(dir, "0 0 BEGIN prog [ProcessId=4711]\n0 1 ENTER main\n"
			   "0 10 ENTER f\n0 11 ENTER r\n0 12 LEAVE r\n0 13 LEAVE f\n"
			   "0 20 ENTER f\n0 21 ENTER r\n0 23 LEAVE r\n0 23 LEAVE f\n"
			   "0 90 LEAVE main\n0 90 END 0 [ProcessId=4711]\n");
	expect_property(dir, "REPAIRED_LEAVES_ADDED=1");
	mk_proc_free(p);
	mk_remove(dir);
}

/* Ranges of different libraries need not be nested in each other. */
Test(ranges, of_two_kinds)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	uint32_t a = mk_range(p, "a", "NVTX"), b = mk_range(p, "b", "Application");

	mk_enter(l, AT(10), a);
	mk_enter(l, AT(20), b);
	mk_leave(l, AT(30), a);
	mk_leave(l, AT(40), b);
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(50));
	expect_events(dir, "0 0 BEGIN prog [ProcessId=4711]\n0 10 ENTER a\n0 20 ENTER b\n"
			   "0 30 LEAVE b\n0 30 LEAVE a\n0 30 ENTER b\n0 40 LEAVE b\n"
			   "0 50 END 0 [ProcessId=4711]\n");
	expect_property(dir, "REPAIRED_PARTS=1");
	expect_property(dir, "REPAIRED_LEAVES_ADDED=0");
	mk_proc_free(p);
	mk_remove(dir);
}
