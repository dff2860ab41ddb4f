/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lib/read on an archive as other tools write it: sparse numbers, a mapping table, a clock offset, another
 * resolution; then with its files cut and damaged.
 *
 * Limits: what gputrace writes is read in the tests of the assembly, what rules can be broken in
 * test/check/check.test.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/redirect.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/assemble/util/memory.h"
#include "lib/read/guard.h"
#include "lib/read/read.h"
#include "test/unit/mkspool.h"

/* As Score-P numbers the second thread of a process. */
#define FIRST  UINT64_C(7)
#define SECOND ((UINT64_C(1) << 32) + 7)
enum { BEGIN = 1000, RESOLUTION = 500000000, OUTER = 40, INNER = 9, LOCAL = 0, WORLD = 3, VALUE = 2 };
enum { CHUNK = 1 << 18, MANY = 60000 };

/* ---- writing ----------------------------------------------------------------------------------- */

static OTF2_FlushType flush(void *user, OTF2_FileType type, OTF2_LocationRef location, void *caller,
			    bool final)
{
	(void)user, (void)type, (void)location, (void)caller, (void)final;
	return OTF2_FLUSH;
}

static void write_events(OTF2_Archive *archive, uint64_t location)
{
	OTF2_EvtWriter *w = OTF2_Archive_GetEvtWriter(archive, location);
	OTF2_AttributeList *list = OTF2_AttributeList_New();

	OTF2_EvtWriter_Enter(w, NULL, BEGIN, LOCAL); /* the table makes OUTER of it */
	OTF2_AttributeList_AddUint64(list, VALUE, 77);
	OTF2_EvtWriter_Enter(w, list, BEGIN + 10, INNER);
	OTF2_EvtWriter_MpiSend(w, NULL, BEGIN + 20, location == FIRST, WORLD, 5, 100);
	OTF2_EvtWriter_Leave(w, NULL, BEGIN + 30, INNER);
	OTF2_EvtWriter_Leave(w, NULL, BEGIN + 100, LOCAL);
	OTF2_AttributeList_Delete(list);
	OTF2_Archive_CloseEvtWriter(archive, w);
}

static void write_local(OTF2_Archive *archive, uint64_t location)
{
	OTF2_DefWriter *w = OTF2_Archive_GetDefWriter(archive, location);
	OTF2_IdMap *map = OTF2_IdMap_Create(OTF2_ID_MAP_SPARSE, 1);

	OTF2_IdMap_AddIdPair(map, LOCAL, OUTER);
	OTF2_DefWriter_WriteMappingTable(w, OTF2_MAPPING_REGION, map);
	if (location == SECOND) {
		OTF2_DefWriter_WriteClockOffset(w, BEGIN, 50, 0);
		OTF2_DefWriter_WriteClockOffset(w, BEGIN + 100, 50, 0);
	}
	OTF2_IdMap_Free(map);
	OTF2_Archive_CloseDefWriter(archive, w);
}

static void write_definitions(OTF2_Archive *archive)
{
	static const char *const strings[] = { "",	  "outer", "inner", "value", "host",
					       "Process", "one",   "two",   "WORLD" };
	OTF2_GlobalDefWriter *w = OTF2_Archive_GetGlobalDefWriter(archive);
	const uint64_t locations[] = { FIRST, SECOND }, ranks[] = { 0, 1 };

	OTF2_GlobalDefWriter_WriteClockProperties(w, RESOLUTION, BEGIN, 200, UINT64_C(1700000000000000000));
	for (uint32_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
		OTF2_GlobalDefWriter_WriteString(w, 10 * i, strings[i]);
	OTF2_GlobalDefWriter_WriteAttribute(w, VALUE, 30, OTF2_UNDEFINED_STRING, OTF2_TYPE_UINT64);
	OTF2_GlobalDefWriter_WriteSystemTreeNode(w, 0, 40, 40, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
	OTF2_GlobalDefWriter_WriteLocationGroup(w, 0, 50, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
						OTF2_UNDEFINED_LOCATION_GROUP);
	OTF2_GlobalDefWriter_WriteLocation(w, FIRST, 60, OTF2_LOCATION_TYPE_CPU_THREAD, 5, 0);
	OTF2_GlobalDefWriter_WriteLocation(w, SECOND, 70, OTF2_LOCATION_TYPE_CPU_THREAD, 5, 0);
	OTF2_GlobalDefWriter_WriteRegion(w, OUTER, 10, OTF2_UNDEFINED_STRING, 0, OTF2_REGION_ROLE_FUNCTION,
					 OTF2_PARADIGM_USER, 0, 999, 3, 4);
	OTF2_GlobalDefWriter_WriteRegion(w, INNER, 20, 20, 0, OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_USER,
					 0, OTF2_UNDEFINED_STRING, 0, 0);
	OTF2_GlobalDefWriter_WriteGroup(w, 4, 0, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI, 0, 2,
					locations);
	OTF2_GlobalDefWriter_WriteGroup(w, 5, 80, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, 0, 2, ranks);
	OTF2_GlobalDefWriter_WriteComm(w, WORLD, 80, 5, OTF2_UNDEFINED_COMM, 0);
	OTF2_GlobalDefWriter_WriteLocationProperty(w, SECOND, 30, OTF2_TYPE_STRING,
						   (OTF2_AttributeValue){ .stringRef = 40 });
	OTF2_Archive_CloseGlobalDefWriter(archive, w);
}

/* More events than a chunk holds. */
static void write_many(OTF2_Archive *archive, uint64_t location)
{
	OTF2_EvtWriter *w = OTF2_Archive_GetEvtWriter(archive, location);

	for (unsigned i = 0; i < MANY; i++)
		OTF2_EvtWriter_Enter(w, NULL, BEGIN + i, INNER);
	OTF2_Archive_CloseEvtWriter(archive, w);
}

static void write_archive(const char *dir, void (*write_one)(OTF2_Archive *archive, uint64_t location))
{
	static const OTF2_FlushCallbacks callbacks = { .otf2_pre_flush = flush };
	OTF2_Archive *archive = OTF2_Archive_Open(dir, "traces", OTF2_FILEMODE_WRITE, CHUNK, 1 << 22,
						  OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);

	cr_assert(archive != NULL);
	OTF2_Archive_SetFlushCallbacks(archive, &callbacks, NULL);
	OTF2_Archive_SetSerialCollectiveCallbacks(archive);
	OTF2_Archive_SetCreator(archive, "test");
	OTF2_Archive_SetProperty(archive, "TEST::KEY", "of the archive", true);
	OTF2_Archive_OpenEvtFiles(archive);
	write_one(archive, FIRST);
	write_events(archive, SECOND);
	OTF2_Archive_CloseEvtFiles(archive);
	OTF2_Archive_OpenDefFiles(archive);
	write_local(archive, FIRST);
	write_local(archive, SECOND);
	OTF2_Archive_CloseDefFiles(archive);
	write_definitions(archive);
	OTF2_Archive_Close(archive);
}

/* ---- reading ----------------------------------------------------------------------------------- */

static struct seen {
	FILE *out;
	unsigned faults[GT_OTF2_FAULTS];
} seen;

struct words {
	char text[1000];
	size_t used;
};

static void say(struct gt_otf2_cursor *at, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct gt_otf2_cursor *at, const char *format, ...)
{
	struct words *words = at->state;
	va_list args;

	words->used += (size_t)snprintf(words->text + words->used, 100, "%" PRIu64 " ", at->time);
	va_start(args, format);
	words->used += (size_t)vsnprintf(words->text + words->used, 100, format, args);
	va_end(args);
}

static void on_enter(struct gt_otf2_cursor *at)
{
	OTF2_AttributeValue value = { .uint64 = 0 };

	gt_otf2_attribute(at, gt_otf2_attribute_named(at->read, "value"), OTF2_TYPE_UINT64, &value);
	say(at, "enter %s depth %zu value %" PRIu64 "\n", at->stack[at->depth - 1].region->name, at->depth,
	    value.uint64);
}

static void on_leave(struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame)
{
	say(at, "leave %s %" PRIu64 " %" PRIu64 "\n", frame->region->name, gt_otf2_inclusive(at, frame),
	    gt_otf2_exclusive(at, frame));
}

static void on_event(struct gt_otf2_cursor *at, const struct gt_otf2_event *e)
{
	uint64_t own = gt_otf2_own(at->read, WORLD, at->location->id);

	if (e->type == GT_OTF2_MpiSend)
		say(at, "send to %" PRIu64 " %" PRIu64 " bytes\n",
		    gt_otf2_member(at->read, e->MpiSend.comm, e->MpiSend.peer, own), e->MpiSend.bytes);
}

static void on_merge(struct gt_otf2_cursor *at)
{
	if (seen.out)
		fprintf(seen.out, "%s of %s:\n%s", at->location->name,
			gt_otf2_find_location_group(at->read, at->location->group)->name,
			((struct words *)at->state)->text);
}

__attribute__((format(printf, 4, 0)))
static void on_fault(void *user, struct gt_otf2_cursor *at, enum gt_otf2_fault fault, const char *format,
		     va_list args)
{
	char text[500];

	(void)user, (void)at;
	vsnprintf(text, sizeof(text), format, args);
	__atomic_add_fetch(&seen.faults[fault], 1, __ATOMIC_RELAXED);
}

static const struct gt_otf2_visitor visitor = {
	.state_size = sizeof(struct words),
	.enter = on_enter,
	.leave = on_leave,
	.event = on_event,
	.merge = on_merge,
	.fault = on_fault,
};
static const struct gt_otf2_visitor silent = { .fault = on_fault };

static char *anchor_of(const char *dir)
{
	static char path[600];

	snprintf(path, sizeof(path), "%s/traces.otf2", dir);
	return path;
}

Test(read, sparse_mapped_and_shifted)
{
	char *dir = strdup("/tmp/gtread.XXXXXX"), *text = NULL;
	const struct gt_otf2_region *outer;
	struct gt_otf2 *read;
	size_t size;

	cr_assert(mkdtemp(dir) != NULL);
	write_archive(dir, write_events);
	seen.out = open_memstream(&text, &size);
	read = gt_otf2_open(anchor_of(dir), &(struct gt_otf2_options){ .visitor = &visitor, .threads = 2 });
	cr_assert(read != NULL);
	cr_assert(eq(str, (char *)gt_otf2_find_owned(read, GT_OTF2_KINDS, GT_OTF2_NOTHING, "TEST::KEY")->text,
		     "of the archive"));
	cr_assert(eq(int, gt_otf2_definitions(read), 0));
	outer = gt_otf2_find_region(read, OUTER);
	cr_assert(eq(str, (char *)outer->name, "outer"));
	cr_assert(eq(str, (char *)outer->canonical, ""), "what is not named");
	cr_assert(eq(str, (char *)outer->file, "?"), "what is not defined");
	cr_assert(gt_otf2_find_region(read, 0) == NULL);
	cr_assert(eq(str, (char *)gt_otf2_find_owned(read, GT_OTF2_LOCATION, SECOND, "value")->text, "host"));
	cr_assert(eq(sz, gt_otf2_comm_size(read, WORLD), 2));
	cr_assert(eq(u64, read->realtime, UINT64_C(1700000000000000000)));
	cr_assert(eq(int, gt_otf2_events(read), 0));
	gt_otf2_close(read);
	fclose(seen.out);
	cr_assert(eq(str, text,
		     "one of Process:\n0 enter outer depth 1 value 0\n20 enter inner depth 2 value 77\n"
		     "40 send to 4294967303 100 bytes\n60 leave inner 40 40\n200 leave outer 200 160\n"
		     "two of Process:\n100 enter outer depth 1 value 0\n120 enter inner depth 2 value 77\n"
		     "140 send to 7 100 bytes\n160 leave inner 40 40\n300 leave outer 200 160\n"));
	/* Strings 10 to 80, one attribute, two regions, two groups, a communicator; file 999. */
	cr_assert(eq(uint, seen.faults[GT_OTF2_ORDER], 14));
	cr_assert(eq(uint, seen.faults[GT_OTF2_REFERENCES], 1));
	cr_assert(eq(uint,
		     seen.faults[GT_OTF2_FILES] + seen.faults[GT_OTF2_EVENTS] + seen.faults[GT_OTF2_RANGE],
		     0));
	free(text);
	mk_remove(dir);
}

/* ---- damage ------------------------------------------------------------------------------------ */

static void count_enter(struct gt_otf2_cursor *at)
{
	if (at->location->id == FIRST)
		*(uint64_t *)at->user = at->event;
}

static int count_all(const char *anchor, void *argument, FILE *out)
{
	static const struct gt_otf2_visitor counting = { .enter = count_enter, .fault = on_fault };
	uint64_t count = 0;
	struct gt_otf2 *read =
		gt_otf2_open(anchor, &(struct gt_otf2_options){ .visitor = &counting, .user = &count });

	(void)argument;
	gt_otf2_definitions(read);
	fprintf(out, "%d ", gt_otf2_events(read));
	fprintf(out, "%" PRIu64 " events, %u faults in files, %u in time\n", count,
		seen.faults[GT_OTF2_FILES], seen.faults[GT_OTF2_TIME]);
	return 0;
}

/* libotf2 reads the last chunk before the cut for ever. Each event there is is read once. */
Test(read, cut_between_chunks, .timeout = 60, .init = cr_redirect_stdout)
{
	char *dir = strdup("/tmp/gtread.XXXXXX"), path[700], expected[100];
	const char *reason = "";
	unsigned char last[2];
	int fd;

	cr_assert(mkdtemp(dir) != NULL);
	write_archive(dir, write_many);
	snprintf(path, sizeof(path), "%s/traces/%" PRIu64 ".evt", dir, FIRST);
	fd = open(path, O_RDWR | O_CLOEXEC);
	cr_assert(eq(int, ftruncate(fd, 2 * CHUNK), 0), "three chunks");
	cr_assert(eq(long, pread(fd, last, 2, CHUNK + 10), 2),
		  "where the second says which event is its last");
	close(fd);
	snprintf(expected, sizeof(expected), "%d %u events, 1 faults in files, 0 in time\n", -EIO,
		 last[0] + 256U * last[1]);
	cr_assert(eq(int, gt_otf2_guarded(anchor_of(dir), count_all, NULL, &reason), 0), "%s", reason);
	fflush(stdout);
	cr_assert_stdout_eq_str(expected);
	mk_remove(dir);
}

static int read_all(const char *anchor, void *argument, FILE *out)
{
	struct gt_otf2 *read = gt_otf2_open(anchor,
					    &(struct gt_otf2_options){ .visitor = &silent, .threads = 2 });

	(void)argument, (void)out;
	if (read && !gt_otf2_definitions(read)) {
		gt_otf2_events(read);
		gt_otf2_markers(read, NULL);
	}
	if (!read)
		return 1;
	return seen.faults[GT_OTF2_FILES] + seen.faults[GT_OTF2_COUNT] ? 1 : 0;
}

static int die(const char *anchor, void *number, FILE *out)
{
	(void)anchor, (void)out;
	signal(*(int *)number, SIG_DFL);
	return raise(*(int *)number);
}

/* The reason is the signal's; a filter whose output nobody reads ends without one. */
Test(read, killed)
{
	static const struct {
		int number, rc;
		const char *reason;
	} deaths[] = {
		{ SIGSEGV, -1, "the process that reads it was killed by SIGSEGV" },
		{ SIGKILL, -1,
		  "the process that reads it was killed by SIGKILL: by somebody, or by the kernel for want "
		  "of memory" },
		{ SIGABRT, -1,
		  "the process that reads it was killed by SIGABRT: it is damaged, or needs more memory "
		  "than its size explains" },
		{ SIGPIPE, 128 + SIGPIPE, "" },
	};

	for (size_t i = 0; i < sizeof(deaths) / sizeof(deaths[0]); i++) {
		int number = deaths[i].number;
		const char *reason = "";

		cr_assert(eq(int, gt_otf2_guarded("none.otf2", die, &number, &reason), deaths[i].rc));
		if (deaths[i].rc < 0)
			cr_assert(eq(str, (char *)reason, (char *)deaths[i].reason));
	}
}

static int want(const char *anchor, void *argument, FILE *out)
{
	(void)anchor, (void)argument, (void)out;
	return gt_need(NULL) == NULL; /* as where an allocation has failed */
}

/* Neither a signal nor a status of the function's says so. */
Test(read, no_memory)
{
	const char *reason = "";

	cr_assert(eq(int, gt_otf2_guarded("none.otf2", want, NULL, &reason), -1));
	cr_assert(eq(str, (char *)reason,
		     (char *)"it is damaged, or needs more memory than its size explains"));
}

static void use_processor(long seconds)
{
	struct timespec now;

	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	while (now.tv_sec < seconds);
}

static int use(const char *anchor, void *argument, FILE *out)
{
	(void)anchor, (void)out;
	use_processor(*(long *)argument);
	return 0;
}

static int nap(const char *anchor, void *argument, FILE *out)
{
	(void)anchor, (void)out;
	for (int i = 0; i < *(int *)argument; i++)
		usleep(500000);
	return 0;
}

static int stop(const char *anchor, void *argument, FILE *out)
{
	(void)anchor, (void)argument, (void)out;
	return raise(SIGSTOP);
}

/* Time passes (the machine is busy, both are stopped), and the archive is read; but not for ever. */
Test(read, patience, .timeout = 120)
{
	const char *reason = "", *what = "it was given up after ";
	long most = 3600;
	int naps = 5;

	gt_otf2_patience.seconds = 1;
	gt_otf2_patience.silent = 60;
	cr_assert(eq(int, gt_otf2_guarded("none.otf2", nap, &naps, &reason), 0));
	cr_assert(eq(int, gt_otf2_guarded("none.otf2", use, &most, &reason), -1));
	cr_assert(eq(int, strncmp(reason, what, strlen(what)), 0), "%s", reason);
	gt_otf2_patience.silent = 2;
	cr_assert(eq(int, gt_otf2_guarded("none.otf2", stop, NULL, &reason), -1));
	cr_assert(eq(str, (char *)reason,
		     "the process that reads it did nothing any more: does its file system answer?"));
}

static size_t load(const char *path, char *data, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, data, room);

	close(fd);
	return n > 0 ? (size_t)n : 0;
}

static void store(const char *path, const char *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	cr_assert(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	close(fd);
}

/*
 * Every file cut at some places, and with some bytes changed: it is read to an end, or the child crashes and
 * the parent says so. What is cut is noticed.
 */
Test(read, cut_and_damaged, .timeout = 300)
{
	static const char *const files[] = { "traces.otf2", "traces.def", "traces/7.evt", "traces/7.def",
					     "traces/4294967303.evt" };
	static char data[1 << 17], bad[1 << 17];
	char *dir = strdup("/tmp/gtread.XXXXXX"), path[700];
	unsigned rounds = getenv("GT_THOROUGH") ? 200 : 12, ended = 0;
	uint64_t seed = getenv("GT_SEED") ? strtoull(getenv("GT_SEED"), NULL, 10) : (uint64_t)getpid();
	const char *reason;

	cr_log_info("GT_SEED=%" PRIu64, seed);
	srand48((long)seed);
	cr_assert(mkdtemp(dir) != NULL);
	write_archive(dir, write_events);
	cr_assert(eq(int, gt_otf2_guarded(anchor_of(dir), read_all, NULL, &reason), 0));
	for (size_t f = 0; f < sizeof(files) / sizeof(files[0]); f++) {
		size_t size, cut;

		snprintf(path, sizeof(path), "%s/%s", dir, files[f]);
		size = load(path, data, sizeof(data));
		cr_assert(size > 20 && size < sizeof(data));
		for (unsigned i = 0; i < rounds; i++) {
			cut = (size_t)lrand48() % (size - 8); /* the last bytes say only that it ends */
			store(path, data, cut);
			cr_assert(ne(int, gt_otf2_guarded(anchor_of(dir), read_all, NULL, &reason), 0),
				  "%s cut at %zu of %zu (GT_SEED=%" PRIu64 ")", files[f], cut, size, seed);
			memcpy(bad, data, size);
			for (unsigned k = 0; k <= i % 4; k++)
				bad[(size_t)lrand48() % size] = (char)lrand48();
			store(path, bad, size);
			ended += gt_otf2_guarded(anchor_of(dir), read_all, NULL, &reason) >= 0;
		}
		store(path, data, size);
	}
	cr_assert(ended > rounds, "%u damaged archives were read to an end", ended);
	cr_assert(eq(int, gt_otf2_guarded(anchor_of(dir), read_all, NULL, &reason), 0));
	mk_remove(dir);
}
