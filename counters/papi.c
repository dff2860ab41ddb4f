/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PAPI: presets, native events and those of any component, by the names that papi_avail and papi_native_avail
 * show. The library is found when the program runs; the program may use it as well.
 *
 * Limits: made with papi.h, which says what the library must be; without it there is a sentence and no PAPI.
 * Events of one thread are one event set for each component, MOST of them at most. A forked child makes its
 * own; not if another thread was inside of PAPI at the fork, whose locks would stay closed there.
 */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counters/counters.h"
#include "gputrace/syscall.h"

#ifdef HAVE_PAPI_H
#include <papi.h>

#define MOST 8u

#define FUNCTIONS(F) \
	F(int, library_init, (int)) F(int, is_initialized, (void)) \
	F(int, thread_init, (unsigned long (*)(void))) F(int, create_eventset, (int *)) \
	F(int, add_event, (int, int)) F(int, start, (int)) F(int, read, (int, long long *)) \
	F(int, stop, (int, long long *)) F(int, cleanup_eventset, (int)) \
	F(int, destroy_eventset, (int *)) F(int, event_name_to_code, (const char *, int *)) \
	F(int, get_event_info, (int, PAPI_event_info_t *)) F(int, get_event_component, (int)) \
	F(int, enum_cmp_event, (int *, int, int)) F(int, num_components, (void)) \
	F(const PAPI_component_info_t *, get_component_info, (int)) F(char *, strerror, (int)) \
	F(int, query_event, (int)) F(int, unregister_thread, (void))
#define POINTER(type, name, arguments) static type (*papi_##name) arguments;
FUNCTIONS(POINTER)

static bool usable;
static int inside;   /* atomic: our calls that may take PAPI's locks */
static bool is_stale; /* the thread of a forked child still is its parent's for PAPI */

static GT_TLS unsigned long tid;

static unsigned long thread_id(void)
{
	if (!tid)
		tid = (unsigned long)gt_raw(SYS_gettid);
	return tid;
}

static bool load(char *why, size_t room)
{
	static const char *const names[] = { "libpapi.so.7.2", "libpapi.so.7.1", "libpapi.so.7.0",
					     "libpapi.so.7", "libpapi.so" };
	void *library = NULL;

	for (unsigned i = 0; !library && i < sizeof(names) / sizeof(names[0]); i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_GLOBAL); /* libsde looks for it among all */
	if (!library) {
		gt_cn_text(why, room, "there is no libpapi.so");
		return false;
	}
#define FIND(type, name, arguments) \
	*(void **)(void *)&papi_##name = dlsym(library, "PAPI_" #name); \
	if (!papi_##name) { \
		gt_cn_text(why, room, "libpapi.so has no PAPI_" #name); \
		return false; \
	}
	FUNCTIONS(FIND)
	return true;
}

static int begin(const struct gt_plugin_host *host, char *why, size_t room)
{
	int rc;

	(void)host;
	if (!load(why, room))
		return -ENOENT;
	rc = papi_library_init(PAPI_VER_CURRENT);
	if (rc != PAPI_VER_CURRENT) {
		snprintf(why, room, "libpapi.so cannot be used (%s); %d.%d is needed",
			 rc > 0 ? "another version" : papi_strerror(rc), PAPI_VERSION_MAJOR(PAPI_VER_CURRENT),
			 PAPI_VERSION_MINOR(PAPI_VER_CURRENT));
		return -EPROTO;
	}
	papi_thread_init(thread_id); /* fails if the program has done it, which is as good */
	usable = true;
	return 0;
}

/* PAPI's state of the parent's threads remains in use in the parent and is left alone. */
static void forked(void)
{
	usable = usable && !__atomic_load_n(&inside, __ATOMIC_RELAXED);
	is_stale = true;
}

/*
 * PAPI keeps what it knows of a thread in thread-local memory. The one thread of a child has its parent's
 * there, whose event sets run: it is taken away under the id that the parent's thread has, and a new one is
 * made.
 */
static void renew_thread(void)
{
	if (!is_stale)
		return;
	is_stale = false;
	papi_unregister_thread();
	tid = 0;
}

/* ---- names ------------------------------------------------------------------------------------------- */

static void describe(int code, struct gt_plugin_metric *metric)
{
	PAPI_event_info_t info;

	metric->id = (uint32_t)code;
	metric->value = GT_PLUGIN_UINT;
	metric->mode = GT_PLUGIN_ACCUMULATED;
	metric->base = GT_PLUGIN_DECIMAL;
	metric->scope = GT_PLUGIN_THREAD;
	metric->kind = GT_METRIC_TYPE_PAPI;
	memset(&info, 0, sizeof(info));
	if (papi_get_event_info(code, &info) != PAPI_OK)
		return;
	gt_cn_text(metric->description, sizeof(metric->description), info.long_descr);
	gt_cn_text(metric->unit, sizeof(metric->unit), info.units[0] ? info.units : "#");
	if (info.data_type == PAPI_DATATYPE_FP64)
		metric->value = GT_PLUGIN_DOUBLE;
	else if (info.data_type == PAPI_DATATYPE_INT64)
		metric->value = GT_PLUGIN_INT;
	if (!metric->name[0])
		gt_cn_text(metric->name, sizeof(metric->name), info.symbol);
}

static const char *reason_of(int component)
{
	const PAPI_component_info_t *info = papi_get_component_info(component);

	return info && info->disabled && info->disabled_reason[0] ? info->disabled_reason : NULL;
}

static int find(const char *name, struct gt_plugin_metric *metrics, unsigned room, char *why, size_t why_room)
{
	int code, rc = papi_event_name_to_code(name, &code);

	if (!room || rc != PAPI_OK)
		return 0;
	if (papi_query_event(code) != PAPI_OK) {
		const char *reason = reason_of(0);

		snprintf(why, why_room, "PAPI cannot count it on this processor%s%s", reason ? ": " : "",
			 reason ? reason : "");
		return -ENOTSUP;
	}
	gt_cn_text(metrics[0].name, sizeof(metrics[0].name), name);
	describe(code, &metrics[0]);
	return 1;
}

static void list_component(int component, int first, int next, gt_plugin_each *each, void *argument)
{
	int code = first;

	if (papi_enum_cmp_event(&code, PAPI_ENUM_FIRST, component) != PAPI_OK)
		return;
	do {
		struct gt_plugin_metric metric = { .bytes = sizeof(metric) };

		describe(code, &metric);
		if (papi_query_event(code) != PAPI_OK)
			gt_cn_text(metric.missing, sizeof(metric.missing), "the processor does not count it");
		if (metric.name[0])
			each(&metric, argument);
	} while (papi_enum_cmp_event(&code, next, component) == PAPI_OK);
}

static void list(gt_plugin_each *each, void *argument)
{
	list_component(0, (int)PAPI_PRESET_MASK, PAPI_ENUM_EVENTS, each, argument);
	for (int i = 0; i < papi_num_components(); i++) {
		const PAPI_component_info_t *info = papi_get_component_info(i);
		struct gt_plugin_metric metric = { .bytes = sizeof(metric) };
		const char *reason = reason_of(i);

		if (reason && info) {
			snprintf(metric.name, sizeof(metric.name), "component %.40s", info->name);
			gt_cn_text(metric.missing, sizeof(metric.missing), reason);
			each(&metric, argument);
		} else {
			list_component(i, (int)PAPI_NATIVE_MASK, PAPI_ENUM_EVENTS, each, argument);
		}
	}
}

/* ---- reading ------------------------------------------------------------------------------------- */

struct set {
	unsigned count;
	struct {
		int set, component;
		unsigned count;
	} at[MOST];
	uint8_t of[GT_PLUGIN_METRICS]; /* which of them has the metric */
};

static void close_set(void *state)
{
	long long values[GT_PLUGIN_METRICS];
	struct set *set = state;

	__atomic_add_fetch(&inside, 1, __ATOMIC_RELAXED);
	for (unsigned i = 0; usable && i < set->count; i++) {
		papi_stop(set->at[i].set, values);
		papi_cleanup_eventset(set->at[i].set);
		papi_destroy_eventset(&set->at[i].set);
	}
	__atomic_sub_fetch(&inside, 1, __ATOMIC_RELAXED);
	free(set);
}

static int add(struct set *set, unsigned metric, int code)
{
	int component = papi_get_event_component(code);
	unsigned i = 0;

	while (i < set->count && set->at[i].component != component)
		i++;
	if (i == MOST)
		return -ENOSPC;
	if (i == set->count) {
		set->at[i].set = PAPI_NULL;
		if (papi_create_eventset(&set->at[i].set) != PAPI_OK)
			return -ENOMEM;
		set->at[i].component = component;
		set->count++;
	}
	if (papi_add_event(set->at[i].set, code) != PAPI_OK)
		return -ENOTSUP;
	set->at[i].count++;
	set->of[metric] = (uint8_t)i;
	return 0;
}

static int open_set(const uint64_t *ids, unsigned count, unsigned flags, void **state)
{
	struct set *set = usable ? calloc(1, sizeof(*set)) : NULL;
	int rc = set ? 0 : -ECANCELED;

	(void)flags;
	if (!usable && is_stale && gt_cn_first_to_say(GT_CN_SAY_PAPI))
		gt_message(1,
			   "PAPI is not used in a forked child: another thread was using it at the fork");
	__atomic_add_fetch(&inside, 1, __ATOMIC_RELAXED);
	if (set)
		renew_thread();
	for (unsigned i = 0; !rc && i < count; i++)
		rc = add(set, i, (int)(uint32_t)ids[i]);
	for (unsigned i = 0; !rc && i < set->count; i++)
		rc = papi_start(set->at[i].set) == PAPI_OK ? 0 : -EBUSY;
	__atomic_sub_fetch(&inside, 1, __ATOMIC_RELAXED);
	if (rc && set)
		close_set(set);
	*state = set;
	return rc;
}

static int read_set(void *state, uint64_t *values, unsigned count)
{
	long long read[MOST][GT_PLUGIN_METRICS];
	struct set *set = state;
	unsigned used[MOST] = { 0 };

	for (unsigned i = 0; i < set->count; i++)
		if (papi_read(set->at[i].set, read[i]) != PAPI_OK)
			return -EIO;
	for (unsigned i = 0; i < count; i++)
		values[i] = (uint64_t)read[set->of[i]][used[set->of[i]]++];
	return 0;
}
#else
static int begin(const struct gt_plugin_host *host, char *why, size_t room)
{
	(void)host;
	gt_cn_text(why, room, "this gputrace was built without papi.h");
	return -ENOSYS;
}

static void forked(void)
{
}

static void list(gt_plugin_each *each, void *argument)
{
	(void)each;
	(void)argument;
}

static int find(const char *name, struct gt_plugin_metric *metrics, unsigned room, char *why, size_t why_room)
{
	(void)name;
	(void)metrics;
	(void)room;
	(void)why;
	(void)why_room;
	return 0;
}

static int open_set(const uint64_t *ids, unsigned count, unsigned flags, void **state)
{
	(void)ids;
	(void)count;
	(void)flags;
	(void)state;
	return -ENOSYS;
}

static int read_set(void *state, uint64_t *values, unsigned count)
{
	(void)state;
	(void)values;
	(void)count;
	return -ENOSYS;
}

static void close_set(void *state)
{
	(void)state;
}
#endif

const struct gt_plugin gt_cn_papi = {
	.bytes = sizeof(gt_cn_papi),
	.abi = GT_PLUGIN_ABI,
	.ways = GT_PLUGIN_SYNC,
	.name = "papi",
	.description = "PAPI: presets, native events, all components",
	.begin = begin,
	.forked = forked,
	.list = list,
	.find = find,
	.open = open_set,
	.read = read_set,
	.close = close_set,
	.flags = GT_PLUGIN_ANY_NAME,
};
