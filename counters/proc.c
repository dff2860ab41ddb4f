/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process as /proc/self and getrusage(RUSAGE_SELF) show it: memory, I/O, context switches, time.
 *
 * Limits: the files are opened for each reading, so that nothing of ours is among the program's descriptors.
 * What these readings add to rchar and syscr is taken off; what gputrace writes is not.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counters/counters.h"
#include "gputrace/syscall.h"

enum file { STATUS, IO, STATM, RUSAGE, FILES };
static const char *const paths[] = { "/proc/self/status", "/proc/self/io", "/proc/self/statm" };
enum statm { NONE, SIZE, RESIDENT, ANONYMOUS }; /* what STATM has too: it costs the kernel less than STATUS */
enum use { UTIME, STIME, MINFLT, MAJFLT, NVCSW, NIVCSW, USES };
static const struct row {
	const char *name, *unit, *description;
	enum file file;
	unsigned which; /* RUSAGE: enum use; STATUS: enum statm */
	uint8_t mode;
} rows[] = {
	{ "VmSize", "KiB", "address space in use", STATUS, SIZE, GT_PLUGIN_ABSOLUTE },
	{ "VmPeak", "KiB", "largest address space", STATUS, 0, GT_PLUGIN_ABSOLUTE },
	{ "VmRSS", "KiB", "resident memory", STATUS, RESIDENT, GT_PLUGIN_ABSOLUTE },
	{ "VmHWM", "KiB", "largest resident memory", STATUS, 0, GT_PLUGIN_ABSOLUTE },
	{ "RssAnon", "KiB", "resident memory that is of no file", STATUS, ANONYMOUS, GT_PLUGIN_ABSOLUTE },
	{ "RssFile", "KiB", "resident memory of files", STATUS, 0, GT_PLUGIN_ABSOLUTE },
	{ "RssShmem", "KiB", "resident memory that is shared", STATUS, 0, GT_PLUGIN_ABSOLUTE },
	{ "VmData", "KiB", "private writable address space", STATUS, 0, GT_PLUGIN_ABSOLUTE },
	{ "VmSwap", "KiB", "memory that is swapped out", STATUS, 0, GT_PLUGIN_ABSOLUTE },
	{ "Threads", "#", "threads, one of gputrace's among them", STATUS, 0, GT_PLUGIN_ABSOLUTE },
	{ "rchar", "bytes", "read by system calls", IO, 0, 0 },
	{ "wchar", "bytes", "written by system calls", IO, 0, 0 },
	{ "syscr", "#", "system calls that read", IO, 0, 0 },
	{ "syscw", "#", "system calls that write", IO, 0, 0 },
	{ "read_bytes", "bytes", "read from storage", IO, 0, 0 },
	{ "write_bytes", "bytes", "written to storage", IO, 0, 0 },
	{ "cancelled_write_bytes", "bytes", "written, and dropped before they were stored", IO, 0, 0 },
	{ "utime", "us", "processor time in user mode", RUSAGE, UTIME, 0 },
	{ "stime", "us", "processor time in the kernel", RUSAGE, STIME, 0 },
	{ "minflt", "#", "page faults without I/O", RUSAGE, MINFLT, 0 },
	{ "majflt", "#", "page faults with I/O", RUSAGE, MAJFLT, 0 },
	{ "voluntary_ctxt_switches", "#", "context switches because a thread waited", RUSAGE, NVCSW,
	  0 },
	{ "nonvoluntary_ctxt_switches", "#", "context switches while a thread could have run", RUSAGE,
	  NIVCSW, 0 },
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* The amounts that our own readings have added to rchar and syscr. */
static uint64_t own_bytes, own_calls;

/* ---- files ------------------------------------------------------------------------------------------ */

/* The same as gt_cn_read_text(), and counted. */
static size_t read_file(const char *path, char *text, size_t size)
{
	size_t n = gt_cn_read_text(path, text, size);

	if (n) {
		__atomic_fetch_add(&own_bytes, n, __ATOMIC_RELAXED);
		__atomic_fetch_add(&own_calls, 1, __ATOMIC_RELAXED);
	}
	return n;
}

/* The number in the line "NAME:  number". */
static bool value_in(const char *text, const char *name, uint64_t *value)
{
	size_t n = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, n) && line[n] == ':') {
			*value = strtoull(line + n + 1, NULL, 10);
			return true;
		}
	}
	return false;
}

/* Of STATM: pages in use, resident ones, and those of these that are of files or shared. */
static uint64_t statm_value(const char *text, enum statm which)
{
	char *at;
	uint64_t page = getauxval(AT_PAGESZ) / 1024, pages = strtoull(text, &at, 10);

	if (which >= RESIDENT)
		pages = strtoull(at, &at, 10);
	if (which == ANONYMOUS)
		pages -= strtoull(at, &at, 10);
	return pages * page;
}

static uint64_t own(const char *name)
{
	if (!strcmp(name, "rchar"))
		return __atomic_load_n(&own_bytes, __ATOMIC_RELAXED);
	return strcmp(name, "syscr") ? 0 : __atomic_load_n(&own_calls, __ATOMIC_RELAXED);
}

/* ---- the source --------------------------------------------------------------------------------------- */

static void describe(unsigned i, struct gt_plugin_metric *metric)
{
	metric->id = i;
	gt_cn_text(metric->name, sizeof(metric->name), rows[i].name);
	gt_cn_text(metric->unit, sizeof(metric->unit), rows[i].unit);
	gt_cn_text(metric->description, sizeof(metric->description), rows[i].description);
	metric->value = GT_PLUGIN_UINT;
	metric->mode = rows[i].mode;
	metric->base = GT_PLUGIN_DECIMAL;
	metric->scope = GT_PLUGIN_PROCESS;
}

static bool offered(unsigned i, char *why, size_t room)
{
	char text[4096];
	uint64_t value;

	if (rows[i].file == RUSAGE)
		return true;
	if (!read_file(paths[rows[i].file], text, sizeof(text)))
		gt_cn_text(why, room, "its file in /proc/self cannot be read");
	else if (!value_in(text, rows[i].name, &value))
		gt_cn_text(why, room, "the kernel does not count it");
	else
		return true;
	return false;
}

static void list(gt_plugin_each *each, void *argument)
{
	for (unsigned i = 0; i < ROWS; i++) {
		struct gt_plugin_metric metric = { .bytes = sizeof(metric) };

		describe(i, &metric);
		offered(i, metric.missing, sizeof(metric.missing));
		each(&metric, argument);
	}
}

static int find(const char *name, struct gt_plugin_metric *metrics, unsigned room, char *why, size_t why_room)
{
	for (unsigned i = 0; i < ROWS && room; i++)
		if (!strcmp(name, rows[i].name)) {
			describe(i, &metrics[0]);
			return offered(i, why, why_room) ? 1 : -ENOTSUP;
		}
	return 0;
}

/* Which rows, in the order of the values: openings are never given back, there are few. */
static struct set {
	uint8_t row[GT_PLUGIN_METRICS];
	unsigned count;
	bool needs_status;
	bool used;
} sets[GT_CN_GROUPS];

static int open_set(const uint64_t *ids, unsigned count, unsigned flags, void **state)
{
	(void)flags;
	for (unsigned i = 0; i < GT_CN_GROUPS; i++) {
		struct set *set = &sets[i];

		if (__atomic_exchange_n(&set->used, true, __ATOMIC_ACQUIRE))
			continue;
		set->needs_status = false;
		for (unsigned k = 0; k < count; k++) {
			set->row[k] = (uint8_t)ids[k];
			set->needs_status |= rows[ids[k]].file == STATUS && !rows[ids[k]].which;
		}
		set->count = count;
		*state = set;
		return 0;
	}
	return -ENOSPC;
}

static void close_set(void *state)
{
	struct set *set = state;

	__atomic_store_n(&set->used, false, __ATOMIC_RELEASE); /* pairs with open_set() */
}

/* Processor time of our threads (the present reader and earlier ones), and of the process without them. */
static struct {
	long tid;
	uint64_t now[USES], gone[USES], told[USES];
} ours;

/* Its parent's thread has the others, and the kernel counts a child from zero. */
static void forked(void)
{
	for (unsigned i = 0; i < GT_CN_GROUPS; i++)
		sets[i].used = false;
	memset(&ours, 0, sizeof(ours));
	own_bytes = own_calls = 0;
}

static void take(const struct rusage *usage, uint64_t values[USES])
{
	values[UTIME] = (uint64_t)usage->ru_utime.tv_sec * 1000000 + (uint64_t)usage->ru_utime.tv_usec;
	values[STIME] = (uint64_t)usage->ru_stime.tv_sec * 1000000 + (uint64_t)usage->ru_stime.tv_usec;
	values[MINFLT] = (uint64_t)usage->ru_minflt;
	values[MAJFLT] = (uint64_t)usage->ru_majflt;
	values[NVCSW] = (uint64_t)usage->ru_nvcsw;
	values[NIVCSW] = (uint64_t)usage->ru_nivcsw;
}

/*
 * Of the process without our thread, which calls. The kernel divides processor time into user and system time
 * for the process and for a thread separately, so that the difference may fall: then it is what it was.
 */
static bool read_usage(uint64_t values[USES])
{
	struct rusage all, our;
	long tid = gt_raw(SYS_gettid);

	if (gt_raw(SYS_getrusage, RUSAGE_THREAD, &our) || gt_raw(SYS_getrusage, RUSAGE_SELF, &all))
		return false;
	for (unsigned i = 0; tid != ours.tid && i < USES; i++)
		ours.gone[i] += ours.now[i];
	ours.tid = tid;
	take(&our, ours.now);
	take(&all, values);
	for (unsigned i = 0; i < USES; i++) {
		uint64_t own = ours.gone[i] + ours.now[i];

		values[i] = values[i] > own ? values[i] - own : 0;
		if (values[i] < ours.told[i])
			values[i] = ours.told[i];
		ours.told[i] = values[i];
	}
	return true;
}

/* Files already read for this moment. */
struct moment {
	bool have[FILES];
	char text[RUSAGE][4096];
	uint64_t usage[USES];
};

static bool usage_of(const struct row *row, struct moment *now, uint64_t *value)
{
	if (!now->have[RUSAGE] && !read_usage(now->usage))
		return false;
	now->have[RUSAGE] = true;
	*value = now->usage[row->which];
	return true;
}

static bool file_value(const struct row *row, enum file file, struct moment *now, uint64_t *value)
{
	uint64_t before = own(row->name);

	if (!now->have[file] && !read_file(paths[file], now->text[file], sizeof(now->text[file])))
		return false;
	now->have[file] = true;
	if (file == STATM)
		*value = statm_value(now->text[file], (enum statm)row->which);
	else if (!value_in(now->text[file], row->name, value))
		return false;
	*value -= before < *value ? before : *value;
	return true;
}

static int read_set(void *state, uint64_t *values, unsigned count)
{
	const struct set *set = state;
	struct moment now;

	memset(now.have, 0, sizeof(now.have));
	for (unsigned i = 0; i < count; i++) {
		const struct row *row = &rows[set->row[i]];
		enum file file = row->file == STATUS && row->which && !set->needs_status ? STATM : row->file;
		bool done = file == RUSAGE ? usage_of(row, &now, &values[i])
					   : file_value(row, file, &now, &values[i]);

		if (!done)
			return -EIO;
	}
	return 0;
}

const struct gt_plugin gt_cn_proc = {
	.bytes = sizeof(gt_cn_proc),
	.abi = GT_PLUGIN_ABI,
	.ways = GT_PLUGIN_POLLED,
	.name = "proc",
	.description = "the process: memory, I/O, context switches, time",
	.forked = forked,
	.list = list,
	.find = find,
	.open = open_set,
	.read = read_set,
	.close = close_set,
	.flags = GT_PLUGIN_BARE,
};
