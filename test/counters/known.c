/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plug-in that says what it delivered: each value is the process's id times a million, and a number that
 * counts up from 1; a line "ID METRIC VALUE" of each goes to the file that KNOWN_LOG names. -DKNOWN=name,
 * -DWAY: one of enum gt_plugin_ways, -DSCOPE: of enum gt_plugin_scope; -DDEVICES=2: the metric x is two, each
 * of a device. */
#include <gputrace/plugin.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef DEVICES
#define DEVICES 0
#endif
#ifndef MODE
#define MODE GT_PLUGIN_ABSOLUTE
#endif
#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

struct opening {
	uint64_t id, count;
	const struct gt_plugin_sink *sink;
	pthread_t thread;
	int stopped; /* atomic */
};

static const struct gt_plugin_host *host;

static uint64_t next_value(struct opening *o)
{
	const char *path = getenv("KNOWN_LOG");
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
	uint64_t value = (uint64_t)getpid() * 1000000 + ++o->count;
	char line[96];

	snprintf(line, sizeof(line), "%d %s%s %llu\n", (int)getpid(), TEXT(KNOWN) "::x",
		 !DEVICES ? "" : o->id ? ".1" : ".0", (unsigned long long)value);
	if (fd >= 0 && write(fd, line, strlen(line)) < 0)
		abort();
	close(fd);
	return value;
}

static int begin(const struct gt_plugin_host *from, char *why, size_t room)
{
	(void)why;
	(void)room;
	host = from;
	return 0;
}

static void fill(struct gt_plugin_metric *metric, unsigned id)
{
	metric->id = id;
	strcpy(metric->name, !DEVICES ? "x" : id ? "x.1" : "x.0");
	strcpy(metric->description, "known values");
	strcpy(metric->unit, "plums");
	metric->value = GT_PLUGIN_UINT;
	metric->mode = MODE;
	metric->exponent = -3;
	metric->base = GT_PLUGIN_DECIMAL;
	metric->scope = SCOPE;
	metric->device = DEVICES ? id + 1 : 0;
	snprintf(metric->device_name, sizeof(metric->device_name), "tree %u", id);
}

static void list(gt_plugin_each *each, void *argument)
{
	for (unsigned i = 0; i < (DEVICES ? DEVICES : 1); i++) {
		struct gt_plugin_metric metric = { .bytes = sizeof(metric) };

		fill(&metric, i);
		each(&metric, argument);
	}
}

static int find(const char *name, struct gt_plugin_metric *metrics, unsigned room, char *why, size_t why_room)
{
	unsigned n = DEVICES ? DEVICES : 1;

	(void)why;
	(void)why_room;
	for (unsigned i = 0; i < n && i < room; i++)
		fill(&metrics[i], i);
	return strcmp(name, "x") ? 0 : (int)n;
}

static int open_counters(const uint64_t *ids, unsigned count, unsigned flags, void **state)
{
	struct opening *o = count == 1 ? calloc(1, sizeof(*o)) : NULL;

	(void)flags;
	if (!o)
		return -ENOTSUP;
	o->id = ids[0];
	*state = o;
	return 0;
}

static int read_counters(void *state, uint64_t *values, unsigned count)
{
	(void)count;
	values[0] = next_value(state);
	return 0;
}

static void *deliver(void *state)
{
	const struct timespec pause = { 0, 2000000 };
	struct opening *o = state;

	while (!__atomic_load_n(&o->stopped, __ATOMIC_ACQUIRE)) {
		o->sink->put(o->sink, 0, host->now(), next_value(o));
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static int start(void *state, const struct gt_plugin_sink *sink)
{
	struct opening *o = state;

	o->sink = sink;
	return -pthread_create(&o->thread, NULL, deliver, o);
}

static void stop(void *state)
{
	struct opening *o = state;

	__atomic_store_n(&o->stopped, 1, __ATOMIC_RELEASE);
	pthread_join(o->thread, NULL);
}

static int collect(void *state, const struct gt_plugin_sink *sink)
{
	for (int i = 0; i < 5; i++)
		sink->put(sink, 0, host->now(), next_value(state));
	return 0;
}

__attribute__((visibility("default"))) const struct gt_plugin gt_plugin = {
	.bytes = sizeof(gt_plugin), .abi = GT_PLUGIN_ABI, .ways = WAY, .name = TEXT(KNOWN),
	.description = "known values", .begin = begin, .list = list, .find = find,
	.open = open_counters, .read = read_counters, .close = free, .start = start, .stop = stop,
	.collect = collect,
};
