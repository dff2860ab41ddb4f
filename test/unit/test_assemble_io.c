/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The assembly of I/O records from made-up spools: handles, operations in one slot or several, what did
 * not come back, what names no handle.
 *
 * Limits: as test_assemble.c.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/unit/expect.h"

enum { READ = 0, WRITE = 1 };

struct io_run {
	const char *dir;
	struct mk_proc *p;
	struct mk_loc *l;
	uint32_t read, write; /* regions */
};

static struct io_run io_run(void)
{
	struct io_run r = { .dir = mk_run() };

	r.p = usual(r.dir);
	r.l = mk_loc(r.p, 0, 4096, 0, BEGIN);
	r.read = mk_region(r.p, "read");
	r.write = mk_region(r.p, "write");
	return r;
}

static void done(struct io_run *r)
{
	mk_loc_close(r->l);
	mk_proc_end(r->p, GT_END_EXIT, 0, AT(1000));
}

static void gone(struct io_run *r)
{
	mk_proc_free(r->p);
	mk_remove(r->dir);
}

static uint32_t handle(struct mk_proc *p, const char *name, uint32_t paradigm, uint32_t flags)
{
	struct gt_def_shared def = { .name = mk_string(p, name), .paradigm = paradigm, .flags = flags };

	return mk_def(p, GT_D_HANDLE, 0, &def, sizeof(def));
}

/* Enters a region with an operation, and leaves it. */
static void enter(struct io_run *r, uint64_t tick, unsigned mode, uint32_t at, uint32_t bytes)
{
	mk_slot(r->l, tick, GT_IO_WORD(GT_T_IO_ENTER, mode, mode == READ ? r->read : r->write, at, bytes));
}

static void leave(struct io_run *r, uint64_t tick, unsigned mode, uint32_t at, uint32_t bytes)
{
	mk_slot(r->l, tick, GT_IO_WORD(GT_T_IO_LEAVE, 0, mode == READ ? r->read : r->write, at, bytes));
}

/* A record of two more slots. */
static void record(struct io_run *r, uint64_t tick, unsigned type, uint32_t at, uint64_t a, uint64_t b,
		   uint64_t c, uint64_t d)
{
	mk_record(r->l, tick, type, at, (uint64_t[]){ a, b, c, d }, 2);
}

#define FIRST "0 0 BEGIN prog [ProcessId=4711]\n"
#define LAST  "0 1000 END 0 [ProcessId=4711]\n"

Test(io, operations)
{
	struct io_run r = io_run();
	uint32_t file = handle(r.p, "/tmp/file", 1, GT_HANDLE_FILE), pipe = handle(r.p, "pipe:[7]", 1, 0);

	enter(&r, AT(10), WRITE, file, 100);
	leave(&r, AT(20), WRITE, file, 60);
	enter(&r, AT(30), READ, pipe, GT_IO_UNKNOWN);
	leave(&r, AT(40), READ, pipe, 0);
	/* One inside of the other, as getline() that reads from a handle of its own. */
	enter(&r, AT(50), READ, file, 8);
	enter(&r, AT(60), READ, pipe, 9);
	leave(&r, AT(70), READ, pipe, 9);
	leave(&r, AT(80), READ, file, 8);
	done(&r);
	expect_events(r.dir, FIRST
		      "0 10 ENTER write\n0 10 IO /tmp/file mode 1 flags 0 bytes 100 id 1\n"
		      "0 20 DONE /tmp/file bytes 60 id 1\n0 20 LEAVE write\n"
		      "0 30 ENTER read\n0 30 IO pipe:[7] mode 0 flags 0 bytes -1 id 2\n"
		      "0 40 DONE pipe:[7] bytes 0 id 2\n0 40 LEAVE read\n"
		      "0 50 ENTER read\n0 50 IO /tmp/file mode 0 flags 0 bytes 8 id 3\n"
		      "0 60 ENTER read\n0 60 IO pipe:[7] mode 0 flags 0 bytes 9 id 4\n"
		      "0 70 DONE pipe:[7] bytes 9 id 4\n0 70 LEAVE read\n"
		      "0 80 DONE /tmp/file bytes 8 id 3\n0 80 LEAVE read\n" LAST);
	expect_text(rb_definitions, r.dir, "io 0 POSIX POSIX I/O\nio 1 ISOC ISO C I/O\n");
	expect_text(rb_definitions, r.dir, "file 0 /tmp/file\n");
	expect_text(rb_definitions, r.dir, "handle 0 POSIX /tmp/file file 0\n");
	expect_text(rb_definitions, r.dir, "handle 1 POSIX pipe:[7] file -1\n");
	expect_property(r.dir, "UNKNOWN_RECORDS=0");
	gone(&r);
}

/* More bytes than one slot can tell: records of their own, with ids of their own. */
Test(io, large)
{
	struct io_run r = io_run();
	uint32_t file = handle(r.p, "/tmp/file", 2, GT_HANDLE_FILE);
	uint64_t id = UINT64_C(1) << 63 | 5;

	mk_enter(r.l, AT(10), r.read);
	record(&r, AT(10), GT_T_IO_BEGIN, file, READ, UINT64_C(1) << 40, id, 0);
	record(&r, AT(30), GT_T_IO_COMPLETE, file, 0, 0, id, UINT64_C(3) << 30);
	mk_leave(r.l, AT(30), r.read);
	/* It began in one slot and moved more than that can tell. */
	enter(&r, AT(40), READ, file, 1);
	record(&r, AT(50), GT_T_IO_COMPLETE, file, 0, 0, 0, UINT64_C(1) << 33);
	mk_leave(r.l, AT(50), r.read);
	done(&r);
	expect_events(r.dir, FIRST
		      "0 10 ENTER read\n"
		      "0 10 IO /tmp/file mode 0 flags 0 bytes 1099511627776 id 8000000000000005\n"
		      "0 30 DONE /tmp/file bytes 3221225472 id 8000000000000005\n0 30 LEAVE read\n"
		      "0 40 ENTER read\n0 40 IO /tmp/file mode 0 flags 0 bytes 1 id 1\n"
		      "0 50 DONE /tmp/file bytes 8589934592 id 1\n0 50 LEAVE read\n" LAST);
	expect_text(rb_definitions, r.dir, "handle 0 ISOC /tmp/file file 0\n");
	gone(&r);
}

Test(io, handles)
{
	struct io_run r = io_run();
	uint32_t out = handle(r.p, "/dev/tty", 1,
			      GT_HANDLE_FOUND | GT_HANDLE_FILE | 2u << GT_HANDLE_MODE_SHIFT |
				      6u << GT_HANDLE_STATUS_SHIFT);
	uint32_t file = handle(r.p, "/tmp/file", 1, GT_HANDLE_FILE);
	uint32_t again = handle(r.p, "/tmp/file", 1, GT_HANDLE_FILE);

	record(&r, AT(10), GT_T_IO_OPEN, file, 1 | (uint64_t)(3 | 2 << 16) << 32, 0, 0, 0);
	record(&r, AT(20), GT_T_IO_SEEK, file, 2, (uint64_t)-5, 0, 95);
	record(&r, AT(30), GT_T_IO_SEEK, file, 0, 7, 0, UINT64_MAX);
	record(&r, AT(40), GT_T_IO_DUP, file, 1, 0, again, 0);
	mk_record(r.l, AT(50), GT_T_IO_DUP, file, (uint64_t[]){ 1, again, 0, 0 }, 2);
	record(&r, AT(60), GT_T_IO_CLOSE, file, 0, 0, 0, 0);
	record(&r, AT(70), GT_T_IO_CLOSE, out, 0, 0, 0, 0);
	done(&r);
	expect_events(r.dir, FIRST
		      "0 10 OPEN /tmp/file mode 1 creation 3 status 2\n"
		      "0 20 SEEK /tmp/file -5 whence 2 at 95\n0 30 SEEK /tmp/file 7 whence 0 at -1\n"
		      "0 50 DUP /tmp/file to 1 /tmp/file status 1\n"
		      "0 60 CLOSE /tmp/file\n0 70 CLOSE /dev/tty\n" LAST);
	/* The one at 40 names no handle where the new one should be. */
	expect_property(r.dir, "UNKNOWN_RECORDS=1");
	expect_text(rb_definitions, r.dir, "handle 2 POSIX /dev/tty file 1 found\n");
	expect_text(rb_definitions, r.dir, "found 2 mode 2 status 6\n");
	gone(&r);
}

/* Operations that were left by longjmp or in a killed thread are not completed by another's end. */
Test(io, left_open)
{
	struct io_run r = io_run();
	uint32_t a = handle(r.p, "a", 1, 0), b = handle(r.p, "b", 1, 0);

	enter(&r, AT(10), READ, a, 1);
	enter(&r, AT(20), READ, b, 2); /* never comes back */
	leave(&r, AT(30), READ, a, 1);
	leave(&r, AT(40), READ, b, 2); /* of nothing */
	for (unsigned i = 0; i < 300; i++)
		enter(&r, AT(50 + i), WRITE, a, 3);
	leave(&r, AT(400), WRITE, a, 3);
	done(&r);
	cr_assert(eq(int, assemble(r.dir), 0));
	expect_text(rb_events, r.dir, "0 30 DONE a bytes 1 id 1\n");
	expect_no_text(rb_events, r.dir, "DONE b");
	expect_text(rb_events, r.dir, "0 400 DONE a bytes 3 id 12e\n"); /* the last of 302 */
	gone(&r);
}

Test(io, without_handle)
{
	struct io_run r = io_run();
	uint32_t a = handle(r.p, "a", 1, 0), odd = handle(r.p, "odd", 3, 0);

	enter(&r, AT(10), READ, a + 100, 1);
	leave(&r, AT(20), READ, a + 100, 1);
	enter(&r, AT(30), READ, odd, 1); /* a paradigm that nobody knows */
	leave(&r, AT(40), READ, odd, 1);
	record(&r, AT(50), GT_T_IO_CLOSE, a + 100, 0, 0, 0, 0);
	mk_record(r.l, AT(60), GT_T_IO_CLOSE, a, (uint64_t[]){ 0, 0 }, 1); /* cut short */
	record(&r, AT(70), GT_T_IO_CLOSE, a, 0, 0, 0, 0);
	done(&r);
	expect_events(r.dir, FIRST "0 10 ENTER read\n0 20 LEAVE read\n0 30 ENTER read\n0 40 LEAVE read\n"
				   "0 70 CLOSE a\n" LAST);
	expect_property(r.dir, "UNKNOWN_RECORDS=6");
	gone(&r);
}

/* Two processes count their handles alone. */
Test(io, two_processes)
{
	struct io_run r = io_run();
	struct mk_proc *other = mk_proc(r.dir, 2, 4712, "other", AT(5));
	struct mk_loc *l = mk_loc(other, 0, 4096, 0, AT(5));
	uint32_t a = handle(r.p, "mine", 1, 0), b = handle(other, "its", 1, 0);
	uint32_t region = mk_region(other, "write");

	cr_assert(eq(u32, a, b));
	enter(&r, AT(10), WRITE, a, 1);
	leave(&r, AT(20), WRITE, a, 1);
	mk_slot(l, AT(12), GT_IO_WORD(GT_T_IO_ENTER, WRITE, region, b, 2));
	mk_slot(l, AT(22), GT_IO_WORD(GT_T_IO_LEAVE, 0, region, b, 2));
	mk_loc_close(l);
	mk_proc_end(other, GT_END_EXIT, 0, AT(990));
	done(&r);
	cr_assert(eq(int, assemble(r.dir), 0));
	expect_text(rb_events, r.dir, "0 20 DONE mine bytes 1 id 1\n");
	expect_text(rb_events, r.dir, " 22 DONE its bytes 2 id 1\n");
	mk_proc_free(other);
	gone(&r);
}
