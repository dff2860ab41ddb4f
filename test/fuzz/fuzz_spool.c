/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libFuzzer target: a valid spool, damaged as the input says, is assembled. It must neither crash
 * nor hang, and an archive that is called complete must be readable.
 *
 * test/fuzz/run 60 spool
 *
 * Input: edits of eight bytes each: file, kind, offset (16 bit), value (32 bit). Journal records get
 * a right check again after the edits, so that their contents are reached.
 *
 * Limits: works below TMPDIR (best a tmpfs). Leaks are allowed: an archive that libotf2 has failed
 * on is left as it is. The first pattern leaves out test/.
 *
 * fuzz-sources: [!t]*[a-z]/assemble/?*.c lib/assemble/?*[a-z]/?*.c lib/read/?*.c
 * fuzz-sources: lib/common/demangle.c lib/common/demangle_name.c lib/common/filter.c
 * fuzz-sources: lib/common/filter_match.c lib/common/pack.c lib/common/process.c
 * fuzz-sources: lib/common/settings.c lib/common/settings_names.c lib/common/sized.c lib/common/text.c
 * fuzz-sources: launchers/job.c
 * fuzz-sources: test/unit/mkspool.c test/unit/readback.c
 * fuzz-flags: -lotf2 -ldw -lelf -lstdc++ -lpthread -ldl
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/assemble/assemble.h"
#include "lib/assemble/spool/journal.h"
#include "test/unit/mkspool.h"
#include "test/unit/readback.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

#define FILES 10
#define BEGIN UINT64_C(1000000)
#define AT(ns) (BEGIN + 2 * (uint64_t)(ns))

static const char *const names[FILES] = {
	"run",		    "p0001.4711/proc",	"p0001.4711/l0.win",
	"p0001.4711/l0.raw", "p0001.4711/l1.win", "p0002.4712/proc",
	"p0001.4711/l2.win", "p0001.4711/l3.win", "p0001.4711/l4.win",
	"p0002.4712/l0.win",
};

static void threads(struct mk_proc *p, uint32_t region, uint32_t metric, uint32_t text)
{
	struct mk_loc *l = mk_loc(p, 0, 4096, 0, BEGIN), *m = mk_loc(p, 1, 4096, 4096, BEGIN);

	mk_record(l, AT(1), GT_T_THREAD_CREATE, 0, (uint64_t[]){ 7, 0 }, 1);
	for (unsigned k = 0; k < 100; k++) {
		mk_enter(l, AT(10 * k + 10), region);
		mk_record(l, AT(10 * k + 11), GT_T_METRIC, metric, (uint64_t[]){ k, 0 }, 1);
		mk_record(l, AT(10 * k + 12), GT_T_COMMENT, 0, (uint64_t[]){ text, 0 }, 1);
		mk_slot(l, AT(10 * k + 13), GT_WORD(GT_T_ENTER_ADDR, 0x1000 + k));
		mk_slot(l, AT(10 * k + 14), GT_WORD(GT_T_LEAVE_ADDR, 0x1000 + k));
		mk_record(l, AT(10 * k + 15), GT_T_USER_SEND, 1, (uint64_t[]){ k, 10 }, 1);
		mk_leave(l, AT(10 * k + 16), region);
		mk_record(l, AT(10 * k + 16), GT_T_SAMPLE,
			  GT_SAMPLE_LOW(k, k % 16, k % 4 > 1, k),
			  (uint64_t[]){ GT_FRAME_WORD(1, 0x1000 + k), GT_FRAME_WORD(0, 0x2000) }, 1);
		mk_record(m, AT(10 * k + 17), GT_T_USER_RECV, 1, (uint64_t[]){ k, 10 }, 1);
		mk_record(m, AT(10 * k + 18), GT_T_LOCK_ACQUIRE, 0x7000, (uint64_t[]){ k, 0 }, 1);
		mk_slot(m, AT(10 * k + 19), GT_WORD(k % 2 ? GT_T_ON : GT_T_OFF, 0));
	}
	mk_loc_close(l);
	mk_loc_close(m);
}

/* A GPU's stream, out of order and overlapping, and what arrives late for the first thread. */
static void gpu(struct mk_proc *p, uint32_t region)
{
	struct gt_def_locgroup context = { .kind = 1, .name = mk_string(p, "context") };
	struct gt_def_shared comm = { .name = mk_string(p, "GPU_COMM_GLOBAL"), .paradigm = 5 };
	struct gt_def_attribute attribute = { .name = comm.name, .type = 4 };
	struct {
		struct gt_def_params set;
		struct gt_def_param param[2];
	} params = { .set = { .count = 2 },
		     .param = { { GT_T_PARAM_UINT, 1, 5 }, { GT_T_PARAM_STR, 1, 1 } } };
	uint32_t id = mk_def(p, GT_D_LOCGROUP, 0, &context, sizeof(context));
	uint32_t window = mk_def(p, GT_D_WINDOW, 0, &comm, sizeof(comm));
	uint32_t channel = mk_def(p, GT_D_COMM, 0, &comm, sizeof(comm)), set;
	struct mk_loc *s = mk_loc_kind(p, 2, GT_LOC_GPU_STREAM, "CUDA[0:7]", id);
	struct mk_loc *late = mk_loc_kind(p, 3, GT_LOC_DEFERRED, NULL, 0);

	mk_def(p, GT_D_PARAMETER, 0, &attribute, sizeof(attribute));
	id = mk_def(p, GT_D_ATTRIBUTE, 0, &attribute, sizeof(attribute));
	set = mk_def(p, GT_D_PARAMS, 0, &params, sizeof(params));
	for (unsigned k = 0; k < 30; k++) {
		uint64_t from = AT(10 * (k ^ 3) + 5), to = from + 2 * (k % 4 == 1 ? 25 : 8);

		mk_record(s, from, GT_T_ATTR, id, (uint64_t[]){ k, 0 }, 1);
		mk_slot(s, from, GT_WORD(GT_T_TAG, (uint64_t)id << 32 | k));
		mk_slot(s, from, GT_WOKEN_WORD(k, from - k));
		mk_enter(s, from, region);
		mk_record(s, from, GT_T_PARAMS, set, NULL, 0);
		mk_record(s, from, GT_T_XFER_SEND, channel, (uint64_t[]){ (uint64_t)k << 32, 64 }, 1);
		mk_record(s, from, GT_T_XFER_PUT, window, (uint64_t[]){ 0, 8, k, 0 }, 2);
		mk_record(s, to, GT_T_XFER_COMPLETE, window, (uint64_t[]){ 0, 0, k, 0 }, 2);
		mk_leave(s, to, region);
		mk_record(late, to, GT_T_FOR_LOCATION, 0, NULL, 0);
		mk_record(late, to, GT_T_XFER_RECV, channel, (uint64_t[]){ 2 | (uint64_t)k << 32, 64 },
			  1);
		mk_record(late, from, GT_T_FOR_LOCATION, k % 2, NULL, 0);
		mk_slot(late, from, GT_WORD(k % 4 < 2 ? GT_T_ENTER : GT_T_LEAVE, region));
	}
	mk_loc_close(s);
	mk_loc_close(late);
}

/* Records of the adapters' own kinds, and the properties that go with them. */
static void own(struct mk_proc *p, struct mk_loc *l)
{
	static const struct {
		const char *adapter, *name;
		unsigned extra;
		uint64_t data[6];
	} records[] = {
		{ "cuda", "cubin", 3, { 5, 16, 0, 16, 0x464c457f, 0 } },
		{ "cuda", "pc_reason", 1, { 14, 1 } },
		{ "cuda", "pc", 3, { 5, 16, UINT64_C(7) << 32 | 1, UINT64_C(9) << 32 | 1 << 8 | 16,
				     UINT64_C(14) << 32 | 3, 0 } },
		{ "cuda", "pc_drain", 3, { 3, 1, 0, UINT64_C(1) << 32, 16 | 1 << 8, UINT64_C(1) << 32 | 1 } },
		{ "cuda", "sass_metric", 1, { 1, 1 } },
		{ "cuda", "sass", 3, { 5, 16, UINT64_C(7) << 32 | 1, UINT64_C(1) << 32, 1, 100 } },
		{ "openmp", "fork", 1, { 4, 0 } },
		{ "openmp", "team", 1, { 0, 4 } },
		{ "openmp", "task", 1, { 0, 1 } },
		{ "openmp", "task", 1, { 1, 1 } },
		{ "openmp", "join", 1, { 0, 0 } },
		{ "nccl", "request", 2, { 1, 0, 0, 0 } },
		{ "nccl", "complete", 2, { 2, 64, 1, 0 } },
		{ "nccl", "send", 2, { 0, 64, 2, 0 } },
		{ "nccl", "receive", 2, { 1, 64, 3, 0 } },
	};

	for (unsigned k = 0; k < 3; k++)
		for (unsigned i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
			struct gt_def_record def = { .adapter = mk_string(p, records[i].adapter),
						     .name = mk_string(p, records[i].name) };
			uint32_t id = mk_def(p, GT_D_RECORD, 0, &def, sizeof(def));

			mk_record(l, AT(1000 + 20 * k + i), GT_T_OWN, id, records[i].data,
				  records[i].extra);
		}
}

/* Samples of one process, counts of another, and two ranks of NCCL. */
static void own_records(struct mk_proc *p, struct mk_proc *q)
{
	struct mk_loc *l = mk_loc_kind(p, 4, GT_LOC_METRIC, "CUDA PC sampling", 0), *m;

	mk_property(p, "cuda:pc_sampling", "continuous");
	mk_property(q, "cuda:sass", "counted");
	mk_property(q, "cuda:sass_unfetched", "1");
	mk_property(q, "cuda:device 0", "GPU");
	mk_property(p, "nccl-row 4", "collectives 17 2 0 comm");
	mk_property(q, "nccl-row 0", "collectives 17 2 1 comm");
	m = mk_loc_kind(q, 0, GT_LOC_METRIC, "CUDA SASS metrics", 0);
	own(p, l);
	own(q, m);
	mk_loc_close(l);
	mk_loc_close(m);
}

static const char *make_spool(void)
{
	const char *dir = mk_run();
	struct mk_proc *p = mk_proc(dir, 1, 4711, "prog", BEGIN);
	struct mk_proc *q = mk_proc(dir, 2, 4712, "child", AT(50));
	struct gt_def_metric metric = { .name = mk_string(p, "count"), .value = 4 };
	struct gt_def_shared comm = { .name = mk_string(p, "channel"), .paradigm = 1 };
	struct gt_def_cut cut = { .location = 0, .from = 640, .to = 1280 };
	uint32_t region = mk_region(p, "alpha"), id;

	id = mk_def(p, GT_D_METRIC, 0, &metric, sizeof(metric));
	mk_def(p, GT_D_COMM, 0, &comm, sizeof(comm));
	mk_def(p, GT_D_CUT, 0, &cut, sizeof(cut));
	mk_module(p, AT(1), 0x1000, 0x9000, 0, "/proc/self/exe");
	mk_property(p, "setting:VT_MODE", "TRACE");
	mk_property(p, "sampling:period", "1000000");
	mk_property(p, "setting:VT_GPUTRACE", "yes,idle,pure_idle");
	threads(p, region, id, metric.name);
	gpu(p, region);
	own_records(p, q);
	q->header.parent_seq = 1;
	q->header.origin = 1;
	mk_proc_end(q, GT_END__EXIT, 1, AT(900));
	mk_proc_free(p);
	mk_proc_free(q);
	return dir;
}

static void edit(const char *dir, const uint8_t *op)
{
	char path[700];
	struct stat st;
	uint32_t value;
	uint16_t offset;
	int fd;

	snprintf(path, sizeof(path), "%s/spool/%s", dir, names[op[0] % FILES]);
	fd = open(path, O_RDWR);
	if (fd < 0 || fstat(fd, &st))
		abort();
	memcpy(&offset, op + 2, sizeof(offset));
	memcpy(&value, op + 4, sizeof(value));
	if (op[1] % 16 == 0) {
		if (ftruncate(fd, offset % (st.st_size + 1)))
			abort();
	} else if (st.st_size > 0) {
		off_t at = offset % st.st_size;
		size_t n = op[1] % 4 + 1;

		/* windows have their slots behind the first page */
		if (op[1] & 0x40 && st.st_size > GT_PAGE)
			at = GT_PAGE + at % (st.st_size - GT_PAGE);
		if (pwrite(fd, &value, n, at) != (ssize_t)n)
			abort();
	}
	close(fd);
}

static void repair_checks(const char *dir, const char *name)
{
	static unsigned char data[1 << 16];
	char path[700];
	size_t at = GT_DEFS_AT + sizeof(struct gt_file_header);
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/spool/%s", dir, name);
	fd = open(path, O_RDWR);
	n = fd < 0 ? -1 : read(fd, data, sizeof(data));
	while (n > 0 && at + sizeof(struct gt_def) <= (size_t)n) {
		struct gt_def def;

		memcpy(&def, data + at, sizeof(def));
		if (def.bytes < sizeof(def) || def.bytes % 8 || def.bytes > (size_t)n - at)
			break;
		def.check = gt_fnv32(gt_fnv32(GT_FNV_START, &def, 12), data + at + sizeof(def),
				     def.bytes - sizeof(def));
		memcpy(data + at, &def, sizeof(def));
		at += def.bytes;
	}
	if (n > 0 && pwrite(fd, data, (size_t)n, 0) != n)
		abort();
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gt_assemble_options options = { .threads = 1, .verbose = -1 };
	const char *dir = make_spool();

	for (; size >= 8; data += 8, size -= 8)
		edit(dir, data);
	repair_checks(dir, "p0001.4711/proc");
	repair_checks(dir, "p0002.4712/proc");
	if (!gt_assemble(dir, &options)) {
		char *events = rb_events(dir);

		if (!events)
			abort();
		free(events);
	}
	mk_remove(dir);
	return 0;
}
