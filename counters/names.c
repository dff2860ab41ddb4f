/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the counters that the user asks for: the lists in VT_METRICS and VT_RUSAGE, the sources that have
 * them, and groups of those that are read together.
 *
 * Limits: names are cut at GT_PLUGIN_NAME bytes. Runs once, in the constructor.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "counters/counters.h"
#include "gputrace/near.h"
#include "gputrace/syscall.h"

#define MS 1000000u

struct gt_cn_group *gt_cn_groups;
unsigned gt_cn_group_count;

/* ---- groups ------------------------------------------------------------------------------------ */

static uint64_t number_of(const char *setting)
{
	const char *text = gt_setting(setting);

	return text ? strtoull(text, NULL, 10) : 0;
}

/* How is the metric read? */
static unsigned way_of(const struct gt_plugin *plugin, const struct gt_plugin_metric *metric,
		       uint64_t interval)
{
	bool own = metric->scope == GT_PLUGIN_THREAD || !interval;
	unsigned order[] = { own ? GT_PLUGIN_SYNC : GT_PLUGIN_POLLED, own ? GT_PLUGIN_POLLED : GT_PLUGIN_SYNC,
			     GT_PLUGIN_CALLBACK, GT_PLUGIN_POST_MORTEM };

	for (unsigned i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (plugin->ways & order[i])
			return order[i];
	return 0;
}

static uint64_t interval_of(const struct gt_plugin *plugin, unsigned way, uint64_t wish)
{
	if (way == GT_PLUGIN_SYNC)
		return wish == GT_CN_UNSET ? 0 : wish;
	if (wish != GT_CN_UNSET && wish)
		return wish;
	return plugin->interval ? plugin->interval : number_of("VT_METRICS_INTV") * MS;
}

static bool same_place(const struct gt_plugin_metric *a, const struct gt_plugin_metric *b)
{
	return a->scope == b->scope && a->device == b->device;
}

static struct gt_cn_group *group_for(const struct gt_plugin *plugin, const struct gt_plugin_metric *metric,
				     uint64_t wish)
{
	unsigned way = way_of(plugin, metric, wish);
	uint64_t interval = interval_of(plugin, way, wish);
	struct gt_cn_group *g;

	for (g = gt_cn_groups; g < gt_cn_groups + gt_cn_group_count; g++)
		if (g->plugin == plugin && g->way == way && g->interval == interval &&
		    same_place(&g->metrics[0], metric))
			return g->count < GT_PLUGIN_METRICS ? g : NULL;
	if (gt_cn_group_count == GT_CN_GROUPS)
		return NULL;
	gt_cn_group_count++;
	*g = (struct gt_cn_group){ .plugin = plugin, .way = way, .interval = interval };
	return g;
}

static bool is_in(const struct gt_cn_group *g, uint64_t id)
{
	for (unsigned i = 0; i < g->count; i++)
		if (g->metrics[i].id == id)
			return true;
	return false;
}

const char *gt_cn_full_name(const struct gt_plugin *plugin, const struct gt_plugin_metric *metric, char *text,
			    size_t size)
{
	size_t n = 0;

	if (!(plugin->flags & GT_PLUGIN_ANY_NAME)) {
		gt_cn_text(text, size, plugin->name);
		n = strlen(text);
		gt_cn_text(text + n, size - n, "::");
		n = strlen(text);
	}
	gt_cn_text(text + n, size - n, metric->name);
	return text;
}

struct gt_metric_info gt_cn_info(const struct gt_cn_group *group, unsigned i, char *name, size_t size)
{
	const struct gt_plugin_metric *m = &group->metrics[i];

	return (struct gt_metric_info){
		.bytes = sizeof(struct gt_metric_info),
		.name = gt_cn_full_name(group->plugin, m, name, size),
		.unit = m->unit[0] ? m->unit : "#",
		.group = group->plugin->name,
		.description = m->description,
		.value = (enum gt_value)m->value,
		.mode = m->mode,
		.kind = (uint8_t)m->kind,
		.exponent = m->exponent,
		.binary = m->base == GT_PLUGIN_BINARY && m->exponent,
	};
}

static void put(const struct gt_cn_wish *wish, const struct gt_plugin *plugin,
		struct gt_plugin_metric *metric)
{
	struct gt_cn_group *g = group_for(plugin, metric, wish->interval);

	if (!g) {
		gt_message(1, "%s: too many counters: %s is left out", wish->setting, metric->name);
		return;
	}
	if (is_in(g, metric->id))
		return;
	if (wish->absolute)
		metric->mode = GT_PLUGIN_ABSOLUTE;
	g->metrics[g->count++] = *metric;
}

/* ---- names ----------------------------------------------------------------------------------------- */

/* The source's name for it; NULL: the name belongs to another source. */
static const char *own_name(const struct gt_plugin *plugin, const char *name)
{
	size_t n = strlen(plugin->name);

	if (!strncmp(name, plugin->name, n) && !strncmp(name + n, "::", 2))
		return name + n + 2;
	return plugin->flags & GT_PLUGIN_ANY_NAME ? name : NULL;
}

/* Does the name begin with the source's? Names of PAPI's components may, too, with one more colon. */
static bool is_of(const struct gt_plugin *plugin, const char *name)
{
	const char *own = own_name(plugin, name);

	return own && own != name && *own != ':';
}

struct search {
	const struct gt_plugin *plugin;
	const char *name;
	unsigned least;
	char found[GT_PLUGIN_NAME];
};

static void compare(const struct gt_plugin_metric *metric, void *argument)
{
	struct search *s = argument;
	char full[GT_PLUGIN_NAME];
	const char *name = gt_cn_full_name(s->plugin, metric, full, sizeof(full));
	unsigned here = gt_near_distance(s->name, name, s->least);
	const char *own = own_name(s->plugin, s->name);
	unsigned plain = gt_near_distance(own ? own : s->name, metric->name, s->least);

	if (here < s->least || plain < s->least) {
		s->least = here < plain ? here : plain;
		memcpy(s->found, full, sizeof(full));
	}
}

/*
 * The names of the source that was meant, else of all but NVML: that would bring the driver into a program
 * which may have no use for a GPU, with its threads and descriptors.
 */
static void say_unknown(const struct gt_cn_wish *wish, const struct gt_plugin *meant)
{
	struct search s = { .name = wish->name, .least = (unsigned)strlen(wish->name) / 3 + 1 };

	for (unsigned i = 0; (s.plugin = gt_cn_source(i)); i++)
		if (meant ? s.plugin == meant : s.plugin != &gt_cn_nvml && !gt_cn_source_begin(s.plugin))
			s.plugin->list(compare, &s);
	if (s.found[0])
		gt_message(1, "%s: there is no counter %s; did you mean %s?", wish->setting, wish->name,
			   s.found);
	else
		gt_message(1, "%s: there is no counter %s (gputrace info --metrics)", wish->setting,
			   wish->name);
}

/* How many metrics of the source the name stands for; negative: it cannot be had, and why. */
static int ask(const struct gt_cn_wish *wish, const struct gt_plugin *plugin, const char *name, char *why,
	       size_t room)
{
	struct gt_plugin_metric *found = gt_cn_groups[GT_CN_GROUPS].metrics;
	const char *reason = gt_cn_source_begin(plugin);
	int n;

	if (reason) {
		snprintf(why, room, "%s", reason);
		return -ENOTSUP;
	}
	for (unsigned i = 0; i < GT_PLUGIN_METRICS; i++)
		found[i] = (struct gt_plugin_metric){ .bytes = sizeof(found[i]) };
	n = plugin->find(name, found, GT_PLUGIN_METRICS, why, room);
	for (int i = 0; i < n && i < (int)GT_PLUGIN_METRICS; i++)
		if (gt_cn_metric_sound(&found[i]))
			put(wish, plugin, &found[i]);
		else
			gt_message(1,
				   "%s: the description that %s gives of its metric %s is invalid: left out",
				   wish->setting, plugin->name, found[i].name);
	return n;
}

static void grant(const struct gt_cn_wish *wish)
{
	char why[GT_PLUGIN_TEXT], first[GT_PLUGIN_TEXT] = "";
	const struct gt_plugin *plugin, *meant = NULL;
	bool foreign = strstr(wish->name, "::");

	for (unsigned i = 0; !meant && (plugin = gt_cn_source(i)); i++) {
		const char *name = own_name(plugin, wish->name);
		int n = 0;

		why[0] = '\0';
		if (name)
			n = ask(wish, plugin, name, why, sizeof(why));
		if (n > 0)
			return;
		/* What PAPI lacks is of interest only if nobody else was meant. */
		if (n < 0 && !first[0] && (name != wish->name || !foreign))
			memcpy(first, why, sizeof(first));
		if (n < 0 && name != wish->name)
			break;
		if (plugin != &gt_cn_perf && is_of(plugin, wish->name)) /* PAPI has names perf::..., too */
			meant = plugin;
	}
	if (first[0])
		gt_message(1, "%s: %s cannot be counted: %s", wish->setting, wish->name, first);
	else
		say_unknown(wish, meant);
}

/* A name in VT_PLUGIN_CNTR_METRICS. */
static void grant_plugin(const struct gt_cn_wish *wish)
{
	char why[GT_PLUGIN_TEXT] = "";
	const struct gt_plugin *plugin;
	const char *metric;

	if (!gt_cn_plugin(wish->name, &plugin, &metric))
		gt_message(1, "%s: there is no plug-in for %s in VT_PLUGIN_CNTR_PATH or LD_LIBRARY_PATH",
			   wish->setting, wish->name);
	else if (plugin && ask(wish, plugin, metric, why, sizeof(why)) <= 0)
		gt_message(1, "%s: the plug-in %s has no metric %s here%s%s", wish->setting, plugin->name,
			   metric, why[0] ? ": " : "", why);
}

/* ---- lists ------------------------------------------------------------------------------------------- */

/* The length of the first name: a separator that stands beside another one, as in a::b, is none. */
static size_t name_length(const char *list, char separator)
{
	size_t i = 0;

	for (; list[i]; i++) {
		if (list[i] != separator)
			continue;
		if (list[i + 1] != separator)
			break;
		i += strspn(list + i, (char[]){ separator, '\0' }) - 1;
	}
	return i;
}

/* NAME@MS: a number behind the last @. */
static void take_interval(struct gt_cn_wish *wish)
{
	char *at = strrchr(wish->name, '@'), *end;
	unsigned long ms;

	if (!at || at[1] < '0' || at[1] > '9')
		return;
	ms = strtoul(at + 1, &end, 10);
	if ((*end && strcmp(end, "ms")) || ms > 3600000)
		return;
	*at = '\0';
	wish->interval = (uint64_t)ms * MS;
}

static void read_list(const char *setting, const char *list, char separator, uint64_t interval,
		      void (*grant_one)(const struct gt_cn_wish *wish))
{
	while (*list) {
		struct gt_cn_wish wish = { .setting = setting, .interval = interval };
		size_t length = name_length(list, separator), used;

		wish.absolute = *list == '!';
		used = length - wish.absolute;
		if (used >= sizeof(wish.name))
			used = sizeof(wish.name) - 1;
		memcpy(wish.name, list + wish.absolute, used);
		take_interval(&wish);
		if (wish.name[0])
			grant_one(&wish);
		list += length + (list[length] != '\0');
	}
}

static bool is_off(const char *list)
{
	return !list || !*list || !strcmp(list, "no") || !strcmp(list, "0");
}

static char separator(void)
{
	const char *text = gt_setting("VT_METRICS_SEP");

	return text && *text ? *text : ':';
}

void gt_cn_plugin_wishes(void (*one)(const struct gt_cn_wish *wish))
{
	const char *plugins = gt_setting("VT_PLUGIN_CNTR_METRICS");

	if (!is_off(plugins))
		read_list("VT_PLUGIN_CNTR_METRICS", plugins, separator(), GT_CN_UNSET, one);
}

void gt_cn_wishes(void)
{
	const char *metrics = gt_setting("VT_METRICS"), *rusage = gt_setting("VT_RUSAGE");

	/* One more for what a source finds. Mapped here: 0.8 MB that no program without counters pays for. */
	gt_cn_groups = gt_raw_memory((GT_CN_GROUPS + 1) * sizeof(*gt_cn_groups), MAP_PRIVATE);
	if (!gt_cn_groups) {
		gt_message(1, "no memory for counters: none is recorded");
		return;
	}
	if (!is_off(metrics))
		read_list("VT_METRICS", metrics, separator(), GT_CN_UNSET, grant);
	if (!is_off(rusage))
		read_list("VT_RUSAGE", !strcmp(rusage, "yes") ? "all" : rusage, separator(),
			  number_of("VT_RUSAGE_INTV") * MS, grant);
	gt_cn_plugin_wishes(grant_plugin);
}

void gt_cn_wishes_more(const char *setting, const char *list)
{
	if (gt_cn_groups && gt_cn_groups != MAP_FAILED)
		read_list(setting, list, ':', GT_CN_UNSET, grant);
}
