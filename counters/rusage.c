/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Resource usage of the calling thread, as the kernel counts it for getrusage(RUSAGE_THREAD).
 *
 * Limits: Linux fills in what `rows` has; maxrss is the whole process's.
 */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counters/counters.h"
#include "gputrace/syscall.h"

#define AT(field) offsetof(struct rusage, field)
static const struct row {
	const char *name, *unit, *description;
	size_t offset;
	int32_t exponent;
	uint8_t mode, is_time;
} rows[] = {
	{ "ru_utime", "s", "processor time in user mode", AT(ru_utime), -6, 0, 1 },
	{ "ru_stime", "s", "processor time in the kernel", AT(ru_stime), -6, 0, 1 },
	{ "ru_maxrss", "KiB", "largest resident set of the process", AT(ru_maxrss), 0, GT_PLUGIN_ABSOLUTE,
	  0 },
	{ "ru_minflt", "#", "page faults without I/O", AT(ru_minflt), 0, 0, 0 },
	{ "ru_majflt", "#", "page faults with I/O", AT(ru_majflt), 0, 0, 0 },
	{ "ru_inblock", "#", "blocks read", AT(ru_inblock), 0, 0, 0 },
	{ "ru_oublock", "#", "blocks written", AT(ru_oublock), 0, 0, 0 },
	{ "ru_nvcsw", "#", "context switches because the thread waited", AT(ru_nvcsw), 0, 0, 0 },
	{ "ru_nivcsw", "#", "context switches while the thread could have run", AT(ru_nivcsw), 0, 0, 0 },
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))
/* What getrusage() has the names for and Linux never fills in. */
static const char *const empty[] = { "ru_ixrss", "ru_idrss", "ru_isrss", "ru_nswap", "ru_msgsnd", "ru_msgrcv",
				     "ru_nsignals" };

static void describe(unsigned i, struct gt_plugin_metric *metric)
{
	metric->id = i;
	strcpy(metric->name, rows[i].name);
	strcpy(metric->unit, rows[i].unit);
	strcpy(metric->description, rows[i].description);
	metric->value = GT_PLUGIN_UINT;
	metric->mode = rows[i].mode;
	metric->base = GT_PLUGIN_DECIMAL;
	metric->exponent = rows[i].exponent;
	metric->scope = GT_PLUGIN_THREAD;
	metric->kind = GT_METRIC_TYPE_RUSAGE;
}

static void list(gt_plugin_each *each, void *argument)
{
	for (unsigned i = 0; i < ROWS; i++) {
		struct gt_plugin_metric metric = { .bytes = sizeof(metric) };

		describe(i, &metric);
		each(&metric, argument);
	}
}

static int find(const char *name, struct gt_plugin_metric *metrics, unsigned room, char *why, size_t why_room)
{
	unsigned found = 0;

	for (unsigned i = 0; i < ROWS && found < room; i++)
		if (!strcmp(name, "all") || !strcmp(name, rows[i].name))
			describe(i, &metrics[found++]);
	for (unsigned i = 0; i < sizeof(empty) / sizeof(empty[0]); i++)
		if (!strcmp(name, empty[i])) {
			gt_cn_text(why, why_room, "Linux does not count it");
			return -ENOTSUP;
		}
	return (int)found;
}

/* The ids in the order of the values, in the state itself: 4 bits each, behind a 1. */
static int open_set(const uint64_t *ids, unsigned count, unsigned flags, void **state)
{
	uint64_t set = 1;

	(void)flags;
	if (count > ROWS)
		return -ENOSPC;
	for (unsigned i = count; i--;)
		set = set << 4 | ids[i];
	*state = (void *)(uintptr_t)set;
	return 0;
}

static int read_set(void *state, uint64_t *values, unsigned count)
{
	uint64_t set = (uintptr_t)state;
	struct rusage usage;
	long rc = gt_raw(SYS_getrusage, RUSAGE_THREAD, &usage);

	if (rc)
		return (int)rc;
	for (unsigned i = 0; i < count; i++, set >>= 4) {
		const struct row *row = &rows[set & 15];
		const void *at = (const char *)&usage + row->offset;
		const struct timeval *time = at;

		values[i] = row->is_time ? (uint64_t)time->tv_sec * 1000000 + (uint64_t)time->tv_usec
					 : (uint64_t)*(const long *)at;
	}
	return 0;
}

static void close_set(void *state)
{
	(void)state;
}

const struct gt_plugin gt_cn_rusage = {
	.bytes = sizeof(gt_cn_rusage),
	.abi = GT_PLUGIN_ABI,
	.ways = GT_PLUGIN_SYNC,
	.name = "rusage",
	.description = "resource usage of threads",
	.list = list,
	.find = find,
	.open = open_set,
	.read = read_set,
	.close = close_set,
	.flags = GT_PLUGIN_BARE | GT_PLUGIN_ANY_NAME,
};
