/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plug-in with values of its own times: the squares of 0, 1, 2 ... A thread of the plug-in delivers one
 * each millisecond while the program runs; or, compiled with -DPOST_MORTEM, a hundred are there when it ends.
 */
#include <gputrace/plugin.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef POST_MORTEM
#define NAME "later"
#else
#define NAME "squares"
#endif

static const struct gt_plugin_host *host;

struct squares {
	const struct gt_plugin_sink *sink;
	pthread_t thread;
	int stopped;         /* atomic */
	uint64_t begin;      /* tick */
};

static int begin(const struct gt_plugin_host *from, char *why, size_t room)
{
	(void)why;
	(void)room;
	host = from;
	return 0;
}

static void fill(struct gt_plugin_metric *metric)
{
	strcpy(metric->name, "i");
	strcpy(metric->description, "squares of whole numbers");
	strcpy(metric->unit, "#");
	metric->value = GT_PLUGIN_INT;
	metric->mode = GT_PLUGIN_ABSOLUTE;
	metric->base = GT_PLUGIN_DECIMAL;
	metric->scope = GT_PLUGIN_PROCESS;
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
	if (!room || strcmp(name, "i"))
		return 0;
	fill(&metrics[0]);
	return 1;
}

static int open_counters(const uint64_t *ids, unsigned count, unsigned flags, void **state)
{
	struct squares *squares = calloc(1, sizeof(*squares));

	(void)ids;
	(void)count;
	(void)flags;
	if (!squares)
		return -ENOMEM;
	squares->begin = host->now();
	*state = squares;
	return 0;
}

#ifdef POST_MORTEM
static int collect(void *state, const struct gt_plugin_sink *sink)
{
	struct squares *squares = state;
	uint64_t step = (host->now() - squares->begin) / 100;

	for (uint64_t i = 0; i < 100; i++)
		sink->put(sink, 0, squares->begin + i * step, i * i);
	return 0;
}
#else
static void *deliver(void *state)
{
	const struct timespec millisecond = { 0, 1000000 };
	struct squares *squares = state;

	for (uint64_t i = 0; !__atomic_load_n(&squares->stopped, __ATOMIC_ACQUIRE); i++) {
		squares->sink->put(squares->sink, 0, host->now(), i * i);
		nanosleep(&millisecond, NULL);
	}
	return NULL;
}

static int start(void *state, const struct gt_plugin_sink *sink)
{
	struct squares *squares = state;

	squares->sink = sink;
	return -pthread_create(&squares->thread, NULL, deliver, squares);
}

static void stop(void *state)
{
	struct squares *squares = state;

	__atomic_store_n(&squares->stopped, 1, __ATOMIC_RELEASE);
	pthread_join(squares->thread, NULL);
}
#endif

__attribute__((visibility("default"))) const struct gt_plugin gt_plugin = {
	.bytes = sizeof(gt_plugin), .abi = GT_PLUGIN_ABI, .name = NAME, .description = "squares",
	.begin = begin, .list = list, .find = find, .open = open_counters, .close = free,
#ifdef POST_MORTEM
	.ways = GT_PLUGIN_POST_MORTEM, .collect = collect,
#else
	.ways = GT_PLUGIN_CALLBACK, .start = start, .stop = stop,
#endif
};
