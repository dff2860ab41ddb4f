/* SPDX-License-Identifier: BSD-3-Clause */
/* Plug-ins that misbehave, each in its own way: -DHOW=... */
#include <gputrace/plugin.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SOUND, CRASH_BEGIN, CRASH_READ, BLOCK_OPEN, LEAVE, RUBBISH, MANY, OLD, EMPTY, REFUSE,
       BLOCK_END, CRASH_LIST, TIMES, ALONE };

static const struct gt_plugin_host *host;

#define IS_LATE (HOW == BLOCK_END || HOW == TIMES)

static int begin(const struct gt_plugin_host *from, char *why, size_t room)
{
	host = from;
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
		m[i].scope = IS_LATE ? GT_PLUGIN_PROCESS : GT_PLUGIN_THREAD;
	}
	for (unsigned i = 0; HOW == ALONE && i < 3; i++) {
		m[i].id = i;
		m[i].name[0] = 'x' + i;
	}
	return HOW == MANY ? 1000000 : HOW == ALONE ? 3 : 1;
}

static int open_counters(const uint64_t *ids, unsigned count, unsigned flags, void **state)
{
	(void)ids;
	(void)flags;
	*state = NULL;
	while (HOW == BLOCK_OPEN)
		pause();
	return HOW == ALONE && count > 1 ? -ENOTSUP : 0;
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
	uint64_t now = host->now();

	(void)state;
	if (HOW == TIMES) {
		const uint64_t ticks[] = { 0, 1, UINT64_MAX, UINT64_MAX / 2, now - (UINT64_C(1) << 50),
					   now + (UINT64_C(1) << 50) };

		if (!sink->put(sink, 99, now, 1)) /* it is being tried: nothing is recorded */
			return 0;
		for (unsigned i = 0; i < sizeof(ticks) / sizeof(ticks[0]); i++)
			if (sink->put(sink, 0, ticks[i], i) != -ERANGE)
				abort();
		if (sink->put(sink, 99, now, 1) != -EINVAL || sink->put(sink, 0, now, 42))
			abort();
		return 0;
	}
	while (HOW == BLOCK_END && access("tried", F_OK) == 0)
		pause();
	close(creat("tried", 0600));
	return 0;
}

__attribute__((visibility("default"))) const struct gt_plugin gt_plugin = {
	.bytes = sizeof(gt_plugin), .abi = HOW == OLD ? 77 : GT_PLUGIN_ABI,
	.ways = IS_LATE ? GT_PLUGIN_POST_MORTEM : GT_PLUGIN_SYNC, .name = "bad", .begin = begin,
	.list = list, .find = HOW == EMPTY ? NULL : find, .open = open_counters, .read = read_counters,
	.close = close_counters, .collect = collect,
};
