/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The assembly of GPU streams from made-up spools: order, nesting at equal times, lanes, transfers as
 * messages and as one-sided operations, records that arrive late for a thread, what was torn.
 *
 * Limits: as test_assemble.c.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/unit/expect.h"

#define CUDA 5 /* OTF2_PARADIGM_CUDA */

/* A process with a thread, a GPU's stream in a context, and a stream for late records. */
struct gpu_run {
	const char *dir;
	struct mk_proc *p;
	struct mk_loc *thread, *stream, *deferred;
	uint32_t kernel, copy, call, idle; /* regions */
	uint32_t correlation, comm, window, context;
};

static struct gpu_run gpu_run(void)
{
	struct gpu_run r = { .dir = mk_run() };
	struct gt_def_locgroup context = { .kind = 1, .key = 3 };
	struct gt_def_attribute attribute = { .type = 4 };
	struct gt_def_shared comm = { .paradigm = CUDA };

	r.p = mk_proc(r.dir, 1, 4711, "prog", BEGIN);
	context.name = mk_string(r.p, "CUDA Context 1");
	r.context = mk_def(r.p, GT_D_LOCGROUP, 0, &context, sizeof(context));
	attribute.name = mk_string(r.p, "CORRELATION_ID");
	r.correlation = mk_def(r.p, GT_D_ATTRIBUTE, 0, &attribute, sizeof(attribute));
	comm.name = mk_string(r.p, "GPU_COMM_GLOBAL");
	r.comm = mk_def(r.p, GT_D_COMM, 0, &comm, sizeof(comm));
	comm.name = mk_string(r.p, "CUDA_WINDOW");
	r.window = mk_def(r.p, GT_D_WINDOW, 0, &comm, sizeof(comm));
	r.thread = mk_loc(r.p, 0, 4096, 0, BEGIN);
	r.stream = mk_loc_kind(r.p, 1, GT_LOC_GPU_STREAM, "CUDA[0:7]", r.context);
	r.deferred = mk_loc_kind(r.p, 2, GT_LOC_DEFERRED, NULL, 0);
	r.kernel = mk_region(r.p, "kernel");
	r.copy = mk_region(r.p, "copy");
	r.call = mk_region(r.p, "call");
	r.idle = mk_region(r.p, "HOST_IDLE");
	return r;
}

static void close_run(struct gpu_run *r)
{
	mk_loc_close(r->thread);
	mk_loc_close(r->stream);
	mk_loc_close(r->deferred);
	mk_proc_end(r->p, GT_END_EXIT, 0, AT(1000));
}

static void remove_run(struct gpu_run *r)
{
	mk_proc_free(r->p);
	mk_remove(r->dir);
}

static void activity(struct gpu_run *r, uint32_t region, uint64_t id, uint64_t from, uint64_t to)
{
	mk_record(r->stream, AT(from), GT_T_ATTR, r->correlation, (uint64_t[]){ id, 0 }, 1);
	mk_enter(r->stream, AT(from), region);
	mk_leave(r->stream, AT(to), region);
}

static void xfer(struct mk_loc *at, unsigned type, uint32_t comm, uint32_t other, uint32_t tag,
		 uint64_t bytes, uint64_t ns)
{
	mk_record(at, AT(ns), type, comm, (uint64_t[]){ other | (uint64_t)tag << 32, bytes }, 1);
}

static void late(struct gpu_run *r, uint32_t location)
{
	mk_record(r->deferred, AT(990), GT_T_FOR_LOCATION, location, NULL, 0);
}

#define HEAD "0 0 BEGIN prog [ProcessId=4711]\n"
#define TAIL "0 1000 END 0 [ProcessId=4711]\n"

/* ---- order ---------------------------------------------------------------------------------------- */

Test(gpu, activities_that_touch)
{
	struct gpu_run r = gpu_run();

	activity(&r, r.kernel, 3, 300, 400);
	activity(&r, r.copy, 2, 200, 300); /* ends when the one written before it begins */
	activity(&r, r.kernel, 4, 400, 400); /* takes no time */
	activity(&r, r.copy, 5, 400, 450);
	activity(&r, r.kernel, 1, 100, 200);
	close_run(&r);
	expect_events(r.dir, HEAD TAIL
		      "1 100 ENTER kernel [CORRELATION_ID=1]\n1 200 LEAVE kernel\n"
		      "1 200 ENTER copy [CORRELATION_ID=2]\n1 300 LEAVE copy\n"
		      "1 300 ENTER kernel [CORRELATION_ID=3]\n1 400 LEAVE kernel\n"
		      "1 400 ENTER kernel [CORRELATION_ID=4]\n1 400 LEAVE kernel\n"
		      "1 400 ENTER copy [CORRELATION_ID=5]\n1 450 LEAVE copy\n");
	expect_text(rb_definitions, r.dir, "location 1 STREAM CUDA[0:7] in CUDA Context 1");
	expect_text(rb_definitions, r.dir, "group 1 ACCELERATOR CUDA Context 1 node 1 creator 0\n");
	expect_text(rb_definitions, r.dir, "LOCATIONS CUDA_GROUP paradigm 5: 1\n");
	expect_text(rb_definitions, r.dir, "paradigm 5 CUDA class 3\n");
	expect_text(rb_definitions, r.dir, "property GPUTRACE::REPAIRED_LEAVES_ADDED=0\n");
	expect_text(rb_definitions, r.dir, "property GPUTRACE::REPAIRED_LEAVES_DROPPED=0\n");
	remove_run(&r);
}

Test(gpu, stream_that_is_in_order_already)
{
	struct gpu_run r = gpu_run();

	for (unsigned i = 0; i < 3; i++) {
		activity(&r, r.kernel, i, 100 + 50 * i, 150 + 50 * i);
		mk_slot(r.stream, AT(700), GT_WORD(GT_T_FLUSH, 10)); /* about the recorder */
	}
	mk_property(r.p, "cuda:launches", "3");
	close_run(&r);
	expect_events(r.dir, HEAD TAIL
		      "1 100 ENTER kernel [CORRELATION_ID=0]\n1 150 LEAVE kernel\n"
		      "1 150 ENTER kernel [CORRELATION_ID=1]\n1 200 LEAVE kernel\n"
		      "1 200 ENTER kernel [CORRELATION_ID=2]\n1 250 LEAVE kernel\n");
	expect_text(rb_definitions, r.dir, "group 0 GPUTRACE::CUDA_LAUNCHES=3\n");
	remove_run(&r);
}

/* Branches of a graph run at the same time: each needs a location of its own. */
Test(gpu, lanes)
{
	struct gpu_run r = gpu_run();

	activity(&r, r.copy, 2, 150, 250);
	activity(&r, r.kernel, 1, 100, 200);
	activity(&r, r.kernel, 3, 160, 170);
	activity(&r, r.kernel, 4, 200, 300);
	activity(&r, r.copy, 5, 250, 260);
	close_run(&r);
	expect_events(r.dir, HEAD TAIL
		      "1 100 ENTER kernel [CORRELATION_ID=1]\n1 200 LEAVE kernel\n"
		      "1 200 ENTER kernel [CORRELATION_ID=4]\n1 300 LEAVE kernel\n"
		      "2 150 ENTER copy [CORRELATION_ID=2]\n2 250 LEAVE copy\n"
		      "2 250 ENTER copy [CORRELATION_ID=5]\n2 260 LEAVE copy\n"
		      "3 160 ENTER kernel [CORRELATION_ID=3]\n3 170 LEAVE kernel\n");
	expect_text(rb_definitions, r.dir, "location 1 STREAM CUDA[0:7] in CUDA Context 1: 4 events");
	expect_text(rb_definitions, r.dir,
		    "location 2 STREAM CUDA[0:7] lane 2 in CUDA Context 1: 4 events");
	expect_text(rb_definitions, r.dir,
		    "location 3 STREAM CUDA[0:7] lane 3 in CUDA Context 1: 2 events");
	expect_text(rb_definitions, r.dir, "LOCATIONS CUDA_GROUP paradigm 5: 1 2 3\n");
	remove_run(&r);
}

/* A number in between, and a parameter inside. */
Test(gpu, records_beside_activities)
{
	struct gpu_run r = gpu_run();
	struct gt_def_metric def = { .value = 4, .mode = 1, .scope = 2, .scope_id = r.context };
	uint32_t held, busy, parameter;

	def.name = mk_string(r.p, "bytes held");
	held = mk_def(r.p, GT_D_METRIC, 0, &def, sizeof(def));
	def.scope = 0;
	def.name = mk_string(r.p, "busy");
	busy = mk_def(r.p, GT_D_METRIC, 0, &def, sizeof(def));
	parameter = mk_def(r.p, GT_D_PARAMETER, 0,
			   &(struct gt_def_attribute){ .name = mk_string(r.p, "blocks per grid"),
						       .type = 4 },
			   sizeof(struct gt_def_attribute));
	mk_enter(r.stream, AT(200), r.kernel);
	mk_record(r.stream, AT(200), GT_T_PARAM_UINT, parameter, (uint64_t[]){ 64, 0 }, 1);
	mk_leave(r.stream, AT(300), r.kernel);
	mk_record(r.stream, AT(250), GT_T_METRIC, held, (uint64_t[]){ 4096, 0 }, 1);
	mk_record(r.stream, AT(150), GT_T_METRIC, held, (uint64_t[]){ 8192, 0 }, 1);
	mk_record(r.stream, AT(160), GT_T_METRIC, busy, (uint64_t[]){ 5, 0 }, 1);
	mk_slot(r.stream, AT(500), GT_WORD(GT_T_FLUSH, 10)); /* the recorder's own: of the host */
	close_run(&r);
	expect_events(r.dir, HEAD TAIL
		      "1 150 METRIC 1 8192\n1 160 METRIC 2 5\n"
		      "1 200 ENTER kernel\n1 200 UINT blocks per grid=64\n"
		      "1 250 METRIC 1 4096\n1 300 LEAVE kernel\n");
	expect_text(rb_definitions, r.dir, "class 0 of instances: 0\n");
	expect_text(rb_definitions, r.dir, "instance 1 of 0 recorder 1 scope 1 1\n");
	expect_text(rb_definitions, r.dir, "class 2 of GPUs: 1\n");
	remove_run(&r);
}

/* Values that are read later than they were measured keep their times where a half became full. */
Test(gpu, metrics_of_the_past)
{
	struct gpu_run r = gpu_run();
	struct gt_def_metric def = { .value = 4, .mode = 1, .name = mk_string(r.p, "busy") };
	struct mk_loc *l = mk_loc_kind(r.p, 3, GT_LOC_METRIC, "counters", 0);
	uint32_t busy = mk_def(r.p, GT_D_METRIC, 0, &def, sizeof(def));

	for (uint64_t i = 0; i < 3; i++) {
		mk_record(l, AT(100 + 100 * i), GT_T_METRIC, busy, (uint64_t[]){ i, 0 }, 1);
		mk_slot(l, AT(110 + 100 * i), GT_WORD(GT_T_FLUSH, 2 * 500)); /* until it was written */
	}
	l->win.flags = GT_LOC_UNSORTED | GT_LOC_COMMITS;
	l->win.committed = l->cur;
	mk_loc_close(l);
	close_run(&r);
	cr_assert(eq(int, assemble(r.dir), 0));
	expect_text(rb_events, r.dir, " 100 METRIC 0 0\n2 200 METRIC 0 1\n2 300 METRIC 0 2\n");
	expect_text(rb_definitions, r.dir, "property GPUTRACE::REPAIRED_TIMES=0\n");
	remove_run(&r);
}

/* ---- transfers ---------------------------------------------------------------------------------------- */

static void copy_with_messages(struct gpu_run *r, bool to_device, uint32_t id, uint64_t from,
			       uint64_t to)
{
	unsigned here = to_device ? GT_T_XFER_RECV : GT_T_XFER_SEND;
	unsigned there = to_device ? GT_T_XFER_SEND : GT_T_XFER_RECV;

	mk_record(r->stream, AT(from), GT_T_ATTR, r->correlation, (uint64_t[]){ id, 0 }, 1);
	mk_enter(r->stream, AT(from), r->copy);
	xfer(r->stream, here, r->comm, 0, id, 4096 + id, to_device ? to : from);
	mk_leave(r->stream, AT(to), r->copy);
	late(r, 0);
	xfer(r->deferred, there, r->comm, 1, id, 4096 + id, to_device ? from : to);
}

Test(gpu, messages)
{
	struct gpu_run r = gpu_run();

	mk_enter(r.thread, AT(10), r.call);
	mk_leave(r.thread, AT(120), r.call);
	mk_enter(r.thread, AT(150), r.call);
	mk_leave(r.thread, AT(160), r.call);
	copy_with_messages(&r, false, 8, 200, 300);
	copy_with_messages(&r, true, 7, 100, 150);
	close_run(&r);
	expect_events(r.dir,
		      HEAD "0 10 ENTER call\n0 100 SEND to 1 tag 7 4103 bytes on GPU_COMM_GLOBAL\n"
			   "0 120 LEAVE call\n0 150 ENTER call\n0 160 LEAVE call\n"
			   "0 300 RECV from 1 tag 8 4104 bytes on GPU_COMM_GLOBAL\n" TAIL
			   "1 100 ENTER copy [CORRELATION_ID=7]\n"
			   "1 150 RECV from 0 tag 7 4103 bytes on GPU_COMM_GLOBAL\n1 150 LEAVE copy\n"
			   "1 200 ENTER copy [CORRELATION_ID=8]\n"
			   "1 200 SEND to 0 tag 8 4104 bytes on GPU_COMM_GLOBAL\n1 300 LEAVE copy\n");
	expect_text(rb_definitions, r.dir, "COMM_LOCATIONS CUDA paradigm 5: 0 1\n");
	expect_text(rb_definitions, r.dir, "comm 0 GPU_COMM_GLOBAL set 2 parent -1\n");
	expect_text(rb_definitions, r.dir, "property GPUTRACE::UNMATCHED_MESSAGES=0\n");
	expect_text(rb_definitions, r.dir, "property GPUTRACE::REPAIRED_TIMES=0\n");
	remove_run(&r);
}

/* What is told later of the time while the thread's window was spooled keeps its time. */
Test(gpu, messages_and_waits_in_a_flush)
{
	struct gpu_run r = gpu_run();
	uint32_t idle = mk_region(r.p, "HOST_IDLE");

	mk_enter(r.thread, AT(90), r.call);
	mk_slot(r.thread, AT(90), GT_WORD(GT_T_FLUSH, 2 * 110)); /* until 200 */
	mk_leave(r.thread, AT(400), r.call);
	copy_with_messages(&r, true, 7, 100, 150);
	late(&r, 0);
	mk_enter(r.deferred, AT(160), idle);
	late(&r, 0);
	mk_leave(r.deferred, AT(300), idle);
	copy_with_messages(&r, true, 8, 180, 190);
	copy_with_messages(&r, true, 9, 200, 210);
	close_run(&r);
	expect_events(r.dir,
		      HEAD "0 90 ENTER call\n0 90 ENTER TRACE BUFFER FLUSH\n"
			   "0 100 SEND to 1 tag 7 4103 bytes on GPU_COMM_GLOBAL\n"
			   "0 160 LEAVE TRACE BUFFER FLUSH\n0 160 ENTER HOST_IDLE\n"
			   "0 160 ENTER TRACE BUFFER FLUSH\n"
			   "0 180 SEND to 1 tag 8 4104 bytes on GPU_COMM_GLOBAL\n"
			   "0 200 LEAVE TRACE BUFFER FLUSH\n"
			   "0 200 SEND to 1 tag 9 4105 bytes on GPU_COMM_GLOBAL\n"
			   "0 300 LEAVE HOST_IDLE\n0 400 LEAVE call\n" TAIL
			   "1 100 ENTER copy [CORRELATION_ID=7]\n"
			   "1 150 RECV from 0 tag 7 4103 bytes on GPU_COMM_GLOBAL\n1 150 LEAVE copy\n"
			   "1 180 ENTER copy [CORRELATION_ID=8]\n"
			   "1 190 RECV from 0 tag 8 4104 bytes on GPU_COMM_GLOBAL\n1 190 LEAVE copy\n"
			   "1 200 ENTER copy [CORRELATION_ID=9]\n"
			   "1 210 RECV from 0 tag 9 4105 bytes on GPU_COMM_GLOBAL\n1 210 LEAVE copy\n");
	expect_text(rb_definitions, r.dir, "property GPUTRACE::REPAIRED_TIMES=0\n");
	expect_text(rb_definitions, r.dir, "property GPUTRACE::REPAIRED_LEAVES_ADDED=0\n");
	remove_run(&r);
}

/* Many threads whose records arrive late, by turns: more than one reads by itself, and more than a piece. */
Test(gpu, deferred_records_of_many_threads)
{
	enum { THREADS = 8, ROUNDS = 700 };
	struct gpu_run r = gpu_run();
	struct mk_loc *threads[THREADS];
	uint32_t idle = mk_region(r.p, "HOST_IDLE");
	char *expected = malloc((size_t)THREADS * ROUNDS * 80), *at = expected;

	for (uint32_t i = 0; i < THREADS; i++)
		threads[i] = mk_loc(r.p, 3 + i, 4096, 0, BEGIN);
	for (uint64_t round = ROUNDS; round-- > 0;)
		for (uint32_t i = 0; i < THREADS; i++) {
			late(&r, 3 + i);
			mk_enter(r.deferred, AT(100 + round), i % 2 ? idle : r.call);
			late(&r, 3 + i);
			mk_leave(r.deferred, AT(100 + round), i % 2 ? idle : r.call);
		}
	for (uint32_t i = 0; i < THREADS; i++)
		mk_loc_close(threads[i]);
	close_run(&r);
	at += sprintf(at, HEAD TAIL);
	for (uint32_t i = 0; i < THREADS; i++)
		for (unsigned round = 0; round < ROUNDS; round++) {
			const char *name = i % 2 ? "HOST_IDLE" : "call";

			at += sprintf(at, "%u %u ENTER %s\n%u %u LEAVE %s\n", 2 + i, 100 + round, name, 2 + i,
				      100 + round, name);
		}
	expect_events(r.dir, expected);
	expect_text(rb_definitions, r.dir, "property GPUTRACE::REPAIRED_LEAVES_ADDED=0\n");
	free(expected);
	remove_run(&r);
}

/* The message of a copy in another lane stays with the stream that its partner names. */
Test(gpu, message_of_an_overlapping_copy)
{
	struct gpu_run r = gpu_run();

	activity(&r, r.kernel, 1, 100, 300);
	copy_with_messages(&r, true, 2, 150, 200);
	close_run(&r);
	expect_events(r.dir,
		      HEAD "0 150 SEND to 1 tag 2 4098 bytes on GPU_COMM_GLOBAL\n" TAIL
			   "1 100 ENTER kernel [CORRELATION_ID=1]\n"
			   "1 200 RECV from 0 tag 2 4098 bytes on GPU_COMM_GLOBAL\n"
			   "1 300 LEAVE kernel\n"
			   "2 150 ENTER copy [CORRELATION_ID=2]\n2 200 LEAVE copy\n");
	remove_run(&r);
}

/* One end is missing: the other is left out, and counted; the rest is not touched. */
Test(gpu, message_without_its_other_end)
{
	struct gpu_run r = gpu_run();

	copy_with_messages(&r, true, 7, 100, 150);
	mk_enter(r.stream, AT(400), r.copy);
	xfer(r.stream, GT_T_XFER_SEND, r.comm, 0, 9, 512, 400);
	mk_leave(r.stream, AT(500), r.copy);
	mk_enter(r.stream, AT(600), r.copy);
	xfer(r.stream, GT_T_XFER_SEND, r.comm, 0, 10, 512, 600);
	mk_leave(r.stream, AT(700), r.copy);
	late(&r, 0);
	xfer(r.deferred, GT_T_XFER_RECV, r.comm, 1, 10, 513, 700); /* of another size */
	mk_enter(r.stream, AT(800), r.copy);
	xfer(r.stream, GT_T_XFER_SEND, r.comm, 77, 11, 512, 800); /* nobody */
	mk_leave(r.stream, AT(900), r.copy);
	close_run(&r);
	expect_events(r.dir,
		      HEAD "0 100 SEND to 1 tag 7 4103 bytes on GPU_COMM_GLOBAL\n" TAIL
			   "1 100 ENTER copy [CORRELATION_ID=7]\n"
			   "1 150 RECV from 0 tag 7 4103 bytes on GPU_COMM_GLOBAL\n1 150 LEAVE copy\n"
			   "1 400 ENTER copy\n1 500 LEAVE copy\n1 600 ENTER copy\n1 700 LEAVE copy\n"
			   "1 800 ENTER copy\n1 900 LEAVE copy\n");
	expect_text(rb_definitions, r.dir, "property GPUTRACE::UNMATCHED_MESSAGES=4\n");
	remove_run(&r);
}

/* From a device to itself. */
Test(gpu, copy_on_one_device)
{
	struct gpu_run r = gpu_run();

	mk_enter(r.stream, AT(100), r.copy);
	xfer(r.stream, GT_T_XFER_SEND, r.comm, 1, 3, 64, 100);
	xfer(r.stream, GT_T_XFER_RECV, r.comm, 1, 3, 64, 200);
	mk_leave(r.stream, AT(200), r.copy);
	close_run(&r);
	expect_events(r.dir, HEAD TAIL "1 100 ENTER copy\n"
		      "1 100 SEND to 0 tag 3 64 bytes on GPU_COMM_GLOBAL\n"
		      "1 200 RECV from 0 tag 3 64 bytes on GPU_COMM_GLOBAL\n1 200 LEAVE copy\n");
	remove_run(&r);
}

Test(gpu, one_sided)
{
	struct gpu_run r = gpu_run();

	mk_enter(r.stream, AT(100), r.copy);
	mk_record(r.stream, AT(100), GT_T_XFER_GET, r.window, (uint64_t[]){ 0, 4096, 17, 0 }, 2);
	mk_record(r.stream, AT(200), GT_T_XFER_COMPLETE, r.window, (uint64_t[]){ 0, 0, 17, 0 }, 2);
	mk_leave(r.stream, AT(200), r.copy);
	mk_enter(r.stream, AT(50), r.copy);
	mk_record(r.stream, AT(50), GT_T_XFER_PUT, r.window, (uint64_t[]){ 0, 99, 16, 0 }, 2);
	mk_record(r.stream, AT(60), GT_T_XFER_COMPLETE, r.window, (uint64_t[]){ 0, 0, 16, 0 }, 2);
	mk_leave(r.stream, AT(60), r.copy);
	close_run(&r);
	expect_events(r.dir, HEAD TAIL
		      "1 50 ENTER copy\n1 50 PUT to 0 in CUDA_WINDOW bytes 99 id 16\n"
		      "1 60 COMPLETE in CUDA_WINDOW id 16\n1 60 LEAVE copy\n"
		      "1 100 ENTER copy\n1 100 GET from 0 in CUDA_WINDOW bytes 4096 id 17\n"
		      "1 200 COMPLETE in CUDA_WINDOW id 17\n1 200 LEAVE copy\n");
	expect_text(rb_definitions, r.dir, "window 0 CUDA_WINDOW comm 0\n");
	expect_text(rb_definitions, r.dir, "COMM_LOCATIONS CUDA paradigm 5: 0 1\n");
	remove_run(&r);
}

/* ---- late records for a thread --------------------------------------------------------------- */

/* The wait in a call fills it to the tick: it begins after the call and ends before it. */
Test(gpu, host_idle)
{
	struct gpu_run r = gpu_run();

	late(&r, 0);
	mk_enter(r.deferred, AT(300), r.idle);
	late(&r, 0);
	mk_leave(r.deferred, AT(400), r.idle);
	late(&r, 0);
	mk_enter(r.deferred, AT(100), r.idle);
	late(&r, 0);
	mk_leave(r.deferred, AT(200), r.idle);
	for (unsigned i = 0; i < 2; i++) {
		mk_record(r.thread, AT(95 + 200 * i), GT_T_ATTR, r.correlation,
			  (uint64_t[]){ i, 0 }, 1);
		mk_enter(r.thread, AT(100 + 200 * i), r.call);
		mk_leave(r.thread, AT(200 + 200 * i), r.call);
	}
	close_run(&r);
	expect_events(r.dir,
		      HEAD "0 100 ENTER call [CORRELATION_ID=0]\n0 100 ENTER HOST_IDLE\n"
			   "0 200 LEAVE HOST_IDLE\n0 200 LEAVE call\n"
			   "0 300 ENTER call [CORRELATION_ID=1]\n0 300 ENTER HOST_IDLE\n"
			   "0 400 LEAVE HOST_IDLE\n0 400 LEAVE call\n" TAIL);
	expect_text(rb_definitions, r.dir, "property GPUTRACE::REPAIRED_LEAVES_ADDED=0\n");
	expect_text(rb_definitions, r.dir, "property GPUTRACE::REPAIRED_TIMES=0\n");
	remove_run(&r);
}

/* A late record between an attribute and its event does not take the attribute away. */
Test(gpu, late_record_between_attribute_and_event)
{
	struct gpu_run r = gpu_run();

	mk_record(r.thread, AT(90), GT_T_ATTR, r.correlation, (uint64_t[]){ 5, 0 }, 1);
	mk_enter(r.thread, AT(110), r.call);
	mk_leave(r.thread, AT(120), r.call);
	copy_with_messages(&r, true, 7, 100, 150);
	close_run(&r);
	expect_events(r.dir,
		      HEAD "0 100 SEND to 1 tag 7 4103 bytes on GPU_COMM_GLOBAL\n"
			   "0 110 ENTER call [CORRELATION_ID=5]\n0 120 LEAVE call\n" TAIL
			   "1 100 ENTER copy [CORRELATION_ID=7]\n"
			   "1 150 RECV from 0 tag 7 4103 bytes on GPU_COMM_GLOBAL\n1 150 LEAVE copy\n");
	remove_run(&r);
}

/* A thread of which nothing else is known. */
Test(gpu, late_records_alone)
{
	struct gpu_run r = gpu_run();
	struct mk_loc *other = mk_loc(r.p, 3, 4096, 0, BEGIN);

	late(&r, 3);
	mk_enter(r.deferred, AT(100), r.idle);
	late(&r, 3);
	mk_leave(r.deferred, AT(200), r.idle);
	mk_loc_close(other);
	close_run(&r);
	expect_events(r.dir, HEAD TAIL "2 100 ENTER HOST_IDLE\n2 200 LEAVE HOST_IDLE\n");
	remove_run(&r);
}

/* ---- idle times ------------------------------------------------------------------------------ */

static void region_in_group(struct gpu_run *r, uint32_t *region, const char *name, const char *group,
			    uint8_t role)
{
	struct gt_def_region def = { .role = role, .paradigm = CUDA };

	def.name = mk_string(r->p, name);
	def.group = mk_string(r->p, group);
	*region = mk_def(r->p, GT_D_REGION, 0, &def, sizeof(def));
}

/* Two streams of a device: it computes, copies, does nothing. */
static struct gpu_run idle_run(const char *setting)
{
	struct gpu_run r = gpu_run();
	struct mk_loc *other = mk_loc_kind(r.p, 3, GT_LOC_GPU_STREAM, "CUDA[0:8]", r.context);

	mk_property(r.p, "cuda:idle", setting);
	region_in_group(&r, &r.kernel, "k", "of a groups file", 1 /* FUNCTION */);
	region_in_group(&r, &r.copy, "c", "CUDA_MEMCPY", 30 /* DATA_TRANSFER */);
	activity(&r, r.kernel, 3, 300, 400);
	activity(&r, r.kernel, 1, 100, 200);
	mk_enter(other, AT(50), r.copy);
	mk_leave(other, AT(110), r.copy);
	mk_enter(other, AT(230), r.copy);
	mk_leave(other, AT(260), r.copy);
	mk_enter(other, AT(400), r.kernel); /* follows at once */
	mk_leave(other, AT(450), r.kernel);
	mk_enter(other, AT(500), r.copy); /* the last thing that happens */
	mk_leave(other, AT(510), r.copy);
	mk_loc_close(other);
	close_run(&r);
	cr_assert(eq(int, assemble(r.dir), 0));
	return r;
}

Test(gpu, idle_times)
{
	struct gpu_run r = idle_run("compute, all");

	expect_text(rb_events, r.dir,
		    "3 200 ENTER COMPUTE IDLE\n3 200 ENTER GPU IDLE\n3 230 LEAVE GPU IDLE\n"
		    "3 260 ENTER GPU IDLE\n3 300 LEAVE GPU IDLE\n3 300 LEAVE COMPUTE IDLE\n"
		    "3 450 ENTER GPU IDLE\n3 500 LEAVE GPU IDLE\n");
	expect_text(rb_definitions, r.dir,
		    "location 3 STREAM CUDA[0] idle in CUDA Context 1: 8 events");
	expect_text(rb_definitions, r.dir, "COMPUTE IDLE (COMPUTE IDLE) role 31 paradigm 5");
	remove_run(&r);
}

Test(gpu, idle_times_of_computing_only)
{
	struct gpu_run r = idle_run("compute");
	char *events = rb_events(r.dir);

	cr_assert(strstr(events, "3 200 ENTER COMPUTE IDLE\n3 300 LEAVE COMPUTE IDLE\n") != NULL);
	cr_assert(strstr(events, "GPU IDLE") == NULL);
	free(events);
	remove_run(&r);
}

Test(gpu, no_idle_times_unless_asked_for)
{
	struct gpu_run r = idle_run("yes");

	char *events = rb_events(r.dir);

	cr_assert(strstr(events, "IDLE") == NULL);
	free(events);
	remove_run(&r);
}

/* ---- what was torn --------------------------------------------------------------------------- */

Test(gpu, activity_without_an_end)
{
	struct gpu_run r = gpu_run();

	activity(&r, r.kernel, 2, 200, 300);
	activity(&r, r.kernel, 1, 100, 200);
	mk_enter(r.stream, AT(50), r.kernel); /* killed while it was written */
	close_run(&r);
	expect_events(r.dir, HEAD TAIL
		      "1 100 ENTER kernel [CORRELATION_ID=1]\n1 200 LEAVE kernel\n"
		      "1 200 ENTER kernel [CORRELATION_ID=2]\n1 300 LEAVE kernel\n");
	expect_text(rb_definitions, r.dir, "property GPUTRACE::LOST_TORN=1\n");
	remove_run(&r);
}

/* ---- many ------------------------------------------------------------------------------------ */

/* More than fits into memory at once, in random order, in three lanes, with messages. */
Test(gpu, large, .timeout = 120)
{
	struct gpu_run r = gpu_run();
	unsigned n = 200003; /* a prime: i * 7919 % n goes through all */
	uint64_t last[8] = { 0 }, lines[8] = { 0 }, sends = 0, recvs = 0;
	char *events, *line, *keep;

	for (unsigned i = 0; i < n; i++) {
		uint64_t k = (uint64_t)i * 7919 % n, from = 100 + 100 * k;

		copy_with_messages(&r, k % 2, (uint32_t)k, from, from + 250);
	}
	mk_loc_close(r.thread);
	mk_loc_close(r.stream);
	mk_loc_close(r.deferred);
	mk_proc_end(r.p, GT_END_EXIT, 0, AT(100 * (uint64_t)n + 1000));
	cr_assert(eq(int, assemble(r.dir), 0));
	events = rb_events(r.dir);
	cr_assert(events != NULL);
	for (line = strtok_r(events, "\n", &keep); line; line = strtok_r(NULL, "\n", &keep)) {
		char what[16];
		unsigned location;
		unsigned long long ns;

		cr_assert(eq(int, sscanf(line, "%u %llu %15s", &location, &ns, what), 3));
		cr_assert(location < 8 && ns >= last[location]);
		last[location] = ns;
		lines[location]++;
		sends += !strcmp(what, "SEND");
		recvs += !strcmp(what, "RECV");
	}
	cr_assert(eq(u64, sends, n));
	cr_assert(eq(u64, recvs, n));
	cr_assert(eq(u64, lines[0], n + 2));
	cr_assert(eq(u64, lines[1] + lines[2] + lines[3], 3 * (uint64_t)n));
	cr_assert(eq(u64, lines[2], 2 * (uint64_t)(n / 3 + (n % 3 > 1))));
	expect_text(rb_definitions, r.dir, "property GPUTRACE::UNMATCHED_MESSAGES=0\n");
	expect_text(rb_definitions, r.dir, "property GPUTRACE::REPAIRED_LEAVES_ADDED=0\n");
	free(events);
	remove_run(&r);
}

/* What the process has read so far; 0: the kernel does not say. */
static uint64_t bytes_read(void)
{
	FILE *file = fopen("/proc/self/io", "r");
	unsigned long long bytes = 0;

	if (file && fscanf(file, "rchar: %llu", &bytes) != 1)
		bytes = 0;
	if (file)
		fclose(file);
	return bytes;
}

/* The stream is read twice, whatever the number of its lanes: to count them, and for all of them. */
Test(gpu, many_lanes)
{
	struct gpu_run r = gpu_run();
	unsigned n = 20000, lanes = 50;
	uint64_t before, bytes = n * 4 * sizeof(struct gt_slot);
	char *events;

	for (unsigned i = n; i-- > 0;)
		activity(&r, r.kernel, i, 100 + 10 * i, 100 + 10 * (i + lanes));
	mk_loc_close(r.thread);
	mk_loc_close(r.stream);
	mk_loc_close(r.deferred);
	mk_proc_end(r.p, GT_END_EXIT, 0, AT(10 * (uint64_t)(n + lanes) + 1000));
	before = bytes_read();
	cr_assert(eq(int, assemble(r.dir), 0));
	if (before)
		cr_expect(bytes_read() - before < 3 * bytes, "%llu bytes were read of a stream of %llu",
			  (unsigned long long)(bytes_read() - before), (unsigned long long)bytes);
	expect_text(rb_definitions, r.dir,
		    "location 50 STREAM CUDA[0:7] lane 50 in CUDA Context 1: 800 events");
	events = rb_events(r.dir);
	cr_assert(events && strstr(events, "\n50 590 ENTER kernel [CORRELATION_ID=49]\n"
					   "50 1090 LEAVE kernel\n"));
	free(events);
	remove_run(&r);
}
