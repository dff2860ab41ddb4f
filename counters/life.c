/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The adapter's begin and end in a process. Without a counter asked for it does nothing at all.
 *
 * Limits: what sources allocate while they are set up is hidden from the other adapters by gt_guard().
 */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "counters/counters.h"
#include "gputrace/syscall.h"

static bool is_asked(void)
{
	static const char *const settings[] = { "VT_METRICS", "VT_RUSAGE", "VT_PLUGIN_CNTR_METRICS" };
	const char *mode = gt_setting("VT_MODE"), *value;

	if (!mode || !strcmp(mode, "OFF"))
		return false;
	for (unsigned i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if ((value = gt_setting(settings[i])) && *value)
			return true;
	return false;
}

/* The thread's own code from here on: no signal's handler runs on it, and nothing of it is recorded. */
static uint64_t hide(void)
{
	uint64_t signals = gt_raw_sigmask(GT_RAW_SIGNALS);

	gt_guard();
	return signals;
}

static void show(uint64_t signals)
{
	gt_unguard();
	gt_raw_sigmask(signals);
}

/* In a child that was not made by fork(): no thread can be made there, nor memory be had. */
static bool without_fork;

static void fork_child(void)
{
	gt_cn_reader_forked();
	gt_cn_sink_forked();
	gt_cn_async_forked();
	gt_cn_sources_forked();
	without_fork = true;
}

static void fork_returns(void)
{
	uint64_t before;

	without_fork = false;
	before = hide();
	gt_cn_sink_begin();
	gt_cn_async_begin();
	show(before);
}

static void say_unread(void)
{
	unsigned n = gt_cn_async_groups();

	without_fork = false;
	if (!n)
		return;
	gt_lost(GT_LOSS_METRIC, n);
	if (gt_cn_first_to_say(GT_CN_SAY_CHILD))
		gt_message(1, "counters of the process are not read in children that fork() did not make");
}

static void poll_on(bool on)
{
	uint64_t before = hide();

	if (on)
		gt_cn_async_resume();
	else
		gt_cn_async_pause();
	show(before);
}

static void end(int how)
{
	if (gt_is_confined()) /* the sources' own code may make system calls */
		return;
	if (without_fork && how != GT_END_EXEC && how != GT_END_NONE)
		say_unread();
	poll_on(how == GT_END_NONE);
	if (how != GT_END_NONE)
		gt_cn_sink_end();
	if (how != GT_END_EXEC && how != GT_END_NONE)
		gt_cn_sources_end();
}

static bool is_set_up;

static void set_up(void)
{
	static const struct gt_adapter adapter = {
		.bytes = sizeof(adapter),
		.abi = GT_ADAPTER_ABI,
		.name = "counters",
		.fork_child = fork_child,
		.end = end,
		.threads = poll_on,
		.fork_returns = fork_returns,
	};
	uint64_t before;

	if (is_set_up || gt_adapter_register(&adapter))
		return;
	is_set_up = true;
	gt_cn_signals = before = hide();
	gt_cn_say_begin();
	gt_cn_wishes();
	gt_cn_sync_begin();
	gt_cn_sink_begin();
	gt_cn_async_begin();
	show(before);
}

__attribute__((constructor)) static void begin(void)
{
	int saved = errno;

	if (is_asked())
		set_up();
	errno = saved;
}

/* Is one of the source's groups there already? */
static bool is_read(const char *source)
{
	for (unsigned i = 0; i < gt_cn_group_count; i++)
		if (!strcmp(gt_cn_groups[i].plugin->name, source))
			return true;
	return false;
}

static bool can_begin(const char *source)
{
	const struct gt_plugin *plugin;

	for (unsigned i = 0; (plugin = gt_cn_source(i)); i++)
		if (!strcmp(plugin->name, source))
			return !gt_cn_source_begin(plugin);
	return false;
}

/*
 * For other adapters: counters of devices and hosts of this source, with colons between their names, are read
 * from now on, unless the user has asked for some of it. False: none of them can be read here. One thread at
 * a time.
 */
GT_API bool gt_counters_add(const char *setting, const char *source, const char *list);
bool gt_counters_add(const char *setting, const char *source, const char *list)
{
	uint64_t before;
	unsigned first;

	set_up();
	if (!is_set_up || gt_is_confined() || is_read(source))
		return is_set_up && !gt_is_confined();
	before = hide();
	first = gt_cn_group_count;
	if (can_begin(source)) {
		gt_cn_wishes_more(setting, list);
		gt_cn_async_more(first);
	}
	show(before);
	return gt_cn_group_count > first;
}
