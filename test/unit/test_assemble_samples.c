/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The assembly of samples from made-up spools: call paths and how far they change, what lies at an address,
 * damage, threads and processes with the same code, too many paths.
 *
 * Limits: the functions and lines are those of this program, which is the mapped file.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/assemble/defs/defs.h"
#include "lib/assemble/spool/stream.h"
#include "test/unit/expect.h"

#define UNIT GT_SAMPLE_UNIT

/* ---- code to be sampled -------------------------------------------------------------------------------- */

/* An address of code in each function, and its line. */
#define MARK(name) __asm__ volatile(".globl mark_" #name "\nmark_" #name ": nop\n")
#define SAMPLED(name)                              \
	__attribute__((noinline)) void name(void); \
	void name(void)                            \
	{                                          \
		MARK(name);                        \
	}                                          \
	enum { LINE_##name = __LINE__ }

extern const char mark_outer[], mark_middle[], mark_inner[], mark_again[];

SAMPLED(outer);
SAMPLED(middle);

__attribute__((noinline)) void inner(void);
void inner(void)
{
	MARK(inner);
	MARK(again);
}
enum { LINE_inner = __LINE__ - 3, LINE_again };

static uint64_t at(const char *mark)
{
	return (uint64_t)(uintptr_t)mark;
}

/* This program, as the process had it mapped. Returns its path. */
static const char *map_self(struct mk_proc *p)
{
	static char path[4096];
	char line[5000], flags[8];
	uint64_t start, end, offset;
	FILE *maps = fopen("/proc/self/maps", "r");

	cr_assert(maps != NULL);
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %4095s", &start, &end,
			   flags, &offset, path) == 5 && at(mark_outer) >= start && at(mark_outer) < end)
			break;
	fclose(maps);
	mk_module(p, AT(1), start, end, offset, path);
	return path;
}

/* ---- records ------------------------------------------------------------------------------------------- */

#define EXACT(mark) GT_FRAME_WORD(GT_FRAME_EXACT, at(mark))
#define CALL(mark)  GT_FRAME_WORD(0, at(mark) + 1) /* returns behind the instruction of one byte */

/* `frames`, innermost first, ended by 0. */
static void sample(struct mk_loc *l, uint64_t ns, unsigned flags, unsigned kept, uint32_t weight,
		   const uint64_t *frames)
{
	uint64_t data[2 * GT_MAX_EXTRA] = { 0 };
	static unsigned number;
	unsigned n = 0;

	for (; frames[n]; n++)
		data[n] = frames[n];
	mk_record(l, AT(ns), GT_T_SAMPLE, GT_SAMPLE_LOW(number++, flags, kept, weight), data,
		  (n + 1) / 2);
}
#define FRAMES(...) ((const uint64_t[]){ __VA_ARGS__, 0 })
static const uint64_t none[1];

static struct mk_proc *sampled(const char *dir)
{
	struct mk_proc *p = usual(dir);

	mk_property(p, "sampling:period", "1000000");
	return p;
}

/* ---- tests --------------------------------------------------------------------------------------------- */

Test(samples, paths_and_lines)
{
	const char *dir = mk_run(), *self;
	struct mk_proc *p = sampled(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	char text[5000];

	self = map_self(p);
	sample(l, 10, 0, 0, 1, FRAMES(EXACT(mark_inner), CALL(mark_middle), CALL(mark_outer)));
	sample(l, 20, GT_SAMPLE_KERNEL, 2, 2, FRAMES(EXACT(mark_again)));
	sample(l, 30, 0, 3, 3, none);
	sample(l, 40, GT_SAMPLE_CUT | GT_SAMPLE_OWN, 1, 4, FRAMES(EXACT(mark_inner)));
	sample(l, 50, 0, 0, 5, FRAMES(EXACT(mark_outer)));
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(60));
	expect_events(dir, "0 0 BEGIN prog [ProcessId=4711]\n"
			   "0 10 SAMPLE outer/middle/inner +4 by CPU_TIME [SAMPLE_TIME=1024]\n"
			   "0 20 SAMPLE outer/middle/inner +2 by CPU_TIME [SAMPLE_TIME=2048] "
			   "[SAMPLE_FLAGS=8]\n"
			   "0 30 SAMPLE outer/middle/inner +1 by CPU_TIME [SAMPLE_TIME=3072]\n"
			   "0 40 SAMPLE outer/inner +2 by CPU_TIME [SAMPLE_TIME=4096] [SAMPLE_FLAGS=5]\n"
			   "0 50 SAMPLE outer +2 by CPU_TIME [SAMPLE_TIME=5120]\n"
			   "0 60 END 0 [ProcessId=4711]\n");
	expect_text(rb_definitions, dir, "interrupt CPU_TIME mode 0 period 1000000 exponent -9 base 1\n");
	snprintf(text, sizeof(text), "context outer:%d of %s\ncontext outer:%d/middle:%d of %s\n"
		 "context outer:%d/middle:%d/inner:%d of %s\ncontext outer:%d/middle:%d/inner:%d\n"
		 "context outer:%d/inner:%d\n",
		 LINE_outer, self, LINE_outer, LINE_middle, self, LINE_outer, LINE_middle, LINE_inner, self,
		 LINE_outer, LINE_middle, LINE_again, LINE_outer, LINE_inner);
	expect_text(rb_definitions, dir, text);
	expect_text(rb_definitions, dir, "inner (inner) role 1 paradigm 21 at ");
	expect_property(dir, "SAMPLES_DAMAGED=0");
	expect_property(dir, "COMPLETE=yes");
	mk_proc_free(p);
	mk_remove(dir);
}

/* A time of about a period is not said, but what is over goes into a later one; that of others is. */
Test(samples, times)
{
	static const uint32_t weights[] = { 977, 970, 5, 1100, 800, 780, 780, 2000, 1000 };
	const char *dir = mk_run();
	struct mk_proc *p = sampled(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);

	map_self(p);
	for (unsigned i = 0; i < sizeof(weights) / sizeof(weights[0]); i++)
		sample(l, 10 + i, i == 1 ? GT_SAMPLE_KERNEL : 0, 0, weights[i], FRAMES(EXACT(mark_outer)));
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(60));
	expect_events(dir, "0 0 BEGIN prog [ProcessId=4711]\n"
			   "0 10 SAMPLE outer +2 by CPU_TIME\n"                /* + 448 */
			   "0 11 SAMPLE outer +2 by CPU_TIME [SAMPLE_FLAGS=8]\n" /* - 6,272 */
			   "0 12 SAMPLE outer +2 by CPU_TIME [SAMPLE_TIME=5120]\n"
			   "0 13 SAMPLE outer +2 by CPU_TIME\n" /* + 120,128 */
			   "0 14 SAMPLE outer +2 by CPU_TIME\n" /* - 60,672 */
			   "0 15 SAMPLE outer +2 by CPU_TIME [SAMPLE_TIME=738048]\n"
			   "0 16 SAMPLE outer +2 by CPU_TIME\n" /* - 201,280 */
			   "0 17 SAMPLE outer +2 by CPU_TIME [SAMPLE_TIME=2048000]\n"
			   "0 18 SAMPLE outer +2 by CPU_TIME\n"
			   "0 60 END 0 [ProcessId=4711]\n");
	mk_proc_free(p);
	mk_remove(dir);
}

/* Before the main thread's first sample is the time until then, but for that of the program before exec. */
Test(samples, start_of_a_process)
{
	const char *dir = mk_run();
	struct mk_proc *p = sampled(dir), *q = mk_proc(dir, 2, 4711, "next", AT(50));
	struct mk_loc *thread = mk_loc(p, 1, 4096, 0, BEGIN), *l = mk_loc(p, 0, 4096, 0, BEGIN), *m;

	q->header.parent_seq = 1;
	q->header.origin = 2;
	p->header.processor_ns = 2000000;
	mk_property(p, "sampling:start", "3000000");
	mk_property(q, "sampling:period", "1000000");
	mk_property(q, "sampling:start", "5500000");
	map_self(p);
	map_self(q);
	m = mk_loc(q, 0, 4096, 0, AT(50));
	sample(thread, 5, 0, 0, 1, FRAMES(EXACT(mark_outer)));
	sample(l, 10, 0, 0, 1, FRAMES(EXACT(mark_inner), CALL(mark_outer)));
	sample(l, 20, 0, 2, 1, none);
	sample(m, 60, 0, 0, 1, FRAMES(EXACT(mark_outer)));
	mk_loc_close(thread);
	mk_loc_close(l);
	mk_loc_close(m);
	mk_proc_end(p, GT_END_EXEC, 0, AT(40));
	mk_proc_end(q, GT_END_EXIT, 0, AT(100));
	cr_assert(eq(int, assemble(dir), 0));
	expect_text(rb_events, dir, "0 10 SAMPLE [start of the process] +2 by CPU_TIME "
				    "[SAMPLE_TIME=3000000]\n"
				    "0 10 SAMPLE outer/inner +3 by CPU_TIME [SAMPLE_TIME=1024]\n"
				    "0 20 SAMPLE outer/inner +1 by CPU_TIME [SAMPLE_TIME=1024]\n");
	expect_text(rb_events, dir, "1 5 SAMPLE outer +2 by CPU_TIME [SAMPLE_TIME=1024]\n");
	expect_text(rb_events, dir, "SAMPLE [start of the process] +2 by CPU_TIME [SAMPLE_TIME=3500000]\n");
	mk_proc_free(p);
	mk_proc_free(q);
	mk_remove(dir);
}

/* The sample is no call: it leaves the open regions and the attributes that wait for an event alone. */
Test(samples, among_other_events)
{
	const char *dir = mk_run();
	struct mk_proc *p = sampled(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	struct gt_def_attribute def = { .name = mk_string(p, "size"), .type = 4 };
	uint32_t work = mk_region(p, "work"), size = mk_def(p, GT_D_ATTRIBUTE, 0, &def, sizeof(def));

	map_self(p);
	mk_record(l, AT(10), GT_T_ATTR, size, (uint64_t[]){ 7, 0 }, 1);
	sample(l, 11, 0, 0, 1, FRAMES(EXACT(mark_outer)));
	mk_enter(l, AT(12), work);
	sample(l, 13, 0, 0, 1, FRAMES(EXACT(mark_outer)));
	mk_slot(l, AT(14), GT_WORD(GT_T_ENTER_ADDR, at((const char *)inner)));
	mk_slot(l, AT(15), GT_WORD(GT_T_LEAVE_ADDR, at((const char *)inner)));
	sample(l, 16, 0, 1, 1, FRAMES(EXACT(mark_inner)));
	mk_leave(l, AT(17), work);
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(20));
	expect_events(dir, "0 0 BEGIN prog [ProcessId=4711]\n"
			   "0 11 SAMPLE outer +2 by CPU_TIME [SAMPLE_TIME=1024]\n"
			   "0 12 ENTER work [size=7]\n"
			   "0 13 SAMPLE outer +2 by CPU_TIME [SAMPLE_TIME=1024]\n"
			   "0 14 ENTER inner\n0 15 LEAVE inner\n"
			   "0 16 SAMPLE outer/inner +2 by CPU_TIME [SAMPLE_TIME=1024]\n"
			   "0 17 LEAVE work\n0 20 END 0 [ProcessId=4711]\n");
	/* one region, and it is the compiler's */
	expect_text(rb_definitions, dir, "inner (inner) role 1 paradigm 2 at ");
	expect_no_text(rb_definitions, dir, "inner (inner) role 1 paradigm 21 at ");
	mk_proc_free(p);
	mk_remove(dir);
}

/* A record without a weight is no sample, but the call path of the leave to come, whatever is between them;
 * and samples are told apart from samples. */
Test(samples, call_paths)
{
	const char *dir = mk_run();
	struct mk_proc *p = sampled(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	uint32_t outside = mk_region(p, "outside"), work = mk_region(p, "work"),
		 inside = mk_region(p, "inside");

	map_self(p);
	mk_enter(l, AT(5), outside);
	mk_enter(l, AT(6), work);
	sample(l, 10, 0, 0, 1, FRAMES(EXACT(mark_inner), CALL(mark_middle), CALL(mark_outer)));
	mk_enter(l, AT(11), inside); /* and left by a jump */
	sample(l, 12, 0, 1, 0, FRAMES(EXACT(mark_inner)));
	sample(l, 12, 0, 2, 1, none);
	mk_leave(l, AT(12), work);
	sample(l, 20, 0, 1, 0, FRAMES(EXACT(mark_again), CALL(mark_middle)));
	mk_leave(l, AT(20), outside);
	sample(l, 30, 0, 3, 1, none);
	mk_enter(l, AT(31), work);
	mk_leave(l, AT(32), work);
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(40));
	expect_events(dir, "0 0 BEGIN prog [ProcessId=4711]\n"
			   "0 5 ENTER outside\n0 6 ENTER work\n"
			   "0 10 SAMPLE outer/middle/inner +4 by CPU_TIME [SAMPLE_TIME=1024]\n"
			   "0 11 ENTER inside\n"
			   "0 12 SAMPLE outer/inner +2 by CPU_TIME [SAMPLE_TIME=1024]\n"
			   "0 12 LEAVE inside\n"
			   "0 12 LEAVE work [CALL_PATH=outer/inner]\n"
			   "0 20 LEAVE outside [CALL_PATH=outer/middle/inner]\n"
			   "0 30 SAMPLE outer/middle/inner +3 by CPU_TIME [SAMPLE_TIME=1024]\n"
			   "0 31 ENTER work\n0 32 LEAVE work\n"
			   "0 40 END 0 [ProcessId=4711]\n");
	expect_property(dir, "SAMPLES_DAMAGED=0");
	mk_proc_free(p);
	mk_remove(dir);
}

/* A call's path ends with who made it, not with the runtime's libraries; between the C library and a function
 * that it calls is nothing of gputrace. */
Test(samples, call_paths_of_runtimes)
{
	const char *dir = mk_run();
	struct mk_proc *p = sampled(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	uint32_t work = mk_region(p, "work");
	const uint64_t cuda = GT_FRAME_WORD(0, 0x40001), cupti = GT_FRAME_WORD(0, 0x50001),
		       own = GT_FRAME_WORD(0, 0x60001), libc = GT_FRAME_WORD(0, 0x70001);

	map_self(p);
	mk_module(p, AT(5), 0x40000, 0x50000, 0x1000, "/nowhere/libcuda.so.1");
	mk_module(p, AT(5), 0x50000, 0x60000, 0x1000, "/nowhere/libcupti.so.13");
	mk_module(p, AT(5), 0x60000, 0x70000, 0x1000, "/nowhere/libgputrace-pthread.so");
	mk_module(p, AT(5), 0x70000, 0x80000, 0x1000, "/nowhere/libc.so.6");
	mk_enter(l, AT(6), work);
	sample(l, 10, 0, 0, 0, FRAMES(cupti, cuda, cupti, cuda, CALL(mark_middle), CALL(mark_outer)));
	mk_leave(l, AT(10), work);
	mk_enter(l, AT(11), work);
	sample(l, 12, 0, 0, 0, FRAMES(cupti, cuda));
	mk_leave(l, AT(12), work);
	sample(l, 20, 0, 0, 1, FRAMES(EXACT(mark_inner), own, libc));
	sample(l, 30, 0, 2, 1, none);
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(100));
	expect_events(dir, "0 0 BEGIN prog [ProcessId=4711]\n"
			   "0 6 ENTER work\n0 10 LEAVE work [CALL_PATH=outer/middle]\n"
			   "0 11 ENTER work\n0 12 LEAVE work [CALL_PATH=[libcuda.so.1]/[libcupti.so.13]]\n"
			   "0 20 SAMPLE [libc.so.6]/inner +3 by CPU_TIME [SAMPLE_TIME=1024]\n"
			   "0 30 SAMPLE [libc.so.6] +1 by CPU_TIME [SAMPLE_TIME=1024] [SAMPLE_FLAGS=4]\n"
			   "0 100 END 0 [ProcessId=4711]\n");
	mk_proc_free(p);
	mk_remove(dir);
}

/* The region is the compiler's in whatever order the two come. */
Test(samples, sampled_before_hooked)
{
	const char *dir = mk_run();
	struct mk_proc *p = sampled(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);

	map_self(p);
	sample(l, 10, 0, 0, 1, FRAMES(EXACT(mark_inner)));
	mk_slot(l, AT(14), GT_WORD(GT_T_ENTER_ADDR, at((const char *)inner)));
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(20));
	cr_assert(eq(int, assemble(dir), 0));
	expect_text(rb_definitions, dir, "inner (inner) role 1 paradigm 2 at ");
	expect_no_text(rb_definitions, dir, "inner (inner) role 1 paradigm 21 at ");
	mk_proc_free(p);
	mk_remove(dir);
}

/* What keeps more than there was is left out, and so is what builds upon it. */
Test(samples, damaged)
{
	const char *dir = mk_run();
	struct mk_proc *p = sampled(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);

	map_self(p);
	sample(l, 10, 0, 2, 1, FRAMES(EXACT(mark_outer))); /* nothing is before it */
	sample(l, 20, 0, 0, 1, FRAMES(EXACT(mark_inner), CALL(mark_outer)));
	sample(l, 30, 0, 3, 1, FRAMES(EXACT(mark_inner))); /* one more than there are */
	sample(l, 40, 0, 1, 1, FRAMES(EXACT(mark_inner))); /* of what is not known */
	sample(l, 50, 0, 0, 1, none);
	sample(l, 60, 0, 0, 1, FRAMES(EXACT(mark_middle)));
	sample(l, 70, 0, 1, 1, none);
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(100));
	expect_events(dir, "0 0 BEGIN prog [ProcessId=4711]\n"
			   "0 20 SAMPLE outer/inner +3 by CPU_TIME [SAMPLE_TIME=1024]\n"
			   "0 60 SAMPLE middle +2 by CPU_TIME [SAMPLE_TIME=1024]\n"
			   "0 70 SAMPLE middle +1 by CPU_TIME [SAMPLE_TIME=1024]\n"
			   "0 100 END 0 [ProcessId=4711]\n");
	expect_property(dir, "SAMPLES_DAMAGED=4");
	expect_property(dir, "COMPLETE=no");
	mk_proc_free(p);
	mk_remove(dir);
}

/* After a record that was not finished nobody knows what the next one keeps. */
Test(samples, after_a_loss)
{
	const char *dir = mk_run();
	struct mk_proc *p = sampled(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);

	map_self(p);
	sample(l, 10, 0, 0, 1, FRAMES(EXACT(mark_outer)));
	mk_reserve(l, AT(20), 2);
	sample(l, 30, 0, 1, 1, none);
	sample(l, 40, 0, 0, 1, FRAMES(EXACT(mark_inner)));
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(100));
	expect_events(dir, "0 0 BEGIN prog [ProcessId=4711]\n"
			   "0 10 SAMPLE outer +2 by CPU_TIME [SAMPLE_TIME=1024]\n"
			   "0 40 SAMPLE inner +2 by CPU_TIME [SAMPLE_TIME=1024]\n"
			   "0 100 END 0 [ProcessId=4711]\n");
	expect_property(dir, "SAMPLES_DAMAGED=1");
	mk_proc_free(p);
	mk_remove(dir);
}

/* What VT_REWIND has removed had numbers. */
Test(samples, after_a_cut)
{
	const char *dir = mk_run();
	struct mk_proc *p = sampled(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	struct gt_def_cut cut = { .location = 0, .from = 32, .to = 64 };

	map_self(p);
	sample(l, 10, 0, 0, 1, FRAMES(EXACT(mark_outer)));
	sample(l, 20, 0, 0, 1, FRAMES(EXACT(mark_middle)));
	sample(l, 30, 0, 1, 1, none);
	sample(l, 40, 0, 0, 1, FRAMES(EXACT(mark_inner)));
	mk_def(p, GT_D_CUT, 0, &cut, sizeof(cut));
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(100));
	expect_events(dir, "0 0 BEGIN prog [ProcessId=4711]\n"
			   "0 10 SAMPLE outer +2 by CPU_TIME [SAMPLE_TIME=1024]\n"
			   "0 40 SAMPLE inner +2 by CPU_TIME [SAMPLE_TIME=1024]\n"
			   "0 100 END 0 [ProcessId=4711]\n");
	expect_property(dir, "SAMPLES_DAMAGED=1");
	mk_proc_free(p);
	mk_remove(dir);
}

/* Nothing is missing before a cut, however far the stream has been read ahead. */
Test(samples, before_a_cut)
{
	const char *dir = mk_run();
	struct mk_proc *p = sampled(dir);
	struct mk_loc *l = mk_loc(p, 0, 65536, 0, BEGIN);
	const unsigned many = GT_STREAM_TAIL / GT_SLOT + 100;
	struct gt_def_cut cut = { .location = 0 };

	map_self(p);
	sample(l, 10, 0, 0, 1, FRAMES(EXACT(mark_outer)));
	for (unsigned i = 0; i < many; i++)
		sample(l, 20 + i, 0, 1, 1, none);
	cut.from = (2 + (uint64_t)many) * GT_SLOT;
	cut.to = cut.from + GT_SLOT;
	sample(l, 20 + many, 0, 1, 1, none);
	sample(l, 21 + many, 0, 0, 1, FRAMES(EXACT(mark_inner)));
	mk_def(p, GT_D_CUT, 0, &cut, sizeof(cut));
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(30 + many));
	cr_assert(eq(int, assemble(dir), 0));
	expect_property(dir, "SAMPLES_DAMAGED=0");
	mk_proc_free(p);
	mk_remove(dir);
}

/* Time in gputrace's own code has a flag, and what that calls is its caller's; that in the vDSO is, too. */
Test(samples, whose_code)
{
	const char *dir = mk_run();
	struct mk_proc *p = sampled(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	const uint64_t own = GT_FRAME_WORD(0, 0x40001);

	map_self(p);
	mk_module(p, AT(5), 0x40000, 0x50000, 0x1000, "/nowhere/libgputrace-pthread.so.1");
	sample(l, 10, GT_SAMPLE_BROKEN, 0, 1,
	       FRAMES(own | GT_FRAME_WORD(GT_FRAME_EXACT, 0), CALL(mark_outer)));
	sample(l, 20, 0, 1, 1, FRAMES(EXACT(mark_inner), own));
	sample(l, 30, 0, 1, 1, FRAMES(GT_FRAME_WORD(GT_FRAME_EXACT | GT_FRAME_KERNELS, 0x60000)));
	sample(l, 40, 0, 1, 1, FRAMES(GT_FRAME_WORD(GT_FRAME_EXACT | GT_FRAME_KERNELS, 0x60000), own));
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(100));
	expect_events(dir, "0 0 BEGIN prog [ProcessId=4711]\n"
			   "0 10 SAMPLE outer/[libgputrace-pthread.so.1] +3 by CPU_TIME [SAMPLE_TIME=1024] "
			   "[SAMPLE_FLAGS=6]\n"
			   "0 20 SAMPLE outer/inner +2 by CPU_TIME [SAMPLE_TIME=1024]\n"
			   "0 30 SAMPLE outer +1 by CPU_TIME [SAMPLE_TIME=1024]\n"
			   "0 40 SAMPLE outer/[libgputrace-pthread.so.1] +2 by CPU_TIME [SAMPLE_TIME=1024] "
			   "[SAMPLE_FLAGS=4]\n"
			   "0 100 END 0 [ProcessId=4711]\n");
	mk_proc_free(p);
	mk_remove(dir);
}

/* Code of no file, of a file that is gone, and at an address that two files had one after the other. */
Test(samples, code_without_names)
{
	const char *dir = mk_run();
	struct mk_proc *p = sampled(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	struct gt_def_module_gone gone = { .tick = AT(50), .start = 0x10000, .end = 0x20000 };

	mk_module(p, AT(5), 0x10000, 0x20000, 0x1000, "/nowhere/libone.so");
	mk_def(p, GT_D_MODULE_GONE, 0, &gone, sizeof(gone));
	mk_module(p, AT(60), 0x10000, 0x20000, 0x1000, "/nowhere/libtwo.so");
	sample(l, 10, 0, 0, 1, FRAMES(GT_FRAME_WORD(1, 0x10100), GT_FRAME_WORD(0, 0x20000)));
	sample(l, 20, 0, 1, 1, FRAMES(GT_FRAME_WORD(1, 0x10200)));
	sample(l, 70, 0, 0, 1, FRAMES(GT_FRAME_WORD(1, 0x10100)));
	sample(l, 80, 0, 1, 1, FRAMES(GT_FRAME_WORD(1, 0x30000), GT_FRAME_WORD(GT_FRAME_UNMAPPED, 0x10100)));
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(100));
	expect_events(dir, "0 0 BEGIN prog [ProcessId=4711]\n"
			   "0 10 SAMPLE [libone.so]/[libone.so] +3 by CPU_TIME [SAMPLE_TIME=1024]\n"
			   "0 20 SAMPLE [libone.so]/[libone.so] +2 by CPU_TIME [SAMPLE_TIME=1024]\n"
			   "0 70 SAMPLE [libtwo.so] +2 by CPU_TIME [SAMPLE_TIME=1024]\n"
			   "0 80 SAMPLE [libtwo.so]/[no file]/[no file] +3 by CPU_TIME [SAMPLE_TIME=1024]\n"
			   "0 100 END 0 [ProcessId=4711]\n");
	expect_text(rb_definitions, dir, "context [libone.so] of /nowhere/libone.so\n"
					 "context [libone.so]/[libone.so]\n"
					 "context [libtwo.so] of /nowhere/libtwo.so\n"
					 "context [libtwo.so]/[no file]\n");
	mk_proc_free(p);
	mk_remove(dir);
}

/* How often the definitions have a text. */
static int times(const char *dir, const char *part)
{
	char *text = rb_definitions(dir);
	int n = 0;

	for (const char *from = text; (from = strstr(from, part)) != NULL; from++)
		n++;
	free(text);
	return n;
}

/* Two processes with the same program at other addresses, and two threads: one tree. */
Test(samples, one_tree_for_all)
{
	const char *dir = mk_run();
	struct mk_proc *p = sampled(dir), *q = mk_proc(dir, 2, 4712, "other", BEGIN);

	mk_property(q, "sampling:period", "250000");
	for (unsigned i = 0; i < 3; i++) {
		struct mk_proc *proc = i < 2 ? p : q;
		struct mk_loc *l = mk_loc(proc, i % 2, 4096, 0, BEGIN);

		if (i != 1)
			map_self(proc);
		sample(l, 10 + i, 0, 0, 1, FRAMES(EXACT(mark_inner), CALL(mark_outer)));
		mk_loc_close(l);
	}
	mk_proc_end(p, GT_END_EXIT, 0, AT(100));
	mk_proc_end(q, GT_END_EXIT, 0, AT(100));
	cr_assert(eq(int, assemble(dir), 0));
	expect_text(rb_events, dir, "0 10 SAMPLE outer/inner +3 by CPU_TIME");
	expect_text(rb_events, dir, "1 11 SAMPLE outer/inner +3 by CPU_TIME");
	expect_text(rb_events, dir, "2 12 SAMPLE outer/inner +3 by CPU_TIME");
	expect_text(rb_definitions, dir, "period 1000000 ");
	expect_text(rb_definitions, dir, "period 250000 ");
	cr_assert(eq(int, times(dir, "context "), 2));
	mk_proc_free(p);
	mk_proc_free(q);
	mk_remove(dir);
}

/* Only where the program began it is said how often samples come. */
Test(samples, forked_child)
{
	const char *dir = mk_run();
	struct mk_proc *p = sampled(dir), *c = mk_proc(dir, 2, 4712, "prog", AT(50));
	struct mk_loc *l = mk_loc(c, 0, 4096, 0, AT(50));

	c->header.parent_seq = 1;
	c->header.origin = 1;
	map_self(p);
	sample(l, 60, 0, 0, 1, FRAMES(EXACT(mark_inner), CALL(mark_outer)));
	mk_loc_close(l);
	mk_proc_end(c, GT_END_EXIT, 0, AT(90));
	mk_proc_end(p, GT_END_EXIT, 0, AT(100));
	cr_assert(eq(int, assemble(dir), 0));
	expect_text(rb_events, dir, "1 60 SAMPLE outer/inner +3 by CPU_TIME");
	cr_assert(eq(int, times(dir, "interrupt CPU_TIME mode 0 period 1000000 "), 1));
	cr_assert(eq(int, times(dir, "interrupt "), 1));
	mk_proc_free(p);
	mk_proc_free(c);
	mk_remove(dir);
}

/* One process of a host, which makes a part of the archive. */
static void make_part(const char *dir, uint32_t seq, const uint64_t *frames)
{
	struct gt_assemble_options options = { .threads = 1, .verbose = -1 };
	struct mk_proc *p = mk_proc(dir, seq, 4710 + seq, "prog", BEGIN);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	char home[700];

	mk_property(p, "sampling:period", seq < 3 ? "1000000" : "250000");
	mk_region(p, "other"); /* so that numbers differ */
	map_self(p);
	if (seq == 2)
		mk_slot(l, AT(5), GT_WORD(GT_T_ENTER_ADDR, at((const char *)inner)));
	sample(l, 10 * seq, 0, 0, 1, frames);
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(100));
	mk_proc_free(p);
	snprintf(home, sizeof(home), "%s/spool", dir);
	cr_assert(eq(int, gt_assemble_partial(dir, home, &options), 0));
}

/* Parts that were converted apart from each other: one tree, and tables that translate to it. */
Test(samples, joined_parts)
{
	const char *dir = mk_run();

	make_part(dir, 1, FRAMES(EXACT(mark_inner), CALL(mark_outer)));
	make_part(dir, 2, FRAMES(EXACT(mark_middle), CALL(mark_inner), CALL(mark_outer)));
	make_part(dir, 3, FRAMES(EXACT(mark_inner), CALL(mark_middle)));
	cr_assert(eq(int, assemble(dir), 0));
	expect_text(rb_events, dir, " SAMPLE outer/inner +3 by CPU_TIME [SAMPLE_TIME=1024]\n");
	expect_text(rb_events, dir, " SAMPLE outer/inner/middle +4 by CPU_TIME [SAMPLE_TIME=1024]\n");
	expect_text(rb_events, dir, " SAMPLE middle/inner +3 by CPU_TIME [SAMPLE_TIME=1024]\n");
	cr_assert(eq(int, times(dir, "context "), 5));
	cr_assert(eq(int, times(dir, "interrupt "), 2));
	cr_assert(eq(int, times(dir, "source "), 3));
	expect_text(rb_definitions, dir, "inner (inner) role 1 paradigm 2 at ");
	expect_no_text(rb_definitions, dir, "inner (inner) role 1 paradigm 21 at ");
	mk_remove(dir);
}

/* Where there are too many nodes new ones have no lines, then no callers. */
Test(samples, too_many_paths)
{
	struct gt_defs defs;
	struct gt_context deep = { 3, 5, 7 };
	uint32_t first, below = GT_UNDEFINED;

	cr_assert(eq(int, gt_defs_init(&defs), 0));
	defs.contexts_most = 8;
	first = gt_defs_context(&defs, &(struct gt_context){ 0, 100, GT_UNDEFINED });
	for (uint32_t line = 0; line < 5; line++)
		below = gt_defs_context(&defs, &(struct gt_context){ 1, line, first });
	cr_assert(eq(u32, below, 5));
	cr_assert(eq(int, defs.paths, GT_PATHS_WHOLE));
	below = gt_defs_context(&defs, &(struct gt_context){ 1, 5, first });
	cr_assert(eq(u32, below, 6));
	cr_assert(eq(u32, gt_defs_context(&defs, &(struct gt_context){ 1, 6, first }), 6));
	cr_assert(eq(u32, ((struct gt_context *)defs.contexts.items)[6].source, GT_UNDEFINED));
	cr_assert(eq(int, defs.paths, GT_PATHS_WITHOUT_LINES));
	cr_assert(eq(u32, gt_defs_context(&defs, &(struct gt_context){ 1, 3, first }), 4)); /* it was there */
	cr_assert(eq(u32, gt_defs_context(&defs, &(struct gt_context){ 2, 5, first }), 7));
	cr_assert(eq(int, defs.paths, GT_PATHS_WITHOUT_LINES));
	cr_assert(eq(u32, gt_defs_context(&defs, &(struct gt_context){ 1, 7, first }), 6));
	cr_assert(eq(int, defs.paths, GT_PATHS_WITHOUT_LINES));
	cr_assert(eq(u32, gt_defs_context(&defs, &deep), 8)); /* a root, not what is above it */
	cr_assert(eq(int, defs.paths, GT_PATHS_CUT));
	cr_assert(eq(u32, deep.parent, GT_UNDEFINED));
	cr_assert(eq(u32, deep.region, 3));
	cr_assert(eq(u32, gt_defs_context(&defs, &(struct gt_context){ 3, 9, below }), 8));
	cr_assert(eq(u32, gt_defs_context(&defs, &(struct gt_context){ 4, 5, GT_UNDEFINED }), 9));
	gt_defs_free(&defs);
}

static bool is_entry(const char *name, const char *symbol, const char *callee)
{
	return !strcmp(name, "entry") && !strcmp(symbol, "entry") && strcmp(callee, "entry");
}

/* Who made a call; a node without a function, as if memory had run out, is nobody's that is left out. */
Test(samples, caller)
{
	struct gt_region region = { .group = GT_UNDEFINED };
	struct gt_defs defs;
	uint32_t nobody, caller, inner, entry;

	cr_assert(eq(int, gt_defs_init(&defs), 0));
	region.name = region.canonical = gt_defs_string(&defs, "entry");
	entry = gt_defs_named_region(&defs, &region, 0);
	region.name = region.canonical = gt_defs_string(&defs, "solve");
	caller = gt_defs_context(&defs, &(struct gt_context){ gt_defs_named_region(&defs, &region, 0),
							      GT_UNDEFINED, GT_UNDEFINED });
	nobody = gt_defs_context(&defs, &(struct gt_context){ GT_UNDEFINED, GT_UNDEFINED, caller });
	caller = gt_defs_context(&defs, &(struct gt_context){ entry, GT_UNDEFINED, caller });
	cr_expect(eq(u32, gt_defs_caller(&defs, caller, GT_UNDEFINED, is_entry), 0));
	/* What calls an entry is none. */
	inner = gt_defs_context(&defs, &(struct gt_context){ entry, GT_UNDEFINED, caller });
	cr_expect(eq(u32, gt_defs_caller(&defs, inner, GT_UNDEFINED, is_entry), caller));
	cr_expect(eq(u32, gt_defs_caller(&defs, caller, inner, is_entry), caller));
	caller = gt_defs_context(&defs, &(struct gt_context){ entry, GT_UNDEFINED, nobody });
	cr_expect(eq(u32, gt_defs_caller(&defs, caller, GT_UNDEFINED, is_entry), nobody));
	caller = gt_defs_context(&defs, &(struct gt_context){ entry, GT_UNDEFINED, GT_UNDEFINED });
	cr_expect(eq(u32, gt_defs_caller(&defs, caller, GT_UNDEFINED, is_entry), GT_UNDEFINED));
	gt_defs_free(&defs);
}
