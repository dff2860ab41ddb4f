/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes that the program holds: as the memory adapter counts them, call by call, where VT_MEMTRACE has loaded
 * it; else as mallinfo2() of the C library has them. What the allocator has from the system only that knows.
 *
 * Limits: mallinfo2() needs glibc 2.33, and no allocator of the program's own. It looks at each arena under
 * its lock, and counts what it adds to each block. The adapter counts the size of each block as the allocator
 * has it (malloc_usable_size): how much was asked for nobody keeps until the block is freed.
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
static int (*adapter_held)(uint64_t *bytes);
static char no_mallinfo[GT_PLUGIN_TEXT];

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
	void *held = dlsym(RTLD_DEFAULT, "gt_memory_held");
	Dl_info its, sizes;

	(void)host;
	(void)why;
	(void)room;
	memcpy(&adapter_held, &held, sizeof(held));
	if (!symbol)
		gt_cn_text(no_mallinfo, sizeof(no_mallinfo), "the C library has no mallinfo2()");
	/* Not malloc: VT_MEMTRACE wraps that. */
	else if (size && dladdr(symbol, &its) && dladdr(size, &sizes) && its.dli_fbase != sizes.dli_fbase)
		gt_cn_text(no_mallinfo, sizeof(no_mallinfo), "the program has an allocator of its own");
	else
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

static bool offered(unsigned i)
{
	return mallinfo_2 || (adapter_held && i == USED);
}

static void list(gt_plugin_each *each, void *argument)
{
	for (unsigned i = 0; i < KINDS; i++) {
		struct gt_plugin_metric metric = { .bytes = sizeof(metric) };

		describe(i, &metric);
		if (!offered(i))
			gt_cn_text(metric.missing, sizeof(metric.missing), no_mallinfo);
		each(&metric, argument);
	}
}

static int find(const char *name, struct gt_plugin_metric *metrics, unsigned room, char *why, size_t why_room)
{
	for (unsigned i = 0; i < KINDS && room; i++)
		if (!strcmp(name, kinds[i].name)) {
			describe(i, &metrics[0]);
			gt_cn_text(why, why_room, no_mallinfo);
			return offered(i) ? 1 : -ENOTSUP;
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
	const struct info info = mallinfo_2 ? mallinfo_2() : (struct info){ 0 };
	uint64_t all[KINDS] = { info.uordblks + info.hblkhd, info.arena + info.hblkhd, info.fordblks };
	uintptr_t set = (uintptr_t)state;

	if ((!adapter_held || adapter_held(&all[USED])) && !mallinfo_2)
		return -EIO;

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
	.description = "the program's allocator",
	.begin = begin,
	.list = list,
	.find = find,
	.open = open_set,
	.read = read_set,
	.close = close_set,
};
