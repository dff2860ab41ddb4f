/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counting with CUPTI's Event and Metric API. An event counts in one unit of the GPU (a domain). A domain has
 * several instances, of which only some may be readable: the sum over these is scaled up to all instances.
 * Metrics are computed from events. Events that do not fit into one pass are counted in several: CUPTI
 * replays the kernel, or a range has to come as often.
 *
 * Only gt_cu_older leads here (counters/older.h); nothing else depends on this folder.
 *
 * Limits: never run on the GPUs that it is for (before compute capability 7.5), only with a fake CUPTI that
 * answers as documented. CUPTI 13 has dropped these functions. At most GT_CU_EVENTS events, PASSES passes and
 * INSTANCES instances. An event that is counted in several passes has the count of the first one.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/counters/older.h"
#include "cuda/cuda.h"
#include "cuda/legacy/events_abi.h"
#include "gputrace/near.h"

#define BEFORE    75u /* ten times the compute capability that CUPTI's profiler begins with */
#define PASSES    64u
#define INSTANCES 1024u
#define NAMES     4096u /* metrics, or events of a domain, of a device */
#define DOMAINS   256u

struct item {
	bool metric;
	int kind;            /* of a metric: CU_EV_KIND_... */
	uint32_t id;
	uint16_t count;
	uint16_t events[GT_CU_EVENTS]; /* which of the plan's it needs; an event: itself */
};

struct gt_cu_plan {
	int device;
	unsigned count, event_count;
	uint32_t events[GT_CU_EVENTS];
	struct item items[GT_CU_METRICS];
	bool extrapolates;
};

/* CUPTI's own objects for the metrics, and for the events that are none of theirs. */
struct passes {
	struct cu_ev_passes *made[2];
	struct cu_ev_pass *all[PASSES];
	unsigned count;
};

struct gt_cu_groups {
	const struct gt_cu_plan *plan;
	struct passes passes;
	bool user;
	unsigned next; /* pass of a range */
	uint64_t begun, ended; /* ticks */
	uint64_t counts[GT_CU_EVENTS];
	uint64_t instances[INSTANCES];
};

static struct cu_ev_functions cupti;
static bool complete;
static GT_TLS bool waiting;

static void find_functions(void)
{
	static const char *const names[] = {
#define NAME(name, parameters) "cupti" #name,
		CU_EV_FUNCTIONS(NAME)
#undef NAME
	};
	void *symbols[sizeof(names) / sizeof(names[0])];

	complete = true;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		symbols[i] = gt_cu_api_symbol(names[i]);
		complete &= symbols[i] != NULL;
	}
	memcpy(&cupti, symbols, sizeof(cupti));
}

static int offered(unsigned device)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	uint32_t domains[DOMAINS];
	size_t bytes = sizeof(domains);
	int handle;

	pthread_once(&once, find_functions);
	if (!complete)
		return CU_ERROR_LEGACY;
	if (!gt_cu_device_capability(device, &handle))
		return CU_ERROR_NOT_SUPPORTED;
	return cupti.DeviceEnumEventDomains(handle, &bytes, domains);
}

static bool is_for(unsigned device)
{
	unsigned capability = gt_cu_device_capability(device, NULL);

	return capability && capability < BEFORE;
}

static bool is_waiting(void)
{
	return waiting;
}

/* For the current context, also in a callback of a launch. */
static void wait_idle(void)
{
	static int (*synchronize)(void);
	void *driver, *symbol;

	if (!synchronize) {
		driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
		symbol = driver ? dlsym(driver, "cuCtxSynchronize") : NULL;
		memcpy(&synchronize, &symbol, sizeof(synchronize));
		if (driver)
			dlclose(driver);
	}
	waiting = true;
	if (synchronize)
		synchronize();
	waiting = false;
}

/* ---- names ------------------------------------------------------------------------------------------- */

static bool find(int device, const char *name, struct item *item)
{
	size_t bytes = sizeof(item->kind);

	item->metric = !cupti.MetricGetIdFromName(device, name, &item->id);
	if (item->metric && cupti.MetricGetAttribute(item->id, CU_EV_METRIC_KIND, &bytes, &item->kind))
		item->kind = CU_EV_KIND_DOUBLE;
	return item->metric || !cupti.EventGetIdFromName(device, name, &item->id);
}

static bool is_sum(const struct item *item)
{
	return !item->metric || item->kind == CU_EV_KIND_UINT64;
}

static bool describe(unsigned device, const char *name, struct cu_host_properties *p, bool *sum)
{
	static const char *const units[] = { [CU_EV_KIND_PERCENT] = "percent",
					     [CU_EV_KIND_THROUGHPUT] = "byte/s",
					     [CU_EV_KIND_LEVEL] = "level of 10" };
	static char text[512]; /* until the next call */
	static struct item item;
	size_t bytes = sizeof(text) - 1;
	int handle, rc;

	*p = (struct cu_host_properties){ .description = text, .unit = "" };
	if (!gt_cu_device_capability(device, &handle) || !find(handle, name, &item))
		return false;
	memset(text, 0, sizeof(text));
	rc = item.metric ? cupti.MetricGetAttribute(item.id, CU_EV_METRIC_SHORT, &bytes, text)
			 : cupti.EventGetAttribute(item.id, CU_EV_EVENT_SHORT, &bytes, text);
	if (rc)
		text[0] = '\0';
	if (item.metric && (unsigned)item.kind < sizeof(units) / sizeof(units[0]) && units[item.kind])
		p->unit = units[item.kind];
	*sum = is_sum(&item);
	p->type = *sum ? CU_METRIC_COUNTER : CU_METRIC_RATIO;
	return true;
}

/* The name of one, `what` says of which attribute. */
static void give(int (*get)(uint32_t, int, size_t *, void *), int what, uint32_t id,
		 void (*each)(const char *name, void *argument), void *argument)
{
	char name[GT_CU_METRIC_NAME] = "";
	size_t bytes = sizeof(name) - 1;

	if (!get(id, what, &bytes, name) && *name)
		each(name, argument);
}

static void list(unsigned device, void (*each)(const char *name, void *argument), void *argument)
{
	uint32_t *ids = calloc(NAMES, sizeof(*ids)), domains[DOMAINS];
	size_t bytes = NAMES * sizeof(*ids), domain_bytes = sizeof(domains);
	int handle;

	if (!ids || offered(device) || !gt_cu_device_capability(device, &handle)) {
		free(ids);
		return;
	}
	if (cupti.DeviceEnumMetrics(handle, &bytes, ids))
		bytes = 0;
	for (size_t i = 0; i < bytes / sizeof(*ids); i++)
		give(cupti.MetricGetAttribute, CU_EV_METRIC_NAME, ids[i], each, argument);
	if (cupti.DeviceEnumEventDomains(handle, &domain_bytes, domains))
		domain_bytes = 0;
	for (size_t d = 0; d < domain_bytes / sizeof(*domains); d++) {
		bytes = NAMES * sizeof(*ids);
		if (cupti.EventDomainEnumEvents(domains[d], &bytes, ids))
			continue;
		for (size_t i = 0; i < bytes / sizeof(*ids); i++)
			give(cupti.EventGetAttribute, CU_EV_EVENT_NAME, ids[i], each, argument);
	}
	free(ids);
}

struct nearest {
	const char *given;
	char name[GT_CU_METRIC_NAME];
	unsigned distance;
};

static void compare(const char *name, void *argument)
{
	struct nearest *best = argument;
	unsigned distance = gt_near_distance(best->given, name, best->distance);

	if (distance >= best->distance)
		return;
	best->distance = distance;
	snprintf(best->name, sizeof(best->name), "%s", name);
}

/* ---- plans ------------------------------------------------------------------------------------------- */

/* The event's place among those of the plan. False: it is full. */
static bool place(struct gt_cu_plan *plan, uint32_t event, uint16_t *at)
{
	unsigned i = 0;

	while (i < plan->event_count && plan->events[i] != event)
		i++;
	if (i == GT_CU_EVENTS)
		return false;
	plan->events[i] = event;
	plan->event_count += i == plan->event_count;
	*at = (uint16_t)i;
	return true;
}

static int add_item(struct gt_cu_plan *plan, const char *name)
{
	struct item *item = &plan->items[plan->count];
	uint32_t events[GT_CU_EVENTS];
	size_t bytes = sizeof(events);
	int rc = find(plan->device, name, item) ? 0 : CU_ERROR_INVALID_METRIC_NAME;

	if (!rc && item->metric) {
		rc = cupti.MetricEnumEvents(item->id, &bytes, events);
	} else {
		events[0] = item->id;
		bytes = sizeof(events[0]);
	}
	if (rc)
		return rc;
	item->count = (uint16_t)(bytes / sizeof(events[0]));
	for (unsigned i = 0; i < item->count; i++)
		if (!place(plan, events[i], &item->events[i]))
			return CU_ERROR_MAX_LIMIT_REACHED;
	plan->count++;
	return 0;
}

static void put_passes(struct passes *p, struct cu_ev_passes *made)
{
	for (unsigned i = 0; made && i < made->count && p->count < PASSES; i++)
		p->all[p->count++] = &made->passes[i];
}

static void free_passes(struct passes *p)
{
	for (unsigned i = 0; i < 2; i++)
		if (p->made[i])
			cupti.EventGroupSetsDestroy(p->made[i]);
	*p = (struct passes){ .count = 0 };
}

/* Is the event one of a metric's, which is counted anyway? */
static bool is_part(const struct gt_cu_plan *plan, uint16_t event)
{
	for (unsigned i = 0; i < plan->count; i++)
		for (unsigned k = 0; plan->items[i].metric && k < plan->items[i].count; k++)
			if (plan->items[i].events[k] == event)
				return true;
	return false;
}

static int make_passes(const struct gt_cu_plan *plan, void *context, struct passes *p)
{
	uint32_t metrics[GT_CU_METRICS], events[GT_CU_METRICS];
	unsigned n = 0, alone = 0;
	int rc = 0;

	*p = (struct passes){ .count = 0 };
	for (unsigned i = 0; i < plan->count; i++) {
		const struct item *item = &plan->items[i];

		if (item->metric)
			metrics[n++] = item->id;
		else if (!is_part(plan, item->events[0]))
			events[alone++] = item->id;
	}
	if (n)
		rc = cupti.MetricCreateEventGroupSets(context, n * sizeof(*metrics), metrics, &p->made[0]);
	if (!rc && alone)
		rc = cupti.EventGroupSetsCreate(context, alone * sizeof(*events), events, &p->made[1]);
	for (unsigned i = 0; !rc && i < 2; i++)
		put_passes(p, p->made[i]);
	if (!rc && (!p->count || p->count == PASSES))
		rc = CU_ERROR_MAX_LIMIT_REACHED;
	if (rc)
		free_passes(p);
	return rc;
}

static uint32_t attribute_of(void *group, int what)
{
	uint32_t value = 0;
	size_t bytes = sizeof(value);

	return cupti.EventGroupGetAttribute(group, what, &bytes, &value) ? 0 : value;
}

/* How many instances a group's unit has, counted or not. */
static uint32_t all_instances(const struct gt_cu_plan *plan, void *group)
{
	uint32_t value = 0;
	size_t bytes = sizeof(value);

	return cupti.DeviceGetEventDomainAttribute(plan->device, attribute_of(group, CU_EV_GROUP_DOMAIN),
						   CU_EV_DOMAIN_ALL_INSTANCES, &bytes, &value)
		       ? 0
		       : value;
}

/* All instances that can be. */
static int count_all(struct gt_cu_plan *plan, const struct passes *p)
{
	uint32_t yes = 1;
	int rc = 0;

	for (unsigned i = 0; !rc && i < p->count; i++)
		for (unsigned k = 0; !rc && k < p->all[i]->count; k++) {
			void *group = p->all[i]->groups[k];

			rc = cupti.EventGroupSetAttribute(group, CU_EV_GROUP_COUNT_ALL, sizeof(yes), &yes);
			plan->extrapolates |= attribute_of(group, CU_EV_GROUP_INSTANCES) <
					      all_instances(plan, group);
		}
	return rc;
}

static int make_plan(const struct gt_cu_set *set, struct gt_cu_plan *plan, struct passes *p)
{
	int rc = offered(set->device);

	if (!rc && !gt_cu_device_capability(set->device, &plan->device))
		rc = CU_ERROR_NOT_SUPPORTED;
	for (unsigned i = 0; !rc && i < set->count; i++)
		rc = add_item(plan, set->names[i]);
	if (!rc)
		rc = make_passes(plan, set->context, p);
	if (!rc)
		rc = count_all(plan, p);
	return rc;
}

static void close_plan(struct gt_cu_set *set)
{
	free(set->host);
	set->host = NULL;
}

static int open_plan(struct gt_cu_set *set)
{
	struct gt_cu_plan *plan = calloc(1, sizeof(*plan));
	struct passes p = { .count = 0 };
	int rc = plan ? make_plan(set, plan, &p) : CU_ERROR_OUT_OF_MEMORY;

	set->passes = p.count;
	set->host = plan;
	free_passes(&p);
	if (rc)
		close_plan(set);
	return rc;
}

static size_t count_passes(const struct gt_cu_set *set)
{
	struct gt_cu_set copy = *set;

	if (open_plan(&copy))
		return 0;
	close_plan(&copy);
	return copy.passes;
}

static void explain(const struct gt_cu_set *set, const char *name, char *why, size_t size)
{
	struct gt_cu_set alone = { .type = set->type, .device = set->device, .context = set->context,
				   .names = { name }, .count = 1 };
	struct nearest best = { .given = name, .distance = (unsigned)strlen(name) / 3 + 1 };
	int rc = open_plan(&alone);

	close_plan(&alone);
	if (rc != CU_ERROR_INVALID_METRIC_NAME) {
		snprintf(why, size, "CUPTI cannot count it (%s)", gt_cu_profiler_reason(rc));
		return;
	}
	list(set->device, compare, &best);
	if (best.name[0])
		snprintf(why, size, "%s has no such metric or event; did you mean %s?", set->chip, best.name);
	else
		snprintf(why, size, "%s has no such metric or event (gputrace info --gpu-metrics)",
			 set->chip);
}

static bool extrapolates(const struct gt_cu_plan *plan)
{
	return plan->extrapolates;
}

static bool evaluate(const struct gt_cu_plan *plan, unsigned index, const uint64_t *values, uint64_t ns,
		      uint64_t *value)
{
	const struct item *item = &plan->items[index];
	uint32_t events[GT_CU_EVENTS];
	uint64_t counts[GT_CU_EVENTS];
	union cu_ev_value result = { .whole = 0 };
	double real;

	for (unsigned i = 0; i < item->count; i++) {
		events[i] = plan->events[item->events[i]];
		counts[i] = values[item->events[i]];
		if (counts[i] == CU_EV_OVERFLOW || counts[i] == CU_EV_INVALID)
			return false;
	}
	if (!item->metric) {
		*value = counts[0];
		return true;
	}
	if (cupti.MetricGetValue(plan->device, item->id, item->count * sizeof(*events), events,
				 item->count * sizeof(*counts), counts, ns, &result))
		return false;
	real = item->kind == CU_EV_KIND_THROUGHPUT ? (double)result.whole
	       : item->kind == CU_EV_KIND_INT64    ? (double)result.integer
	       : item->kind == CU_EV_KIND_LEVEL    ? result.level
						   : result.real;
	if (is_sum(item))
		*value = result.whole;
	else
		memcpy(value, &real, sizeof(real));
	return true;
}

/* ---- contexts ---------------------------------------------------------------------------------------- */

static void groups_close(struct gt_cu_groups *g)
{
	if (g)
		free_passes(&g->passes);
	free(g);
}

static int groups_open(struct gt_cu_plan *plan, void *context, bool user, struct gt_cu_groups **groups)
{
	struct gt_cu_groups *g = calloc(1, sizeof(*g));
	int rc = g ? make_passes(plan, context, &g->passes) : CU_ERROR_OUT_OF_MEMORY;

	if (!rc)
		rc = count_all(plan, &g->passes);
	if (!rc && !user && g->passes.count > 1)
		rc = cupti.EnableKernelReplayMode(context);
	else if (!rc)
		rc = cupti.SetEventCollectionMode(context, user ? CU_EV_MODE_CONTINUOUS : CU_EV_MODE_KERNEL);
	if (rc) {
		groups_close(g);
		return rc;
	}
	g->plan = plan;
	g->user = user;
	*groups = g;
	return 0;
}

static int disable(struct gt_cu_groups *g, unsigned from, unsigned to)
{
	int rc = 0;

	for (unsigned i = from; i < to; i++) {
		int one = cupti.EventGroupSetDisable(g->passes.all[i]);

		rc = rc ? rc : one;
	}
	return rc;
}

/* Of the passes those that are counted at a time: all in a replay. */
static unsigned first(const struct gt_cu_groups *g)
{
	return g->user ? g->next : 0;
}

static unsigned last(const struct gt_cu_groups *g)
{
	return g->user ? g->next + 1 : g->passes.count;
}

static int groups_start(struct gt_cu_groups *g)
{
	unsigned i = first(g);
	int rc = 0;

	for (unsigned k = 0; !i && k < GT_CU_EVENTS; k++)
		g->counts[k] = CU_EV_INVALID;
	wait_idle();
	while (!rc && i < last(g)) {
		rc = cupti.EventGroupSetEnable(g->passes.all[i]);
		i += !rc;
	}
	if (rc)
		disable(g, first(g), i);
	g->begun = gt_now();
	return rc;
}

static uint64_t sum(const uint64_t *counts, uint32_t n, uint32_t all)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (counts[i] == CU_EV_OVERFLOW || counts[i] == CU_EV_INVALID)
			return CU_EV_OVERFLOW;
		total += counts[i];
	}
	return all > n ? total / n * all + total % n * all / n : total;
}

static int read_group(struct gt_cu_groups *g, void *group)
{
	uint32_t events[GT_CU_EVENTS], n = attribute_of(group, CU_EV_GROUP_EVENT_COUNT);
	uint32_t instances = attribute_of(group, CU_EV_GROUP_INSTANCES), all = all_instances(g->plan, group);
	size_t bytes = n * sizeof(*events);
	int rc = CU_ERROR_MAX_LIMIT_REACHED;

	if (n && n <= GT_CU_EVENTS && instances && instances <= INSTANCES)
		rc = cupti.EventGroupGetAttribute(group, CU_EV_GROUP_EVENTS, &bytes, events);
	for (uint32_t i = 0; !rc && i < n; i++) {
		unsigned at = 0;

		bytes = instances * sizeof(*g->instances);
		rc = cupti.EventGroupReadEvent(group, 0, events[i], &bytes, g->instances);
		while (at < g->plan->event_count && g->plan->events[at] != events[i])
			at++;
		if (!rc && at < g->plan->event_count && g->counts[at] == CU_EV_INVALID)
			g->counts[at] = sum(g->instances, instances, all);
	}
	return rc;
}

static int groups_stop(struct gt_cu_groups *g, bool read, bool *all)
{
	int rc = 0, stopped;

	if (read)
		wait_idle();
	g->ended = gt_now();
	for (unsigned i = first(g); read && i < last(g); i++)
		for (unsigned k = 0; !rc && k < g->passes.all[i]->count; k++)
			rc = read_group(g, g->passes.all[i]->groups[k]);
	stopped = disable(g, first(g), last(g));
	rc = rc ? rc : stopped;
	*all = !rc && read && last(g) == g->passes.count;
	g->next = rc || *all ? 0 : g->next + g->user;
	return rc;
}

static void groups_values(const struct gt_cu_groups *g, uint64_t *values, uint64_t *ns)
{
	memcpy(values, g->counts, sizeof(g->counts));
	*ns = gt_cu_ns(g->ended - g->begun) / (g->user ? 1 : g->passes.count);
}

/* ---- offered ----------------------------------------------------------------------------------------- */

__attribute__((constructor)) static void offer(void)
{
	static const struct gt_cu_older events = {
		.is_for = is_for,
		.offered = offered,
		.waiting = is_waiting,
		.open = open_plan,
		.close = close_plan,
		.passes = count_passes,
		.describe = describe,
		.explain = explain,
		.list = list,
		.groups_open = groups_open,
		.groups_close = groups_close,
		.start = groups_start,
		.stop = groups_stop,
		.values = groups_values,
		.evaluate = evaluate,
		.extrapolates = extrapolates,
	};

	gt_cu_older = &events;
}
