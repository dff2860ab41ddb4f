/* SPDX-License-Identifier: BSD-3-Clause */
/* Plug-ins that misbehave, each in its own way: -DHOW=... */
#include <gputrace/plugin.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SOUND, CRASH_BEGIN, CRASH_READ, BLOCK_OPEN, LEAVE, RUBBISH, MANY, OLD, EMPTY, REFUSE,
       BLOCK_END, CRASH_LIST };

static int begin(const struct gt_plugin_host *host, char *why, size_t room)
{
	(void)host;
	if (HOW == CRASH_BEGIN)
		*(volatile int *)NULL = 1;
	if (HOW == LEAVE)
		_exit(3);
	if (HOW == REFUSE)
		strncpy(why, "it does not like this machine", room);
	return HOW == REFUSE ? -1 : 0;
}

static void list(gt_plugin_each *each, void *argument)
{
	if (HOW == CRASH_LIST)
		abort();
	(void)each;
	(void)argument;
}

static int find(const char *name, struct gt_plugin_metric *m, unsigned room, char *why, size_t why_room)
{
	(void)why;
	(void)why_room;
	if (HOW == RUBBISH) {
		memset(m[0].name, 'x', sizeof(m[0].name));
		memset(m[0].unit, 'y', sizeof(m[0].unit));
		m[0].mode = 0xff;
		return 1;
	}
	for (unsigned i = 0; i < room; i++) {
		strncpy(m[i].name, name, sizeof(m[i].name) - 1);
		m[i].id = HOW == MANY ? i : 0;
		m[i].value = GT_PLUGIN_UINT;
		m[i].scope = HOW == BLOCK_END ? GT_PLUGIN_PROCESS : GT_PLUGIN_THREAD;
	}
	return HOW == MANY ? 1000000 : 1;
}

static int open_counters(const uint64_t *ids, unsigned count, unsigned flags, void **state)
{
	(void)ids;
	(void)count;
	(void)flags;
	*state = NULL;
	while (HOW == BLOCK_OPEN)
		pause();
	return 0;
}

static int read_counters(void *state, uint64_t *values, unsigned count)
{
	(void)state;
	if (HOW == CRASH_READ)
		abort();
	memset(values, 0, count * sizeof(*values));
	return 0;
}

static void close_counters(void *state)
{
	(void)state;
}

/* The first time, when it is tried, it returns. */
static int collect(void *state, const struct gt_plugin_sink *sink)
{
	(void)state;
	(void)sink;
	while (HOW == BLOCK_END && access("tried", F_OK) == 0)
		pause();
	close(creat("tried", 0600));
	return 0;
}

__attribute__((visibility("default"))) const struct gt_plugin gt_plugin = {
	.bytes = sizeof(gt_plugin), .abi = HOW == OLD ? 77 : GT_PLUGIN_ABI,
	.ways = HOW == BLOCK_END ? GT_PLUGIN_POST_MORTEM : GT_PLUGIN_SYNC, .name = "bad", .begin = begin,
	.list = list, .find = HOW == EMPTY ? NULL : find, .open = open_counters, .read = read_counters,
	.close = close_counters, .collect = collect,
};
