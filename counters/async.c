/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters that no thread of the program reads: one thread of ours reads those of the process, the host and
 * devices at their intervals. Each group has a location of its own.
 *
 * Limits: our thread blocks all signals and is invisible to the other adapters. It is there from the first
 * counter on to the process's end, until the program's last thread ends (after pthread_exit() in main()), or
 * until the process confines itself, and not in unshare(). A forked child has one of its own from the return
 * of fork() on.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "counters/counters.h"
#include "gputrace/syscall.h"

#define LONGEST_WAIT 1000000000u /* ns: then it sees whether the program still has threads */
#define END_MS 500u /* who ends the process waits so long for the last readings */

static struct channel {
	struct gt_cn_group *group;
	void *state;
	struct gt_location *location;
	gt_ref refs[GT_PLUGIN_METRICS];
	bool in_a_row;          /* one record holds all values */
	uint64_t next;          /* CLOCK_MONOTONIC */
} channels[GT_CN_GROUPS];
static unsigned channel_count;

uint64_t gt_cn_signals;
static uint32_t wanted;  /* 1: our thread is to go on; a futex */
static uint32_t present; /* 1: it does; a futex */
static pthread_t ours;

/* ---- recording ------------------------------------------------------------------------------------- */

static void wait_while(uint32_t *word, uint32_t value, uint64_t ns)
{
	struct timespec limit = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	gt_raw(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &limit, NULL, 0);
}

static void wake(uint32_t *word)
{
	gt_raw(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void record_all(struct channel *c, const uint64_t *values, uint64_t tick)
{
	uint64_t data[GT_PLUGIN_METRICS + 2] = { c->group->count };
	unsigned n = c->group->count;

	if (c->in_a_row) {
		memcpy(data + 1, values, n * sizeof(*values));
		data[n + 1] = 0;
		gt_location_record(c->location, GT_T_METRICS, c->refs[0], data, (1 + n + 1) / 2, tick);
		return;
	}
	for (unsigned i = 0; i < n; i++)
		gt_location_record(c->location, GT_T_METRIC, c->refs[i], (uint64_t[2]){ values[i], 0 }, 1,
				   tick);
}

static void poll_one(struct channel *c)
{
	uint64_t values[GT_PLUGIN_METRICS], before = gt_now();
	int rc = c->group->plugin->read(c->state, values, c->group->count);

	if (!rc)
		record_all(c, values, before + (gt_now() - before) / 2);
	else if (rc != -EAGAIN)
		gt_lost(GT_LOSS_METRIC, 1);
}

/* ---- our thread ---------------------------------------------------------------------------------------- */

/*
 * Reads the counters that are due, or all; returns the time (ns) until the next reading is due. Each is due
 * at multiples of its interval: waking up costs much more than a reading, so they are read together.
 */
static uint64_t poll_due(bool all)
{
	uint64_t now = gt_monotonic(), first = now + 3600000000000u;

	for (unsigned i = 0; i < channel_count; i++) {
		struct channel *c = &channels[i];

		if (all || now >= c->next) {
			poll_one(c);
			c->next = now - now % c->group->interval + c->group->interval;
		}
		if (c->next < first)
			first = c->next;
	}
	now = gt_monotonic();
	return first > now ? first - now : 0;
}

static long our_tid;

static void *poll_counters(void *unused)
{
	bool alone = false;

	(void)unused;
	gt_guard(); /* for good: nothing of this thread is recorded */
	gt_raw(SYS_prctl, PR_SET_NAME, "gputrace-count");
	our_tid = gt_raw(SYS_gettid);
	while (__atomic_load_n(&wanted, __ATOMIC_ACQUIRE) && !gt_is_confined()) {
		uint64_t time = poll_due(false);

		alone = gt_own_threads_only();
		if (alone)
			break;
		if (time && !gt_is_confined())
			wait_while(&wanted, 1, time < LONGEST_WAIT ? time : LONGEST_WAIT);
	}
	if (!gt_is_confined())
		poll_due(true);
	__atomic_store_n(&present, 0, __ATOMIC_RELEASE); /* pairs with stop_thread() */
	if (!gt_is_confined())
		wake(&present);
	if (alone) { /* its end may be the process's */
		gt_unguard();
		gt_raw_sigmask(gt_cn_signals);
	}
	gt_own_thread(-1);
	return NULL;
}

/* With all signals blocked and guarded, as the thread goes on. */
static void start_thread(void)
{
	pthread_attr_t attributes;

	if (present || pthread_attr_init(&attributes))
		return;
	pthread_attr_setstacksize(&attributes, 256 * 1024);
	wanted = present = 1;
	if (!pthread_create(&ours, &attributes, poll_counters, NULL)) {
		gt_own_thread(1);
	} else {
		present = 0;
		gt_message(1, "counters of the process are not read: no thread can be created");
	}
	pthread_attr_destroy(&attributes);
}

/* It is gone afterwards, for the kernel, too, unless a source took too long. */
static void stop_thread(void)
{
	uint64_t end = gt_monotonic() + END_MS * 1000000u, now;
	int cancellation;

	if (gt_is_confined() || !__atomic_load_n(&present, __ATOMIC_ACQUIRE))
		return;
	__atomic_store_n(&wanted, 0, __ATOMIC_RELEASE); /* pairs with poll_counters() */
	wake(&wanted);
	while (__atomic_load_n(&present, __ATOMIC_ACQUIRE) && (now = gt_monotonic()) < end)
		wait_while(&present, 1, end - now);
	if (__atomic_load_n(&present, __ATOMIC_ACQUIRE))
		pthread_detach(ours);
	else if (!pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation)) {
		pthread_join(ours, NULL);
		pthread_setcancelstate(cancellation, NULL);
		gt_raw_forgotten(our_tid);
	}
}

/* ---- begin and end -------------------------------------------------------------------------------- */

static bool define(struct channel *c)
{
	const struct gt_cn_group *g = c->group;
	const struct gt_plugin_metric *first = &g->metrics[0];
	static const char *const whose[] = { "threads", "process", "host", "run" };
	char name[GT_PLUGIN_NAME], title[160];
	struct gt_location_info info = { .bytes = sizeof(info), .name = title, .kind = GT_LOC_METRIC };

	snprintf(title, sizeof(title), "%s of the %s", g->plugin->name,
		 first->device ? first->device_name : whose[first->scope & 3]);
	c->in_a_row = true;
	for (unsigned i = 0; i < g->count; i++) {
		struct gt_metric_info metric = gt_cn_info(g, i, name, sizeof(name));

		metric.scope = first->scope == GT_PLUGIN_PROCESS;
		c->refs[i] = gt_def_metric(&metric);
		c->in_a_row &= c->refs[i] && c->refs[i] == c->refs[0] + i;
	}
	c->location = gt_location_create(&info);
	return c->location && c->refs[0];
}

static int open_channel(struct channel *c)
{
	uint64_t ids[GT_PLUGIN_METRICS];

	for (unsigned i = 0; i < c->group->count; i++)
		ids[i] = c->group->metrics[i].id;
	return c->group->plugin->open(ids, c->group->count, 0, &c->state);
}

static void add(struct gt_cn_group *group)
{
	struct channel *c = &channels[channel_count];

	*c = (struct channel){ .group = group };
	if (!gt_cn_try(group) || open_channel(c))
		return;
	if (!define(c)) {
		group->plugin->close(c->state);
		return;
	}
	channel_count++;
}

static void begin_from(unsigned first)
{
	for (unsigned i = first; i < gt_cn_group_count; i++) {
		struct gt_cn_group *group = &gt_cn_groups[i];

		if (group->way != GT_PLUGIN_POLLED || !group->count || !gt_cn_is_reader(group))
			continue;
		if (gt_cn_works_here(group))
			add(group);
		else
			gt_lost(GT_LOSS_METRIC, 1);
	}
}

void gt_cn_async_begin(void)
{
	begin_from(0);
	if (channel_count)
		start_thread();
}

void gt_cn_async_more(unsigned first)
{
	stop_thread();
	begin_from(first);
	if (channel_count)
		start_thread();
}

unsigned gt_cn_async_groups(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < gt_cn_group_count; i++)
		n += gt_cn_groups[i].way != GT_PLUGIN_SYNC && gt_cn_groups[i].count &&
		     gt_cn_is_reader(&gt_cn_groups[i]);
	return n;
}

void gt_cn_async_pause(void)
{
	stop_thread();
}

void gt_cn_async_resume(void)
{
	if (channel_count)
		start_thread();
}

void gt_cn_async_forked(void)
{
	channel_count = 0;
	wanted = present = 0;
}
