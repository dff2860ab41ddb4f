/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What this machine offers: `gputrace info --metrics` loads the adapter, without recording, and calls this.
 * Limits: none.
 */
#include "counters/counters.h"

/*
 * Calls `source` for each source, with why it cannot be used or NULL, and then `each` for each of its
 * metrics.
 */
GT_API void gt_counters_list(void (*source)(const struct gt_plugin *plugin, const char *why, void *argument),
			     gt_plugin_each *each, void *argument);
void gt_counters_list(void (*source)(const struct gt_plugin *plugin, const char *why, void *argument),
		      gt_plugin_each *each, void *argument)
{
	const struct gt_plugin *plugin;

	for (unsigned i = 0; (plugin = gt_cn_source(i)); i++) {
		const char *why = gt_cn_source_begin(plugin);

		source(plugin, why, argument);
		if (!why)
			plugin->list(each, argument);
	}
}
