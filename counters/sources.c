/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sources: gputrace's own and those of plug-ins, and their life.
 * Limits: see counters.h.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "counters/counters.h"

/* Bytes of the struct up to its last member in release 0.1; they never change. */
#define FIRST (offsetof(struct gt_plugin, reserved) + sizeof(((struct gt_plugin *)NULL)->reserved))

static struct {
	const struct gt_plugin *plugin;
	bool begun, usable;
	char why[GT_PLUGIN_TEXT];
} sources[GT_CN_SOURCES] = {
#define GT_CN_SOURCE(name) { .plugin = &gt_cn_##name },
#include "counters/sources.def"
};

/* ---- the table -------------------------------------------------------------------------------------- */

const struct gt_plugin *gt_cn_source(unsigned i)
{
	return i < GT_CN_SOURCES ? sources[i].plugin : NULL;
}

static bool is_whole(const struct gt_plugin *plugin)
{
	const unsigned readable = GT_PLUGIN_SYNC | GT_PLUGIN_POLLED;

	return plugin->name && *plugin->name && plugin->list && plugin->find && plugin->open &&
	       plugin->close && plugin->ways && (plugin->read || !(plugin->ways & readable)) &&
	       ((plugin->start && plugin->stop) || !(plugin->ways & GT_PLUGIN_CALLBACK)) &&
	       (plugin->collect || !(plugin->ways & GT_PLUGIN_POST_MORTEM));
}

int gt_cn_source_add(const struct gt_plugin *plugin)
{
	/* A longer one is of a later gputrace: what is beyond this struct is not looked at. */
	if (plugin->abi != GT_PLUGIN_ABI || plugin->bytes < FIRST)
		return -EPROTO;
	if (!is_whole(plugin))
		return -EINVAL;
	for (unsigned i = 0; i < GT_CN_SOURCES; i++) {
		if (!sources[i].plugin) {
			sources[i].plugin = plugin;
			return 0;
		}
		if (!strcmp(sources[i].plugin->name, plugin->name))
			return -EALREADY;
	}
	return -ENOSPC;
}

size_t gt_cn_source_first(void)
{
	return FIRST;
}

const char *gt_cn_source_begin(const struct gt_plugin *plugin)
{
	unsigned i = 0;

	while (sources[i].plugin != plugin)
		i++;
	if (!sources[i].begun) {
		sources[i].begun = true;
		sources[i].usable = !plugin->begin || !plugin->begin(gt_cn_host(), sources[i].why,
								    sizeof(sources[i].why));
		if (!sources[i].usable && !sources[i].why[0])
			memcpy(sources[i].why, "it cannot be set up", sizeof("it cannot be set up"));
	}
	return sources[i].usable ? NULL : sources[i].why;
}

void gt_cn_sources_forked(void)
{
	for (unsigned i = 0; i < GT_CN_SOURCES && sources[i].plugin; i++)
		if (sources[i].usable && sources[i].plugin->forked)
			sources[i].plugin->forked();
}

void gt_cn_sources_end(void)
{
	for (unsigned i = 0; i < GT_CN_SOURCES && sources[i].plugin; i++)
		if (sources[i].usable && sources[i].plugin->end)
			sources[i].plugin->end();
}
