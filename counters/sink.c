/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values that sources deliver themselves: while the program runs, or all of them at its end. Each group has a
 * location of its own, whose records are sorted when the archive is made.
 *
 * Limits: once for the process, of threads too. A source that does not return at the end is left behind after
 * END_MS, with what it has not delivered.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "counters/counters.h"
#include "gputrace/syscall.h"

#define END_MS 5000

static struct opening {
	struct gt_cn_group *group;
	struct gt_location *location;
	gt_ref metrics[GT_PLUGIN_METRICS];
	void *state;
	struct gt_plugin_sink sink;
	bool open, refused;
} *openings; /* GT_CN_GROUPS */
static unsigned count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ended; /* atomic */

#define AHEAD 1000000000u /* ns: by so much a plug-in may be wrong when it converts times */

/* Is it a moment of this recording? A little later than now it is now. */
static bool in_time(uint64_t *tick)
{
	uint64_t now = gt_now();

	if (*tick > now && *tick - now > gt_cn_ticks(AHEAD))
		return false;
	*tick = *tick < now ? *tick : now;
	return *tick >= gt_cn_first_tick();
}

static int refuse(struct opening *o)
{
	gt_lost(GT_LOSS_METRIC, 1);
	if (!__atomic_exchange_n(&o->refused, true, __ATOMIC_RELAXED))
		gt_message(1, "%s delivers values with times outside the recording: they are left out",
			   o->group->plugin->name);
	return -ERANGE;
}

static int put(const struct gt_plugin_sink *sink, unsigned metric, uint64_t tick, uint64_t value)
{
	struct opening *o = sink->data;

	if (metric >= o->group->count)
		return -EINVAL;
	if (!o->open)
		return -ECANCELED;
	if (!in_time(&tick))
		return refuse(o);
	gt_guard(); /* the lock is none of the program's */
	pthread_mutex_lock(&lock);
	gt_location_record(o->location, GT_T_METRIC, o->metrics[metric], (uint64_t[2]){ value, 0 }, 1, tick);
	pthread_mutex_unlock(&lock);
	gt_unguard();
	return 0;
}

static void lost(const struct gt_plugin_sink *sink, uint64_t values)
{
	(void)sink;
	gt_lost(GT_LOSS_METRIC, values);
}

static void define(struct opening *o)
{
	const struct gt_location_info info = { .bytes = sizeof(info),
					       .name = o->group->plugin->name,
					       .kind = GT_LOC_METRIC,
					       .flags = GT_LOC_UNSORTED | GT_LOC_COMMITS };
	char name[GT_PLUGIN_NAME];

	for (unsigned i = 0; i < o->group->count; i++) {
		struct gt_metric_info metric = gt_cn_info(o->group, i, name, sizeof(name));

		metric.scope = o->group->metrics[0].scope < GT_PLUGIN_HOST;
		o->metrics[i] = gt_def_metric(&metric);
	}
	o->location = gt_location_create(&info);
}

static void begin(struct gt_cn_group *group)
{
	struct opening *o = &openings[count];
	const struct gt_plugin *plugin = group->plugin;
	uint64_t ids[GT_PLUGIN_METRICS];
	int rc;

	for (unsigned i = 0; i < group->count; i++)
		ids[i] = group->metrics[i].id;
	rc = plugin->open(ids, group->count, 0, &o->state);
	if (rc) {
		gt_message(1, "the counters of %s cannot be opened (%d)", plugin->name, rc);
		return;
	}
	o->group = group;
	o->refused = false;
	o->sink = (struct gt_plugin_sink){ sizeof(o->sink), o, put, lost };
	define(o);
	o->open = true;
	count++;
	if (group->way == GT_PLUGIN_CALLBACK && plugin->start(o->state, &o->sink)) {
		gt_message(1, "the plug-in %s did not start", plugin->name);
		o->open = false;
		plugin->close(o->state);
	}
}

void gt_cn_sink_begin(void)
{
	if (!openings && gt_cn_group_count)
		openings = calloc(GT_CN_GROUPS, sizeof(*openings));
	for (unsigned i = 0; openings && i < gt_cn_group_count; i++) {
		struct gt_cn_group *group = &gt_cn_groups[i];

		if (!group->count || !(group->way & (GT_PLUGIN_CALLBACK | GT_PLUGIN_POST_MORTEM)) ||
		    !gt_cn_is_reader(group))
			continue;
		if (gt_cn_works_here(group))
			begin(group);
		else
			gt_lost(GT_LOSS_METRIC, 1);
	}
}

static void *end_all(void *number)
{
	const unsigned n = *(const unsigned *)number;

	gt_guard();
	for (unsigned i = 0; i < n; i++) {
		struct opening *o = &openings[i];

		if (!o->open)
			continue;
		if (o->group->way == GT_PLUGIN_CALLBACK)
			o->group->plugin->stop(o->state);
		else
			o->group->plugin->collect(o->state, &o->sink);
		o->open = false;
		o->group->plugin->close(o->state);
	}
	__atomic_store_n(&ended, 1, __ATOMIC_RELEASE); /* pairs with gt_cn_sink_end() */
	return NULL;
}

/* In a thread of its own, which may have to be left behind. */
void gt_cn_sink_end(void)
{
	const struct timespec nap = { 0, 1000000 };
	uint64_t before;
	pthread_t thread;
	static unsigned n;
	int rc;

	n = count;
	count = 0;
	if (!n || __atomic_load_n(&ended, __ATOMIC_ACQUIRE))
		return;
	before = gt_raw_sigmask(GT_RAW_SIGNALS);
	gt_guard();
	rc = pthread_create(&thread, NULL, end_all, &n);
	if (!rc)
		pthread_detach(thread);
	for (unsigned ms = 0; !rc && ms < END_MS && !__atomic_load_n(&ended, __ATOMIC_ACQUIRE); ms++)
		gt_raw(SYS_nanosleep, &nap, NULL);
	gt_unguard();
	gt_raw_sigmask(before);
	if (!__atomic_load_n(&ended, __ATOMIC_ACQUIRE))
		gt_message(
			1,
			"a plug-in did not return at the end: values that it had not delivered are missing");
}

/* Forgets open sinks, which belong to the parent. */
void gt_cn_sink_forked(void)
{
	for (unsigned i = 0; i < count; i++)
		openings[i].open = false;
	count = 0;
	ended = 0;
	pthread_mutex_init(&lock, NULL);
}
