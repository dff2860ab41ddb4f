/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The assembly from made-up spools: what must come out for what went in.
 *
 * Limits: everything runs in Criterion's child processes; crashes of libotf2 fail the test.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/assemble/clock/chain.h"
#include "test/unit/expect.h"

/* ---- plain runs ------------------------------------------------------------------------------- */

Test(assemble, one_thread)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	uint32_t a = mk_region(p, "alpha"), b = mk_region(p, "beta");

	mk_property(p, "command", "./prog -x  'y z'");
	mk_property(p, "executable", "/opt/bin/prog");
	mk_enter(l, AT(10), a);
	mk_enter(l, AT(20), b);
	mk_leave(l, AT(30), b);
	mk_leave(l, AT(40), a);
	mk_loc_close(l);
	mk_proc_end(p, GT_END__EXIT, 3, AT(50));
	expect_events(dir, "0 0 BEGIN /opt/bin/prog -x  'y z' [ProcessId=4711]\n"
			   "0 10 ENTER alpha\n0 20 ENTER beta\n0 30 LEAVE beta\n0 40 LEAVE alpha\n"
			   "0 50 END 3 [ProcessId=4711]\n");
	expect_text(rb_definitions, dir, "clock 1000000000 from 0 length 50 real 1\n");
	expect_text(rb_definitions, dir,
		    "node 0 machine machine parent -1\nnode 1 node testhost parent 0\n"
		    "group 0 PROCESS prog [4711] node 1 creator -1\n"
		    "location 0 THREAD Master thread in prog [4711]: 6 events\n");
	expect_text(rb_definitions, dir, "group 0 GPUTRACE::ENDED=_exit 3\n");
	expect_property(dir, "COMMAND_LINE=./prog -x  'y z'");
	expect_property(dir, "COMPLETE=yes");
	expect_property(dir, "LOST_TORN=0");
	mk_proc_free(p);
	mk_remove(dir);
}

Test(assemble, nothing_recorded)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);

	mk_proc_end(p, GT_END_EXIT, 0, AT(70));
	expect_events(dir, "0 0 BEGIN prog [ProcessId=4711]\n0 70 END 0 [ProcessId=4711]\n");
	mk_proc_free(p);
	mk_remove(dir);
}

/* Many halves: everything of a long stream arrives, from the file and from the window. */
Test(assemble, long_stream)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	uint32_t a = mk_region(p, "alpha");
	char *events, *at;
	unsigned n = 0;

	for (unsigned i = 0; i < 10007; i++) {
		mk_enter(l, AT(100 + 10 * i), a);
		mk_leave(l, AT(105 + 10 * i), a);
	}
	mk_loc_close(l);
	cr_assert(eq(int, assemble_with(dir, 1, false), 0));
	events = rb_events(dir);
	cr_assert(events != NULL);
	for (at = events; (at = strchr(at, '\n')); at++)
		n++;
	cr_assert(eq(u32, n, 2 * 10007 + 2));
	expect_text(rb_events, dir, "0 100100 ENTER alpha\n0 100105 LEAVE alpha\n");
	expect_text(rb_events, dir, "0 100165 LEAVE alpha\n0 100165 END [ProcessId=4711]\n");
	free(events);
	mk_proc_free(p);
	mk_remove(dir);
}

Test(assemble, several_threads_and_workers)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	uint32_t a = mk_region(p, "alpha"), b = mk_region(p, "beta");
	char *one, *four;

	for (unsigned i = 0; i < 20; i++) {
		struct mk_loc *l = mk_loc(p, i, 4096, 0, BEGIN);

		for (unsigned k = 0; k < 50 * (i + 1); k++) {
			mk_enter(l, AT(100 * k), k % 3 ? a : b);
			mk_leave(l, AT(100 * k + 50), k % 3 ? a : b);
		}
		mk_loc_close(l);
	}
	mk_proc_end(p, GT_END_EXIT, 0, AT(1000000));
	cr_assert(eq(int, assemble_with(dir, 1, true), 0));
	one = rb_events(dir);
	{
		char command[800];

		snprintf(command, sizeof(command), "rm -r %s/traces %s/traces.*", dir, dir);
		cr_assert(eq(int, system(command), 0));
	}
	cr_assert(eq(int, assemble_with(dir, 4, false), 0));
	four = rb_events(dir);
	cr_assert(eq(str, one, four));
	expect_text(rb_definitions, dir, "location 19 THREAD Thread 19 in prog [4711]");
	free(one);
	free(four);
	mk_proc_free(p);
	mk_remove(dir);
}

Test(assemble, spool_is_removed_and_settings_are_kept)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	char path[600], line[100];
	FILE *file;

	mk_property(p, "setting:VT_FILE_PREFIX", "it's");
	mk_property(p, "setting:VT_BUFFER_SIZE", "16777216");
	mk_proc_end(p, GT_END_EXIT, 0, AT(70));
	cr_assert(eq(int, assemble_with(dir, 1, false), 0));
	snprintf(path, sizeof(path), "%s/spool", dir);
	cr_assert(eq(int, access(path, F_OK), -1));
	snprintf(path, sizeof(path), "%s/assembling", dir);
	cr_assert(eq(int, access(path, F_OK), -1));
	snprintf(path, sizeof(path), "%s/gputrace.cfg", dir);
	file = fopen(path, "r");
	cr_assert(file != NULL);
	cr_assert(fgets(line, sizeof(line), file) != NULL);
	cr_assert(line[0] == '#');
	cr_assert(fgets(line, sizeof(line), file) != NULL);
	cr_assert(eq(str, line, "VT_FILE_PREFIX='it'\\''s'\n"));
	cr_assert(fgets(line, sizeof(line), file) != NULL);
	cr_assert(eq(str, line, "VT_BUFFER_SIZE=16777216\n"));
	fclose(file);
	/* Once more: there is nothing to do, and nothing is harmed. */
	cr_assert(eq(int, assemble_with(dir, 1, false), 0));
	expect_text(rb_events, dir, "0 70 END");
	mk_proc_free(p);
	mk_remove(dir);
}

/* A file that is not ours stays, and so does its folder. */
Test(assemble, foreign_files_stay)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	char path[600];

	snprintf(path, sizeof(path), "%s/spool/p0001.4711/precious", dir);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	mk_proc_end(p, GT_END_EXIT, 0, AT(70));
	cr_assert(eq(int, assemble_with(dir, 1, false), 0));
	cr_assert(eq(int, access(path, F_OK), 0));
	mk_proc_free(p);
	mk_remove(dir);
}

/* ---- killed processes --------------------------------------------------------------------------- */

Test(assemble, killed_with_open_regions)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN), *m = mk_loc(p, 1, 4096, 0, BEGIN);
	uint32_t a = mk_region(p, "alpha"), b = mk_region(p, "beta");

	mk_enter(l, AT(10), a);
	mk_enter(l, AT(20), b);
	mk_enter(m, AT(90), b);
	mk_loc_close(l);
	mk_loc_close(m);
	/* Frames end when the process is last known to have lived. */
	expect_events(dir, "0 0 BEGIN prog [ProcessId=4711]\n0 10 ENTER alpha\n0 20 ENTER beta\n"
			   "0 90 LEAVE beta\n0 90 LEAVE alpha\n0 90 END [ProcessId=4711]\n"
			   "1 90 ENTER beta\n1 90 LEAVE beta\n");
	expect_property(dir, "ENDED=killed");
	expect_property(dir, "PROCESSES_KILLED=1");
	expect_property(dir, "REPAIRED_LEAVES_ADDED=3");
	mk_proc_free(p);
	mk_remove(dir);
}

/* Killed at every place around a change of halves: no event is lost, none appears twice. */
Test(assemble, killed_at_any_slot)
{
	for (unsigned n = 250; n < 780; n += n > 254 && n < 508 ? 50 : 1) {
		const char *dir = mk_run();
		struct mk_proc *p = usual(dir);
		struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
		uint32_t a = mk_region(p, "alpha");
		char tail[100];
		char *events, *at;
		unsigned lines = 0;

		for (unsigned i = 0; i < n; i++)
			mk_slot(l, AT(10 * (i + 1)), GT_WORD(i % 2 ? GT_T_LEAVE : GT_T_ENTER, a));
		mk_loc_close(l);
		cr_assert(eq(int, assemble_with(dir, 1, false), 0));
		events = rb_events(dir);
		cr_assert(events != NULL);
		for (at = events; (at = strchr(at, '\n')); at++)
			lines++;
		cr_assert(eq(u32, lines, n + n % 2 + 2));
		snprintf(tail, sizeof(tail), "0 %u LEAVE alpha\n0 %u END", 10 * n, 10 * n);
		cr_assert(strstr(events, tail) != NULL, "%u: no %s", n, tail);
		free(events);
		mk_proc_free(p);
		mk_remove(dir);
	}
}

/* The process died after it had announced a new turn of a half, before it had written into it. */
Test(assemble, killed_between_base_and_tick)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	uint32_t a = mk_region(p, "alpha");
	unsigned n = 2 * 256 + 256, i;

	for (i = 0; i < n; i++)
		mk_slot(l, AT(10 * (i + 1)), GT_WORD(i % 2 ? GT_T_LEAVE : GT_T_ENTER, a));
	/* The half of turn 1 is opened for its next turn: base set, time still the old one. */
	l->win.half_base[1] = l->limit;
	mk_loc_close(l);
	cr_assert(eq(int, assemble_with(dir, 1, false), 0));
	expect_text(rb_events, dir, "0 7680 LEAVE alpha\n0 7680 END [ProcessId=4711]\n");
	expect_property(dir, "LOST_TORN=0");
	mk_proc_free(p);
	mk_remove(dir);
}

/* The same in a window that holds no old slots yet: not a hole in a file. */
Test(assemble, torn_slot_in_a_new_window)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	uint32_t a = mk_region(p, "alpha");

	mk_enter(l, AT(10), a);
	mk_leave(l, AT(20), a);
	mk_reserve(l, 0, 1);
	mk_enter(l, AT(30), a);
	mk_leave(l, AT(40), a);
	mk_loc_close(l);
	cr_assert(eq(int, assemble_with(dir, 1, false), 0));
	expect_text(rb_events, dir,
		    "0 20 LEAVE alpha\n0 30 ENTER alpha\n0 40 LEAVE alpha\n0 40 END");
	expect_property(dir, "LOST_TORN=1");
	expect_property(dir, "LOST_SPACE=0");
	expect_property(dir, "COMPLETE=no");
	mk_proc_free(p);
	mk_remove(dir);
}

Test(assemble, torn_slot_in_the_window)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	uint32_t a = mk_region(p, "alpha"), b = mk_region(p, "beta");

	for (unsigned i = 0; i < 600; i++) /* so that the window holds old slots */
		mk_slot(l, AT(10 + i), GT_WORD(i % 2 ? GT_T_LEAVE : GT_T_ENTER, a));
	mk_reserve(l, AT(1000), 1); /* never finished: a handler came, and the process was killed */
	mk_enter(l, AT(1010), b);
	mk_leave(l, AT(1020), b);
	mk_loc_close(l);
	cr_assert(eq(int, assemble_with(dir, 1, false), 0));
	expect_text(rb_events, dir,
		    "0 609 LEAVE alpha\n0 1010 ENTER beta\n0 1020 LEAVE beta\n0 1020 END");
	expect_property(dir, "LOST_TORN=1");
	expect_text(rb_markers, dir, "EVENTS LOST location 0");
	mk_proc_free(p);
	mk_remove(dir);
}

/* Nothing goes into slots that a record of an earlier turn may still write to: they lie ahead of the end. */
Test(assemble, slots_that_are_kept_ahead)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	uint32_t a = mk_region(p, "alpha");

	mk_enter(l, AT(10), a);
	mk_reserve(l, 0, 1); /* never finished */
	mk_leave(l, AT(20), a);
	mk_finish(l, 100 * GT_SLOT, AT(5), GT_WORD(GT_T_PAD, 0));
	mk_loc_close(l);
	cr_assert(eq(int, assemble_with(dir, 1, false), 0));
	expect_text(rb_events, dir, "0 10 ENTER alpha\n0 20 LEAVE alpha\n0 20 END");
	expect_property(dir, "LOST_TORN=1");
	mk_proc_free(p);
	mk_remove(dir);
}

/* What was begun there in this turn, and not finished, is missing; a late record was counted before. */
Test(assemble, torn_slot_among_those_kept)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	uint32_t a = mk_region(p, "alpha");

	l->win.kept_from[0] = GT_SLOT;
	l->win.kept_to[0] = 4 * GT_SLOT;
	mk_enter(l, AT(10), a);
	mk_finish(l, mk_reserve(l, 0, 1), AT(11), GT_WORD(GT_T_PAD, 0));
	mk_reserve(l, 0, 1); /* a handler came, and the process was killed */
	mk_finish(l, mk_reserve(l, 0, 1), 0, GT_WORD(GT_T_ENTER, a)); /* late */
	mk_leave(l, AT(20), a);
	mk_loc_close(l);
	cr_assert(eq(int, assemble_with(dir, 1, false), 0));
	expect_text(rb_events, dir, "0 10 ENTER alpha\n0 20 LEAVE alpha\n0 20 END");
	expect_property(dir, "LOST_TORN=1");
	mk_proc_free(p);
	mk_remove(dir);
}

/* A slot that was never finished went into the file with the half around it. */
Test(assemble, torn_slot_in_the_file)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	uint32_t a = mk_region(p, "alpha");

	for (unsigned i = 0; i < 600; i++)
		mk_slot(l, AT(10 + i), GT_WORD(i % 2 ? GT_T_LEAVE : GT_T_ENTER, a));
	mk_reserve(l, AT(1000), 1);
	for (unsigned i = 0; i < 1000; i++)
		mk_slot(l, AT(2000 + i), GT_WORD(i % 2 ? GT_T_LEAVE : GT_T_ENTER, a));
	mk_loc_close(l);
	cr_assert(eq(int, assemble_with(dir, 1, false), 0));
	expect_text(rb_events, dir, "0 609 LEAVE alpha\n0 2000 ENTER alpha\n0 2001 LEAVE alpha\n");
	expect_text(rb_definitions, dir, ": 1602 events");
	expect_property(dir, "LOST_TORN=1");
	expect_property(dir, "REPAIRED_TIMES=0");
	mk_proc_free(p);
	mk_remove(dir);
}

Test(assemble, ring_keeps_the_newest)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 2 * 4096, BEGIN);
	uint32_t a = mk_region(p, "alpha");

	for (unsigned i = 0; i < 256 * 7 + 10; i++)
		mk_slot(l, AT(10 * (i + 1)), GT_WORD(i % 2 ? GT_T_LEAVE : GT_T_ENTER, a));
	l->win.lost[GT_LOSS_RING] = 5 * 256;
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(30000));
	cr_assert(eq(int, assemble_with(dir, 1, false), 0));
	/* Two halves in the ring and ten slots in the window. */
	expect_text(rb_definitions, dir, ": 524 events");
	expect_text(rb_events, dir, "[ProcessId=4711]\n0 12810 ENTER alpha\n0 12820 LEAVE alpha\n");
	expect_property(dir, "LOST_RING=1280");
	expect_property(dir, "COMPLETE=no");
	expect_text(rb_markers, dir, "1280 events of this location are missing");
	mk_proc_free(p);
	mk_remove(dir);
}

Test(assemble, file_is_shorter_than_promised)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	uint32_t a = mk_region(p, "alpha");

	for (unsigned i = 0; i < 256 * 4 + 10; i++)
		mk_slot(l, AT(10 * (i + 1)), GT_WORD(i % 2 ? GT_T_LEAVE : GT_T_ENTER, a));
	cr_assert(eq(int, ftruncate(l->raw, 4096 * 2), 0));
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(30000));
	cr_assert(eq(int, assemble_with(dir, 1, false), 0));
	expect_text(rb_events, dir, "0 5120 LEAVE alpha\n0 10250 ENTER alpha\n");
	expect_property(dir, "LOST_SPACE=512");
	mk_proc_free(p);
	mk_remove(dir);
}

/* ---- order ---------------------------------------------------------------------------------------- */

/* A handler ran between the reservation of a slot and the reading of its time, and was itself
 * interrupted there. */
Test(assemble, nested_handlers)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	uint32_t a = mk_region(p, "alpha"), h = mk_region(p, "handler"), i = mk_region(p, "inner");
	uint64_t first, second;

	mk_enter(l, AT(10), a);
	first = mk_reserve(l, AT(20), 1);
	second = mk_reserve(l, AT(20), 1);
	mk_enter(l, AT(30), i);
	mk_leave(l, AT(40), i);
	mk_finish(l, second, AT(50), GT_WORD(GT_T_ENTER, h));
	mk_leave(l, AT(60), h);
	mk_finish(l, first, AT(70), GT_WORD(GT_T_LEAVE, a));
	mk_enter(l, AT(80), a);
	mk_leave(l, AT(90), a);
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(100));
	expect_events(dir, "0 0 BEGIN prog [ProcessId=4711]\n0 10 ENTER alpha\n0 30 ENTER inner\n"
			   "0 40 LEAVE inner\n0 50 ENTER handler\n0 60 LEAVE handler\n"
			   "0 70 LEAVE alpha\n0 80 ENTER alpha\n0 90 LEAVE alpha\n"
			   "0 100 END 0 [ProcessId=4711]\n");
	expect_property(dir, "REPAIRED_TIMES=0");
	mk_proc_free(p);
	mk_remove(dir);
}

/* A handler came before the event that the attributes are of could read its time. */
Test(assemble, attributes_of_an_interrupted_event)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	uint32_t a = mk_region(p, "alpha"), h = mk_region(p, "handler"), attribute;
	struct gt_def_attribute def = { .type = 4 };
	uint64_t at;

	def.name = mk_string(p, "size");
	attribute = mk_def(p, GT_D_ATTRIBUTE, 0, &def, sizeof(def));
	mk_slot(l, AT(10), GT_WORD(GT_T_TAG, (uint64_t)attribute << 32 | 42));
	at = mk_reserve(l, AT(20), 1);
	mk_enter(l, AT(11), h);
	mk_leave(l, AT(12), h);
	mk_finish(l, at, AT(20), GT_WORD(GT_T_ENTER, a));
	mk_record(l, AT(30), GT_T_ATTR, attribute, (uint64_t[]){ 43, 0 }, 1);
	mk_slot(l, AT(31), GT_WORD(GT_T_FLUSH, 2)); /* the leave did not fit into the half */
	mk_leave(l, AT(40), a);
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(60));
	expect_events(dir, "0 0 BEGIN prog [ProcessId=4711]\n0 11 ENTER handler\n0 12 LEAVE handler\n"
			   "0 20 ENTER alpha [size=42]\n0 31 ENTER TRACE BUFFER FLUSH\n"
			   "0 32 LEAVE TRACE BUFFER FLUSH\n0 40 LEAVE alpha [size=43]\n"
			   "0 60 END 0 [ProcessId=4711]\n");
	mk_proc_free(p);
	mk_remove(dir);
}

/* Who ended a wait, and when: in one slot, which the leave follows. */
Test(assemble, who_ended_a_wait)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	uint32_t wait = mk_region(p, "wait");
	const uint64_t turn = (uint64_t)GT_WOKEN_UNIT << GT_WOKEN_TIME_BITS;

	mk_enter(l, AT(10), wait);
	mk_slot(l, AT(24), GT_WOKEN_WORD(7, AT(16)));
	mk_leave(l, AT(24), wait);
	mk_enter(l, AT(25), wait);
	mk_slot(l, AT(30), GT_WOKEN_WORD(1048575, AT(30) + 5 * turn));
	mk_leave(l, AT(30), wait);
	mk_enter(l, AT(31), wait);
	/* by another processor's counter */
	mk_slot(l, AT(40), GT_WOKEN_WORD(0, AT(40) + 100 * GT_WOKEN_UNIT));
	mk_leave(l, AT(40), wait);
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(60));
	expect_events(dir, "0 0 BEGIN prog [ProcessId=4711]\n0 10 ENTER wait\n"
			   "0 24 LEAVE wait [GPUTRACE::WOKEN_BY=7] [GPUTRACE::WOKEN_AGO=8]\n0 25 ENTER wait\n"
			   "0 30 LEAVE wait [GPUTRACE::WOKEN_BY=1048575] [GPUTRACE::WOKEN_AGO=0]\n"
			   "0 31 ENTER wait\n"
			   "0 40 LEAVE wait [GPUTRACE::WOKEN_BY=0] [GPUTRACE::WOKEN_AGO=0]\n"
			   "0 60 END 0 [ProcessId=4711]\n");
	mk_proc_free(p);
	mk_remove(dir);
}

/*
 * Records with times far in the future, more than can be held, in small halves: nothing that follows is
 * lost.
 */
Test(assemble, times_in_the_future)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	uint32_t a = mk_region(p, "alpha");
	char *events, *at;
	int calls = 0;

	for (unsigned i = 0; i < 4000; i++) {
		mk_enter(l, AT(10 * i), a);
		mk_leave(l, AT(10 * i + 5 + (i % 128 == 77 ? 1000000 : 0)), a);
	}
	l->win.committed = l->cur;
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(2000000));
	cr_assert(eq(int, assemble_with(dir, 1, false), 0));
	expect_property(dir, "LOST_TORN=0");
	expect_property(dir, "REPAIRED_TIMES=15");
	events = rb_events(dir);
	for (at = events; (at = strstr(at, "LEAVE alpha")); at++)
		calls++;
	cr_expect(eq(int, calls, 4000));
	free(events);
	mk_proc_free(p);
	mk_remove(dir);
}

/* The same with the interrupted slot at the very end of a half, and of the stream. */
Test(assemble, handler_at_the_end_of_a_half)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	uint32_t a = mk_region(p, "alpha"), h = mk_region(p, "handler");
	uint64_t slot;

	for (unsigned i = 0; i < 255; i++)
		mk_slot(l, AT(10 * (i + 1)), GT_WORD(i % 2 ? GT_T_LEAVE : GT_T_ENTER, a));
	slot = mk_reserve(l, AT(2600), 1);
	mk_finish(l, slot, AT(2900), GT_WORD(GT_T_LEAVE, a));
	mk_enter(l, AT(2700), h);
	mk_leave(l, AT(2800), h);
	slot = mk_reserve(l, AT(3000), 1);
	mk_finish(l, slot, AT(3300), GT_WORD(GT_T_ENTER, a));
	mk_enter(l, AT(3100), h);
	mk_leave(l, AT(3200), h);
	mk_loc_close(l);
	cr_assert(eq(int, assemble_with(dir, 1, false), 0));
	expect_text(rb_events, dir,
		    "0 2550 ENTER alpha\n0 2700 ENTER handler\n0 2800 LEAVE handler\n"
		    "0 2900 LEAVE alpha\n0 3100 ENTER handler\n0 3200 LEAVE handler\n"
		    "0 3300 ENTER alpha\n0 3300 LEAVE alpha\n0 3300 END");
	mk_proc_free(p);
	mk_remove(dir);
}

/* The writer spools in the middle of recording an event: the event has the time before. */
Test(assemble, flush_comes_after_its_event)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	uint32_t a = mk_region(p, "alpha");

	mk_slot(l, AT(100), GT_WORD(GT_T_FLUSH, 2 * 50));
	mk_enter(l, AT(100), a);
	mk_leave(l, AT(160), a);
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(200));
	expect_events(dir, "0 0 BEGIN prog [ProcessId=4711]\n0 100 ENTER alpha\n"
			   "0 100 ENTER TRACE BUFFER FLUSH\n0 150 LEAVE TRACE BUFFER FLUSH\n"
			   "0 160 LEAVE alpha\n0 200 END 0 [ProcessId=4711]\n");
	expect_property(dir, "REPAIRED_TIMES=0");
	mk_proc_free(p);
	mk_remove(dir);
}

Test(assemble, rewound_events_are_left_out)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	uint32_t a = mk_region(p, "alpha"), b = mk_region(p, "beta");
	struct gt_def_cut cut = { .location = 0 };

	mk_enter(l, AT(10), a);
	cut.from = l->cur;
	for (unsigned i = 0; i < 500; i++) { /* over the change of halves */
		mk_enter(l, AT(20 + i), b);
		mk_leave(l, AT(20 + i), b);
	}
	cut.to = l->cur;
	mk_def(p, GT_D_CUT, 0, &cut, sizeof(cut));
	mk_leave(l, AT(600), a);
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(700));
	expect_events(dir, "0 0 BEGIN prog [ProcessId=4711]\n0 10 ENTER alpha\n"
			   "0 600 LEAVE alpha\n0 700 END 0 [ProcessId=4711]\n");
	mk_proc_free(p);
	mk_remove(dir);
}

/* ---- nesting ----------------------------------------------------------------------------------------- */

Test(assemble, nesting_is_repaired)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	uint32_t a = mk_region(p, "alpha"), b = mk_region(p, "beta"), c = mk_region(p, "gamma");

	mk_leave(l, AT(5), c); /* was entered before the recording */
	mk_enter(l, AT(10), a);
	mk_enter(l, AT(20), b);
	mk_enter(l, AT(30), c);
	mk_leave(l, AT(40), a); /* longjmp over b and c */
	mk_leave(l, AT(50), b); /* no longer open */
	mk_enter(l, AT(60), a);
	mk_enter(l, AT(70), b);
	mk_leave(l, AT(90), a);
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(100));
	expect_events(dir, "0 0 BEGIN prog [ProcessId=4711]\n0 10 ENTER alpha\n0 20 ENTER beta\n"
			   "0 30 ENTER gamma\n0 40 LEAVE gamma\n0 40 LEAVE beta\n0 40 LEAVE alpha\n"
			   "0 60 ENTER alpha\n0 70 ENTER beta\n0 90 LEAVE beta\n0 90 LEAVE alpha\n"
			   "0 100 END 0 [ProcessId=4711]\n");
	expect_property(dir, "REPAIRED_LEAVES_ADDED=3");
	expect_property(dir, "REPAIRED_LEAVES_DROPPED=1");
	expect_property(dir, "STACKS_SWITCHED=1"); /* beta's return after alpha's */
	mk_proc_free(p);
	mk_remove(dir);
}

/* Deeper than what is kept: only counted, and the leaves still fit. */
Test(assemble, very_deep_recursion, .timeout = 60)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 1 << 20, 0, BEGIN);
	uint32_t a = mk_region(p, "alpha"), b = mk_region(p, "beta");
	unsigned deep = 1000010;

	for (unsigned i = 0; i < deep; i++)
		mk_enter(l, AT(10 + i), a);
	for (unsigned i = 0; i < deep; i++)
		mk_leave(l, AT(2000000 + i), a);
	mk_enter(l, AT(5000000), b);
	mk_leave(l, AT(5000001), b);
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(6000000));
	cr_assert(eq(int, assemble_with(dir, 1, false), 0));
	expect_text(rb_definitions, dir, ": 2000004 events");
	expect_property(dir, "REPAIRED_LEAVES_ADDED=0");
	expect_property(dir, "REPAIRED_LEAVES_DROPPED=0");
	mk_proc_free(p);
	mk_remove(dir);
}

Test(assemble, switched_off)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	uint32_t a = mk_region(p, "alpha");

	mk_enter(l, AT(10), a);
	mk_slot(l, AT(20), GT_WORD(GT_T_OFF, 0));
	mk_slot(l, AT(25), GT_WORD(GT_T_OFF, 0));
	mk_slot(l, AT(30), GT_WORD(GT_T_ON, 0));
	mk_slot(l, AT(35), GT_WORD(GT_T_ON, 0));
	mk_leave(l, AT(40), a);
	mk_slot(l, AT(50), GT_WORD(GT_T_OFF, 0));
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(100));
	expect_events(dir, "0 0 BEGIN prog [ProcessId=4711]\n0 10 ENTER alpha\n"
			   "0 20 ENTER MEASUREMENT OFF\n0 20 OFF\n0 30 ON\n"
			   "0 30 LEAVE MEASUREMENT OFF\n0 40 LEAVE alpha\n"
			   "0 50 ENTER MEASUREMENT OFF\n0 50 OFF\n0 100 LEAVE MEASUREMENT OFF\n"
			   "0 100 END 0 [ProcessId=4711]\n");
	mk_proc_free(p);
	mk_remove(dir);
}

/* ---- space ------------------------------------------------------------------------------------------- */

/* No file may become large enough: no archive, nothing lost; later it works. */
Test(assemble, file_size_limit)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 1 << 16, 0, BEGIN);
	uint32_t a = mk_region(p, "alpha");
	struct rlimit limit = { 3 << 20, RLIM_INFINITY };
	char path[600];

	for (unsigned i = 0; i < 200000; i++) {
		mk_enter(l, AT(10 * i), a);
		mk_leave(l, AT(10 * i + 5), a);
	}
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(3000000));
	cr_assert(eq(int, setrlimit(RLIMIT_FSIZE, &limit), 0));
	if (!freopen("/dev/null", "w", stderr))
		cr_fail("stderr");
	cr_assert(eq(int, assemble_with(dir, 2, false), 1));
	snprintf(path, sizeof(path), "%s/spool/p0001.4711/l0.raw", dir);
	cr_assert(eq(int, access(path, F_OK), 0));
	snprintf(path, sizeof(path), "%s/assembling", dir);
	cr_assert(eq(int, access(path, F_OK), -1));
	limit.rlim_cur = RLIM_INFINITY;
	cr_assert(eq(int, setrlimit(RLIMIT_FSIZE, &limit), 0));
	cr_assert(eq(int, assemble_with(dir, 2, false), 0));
	expect_text(rb_definitions, dir, ": 400002 events");
	mk_proc_free(p);
	mk_remove(dir);
}

/* What an assembly that was killed has left is in nobody's way. */
Test(assemble, leftovers)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	char command[3000];

	mk_proc_end(p, GT_END_EXIT, 0, AT(70));
	snprintf(command, sizeof(command),
		 "cd %s && mkdir -p assembling/traces traces && touch assembling/traces/0.evt "
		 "assembling/traces.def assembling/.ballast traces/0.evt traces/9.def traces.def",
		 dir);
	cr_assert(eq(int, system(command), 0));
	cr_assert(eq(int, assemble_with(dir, 1, false), 0));
	expect_text(rb_events, dir, "0 70 END");
	snprintf(command, sizeof(command), "%s/traces/9.def", dir);
	cr_assert(eq(int, access(command, F_OK), -1));
	mk_proc_free(p);
	mk_remove(dir);
}

/* Links where folders are expected are not followed. */
Test(assemble, planted_links)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	char command[3000];

	mk_proc_end(p, GT_END_EXIT, 0, AT(70));
	snprintf(command, sizeof(command),
		 "cd %s && mkdir victim && touch victim/0.evt victim/run && ln -s victim traces && "
		 "ln -s victim assembling && ln -s ../victim spool/p0002.5", dir);
	cr_assert(eq(int, system(command), 0));
	if (!freopen("/dev/null", "w", stderr))
		cr_fail("stderr");
	cr_assert(eq(int, assemble_with(dir, 1, false), 1));
	snprintf(command, sizeof(command), "cd %s && test -e victim/0.evt -a -e victim/run", dir);
	cr_assert(eq(int, system(command), 0));
	mk_proc_free(p);
	mk_remove(dir);
}

/* A clock that is 1,000 ns ahead of the reference and runs as fast. */
static struct sync_point compared(uint64_t tick, int64_t off, int64_t error)
{
	return (struct sync_point){ .tick = tick, .ns = (__int128)tick + 1000 + off, .error = error };
}

Test(assemble, a_bad_comparison_is_outweighed)
{
	struct sync_point list[] = {
		compared(1000000, 150000, 200000), /* the network was busy */
		compared(1000000000, 200, 300),
		compared(2000000000, -100, 300),
		compared(3000000000, -90000, 90001),
	};

	gt_sync_points_straighten(list, 4);
	for (size_t i = 0; i < 4; i++) {
		int64_t off = (int64_t)(list[i].ns - (__int128)list[i].tick) - 1000;

		cr_expect_leq(list[i].error, 1300, "%zu: error %ld", i, (long)list[i].error);
		cr_expect_leq(off < 0 ? -off : off, list[i].error, "%zu: off by %ld", i, (long)off);
	}
}

Test(assemble, a_clock_that_bends_stays_bent)
{
	struct sync_point list[] = { compared(1000000, 0, 100), compared(1000000000, 5000, 200),
					compared(2000000000, 0, 100) };

	gt_sync_points_straighten(list, 3);
	cr_expect_eq((int64_t)(list[1].ns - (__int128)list[1].tick), 6000);
	cr_expect_eq(list[1].error, 200);
}
