/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A synchronous plug-in: it is read by each thread with each enter and leave. Its one metric counts just
 * that: 1 at the first, 2 at the second and so on.
 */
#include <gputrace/plugin.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void fill(struct gt_plugin_metric *metric)
{
	metric->id = 0;
	strcpy(metric->name, "events");
	strcpy(metric->description, "enters and leaves of this thread");
	strcpy(metric->unit, "#");
	metric->value = GT_PLUGIN_UINT;
	metric->mode = GT_PLUGIN_ACCUMULATED;
	metric->base = GT_PLUGIN_DECIMAL;
	metric->scope = GT_PLUGIN_THREAD;
}

static void list(gt_plugin_each *each, void *argument)
{
	struct gt_plugin_metric metric = { .bytes = sizeof(metric) };

	fill(&metric);
	each(&metric, argument);
}

static int find(const char *name, struct gt_plugin_metric *metrics, unsigned room, char *why, size_t why_room)
{
	(void)why;
	(void)why_room;
	if (!room || (strcmp(name, "events") && strcmp(name, "*")))
		return 0;
	fill(&metrics[0]);
	return 1;
}

/* On each thread. */
static int open_counters(const uint64_t *ids, unsigned count, unsigned flags, void **state)
{
	(void)ids;
	(void)flags;
	*state = count == 1 ? calloc(1, sizeof(uint64_t)) : NULL;
	return *state ? 0 : -ENOMEM;
}

/* Between any two instructions of the program: no lock, no allocation. */
static int read_counters(void *state, uint64_t *values, unsigned count)
{
	(void)count;
	values[0] = ++*(uint64_t *)state;
	return 0;
}

__attribute__((visibility("default"))) const struct gt_plugin gt_plugin = {
	.bytes = sizeof(gt_plugin), .abi = GT_PLUGIN_ABI, .ways = GT_PLUGIN_SYNC, .flags = GT_PLUGIN_BARE,
	.name = "calls", .description = "events of a thread",
	.list = list, .find = find, .open = open_counters, .read = read_counters, .close = free,
};
