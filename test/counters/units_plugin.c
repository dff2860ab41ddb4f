/* SPDX-License-Identifier: BSD-3-Clause */
/* A plug-in that reads what the program says that it has done: units.c's done(), and three times that. */
#include <gputrace/plugin.h>

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

static uint64_t (*done)(void);

static int begin(const struct gt_plugin_host *host, char *why, size_t room)
{
	void *symbol = dlsym(RTLD_DEFAULT, "done");

	(void)host;
	memcpy(&done, &symbol, sizeof(done));
	if (!done)
		strncpy(why, "the program has no done()", room);
	return done ? 0 : -ENOENT;
}

static void fill(struct gt_plugin_metric *metric, uint64_t id)
{
	metric->id = id;
	strcpy(metric->name, id ? "triple" : "units");
	strcpy(metric->unit, "#");
	metric->value = GT_PLUGIN_UINT;
	metric->mode = GT_PLUGIN_ACCUMULATED;
	metric->base = GT_PLUGIN_DECIMAL;
	metric->scope = GT_PLUGIN_THREAD;
}

static void list(gt_plugin_each *each, void *argument)
{
	for (uint64_t id = 0; id < 2; id++) {
		struct gt_plugin_metric metric = { .bytes = sizeof(metric) };

		fill(&metric, id);
		each(&metric, argument);
	}
}

static int find(const char *name, struct gt_plugin_metric *metrics, unsigned room, char *why, size_t why_room)
{
	(void)why;
	(void)why_room;
	if (room < 2 || strcmp(name, "all"))
		return 0;
	fill(&metrics[0], 0);
	fill(&metrics[1], 1);
	return 2;
}

static int open_counters(const uint64_t *ids, unsigned count, unsigned flags, void **state)
{
	(void)ids;
	(void)flags;
	*state = NULL;
	return count == 2 ? 0 : -ENOTSUP;
}

static int read_counters(void *state, uint64_t *values, unsigned count)
{
	(void)state;
	(void)count;
	values[0] = done();
	values[1] = 3 * values[0];
	return 0;
}

static void close_counters(void *state)
{
	(void)state;
}

const struct gt_plugin gt_plugin = {
	.bytes = sizeof(gt_plugin), .abi = GT_PLUGIN_ABI, .ways = GT_PLUGIN_SYNC, .name = "units",
	.description = "units of work", .begin = begin, .list = list, .find = find, .open = open_counters,
	.read = read_counters, .close = close_counters, .flags = GT_PLUGIN_BARE,
};
