/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations shared by the parts of the adapter: the sources, and the groups of counters that are read
 * together.
 *
 * A source is a struct gt_plugin (<gputrace/plugin.h>), one file each: its name in sources.def is all that
 * the rest knows of it. names.c makes groups of what the user asks for; sync.c reads those of threads at
 * enters and leaves, async.c all others.
 *
 * Limits: GT_CN_GROUPS groups of GT_PLUGIN_METRICS counters, GT_CN_SOURCES sources with those of plug-ins.
 */
#ifndef GT_COUNTERS_H
#define GT_COUNTERS_H

#include <stdbool.h>

#include "gputrace/adapter.h"
#include "gputrace/plugin.h"

#define GT_CN_GROUPS  16u
#define GT_CN_SOURCES 32u
#define GT_CN_UNSET   UINT64_MAX

/* Counters of one source that are read together. */
struct gt_cn_group {
	const struct gt_plugin *plugin;
	unsigned way;      /* one of enum gt_plugin_ways */
	uint64_t interval; /* SYNC: at most every so many nanoseconds, 0: always; POLLED: every so many */
	unsigned count;
	struct gt_plugin_metric metrics[GT_PLUGIN_METRICS];
};
extern GT_HIDDEN struct gt_cn_group *gt_cn_groups; /* mapped if counters are asked for */
extern GT_HIDDEN unsigned gt_cn_group_count;

/* ---- for sources (host.c) ----------------------------------------------------------------------- */

/* Copies a text, cut where it does not fit. */
GT_HIDDEN void gt_cn_text(char *text, size_t room, const char *from);
/* The text of a small file, by one read, cut where it does not fit. Returns its length; 0: not readable. */
GT_HIDDEN size_t gt_cn_read_text(const char *path, char *text, size_t size);
GT_HIDDEN const struct gt_plugin_host *gt_cn_host(void);
/* Nanoseconds of CLOCK_MONOTONIC as ticks of the trace's clock, and how many ticks an interval takes. */
GT_HIDDEN uint64_t gt_cn_tick_of(uint64_t monotonic);
GT_HIDDEN uint64_t gt_cn_ticks(uint64_t ns);
/* When the first source began. */
GT_HIDDEN uint64_t gt_cn_first_tick(void);

/* Has none of this process, its parent and their forked children said it? By a group's number, or: */
#define GT_CN_SAY_CHILD GT_CN_GROUPS
#define GT_CN_SAY_PAPI  (GT_CN_GROUPS + 1u)
#define GT_CN_SAY_SEAT  (GT_CN_GROUPS + 2u) /* and one for each group */
GT_HIDDEN bool gt_cn_first_to_say(unsigned bit);
GT_HIDDEN void gt_cn_say_begin(void);

/* ---- sources (sources.c) ----------------------------------------------------------------------- */

#define GT_CN_SOURCE(name) extern GT_HIDDEN const struct gt_plugin gt_cn_##name;
#include "counters/sources.def"

/* The sources, in the order in which they are asked; NULL behind the last. */
GT_HIDDEN const struct gt_plugin *gt_cn_source(unsigned i);
/* One more, of a plug-in. -EPROTO: another ABI, -EINVAL: it lacks what it needs, -EALREADY, -ENOSPC. */
GT_HIDDEN int gt_cn_source_add(const struct gt_plugin *plugin);
/* Bytes that its struct has at least. */
GT_HIDDEN size_t gt_cn_source_first(void);
/* Begins the source, if that was not done. NULL: it can be used; else why not. */
GT_HIDDEN const char *gt_cn_source_begin(const struct gt_plugin *plugin);
GT_HIDDEN void gt_cn_sources_forked(void);
GT_HIDDEN void gt_cn_sources_end(void);

/* ---- what the user asks for (names.c) ------------------------------------------------------------ */

/* One name of a setting. */
struct gt_cn_wish {
	const char *setting;
	char name[GT_PLUGIN_NAME];
	bool absolute;
	uint64_t interval; /* nanoseconds, GT_CN_UNSET: as the source would have it */
};

/* Makes groups of these names, with colons between them, of a source of which there is none yet. */
GT_HIDDEN void gt_cn_wishes_more(const char *setting, const char *list);
/* Makes groups of all names in VT_METRICS and VT_RUSAGE. */
GT_HIDDEN void gt_cn_wishes(void);
/* Calls `one` for each name in VT_PLUGIN_CNTR_METRICS. */
GT_HIDDEN void gt_cn_plugin_wishes(void (*one)(const struct gt_cn_wish *wish));
/* The name as the trace has it, in text[]. */
GT_HIDDEN const char *gt_cn_full_name(const struct gt_plugin *plugin, const struct gt_plugin_metric *metric,
					 char *text, size_t size);
/* The definition of a group's metric number i; `name` stays until it is used. */
GT_HIDDEN struct gt_metric_info gt_cn_info(const struct gt_cn_group *group, unsigned i, char *name,
					   size_t size);

/* ---- plug-ins (plugins.c) --------------------------------------------------------------------------- */

/*
 * The plug-in that a name in VT_PLUGIN_CNTR_METRICS begins with, loaded if it was not yet (NULL: it cannot be
 * used, which has been said), and what it calls the metric. False: there is no library of that name.
 */
GT_HIDDEN bool gt_cn_plugin(const char *name, const struct gt_plugin **plugin, const char **metric);
/* For `gputrace info --metrics` (list.c). */
struct gt_cn_listing {
	/* One plug-in, with its file (NULL: there is none), and why it cannot be used (NULL: it can). */
	void (*source)(const char *name, const char *description, const char *file, const char *why,
		       void *argument);
	gt_plugin_each *each; /* its metrics */
	void *argument;
};
/* Plug-ins in the folders of VT_PLUGIN_CNTR_PATH, each once. */
GT_HIDDEN void gt_cn_plugins_list(const struct gt_cn_listing *listing);
/* That of a name in VT_PLUGIN_CNTR_METRICS, if it is not listed yet. */
GT_HIDDEN void gt_cn_plugin_list(const struct gt_cn_listing *listing, const char *name);
/* Is this a metric that can be recorded? Ends its texts. */
GT_HIDDEN bool gt_cn_metric_sound(struct gt_plugin_metric *metric);

/* ---- reading ---------------------------------------------------------------------------------------- */

/* Opens the group here and closes it again; leaves out of it what cannot be had together, and says so. */
GT_HIDDEN bool gt_cn_try(struct gt_cn_group *group);
GT_HIDDEN void gt_cn_sync_begin(void); /* sync.c */
GT_HIDDEN void gt_cn_sink_begin(void); /* sink.c: values that sources deliver themselves */
GT_HIDDEN void gt_cn_sink_end(void);
GT_HIDDEN void gt_cn_sink_forked(void);

/* async.c. pause: at the end and before an exec, with the last readings; resume: it failed. */
/* The signals that the program blocked when it began, for a thread that ends it. */
GT_HIDDEN extern uint64_t gt_cn_signals;
GT_HIDDEN void gt_cn_async_begin(void);
/* The groups from this number on, while the others may be read. */
GT_HIDDEN void gt_cn_async_more(unsigned first);
GT_HIDDEN void gt_cn_async_pause(void);
GT_HIDDEN void gt_cn_async_resume(void);
GT_HIDDEN void gt_cn_async_forked(void);
/* Groups that are read or delivered outside of the program's threads, in this process. */
GT_HIDDEN unsigned gt_cn_async_groups(void);
/* reader.c: is it this process that reads the group, of all that could? Ask once in each. */
GT_HIDDEN bool gt_cn_is_reader(const struct gt_cn_group *group);
/* False in a forked child if the source cannot be used there, which is counted, and said once. */
GT_HIDDEN bool gt_cn_works_here(const struct gt_cn_group *group);
GT_HIDDEN void gt_cn_reader_forked(void);

#endif
