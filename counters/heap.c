/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes that the C library's allocator has given out, and has from the system, as mallinfo2() tells them.
 *
 * Limits: glibc 2.33 and newer, and not where the program brings an allocator of its own. It looks at each
 * arena under its lock; VT_MEMTRACE counts every call instead.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "counters/counters.h"

struct info { /* struct mallinfo2 */
	size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
};
static struct info (*mallinfo_2)(void);

enum { USED, SYSTEM, FREE, KINDS };
static const struct {
	const char *name, *description;
} kinds[KINDS] = {
	{ "used", "bytes that were allocated and not freed" },
	{ "system", "bytes that the allocator has from the system" },
	{ "free", "bytes that it has and that are not in use" },
};

static int begin(const struct gt_plugin_host *host, char *why, size_t room)
{
	void *symbol = dlsym(RTLD_DEFAULT, "mallinfo2"), *size = dlsym(RTLD_DEFAULT, "malloc_usable_size");
	Dl_info its, sizes;

	(void)host;
	if (!symbol) {
		gt_cn_text(why, room, "the C library has no mallinfo2()");
		return -ENOSYS;
	}
	/* Not malloc: VT_MEMTRACE wraps that. */
	if (size && dladdr(symbol, &its) && dladdr(size, &sizes) && its.dli_fbase != sizes.dli_fbase) {
		gt_cn_text(why, room, "the program has an allocator of its own");
		return -ENOTSUP;
	}
	memcpy(&mallinfo_2, &symbol, sizeof(mallinfo_2));
	return 0;
}

static void describe(unsigned i, struct gt_plugin_metric *metric)
{
	metric->id = i;
	gt_cn_text(metric->name, sizeof(metric->name), kinds[i].name);
	gt_cn_text(metric->description, sizeof(metric->description), kinds[i].description);
	gt_cn_text(metric->unit, sizeof(metric->unit), "bytes");
	metric->value = GT_PLUGIN_UINT;
	metric->mode = GT_PLUGIN_ABSOLUTE;
	metric->base = GT_PLUGIN_DECIMAL;
	metric->scope = GT_PLUGIN_PROCESS;
}

static void list(gt_plugin_each *each, void *argument)
{
	for (unsigned i = 0; i < KINDS; i++) {
		struct gt_plugin_metric metric = { .bytes = sizeof(metric) };

		describe(i, &metric);
		each(&metric, argument);
	}
}

static int find(const char *name, struct gt_plugin_metric *metrics, unsigned room, char *why, size_t why_room)
{
	(void)why;
	(void)why_room;
	for (unsigned i = 0; i < KINDS && room; i++)
		if (!strcmp(name, kinds[i].name)) {
			describe(i, &metrics[0]);
			return 1;
		}
	return 0;
}

/* The ids in the order of the values, in the state itself: 4 bits each. */
static int open_set(const uint64_t *ids, unsigned count, unsigned flags, void **state)
{
	uintptr_t set = 0;

	(void)flags;
	for (unsigned i = count; i--;)
		set = set << 4 | (uintptr_t)ids[i];
	*state = (void *)set;
	return 0;
}

static int read_set(void *state, uint64_t *values, unsigned count)
{
	const struct info info = mallinfo_2();
	const uint64_t all[KINDS] = { info.uordblks + info.hblkhd, info.arena + info.hblkhd, info.fordblks };
	uintptr_t set = (uintptr_t)state;

	for (unsigned i = 0; i < count; i++, set >>= 4)
		values[i] = all[set & 15];
	return 0;
}

static void close_set(void *state)
{
	(void)state;
}

const struct gt_plugin gt_cn_heap = {
	.bytes = sizeof(gt_cn_heap),
	.abi = GT_PLUGIN_ABI,
	.ways = GT_PLUGIN_POLLED,
	.name = "heap",
	.description = "the C library's allocator",
	.begin = begin,
	.list = list,
	.find = find,
	.open = open_set,
	.read = read_set,
	.close = close_set,
};
