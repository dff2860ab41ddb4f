/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists the metrics that this machine offers: `gputrace info --metrics` loads the adapter, without
 * recording, and calls this.
 * Limits: none.
 */
#include "counters/counters.h"

/*
 * Calls `source` for each source, with the file of a plug-in or NULL, and why it cannot be used or NULL; then
 * `each` for each of its metrics.
 */
typedef void each_source(const char *name, const char *description, const char *file, const char *why,
			 void *argument);
GT_API void gt_counters_list(each_source *source, gt_plugin_each *each, void *argument);

static struct gt_cn_listing listing;

static void list_named(const struct gt_cn_wish *wish)
{
	gt_cn_plugin_list(&listing, wish->name);
}

void gt_counters_list(each_source *source, gt_plugin_each *each, void *argument)
{
	const struct gt_plugin *plugin;

	for (unsigned i = 0; (plugin = gt_cn_source(i)); i++) {
		const char *why = gt_cn_source_begin(plugin);

		source(plugin->name, plugin->description, NULL, why, argument);
		if (!why)
			plugin->list(each, argument);
	}
	listing = (struct gt_cn_listing){ source, each, argument };
	gt_cn_plugins_list(&listing);
	gt_cn_plugin_wishes(list_named);
}
