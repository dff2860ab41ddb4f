/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The assembly from made-up spools: threads, locks, values, processes, addresses, clocks, and files
 * that are damaged.
 *
 * Limits: as test_assemble.c.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/assemble/clock/clock.h"
#include "test/unit/expect.h"

/* ---- threads ----------------------------------------------------------------------------------- */

Test(records, threads)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN), *m = mk_loc(p, 1, 4096, 0, AT(20));
	uint32_t a = mk_region(p, "alpha");
	struct gt_def_loc_name name = { .location = 1, .tick = AT(25) };

	mk_record(l, AT(10), GT_T_THREAD_CREATE, 0, (uint64_t[]){ 7, 0 }, 1);
	mk_record(m, AT(20), GT_T_THREAD_BEGIN, 0, (uint64_t[]){ 7, 4712 }, 1);
	mk_enter(m, AT(30), a);
	mk_record(m, AT(40), GT_T_THREAD_END, 0, (uint64_t[]){ 7, GT_THREAD_END_CANCEL }, 1);
	mk_record(m, AT(45), GT_T_THREAD_BEGIN, 0, (uint64_t[]){ 0, 4713 }, 1); /* unannounced */
	mk_enter(m, AT(46), a);
	mk_leave(m, AT(47), a);
	mk_record(m, AT(48), GT_T_THREAD_END, 0, (uint64_t[]){ 0, 0 }, 1);
	mk_record(l, AT(50), GT_T_THREAD_WAIT, 0, (uint64_t[]){ 7, 0 }, 1);
	name.name = mk_string(p, "worker");
	mk_def(p, GT_D_LOCATION_NAME, 0, &name, sizeof(name));
	mk_loc_close(l);
	mk_loc_close(m);
	mk_proc_end(p, GT_END_EXIT, 0, AT(60));
	expect_events(dir, "0 0 BEGIN prog [ProcessId=4711]\n0 10 THREAD_CREATE 7 on Pthread\n"
			   "0 50 THREAD_WAIT 7 on Pthread\n0 60 END 0 [ProcessId=4711]\n"
			   "1 20 THREAD_BEGIN 7 on Pthread\n1 30 ENTER alpha\n1 40 LEAVE alpha\n"
			   "1 40 THREAD_END 7 on Pthread [GPUTRACE::THREAD_END=cancel]\n"
			   "1 46 ENTER alpha\n1 47 LEAVE alpha\n");
	expect_text(rb_definitions, dir, "location 1 THREAD worker in prog [4711]");
	expect_text(rb_definitions, dir, "COMM_LOCATIONS PTHREAD paradigm 7: 0 1\n");
	expect_text(rb_definitions, dir, "COMM_GROUP  paradigm 7: 0 1\n");
	mk_proc_free(p);
	mk_remove(dir);
}

Test(records, locks)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);

	mk_record(l, AT(10), GT_T_LOCK_ACQUIRE, 0x7f0012345678, (uint64_t[]){ 5, 0 }, 1);
	mk_record(l, AT(20), GT_T_LOCK_ACQUIRE, 0x7f0012345600, (uint64_t[]){ 1, 0 }, 1);
	mk_record(l, AT(30), GT_T_LOCK_RELEASE, 0x7f0012345600, (uint64_t[]){ 1, 0 }, 1);
	mk_record(l, AT(40), GT_T_LOCK_RELEASE, 0x7f0012345678, (uint64_t[]){ 5, 0 }, 1);
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(60));
	expect_events(dir, "0 0 BEGIN prog [ProcessId=4711]\n0 10 ACQUIRE 0 order 5 paradigm 7 "
			   "[GPUTRACE::LOCK_ADDRESS=139638282147448]\n"
			   "0 20 ACQUIRE 1 order 1 paradigm 7 [GPUTRACE::LOCK_ADDRESS=139638282147328]\n"
			   "0 30 RELEASE 1 order 1 paradigm 7\n"
			   "0 40 RELEASE 0 order 5 paradigm 7\n0 60 END 0 [ProcessId=4711]\n");
	mk_proc_free(p);
	mk_remove(dir);
}

/* ---- values ---------------------------------------------------------------------------------------- */

static uint64_t bits(double value)
{
	uint64_t word;

	memcpy(&word, &value, sizeof(word));
	return word;
}

Test(records, metrics)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	struct gt_def_metric def = { .mode = 1 };
	uint32_t u, i, d, g;

	def.unit = mk_string(p, "bytes");
	def.name = mk_string(p, "unsigned");
	def.value = 4;
	u = mk_def(p, GT_D_METRIC, 0, &def, sizeof(def));
	def.name = mk_string(p, "signed");
	def.value = 8;
	i = mk_def(p, GT_D_METRIC, 0, &def, sizeof(def));
	def.name = mk_string(p, "double");
	def.value = 10;
	d = mk_def(p, GT_D_METRIC, 0, &def, sizeof(def));
	def.name = mk_string(p, "whole process");
	def.scope = 1;
	g = mk_def(p, GT_D_METRIC, 0, &def, sizeof(def));
	mk_record(l, AT(10), GT_T_METRIC, u, (uint64_t[]){ UINT64_MAX, 0 }, 1);
	mk_record(l, AT(20), GT_T_METRIC, i, (uint64_t[]){ (uint64_t)-5, 0 }, 1);
	mk_record(l, AT(30), GT_T_METRIC, d, (uint64_t[]){ bits(2.5), 0 }, 1);
	mk_record(l, AT(40), GT_T_METRICS, u, (uint64_t[]){ 3, 7, (uint64_t)-8, bits(-1.5) }, 2);
	mk_record(l, AT(50), GT_T_METRIC, g, (uint64_t[]){ bits(9), 0 }, 1);
	mk_record(l, AT(55), GT_T_METRICS, u, (uint64_t[]){ 200, 0 }, 1); /* does not fit */
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(60));
	expect_events(dir, "0 0 BEGIN prog [ProcessId=4711]\n"
			   "0 10 METRIC 0 18446744073709551615\n0 20 METRIC 1 -5\n"
			   "0 30 METRIC 2 2.5\n0 40 METRIC 3 7 -8 -1.5\n0 50 METRIC 5 9\n"
			   "0 60 END 0 [ProcessId=4711]\n");
	expect_text(rb_definitions, dir, "member 2 double mode 17 type 10 unit bytes\n");
	expect_text(rb_definitions, dir, "class 3 of threads: 0 1 2\n");
	expect_text(rb_definitions, dir, "class 4 of instances: 3\n");
	expect_text(rb_definitions, dir, "instance 5 of 4 recorder 0 scope 1 0\n");
	expect_text(rb_definitions, dir, "property GPUTRACE::UNKNOWN_RECORDS=1\n");
	mk_proc_free(p);
	mk_remove(dir);
}

Test(records, attributes_and_parameters)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	uint32_t a = mk_region(p, "alpha"), text = mk_string(p, "hello");
	struct gt_def_attribute def = { .type = 4 };
	uint32_t attribute, parameter;

	def.name = mk_string(p, "size");
	attribute = mk_def(p, GT_D_ATTRIBUTE, 0, &def, sizeof(def));
	parameter = mk_def(p, GT_D_PARAMETER, 0, &def, sizeof(def));
	mk_record(l, AT(10), GT_T_ATTR, attribute, (uint64_t[]){ 42, 0 }, 1);
	mk_record(l, AT(10), GT_T_ATTR, attribute, (uint64_t[]){ 43, 0 }, 1); /* the last counts */
	mk_enter(l, AT(11), a);
	mk_record(l, AT(12), GT_T_PARAM_INT, parameter, (uint64_t[]){ (uint64_t)-1, 0 }, 1);
	mk_record(l, AT(13), GT_T_PARAM_UINT, parameter, (uint64_t[]){ 1, 0 }, 1);
	mk_record(l, AT(14), GT_T_PARAM_STR, parameter, (uint64_t[]){ text, 0 }, 1);
	mk_leave(l, AT(15), a);
	mk_record(l, AT(16), GT_T_FORK, 0, (uint64_t[]){ 4712, 0 }, 1);
	mk_record(l, AT(17), GT_T_WAITPID, 0, (uint64_t[]){ 4712, 256 }, 1);
	mk_record(l, AT(18), GT_T_EXEC, 0, (uint64_t[]){ text, 0 }, 1);
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(60));
	expect_events(dir, "0 0 BEGIN prog [ProcessId=4711]\n0 11 ENTER alpha [size=43]\n"
			   "0 12 INT size=-1\n0 13 UINT size=1\n0 14 STRING size=hello\n"
			   "0 15 LEAVE alpha\n0 16 UINT child process id=4712\n"
			   "0 17 UINT child process id=4712\n0 17 UINT wait status=256\n"
			   "0 18 STRING program=hello\n0 60 END 0 [ProcessId=4711]\n");
	mk_proc_free(p);
	mk_remove(dir);
}

/*
 * Counters that were read at enters and leaves: those of two sources, in order with what a signal handler
 * recorded while they were read; an attribute is the event's.
 */
Test(records, readings)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	uint32_t a = mk_region(p, "alpha"), b = mk_region(p, "beta"), x, y, attribute;
	struct gt_def_metric def = { .mode = 0, .kind = 1 | GT_METRIC_SYNCHRONOUS, .value = 4 };
	struct gt_def_attribute note = { .type = 4 };
	uint64_t at;

	note.name = mk_string(p, "size");
	attribute = mk_def(p, GT_D_ATTRIBUTE, 0, &note, sizeof(note));
	def.name = mk_string(p, "instructions");
	x = mk_def(p, GT_D_METRIC, 0, &def, sizeof(def));
	def.name = mk_string(p, "cycles");
	y = mk_def(p, GT_D_METRIC, 0, &def, sizeof(def));
	for (uint64_t i = 0; i < 3; i++) {
		at = 10 + 20 * i;
		mk_record(l, AT(at), GT_T_METRICS, x, (uint64_t[]){ 2, 10 * i + 1, 10 * i + 2, 0 }, 2);
		mk_record(l, AT(at), GT_T_METRICS, y, (uint64_t[]){ 1, 10 * i + 3 }, 1);
		mk_enter(l, AT(at), a);
		if (i == 1) { /* the handler */
			mk_record(l, AT(at - 5), GT_T_METRICS, x, (uint64_t[]){ 2, 8, 9, 0 }, 2);
			mk_enter(l, AT(at - 5), b);
			mk_leave(l, AT(at - 4), b);
		}
		mk_record(l, AT(at + 1), GT_T_ATTR, attribute, (uint64_t[]){ 42, 0 }, 1);
		mk_record(l, AT(at + 2), GT_T_METRICS, x, (uint64_t[]){ 2, 10 * i + 4, 10 * i + 5, 0 }, 2);
		mk_leave(l, AT(at + 2), a);
	}
	/* The process was killed before it could write the enter. */
	mk_record(l, AT(58), GT_T_METRICS, x, (uint64_t[]){ 2, 90, 91, 0 }, 2);
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(60));
	expect_events(dir, "0 0 BEGIN prog [ProcessId=4711]\n"
			   "0 10 METRIC 0 1 2\n0 10 METRIC 1 3\n0 10 ENTER alpha\n"
			   "0 12 METRIC 0 4 5\n0 12 LEAVE alpha [size=42]\n"
			   "0 25 METRIC 0 8 9\n0 25 ENTER beta\n0 26 LEAVE beta\n"
			   "0 30 METRIC 0 11 12\n0 30 METRIC 1 13\n0 30 ENTER alpha\n"
			   "0 32 METRIC 0 14 15\n0 32 LEAVE alpha [size=42]\n"
			   "0 50 METRIC 0 21 22\n0 50 METRIC 1 23\n0 50 ENTER alpha\n"
			   "0 52 METRIC 0 24 25\n0 52 LEAVE alpha [size=42]\n"
			   "0 58 METRIC 0 90 91\n0 60 END 0 [ProcessId=4711]\n");
	expect_text(rb_definitions, dir, "class 0 of threads: 0 1\n");
	expect_text(rb_definitions, dir, "property GPUTRACE::REPAIRED_TIMES=0\n");
	mk_proc_free(p);
	mk_remove(dir);
}

/* What comes with every launch: an attribute of one slot, and a set of parameters. */
Test(records, tags_and_sets_of_parameters)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	uint32_t a = mk_region(p, "alpha"), text = mk_string(p, "(1,2,3)");
	struct gt_def_attribute def = { .type = 4 };
	struct {
		struct gt_def_params head;
		struct gt_def_param params[2];
	} set = { .head = { .count = 2 } };
	uint32_t attribute, id;

	def.name = mk_string(p, "id");
	attribute = mk_def(p, GT_D_ATTRIBUTE, 0, &def, sizeof(def));
	def.name = mk_string(p, "grid");
	set.params[0] = (struct gt_def_param){
		GT_T_PARAM_STR, mk_def(p, GT_D_PARAMETER, 0, &def, sizeof(def)), text };
	def.name = mk_string(p, "shared");
	set.params[1] = (struct gt_def_param){
		GT_T_PARAM_UINT, mk_def(p, GT_D_PARAMETER, 0, &def, sizeof(def)), 512 };
	id = mk_def(p, GT_D_PARAMS, 0, &set, sizeof(set));
	mk_slot(l, AT(10), GT_WORD(GT_T_TAG, (uint64_t)attribute << 32 | 0xfffffff0u));
	mk_enter(l, AT(11), a);
	mk_record(l, AT(12), GT_T_PARAMS, id, NULL, 0);
	mk_record(l, AT(13), GT_T_PARAMS, id + 1, NULL, 0); /* its definition is lost */
	mk_leave(l, AT(15), a);
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(60));
	expect_events(dir, "0 0 BEGIN prog [ProcessId=4711]\n0 11 ENTER alpha [id=4294967280]\n"
			   "0 12 STRING grid=(1,2,3)\n0 12 UINT shared=512\n"
			   "0 15 LEAVE alpha\n0 60 END 0 [ProcessId=4711]\n");
	expect_text(rb_definitions, dir, "property GPUTRACE::UNKNOWN_RECORDS=1\n");
	mk_proc_free(p);
	mk_remove(dir);
}

/* A region and a message of its in one slot; one of a channel whose definition is lost. */
Test(records, messages_of_one_slot)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	uint32_t to = mk_region(p, "send"), from = mk_region(p, "receive"), id;
	struct {
		struct gt_def_group group;
		uint32_t rank;
	} self = { .group = { .kind = 1, .count = 1 } };
	struct gt_def_shared comm = { .paradigm = 4, .key = 7, .name = mk_string(p, "self") };
	struct gt_def_channel channel = { .tag = UINT32_MAX };

	mk_property(p, "job", "1");
	mk_property(p, "job-size", "1");
	p->header.rank = 0;
	comm.group = mk_def(p, GT_D_GROUP, 0, &self, sizeof(self));
	channel.comm = mk_def(p, GT_D_COMM, 0, &comm, sizeof(comm));
	id = mk_def(p, GT_D_CHANNEL, 0, &channel, sizeof(channel));
	mk_slot(l, AT(10), GT_MESSAGE_WORD(GT_T_MPI_SEND_ENTER, to, id, GT_MESSAGE_MOST));
	mk_leave(l, AT(11), to);
	mk_enter(l, AT(12), from);
	mk_slot(l, AT(13), GT_MESSAGE_WORD(GT_T_MPI_RECV_LEAVE, from, id, GT_MESSAGE_MOST));
	mk_slot(l, AT(14), GT_MESSAGE_WORD(GT_T_MPI_SEND_ENTER, to, id + 1, 1));
	mk_leave(l, AT(15), to);
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(60));
	cr_assert(eq(int, assemble(dir), 0));
	expect_text(rb_events, dir,
		    "0 10 ENTER send\n0 10 SEND to 0 tag 4294967295 67108863 bytes on self\n"
		    "0 11 LEAVE send\n0 12 ENTER receive\n"
		    "0 13 RECV from 0 tag 4294967295 67108863 bytes on self\n0 13 LEAVE receive\n"
		    "0 14 ENTER send\n0 15 LEAVE send\n");
	expect_property(dir, "UNKNOWN_RECORDS=1");
	mk_proc_free(p);
	mk_remove(dir);
}

Test(records, markers_and_gaps)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	struct gt_def_marker def = { .severity = 1 };
	uint32_t text = mk_string(p, "it broke"), marker;

	def.name = mk_string(p, "trouble");
	marker = mk_def(p, GT_D_MARKER, 0, &def, sizeof(def));
	mk_record(l, AT(10), GT_T_MARKER, marker, (uint64_t[]){ text, 0 }, 1);
	mk_record(l, AT(20), GT_T_COMMENT, 0, (uint64_t[]){ text, 0 }, 1);
	mk_slot(l, AT(30), GT_WORD(GT_T_GAP, (uint64_t)GT_LOSS_NESTED << 48 | 17));
	p->header.lost[GT_LOSS_LATE] = 5;
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(60));
	cr_assert(eq(int, assemble(dir), 0));
	expect_text(rb_markers, dir, "marker 10 trouble location 0 it broke\n"
				     "marker 20 Comment location 0 it broke\n"
				     "marker 30 EVENTS LOST location 0 17 events are missing here: ");
	expect_text(rb_markers, dir, "marker 60 EVENTS LOST group 0 5 events of this process");
	expect_text(rb_definitions, dir, "property GPUTRACE::LOST_LATE=5\n");
	expect_text(rb_definitions, dir, "group 0 GPUTRACE::LOST_LATE=5\n");
	mk_proc_free(p);
	mk_remove(dir);
}

Test(records, unknown_types_are_skipped)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	uint32_t a = mk_region(p, "alpha");
	uint64_t data[6] = { 1, 2, 3, 4, 5, 6 };

	mk_enter(l, AT(10), a);
	mk_record(l, AT(20), 0xd0, 9, data, 3);
	mk_record(l, AT(21), GT_T_FOR_LOCATION, 5, NULL, 0); /* only in streams made for it */
	mk_enter(l, AT(22), a);
	mk_leave(l, AT(30), a);
	mk_enter(l, AT(40), 77); /* its definition is lost */
	mk_leave(l, AT(50), 77);
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(60));
	expect_events(dir, "0 0 BEGIN prog [ProcessId=4711]\n0 10 ENTER alpha\n0 30 LEAVE alpha\n"
			   "0 40 ENTER region 77 (definition lost)\n"
			   "0 50 LEAVE region 77 (definition lost)\n0 60 END 0 [ProcessId=4711]\n");
	expect_text(rb_definitions, dir, "property GPUTRACE::UNKNOWN_RECORDS=2\n");
	mk_proc_free(p);
	mk_remove(dir);
}

/* ---- streams that are not in order ---------------------------------------------------------------- */

Test(records, unsorted_stream)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *m = mk_loc(p, 0, 4096, 0, BEGIN), *l = mk_loc(p, 1, 4096, 0, BEGIN);
	uint32_t a = mk_region(p, "alpha");
	struct gt_def_attribute def = { .type = 4, .name = mk_string(p, "size") };
	uint32_t id = mk_def(p, GT_D_ATTRIBUTE, 0, &def, sizeof(def));

	l->win.flags = GT_LOC_UNSORTED | GT_LOC_COMMITS;
	l->win.kind = GT_LOC_GPU_STREAM;
	mk_enter(l, AT(500), a);
	mk_leave(l, AT(510), a);
	mk_record(l, AT(900), GT_T_ATTR, id, (uint64_t[]){ 42, 0 }, 1); /* belongs to the enter */
	mk_enter(l, AT(100), a);
	mk_leave(l, AT(200), a);
	mk_enter(l, AT(200), a);
	mk_leave(l, AT(300), a);
	l->win.committed = l->cur;
	mk_loc_close(m);
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(1000));
	expect_events(dir, "0 0 BEGIN prog [ProcessId=4711]\n0 1000 END 0 [ProcessId=4711]\n"
			   "1 100 ENTER alpha [size=42]\n1 200 LEAVE alpha\n1 200 ENTER alpha\n"
			   "1 300 LEAVE alpha\n1 500 ENTER alpha\n1 510 LEAVE alpha\n");
	expect_text(rb_definitions, dir, "location 1 STREAM Stream 1 in Accelerator");
	mk_proc_free(p);
	mk_remove(dir);
}

/* What arrives about a thread afterwards, in a stream of its own, at times between its events. */
Test(records, records_for_another_location)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *m = mk_loc(p, 0, 4096, 0, BEGIN), *o = mk_loc(p, 1, 4096, 0, BEGIN);
	struct mk_loc *deferred = mk_loc(p, 2, 4096, 0, BEGIN);
	uint32_t a = mk_region(p, "alpha"), b = mk_region(p, "beta");

	deferred->win.kind = GT_LOC_DEFERRED;
	deferred->win.flags = GT_LOC_COMMITS | GT_LOC_UNSORTED;
	mk_enter(m, AT(100), a);
	mk_leave(m, AT(400), a);
	mk_enter(o, AT(100), a);
	mk_leave(o, AT(150), a);
	mk_record(deferred, AT(600), GT_T_FOR_LOCATION, 1, NULL, 0);
	mk_enter(deferred, AT(300), b);
	mk_record(deferred, AT(600), GT_T_FOR_LOCATION, 0, NULL, 0);
	mk_leave(deferred, AT(300), b);
	mk_record(deferred, AT(600), GT_T_FOR_LOCATION, 0, NULL, 0);
	mk_enter(deferred, AT(200), b);
	mk_record(deferred, AT(600), GT_T_FOR_LOCATION, 1, NULL, 0);
	mk_leave(deferred, AT(301), b);
	deferred->win.committed = deferred->cur;
	mk_loc_close(m);
	mk_loc_close(o);
	mk_loc_close(deferred);
	mk_proc_end(p, GT_END_EXIT, 0, AT(1000));
	expect_events(dir, "0 0 BEGIN prog [ProcessId=4711]\n0 100 ENTER alpha\n"
			   "0 200 ENTER beta\n0 300 LEAVE beta\n0 400 LEAVE alpha\n"
			   "0 1000 END 0 [ProcessId=4711]\n1 100 ENTER alpha\n1 150 LEAVE alpha\n"
			   "1 300 ENTER beta\n1 301 LEAVE beta\n");
	mk_proc_free(p);
	mk_remove(dir);
}

/* Several runs: more than fits into memory at once, in random order. */
Test(records, large_unsorted_stream, .timeout = 60)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *m = mk_loc(p, 0, 4096, 0, BEGIN), *l = mk_loc(p, 1, 1 << 16, 0, BEGIN);
	uint32_t a = mk_region(p, "alpha");
	unsigned n = 1000003; /* a prime: i * 7919 % n goes through all */
	char *events, *at;
	uint64_t last = 0, lines = 0;

	l->win.flags = GT_LOC_UNSORTED | GT_LOC_COMMITS;
	for (unsigned i = 0; i < n; i++) {
		uint64_t k = (uint64_t)i * 7919 % n;

		mk_slot(l, AT(10 * (k + 1)), GT_WORD(k % 2 ? GT_T_LEAVE : GT_T_ENTER, a));
	}
	l->win.committed = l->cur;
	mk_loc_close(m);
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(20000000));
	cr_assert(eq(int, assemble(dir), 0));
	events = rb_events(dir);
	cr_assert(events != NULL);
	for (at = strstr(events, "\n1 "); at && at[1]; at = strchr(at + 1, '\n')) {
		uint64_t ns = strtoull(at + 3, NULL, 10);

		cr_assert(ns > last, "%llu after %llu, line %llu", (unsigned long long)ns,
			  (unsigned long long)last, (unsigned long long)lines);
		last = ns;
		lines++;
	}
	cr_assert(eq(u64, lines, n + 1));
	expect_text(rb_definitions, dir, "property GPUTRACE::REPAIRED_LEAVES_ADDED=1\n");
	free(events);
	mk_proc_free(p);
	mk_remove(dir);
}

/* A region that has only its linker's name (a GPU kernel) is called as the same function of the host is. */
Test(records, linkers_names)
{
	static const char *const names[][2] = {
		{ "_Z5scalePfi", "scale(float*, int)" },
		{ "_Z1fIXplLi1ELi2EEEvv", "void f<(1)+(2)>()" }, /* an expression: not for gt_demangle() */
		{ "_Znonsense", "_Znonsense" },
		{ "square", "square" },
		{ "__grid_MOD_sweep", "grid::sweep" },
	};
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	char *definitions;

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct gt_def_region def = { .canonical = mk_string(p, names[i][0]),
					     .role = 1,
					     .paradigm = 5 };
		uint32_t region = mk_def(p, GT_D_REGION, 0, &def, sizeof(def));

		mk_enter(l, AT(10 * i), region);
		mk_leave(l, AT(10 * i + 5), region);
	}
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(100));
	cr_assert(eq(int, assemble(dir), 0));
	definitions = rb_definitions(dir);
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char line[256];

		snprintf(line, sizeof(line), " %s (%s) role 1 paradigm 5 ", names[i][1], names[i][0]);
		cr_expect(strstr(definitions, line) != NULL, "%s: in %s", names[i][0], definitions);
	}
	free(definitions);
	mk_proc_free(p);
	mk_remove(dir);
}

/* ---- processes ------------------------------------------------------------------------------- */

/* A child uses its parent's definitions; what both define alike is one thing. */
Test(records, forked_child)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir), *c = mk_proc(dir, 2, 4712, "prog", AT(100));
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN), *m = mk_loc(c, 0, 4096, 0, AT(100));
	uint32_t a = mk_region(p, "alpha"), b = mk_region(p, "beta");

	c->header.parent_seq = 1;
	c->header.origin = 1;
	mk_enter(l, AT(10), a);
	mk_leave(l, AT(200), a);
	mk_enter(m, AT(110), b); /* defined by the parent only */
	mk_leave(m, AT(120), b);
	c->last_id[GT_D_REGION] = 2;
	c->last_id[GT_D_STRING] = 2;
	a = mk_region(c, "alpha");
	mk_enter(m, AT(130), a);
	mk_leave(m, AT(140), a);
	mk_loc_close(l);
	mk_loc_close(m);
	mk_proc_end(c, GT_END__EXIT, 0, AT(150));
	mk_proc_end(p, GT_END_EXIT, 0, AT(210));
	expect_events(dir, "0 0 BEGIN prog [ProcessId=4711]\n0 10 ENTER alpha\n0 200 LEAVE alpha\n"
			   "0 210 END 0 [ProcessId=4711]\n1 100 BEGIN prog [ProcessId=4712]\n"
			   "1 110 ENTER beta\n1 120 LEAVE beta\n1 130 ENTER alpha\n"
			   "1 140 LEAVE alpha\n1 150 END 0 [ProcessId=4712]\n");
	expect_text(rb_definitions, dir, "group 1 PROCESS prog [4712] node 1 creator -1\n");
	expect_text(rb_definitions, dir, "group 1 GPUTRACE::PARENT=prog [4711]\n");
	expect_text(rb_definitions, dir, "group 1 GPUTRACE::ORIGIN=fork\n");
	{
		char *text = rb_definitions(dir);

		cr_assert(text && !strstr(strstr(text, " alpha (alpha) role") + 1, " alpha (alpha) role"));
		free(text);
	}
	mk_proc_free(p);
	mk_proc_free(c);
	mk_remove(dir);
}

Test(records, step_to_another_program_is_left_out)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir), *c = mk_proc(dir, 2, 4712, "prog", AT(100)),
		       *e = mk_proc(dir, 3, 4712, "other", AT(150));
	struct mk_loc *l = mk_loc(c, 0, 4096, 0, AT(100));

	c->header.parent_seq = 1;
	c->header.origin = 1;
	mk_record(l, AT(110), GT_T_EXEC, 0, (uint64_t[]){ 0, 0 }, 1);
	mk_loc_close(l);
	mk_proc_end(c, GT_END_EXEC, 0, AT(120));
	mk_proc_end(e, GT_END_EXIT, 0, AT(180));
	mk_proc_end(p, GT_END_EXIT, 0, AT(210));
	expect_events(dir, "0 0 BEGIN prog [ProcessId=4711]\n0 210 END 0 [ProcessId=4711]\n"
			   "1 150 BEGIN other [ProcessId=4712]\n1 180 END 0 [ProcessId=4712]\n");
	expect_text(rb_definitions, dir, "group 1 GPUTRACE::ORIGIN=exec\n");
	mk_proc_free(p);
	mk_proc_free(c);
	mk_proc_free(e);
	mk_remove(dir);
}

/* ---- addresses ------------------------------------------------------------------------------- */

#define ENTER_ADDR(l, ns, address) mk_slot(l, AT(ns), GT_WORD(GT_T_ENTER_ADDR, address))
#define LEAVE_ADDR(l, ns, address) mk_slot(l, AT(ns), GT_WORD(GT_T_LEAVE_ADDR, address))

/* The same address belongs to one library after the other; the files need not exist. */
Test(records, address_with_two_owners)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	struct gt_def_module_gone gone = { .start = 0x10000, .end = 0x20000 };

	mk_module(p, AT(5), 0x10000, 0x20000, 0x1000, "/nowhere/libone.so");
	ENTER_ADDR(l, 10, 0x10040);
	LEAVE_ADDR(l, 20, 0x10040);
	gone.tick = AT(30);
	mk_def(p, GT_D_MODULE_GONE, 0, &gone, sizeof(gone));
	ENTER_ADDR(l, 40, 0x10040); /* the new one was there before it was seen */
	LEAVE_ADDR(l, 50, 0x10040);
	mk_module(p, AT(60), 0x10000, 0x20000, 0x1000, "/nowhere/libtwo.so");
	ENTER_ADDR(l, 70, 0x10040);
	LEAVE_ADDR(l, 80, 0x10040);
	ENTER_ADDR(l, 85, 0x55555); /* of nobody */
	LEAVE_ADDR(l, 86, 0x55555);
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(90));
	expect_events(dir, "0 0 BEGIN prog [ProcessId=4711]\n"
			   "0 10 ENTER libone.so+0x1040\n0 20 LEAVE libone.so+0x1040\n"
			   "0 40 ENTER libtwo.so+0x1040\n0 50 LEAVE libtwo.so+0x1040\n"
			   "0 70 ENTER libtwo.so+0x1040\n0 80 LEAVE libtwo.so+0x1040\n"
			   "0 85 ENTER 0x55555\n0 86 LEAVE 0x55555\n0 90 END 0 [ProcessId=4711]\n");
	mk_proc_free(p);
	mk_remove(dir);
}

/* The same file at different addresses in two processes: one region. */
Test(records, same_function_in_two_processes)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir), *q = mk_proc(dir, 2, 4712, "prog", AT(100));
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN), *m = mk_loc(q, 0, 4096, 0, AT(100));
	char *text, *first;

	mk_module(p, AT(5), 0x10000, 0x20000, 0x1000, "/nowhere/lib.so");
	mk_module(q, AT(105), 0x70000, 0x80000, 0x1000, "/nowhere/lib.so");
	ENTER_ADDR(l, 10, 0x10040);
	LEAVE_ADDR(l, 20, 0x10040);
	ENTER_ADDR(m, 110, 0x70040);
	LEAVE_ADDR(m, 120, 0x70040);
	mk_loc_close(l);
	mk_loc_close(m);
	mk_proc_end(p, GT_END_EXIT, 0, AT(200));
	mk_proc_end(q, GT_END_EXIT, 0, AT(200));
	cr_assert(eq(int, assemble(dir), 0));
	text = rb_definitions(dir);
	cr_assert(text != NULL);
	first = strstr(text, " lib.so+0x1040 (lib.so+0x1040) role");
	cr_assert(first && !strstr(first + 1, " lib.so+0x1040 (lib.so+0x1040) role"), "%s", text);
	free(text);
	mk_proc_free(p);
	mk_proc_free(q);
	mk_remove(dir);
}

/* ---- clocks ---------------------------------------------------------------------------------- */

static uint64_t by_piece(const struct gt_segment *piece, uint64_t tick)
{
	return gt_segment_ns(piece->ns, tick - piece->tick, piece->mult);
}

/* What a loop takes a time from holds as far as it says, and no further. */
Test(records, straight_pieces)
{
	const uint64_t one = UINT64_C(1) << GT_SCALE_SHIFT;
	const struct gt_segment segments[] = { { 2000, 1500, one * 2 }, { 3000, 3500, one / 2 },
					 { 3001, 3501, one * 3 } };
	struct gt_scale scale = { .base_tick = 1000, .base_ns = 500, .mult = one,
				  .tick_max = 1000000, .segments = segments };

	for (unsigned count = 0; count <= 3; count++) {
		scale.segment_count = count;
		for (uint64_t tick = 0; tick < 5000; tick++) {
			uint64_t most, end = tick <= 1000 ? 1000 : UINT64_MAX;
			struct gt_segment piece = gt_scale_straight(&scale, tick, &most);

			for (unsigned i = 0; tick > 1000 && i < count; i++)
				if (tick < segments[i].tick) {
					end = segments[i].tick - 1;
					break;
				}
			cr_assert_eq(most, end, "%lu: %lu", (unsigned long)tick, (unsigned long)most);
			cr_assert_eq(by_piece(&piece, tick), gt_scale_ns(&scale, tick));
			if (most < 5000)
				cr_assert_eq(by_piece(&piece, most), gt_scale_ns(&scale, most));
		}
	}
}

/* The readings say 1.5 GHz, the processor 2 GHz: the readings are right. */
Test(records, frequency_from_the_readings)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN);
	uint32_t a = mk_region(p, "alpha");

	mk_enter(l, BEGIN + 1500000000, a);
	mk_leave(l, BEGIN + UINT64_C(5) * 1500000000, a);
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, BEGIN + UINT64_C(10) * 1500000000);
	p->header.first.mono_ns = 500;
	p->header.last.mono_ns = 500 + INT64_C(10000000000);
	mk_proc_write(p);
	expect_events(dir, "0 0 BEGIN prog [ProcessId=4711]\n0 1000000000 ENTER alpha\n"
			   "0 5000000000 LEAVE alpha\n0 10000000000 END 0 [ProcessId=4711]\n");
	mk_proc_free(p);
	mk_remove(dir);
}

/* Two processes of one host with different clocks: both are the host's monotonic time. */
Test(records, two_kinds_of_clock)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir), *q = mk_proc(dir, 2, 4712, "prog", AT(5000000));

	mk_proc_end(p, GT_END_EXIT, 0, AT(9000000));
	q->header.clock = GT_CLOCK_MONOTONIC; /* ticks are nanoseconds; no readings are needed */
	q->header.begin = (uint64_t)p->header.first.mono_ns + 7000000;
	mk_proc_end(q, GT_END_EXIT, 0, q->header.begin + 123);
	q->header.first = q->header.last = (struct gt_calib){ 0 };
	mk_proc_write(q);
	expect_events(dir, "0 0 BEGIN prog [ProcessId=4711]\n0 9000000 END 0 [ProcessId=4711]\n"
			   "1 7000000 BEGIN prog [ProcessId=4712]\n"
			   "1 7000123 END 0 [ProcessId=4712]\n");
	mk_proc_free(p);
	mk_proc_free(q);
	mk_remove(dir);
}

/* ---- damage ---------------------------------------------------------------------------------- */

static uint32_t seed = 12345;

static uint32_t random_number(void)
{
	seed = seed * 1664525u + 1013904223u;
	return seed >> 8;
}

/* Flips some bits in one file of the spool, or cuts it. */
static void damage(const char *dir)
{
	static const char *const names[] = { "run", "p0001.4711/proc", "p0001.4711/l0.win",
					     "p0001.4711/l0.raw", "p0001.4711/l1.win" };
	char path[700];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/spool/%s", dir, names[random_number() % 5]);
	fd = open(path, O_RDWR);
	cr_assert(fd >= 0 && !fstat(fd, &st));
	if (random_number() % 5 == 0) {
		cr_assert(ftruncate(fd, random_number() % (st.st_size + 1)) == 0);
	} else {
		for (unsigned n = 1 + random_number() % 8; n && st.st_size; n--) {
			/* Headers are at the beginning: hit them more often. */
			off_t at = random_number() %
				   (random_number() % 2 && st.st_size > 256 ? 256 : st.st_size);
			unsigned char byte;

			cr_assert(pread(fd, &byte, 1, at) == 1);
			byte ^= random_number() % 3 ? 1u << random_number() % 8 : 0xff;
			cr_assert(pwrite(fd, &byte, 1, at) == 1);
		}
	}
	close(fd);
}

Test(records, damaged_spools, .timeout = 120)
{
	unsigned made = 0;

	for (unsigned i = 0; i < 150; i++) {
		const char *dir = mk_run();
		struct mk_proc *p = usual(dir);
		struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN), *m = mk_loc(p, 1, 4096, 0, BEGIN);
		uint32_t a = mk_region(p, "alpha");
		struct gt_def_metric metric = { .name = mk_string(p, "count"), .value = 4 };
		uint32_t id = mk_def(p, GT_D_METRIC, 0, &metric, sizeof(metric));

		mk_module(p, AT(1), 0x1000, 0x9000, 0, "/nowhere/lib.so");
		for (unsigned k = 0; k < 400; k++) {
			mk_enter(l, AT(10 * k), a);
			mk_record(l, AT(10 * k + 2), GT_T_METRIC, id, (uint64_t[]){ k, 0 }, 1);
			ENTER_ADDR(l, 10 * k + 3, 0x1000 + k);
			LEAVE_ADDR(l, 10 * k + 4, 0x1000 + k);
			mk_leave(l, AT(10 * k + 5), a);
		}
		mk_record(m, AT(20), GT_T_THREAD_BEGIN, 0, (uint64_t[]){ 7, 4712 }, 1);
		mk_loc_close(l);
		mk_loc_close(m);
		if (random_number() % 2)
			mk_proc_end(p, GT_END_EXIT, 0, AT(10000));
		for (unsigned n = 1 + random_number() % 3; n; n--)
			damage(dir);
		if (!freopen("/dev/null", "w", stderr))
			cr_fail("stderr");
		if (!assemble(dir)) {
			char *events = rb_events(dir);

			cr_assert(events != NULL, "run %u: unreadable archive", i);
			free(events);
			made++;
		}
		mk_proc_free(p);
		mk_remove(dir);
	}
	cr_assert(made > 75, "only %u of 150 archives could be made", made);
}

Test(records, not_a_run)
{
	const char *dir = mk_run();
	char path[700];

	if (!freopen("/dev/null", "w", stderr))
		cr_fail("stderr");
	cr_assert(eq(int, assemble(dir), 1)); /* no process in it */
	snprintf(path, sizeof(path), "%s/spool/run", dir);
	cr_assert(eq(int, truncate(path, 10), 0));
	cr_assert(eq(int, assemble(dir), 1));
	unlink(path);
	cr_assert(eq(int, assemble(dir), 1));
	cr_assert(eq(int, assemble("/nowhere/at/all"), 1));
	mk_remove(dir);
}
