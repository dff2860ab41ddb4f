/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Event and Metric API of the fake CUPTI, for a device before compute capability 7.5 (FAKE_CAPABILITY,
 * times ten). Units: "sm" has 4 instances of which 2 can be read, and two counters; "fb" has 2 instances and
 * two counters. What a kernel does is spread evenly over the instances.
 *
 * FAKE_CUPTI: evdenied, evbusy: counting is refused; evoverflow: thread_inst_executed overflows in one
 * instance in every second kernel; evnoreplay: there is no replay; evzero: records of replayed kernels have
 * no times; evgone: this CUPTI counts no events any more; evpart: no metric is computed; say: what happens.
 * Events are lost if they are read too early.
 *
 * Limits: parameters as gputrace gives them. What the fake would do wrong ends the program.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/abi.h"
#include "cuda/legacy/events_abi.h"

#define COUNTERS 2u
#define GROUPS   64u
#define LEGACY   38 /* CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED */
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

uint64_t fake_cupti_now(void);
int fake_cupti_trouble(const char *word);

static const struct domain {
	uint32_t id, all, readable;
} domains[] = { { 1, 4, 2 }, { 2, 2, 2 } };

/* How often it counts in a kernel, per thread / 32 (a warp). */
static const struct event {
	uint32_t id, domain, each;
	const char *name, *description;
} events[] = {
	{ 101, 1, 1, "warps_launched", "Number of warps launched" },
	{ 102, 1, 10, "inst_executed", "Number of instructions executed per warp" },
	{ 103, 1, 320, "thread_inst_executed", "Number of instructions executed by all threads" },
	{ 104, 1, 40, "active_cycles", "Number of cycles with a warp in flight" },
	{ 201, 2, 2, "fb_subp0_read_sectors", "Number of sectors read from subpartition 0" },
	{ 202, 2, 2, "fb_subp1_read_sectors", "Number of sectors read from subpartition 1" },
	{ 203, 2, 3, "fb_writes", "Number of sectors written" },
	{ 204, 2, 1, "prof_trigger_00", "User profiled trigger" }, /* cannot be counted with any other */
};

static const struct metric {
	uint32_t id;
	int kind;
	const char *name, *description;
	uint32_t count, events[2];
} metrics[] = {
	{ 1, CU_EV_KIND_UINT64, "dram_read_bytes", "Bytes read from DRAM", 2, { 201, 202 } },
	{ 2, CU_EV_KIND_THROUGHPUT, "dram_read_throughput", "Read throughput", 2, { 201, 202 } },
	{ 3, CU_EV_KIND_DOUBLE, "ipc", "Instructions per cycle", 2, { 102, 104 } },
	{ 4, CU_EV_KIND_PERCENT, "warp_execution_efficiency", "Active threads", 2, { 102, 103 } },
	{ 5, CU_EV_KIND_LEVEL, "dram_utilization", "Utilization of DRAM", 2, { 201, 203 } },
};

static struct group {
	uint32_t domain, count, events[COUNTERS], every;
	int enabled;
	uint64_t values[COUNTERS];
	uint64_t over; /* when what it counts is over */
} groups[GROUPS];
static int mode = -1, replay, enabled_passes;
static uint64_t kernels;

static int refuses(void)
{
	const char *text = getenv("FAKE_CAPABILITY");

	return text && atoi(text) < 75 && !fake_cupti_trouble("evgone") ? 0 : LEGACY;
}

#define ALLOWED() \
	do { \
		if (refuses()) \
			return refuses(); \
	} while (0)

static const struct domain *domain_of(uint32_t id)
{
	for (size_t i = 0; i < COUNT(domains); i++)
		if (domains[i].id == id)
			return &domains[i];
	abort();
}

static const struct event *event_of(uint32_t id)
{
	for (size_t i = 0; i < COUNT(events); i++)
		if (events[i].id == id)
			return &events[i];
	abort();
}

static const struct metric *metric_of(uint32_t id)
{
	for (size_t i = 0; i < COUNT(metrics); i++)
		if (metrics[i].id == id)
			return &metrics[i];
	abort();
}

static int put(const void *from, size_t size, size_t *bytes, void *to)
{
	if (*bytes < size)
		return 10;
	memcpy(to, from, size);
	*bytes = size;
	return 0;
}

/* Without a 0 at the end, as CUPTI gives it if there is no room. */
static int put_text(const char *text, size_t *bytes, void *to)
{
	size_t n = strlen(text) < *bytes ? strlen(text) : *bytes;

	memcpy(to, text, n);
	*bytes = n;
	return 0;
}

/* ---- what there is ----------------------------------------------------------------------------------- */

int cuptiDeviceEnumEventDomains(int device, size_t *bytes, uint32_t *to);
int cuptiDeviceEnumEventDomains(int device, size_t *bytes, uint32_t *to)
{
	ALLOWED();
	for (size_t i = 0; i < COUNT(domains); i++)
		to[i] = domains[i].id;
	*bytes = COUNT(domains) * sizeof(*to);
	return device ? 2 : 0;
}

int cuptiDeviceGetEventDomainAttribute(int device, uint32_t domain, int what, size_t *bytes, void *value);
int cuptiDeviceGetEventDomainAttribute(int device, uint32_t domain, int what, size_t *bytes, void *value)
{
	const struct domain *d = domain_of(domain);

	ALLOWED();
	(void)device;
	return put(what == CU_EV_DOMAIN_ALL_INSTANCES ? &d->all : &d->readable, 4, bytes, value);
}

int cuptiEventDomainEnumEvents(uint32_t domain, size_t *bytes, uint32_t *to);
int cuptiEventDomainEnumEvents(uint32_t domain, size_t *bytes, uint32_t *to)
{
	size_t n = 0;

	for (size_t i = 0; i < COUNT(events); i++)
		if (events[i].domain == domain)
			to[n++] = events[i].id;
	*bytes = n * sizeof(*to);
	return 0;
}

int cuptiEventGetAttribute(uint32_t event, int what, size_t *bytes, void *value);
int cuptiEventGetAttribute(uint32_t event, int what, size_t *bytes, void *value)
{
	const struct event *e = event_of(event);

	return put_text(what == CU_EV_EVENT_NAME ? e->name : e->description, bytes, value);
}

int cuptiEventGetIdFromName(int device, const char *name, uint32_t *event);
int cuptiEventGetIdFromName(int device, const char *name, uint32_t *event)
{
	ALLOWED();
	(void)device;
	for (size_t i = 0; i < COUNT(events); i++)
		if (!strcmp(events[i].name, name)) {
			*event = events[i].id;
			return 0;
		}
	return 6;
}

int cuptiDeviceEnumMetrics(int device, size_t *bytes, uint32_t *to);
int cuptiDeviceEnumMetrics(int device, size_t *bytes, uint32_t *to)
{
	ALLOWED();
	for (size_t i = 0; i < COUNT(metrics); i++)
		to[i] = metrics[i].id;
	*bytes = COUNT(metrics) * sizeof(*to);
	return device ? 2 : 0;
}

int cuptiMetricGetAttribute(uint32_t metric, int what, size_t *bytes, void *value);
int cuptiMetricGetAttribute(uint32_t metric, int what, size_t *bytes, void *value)
{
	const struct metric *m = metric_of(metric);

	if (what == CU_EV_METRIC_KIND)
		return put(&m->kind, sizeof(m->kind), bytes, value);
	return put_text(what == CU_EV_METRIC_NAME ? m->name : m->description, bytes, value);
}

int cuptiMetricGetIdFromName(int device, const char *name, uint32_t *metric);
int cuptiMetricGetIdFromName(int device, const char *name, uint32_t *metric)
{
	ALLOWED();
	(void)device;
	for (size_t i = 0; i < COUNT(metrics); i++)
		if (!strcmp(metrics[i].name, name)) {
			*metric = metrics[i].id;
			return 0;
		}
	return CU_ERROR_INVALID_METRIC_NAME;
}

int cuptiMetricEnumEvents(uint32_t metric, size_t *bytes, uint32_t *to);
int cuptiMetricEnumEvents(uint32_t metric, size_t *bytes, uint32_t *to)
{
	const struct metric *m = metric_of(metric);

	return put(m->events, m->count * sizeof(*to), bytes, to);
}

static uint64_t value_of(uint32_t event, const uint32_t *ids, const uint64_t *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (ids[i] == event)
			return values[i];
	abort();
}

int cuptiMetricGetValue(int device, uint32_t metric, size_t event_bytes, uint32_t *ids, size_t value_bytes,
			uint64_t *values, uint64_t ns, union cu_ev_value *value);
int cuptiMetricGetValue(int device, uint32_t metric, size_t event_bytes, uint32_t *ids, size_t value_bytes,
			uint64_t *values, uint64_t ns, union cu_ev_value *value)
{
	const struct metric *m = metric_of(metric);
	size_t n = event_bytes / sizeof(*ids);
	double a = (double)value_of(m->events[0], ids, values, n);
	double b = (double)value_of(m->events[1], ids, values, n);

	if (device || value_bytes != n * sizeof(*values) || !ns)
		abort();
	if (fake_cupti_trouble("evpart"))
		return 25;
	if (m->kind == CU_EV_KIND_UINT64)
		value->whole = (uint64_t)(32 * (a + b));
	else if (m->kind == CU_EV_KIND_THROUGHPUT)
		value->whole = (uint64_t)(32 * (a + b) * 1e9 / (double)ns);
	else if (m->kind == CU_EV_KIND_DOUBLE)
		value->real = a / b;
	else if (m->kind == CU_EV_KIND_PERCENT)
		value->real = b * 100 / (32 * a);
	else
		value->level = 7;
	return 0;
}

/* ---- groups ------------------------------------------------------------------------------------------ */

static void **new_group(void ***next, uint32_t domain)
{
	struct group *g = groups;

	while (g < groups + GROUPS && g->domain)
		g++;
	if (g == groups + GROUPS)
		abort();
	g->domain = domain;
	**next = g;
	return (*next)++;
}

/* In each pass one group of each unit, which has its counters; the trigger is alone in a pass. */
static int make(const uint32_t *ids, size_t n, struct cu_ev_passes **made)
{
	struct cu_ev_passes *p = calloc(1, sizeof(*p));

	p->passes = calloc(n, sizeof(*p->passes));
	for (size_t i = 0; i < n; i++) {
		const struct event *e = event_of(ids[i]);
		struct group *g = NULL;

		if (e->id == 204 && n > 1) {
			free(p->passes);
			free(p);
			return CU_ERROR_NOT_COMPATIBLE;
		}
		for (uint32_t k = 0; !g && k < n; k++) {
			struct cu_ev_pass *pass = &p->passes[k];
			void **next;

			pass->groups = pass->groups ? pass->groups : calloc(COUNT(domains), sizeof(void *));
			for (uint32_t j = 0; j < pass->count; j++)
				if (((struct group *)pass->groups[j])->domain == e->domain)
					g = pass->groups[j];
			next = &pass->groups[pass->count];
			if (!g) {
				g = *new_group(&next, e->domain);
				pass->count++;
			} else if (g->count == COUNTERS) {
				g = NULL;
			}
			p->count = k >= p->count ? k + 1 : p->count;
		}
		g->events[g->count++] = e->id;
	}
	*made = p;
	return 0;
}

int cuptiEventGroupSetsCreate(void *context, size_t bytes, uint32_t *ids, struct cu_ev_passes **made);
int cuptiEventGroupSetsCreate(void *context, size_t bytes, uint32_t *ids, struct cu_ev_passes **made)
{
	ALLOWED();
	return context ? make(ids, bytes / sizeof(*ids), made) : 3;
}

int cuptiMetricCreateEventGroupSets(void *context, size_t bytes, uint32_t *ids, struct cu_ev_passes **made);
int cuptiMetricCreateEventGroupSets(void *context, size_t bytes, uint32_t *ids, struct cu_ev_passes **made)
{
	uint32_t all[2 * COUNT(metrics)];
	size_t n = 0;

	ALLOWED();
	for (size_t i = 0; i < bytes / sizeof(*ids); i++)
		for (uint32_t k = 0; k < metric_of(ids[i])->count; k++) {
			size_t at = 0;

			while (at < n && all[at] != metric_of(ids[i])->events[k])
				at++;
			all[at] = metric_of(ids[i])->events[k];
			n += at == n;
		}
	return context ? make(all, n, made) : 3;
}

int cuptiEventGroupSetsDestroy(struct cu_ev_passes *p);
int cuptiEventGroupSetsDestroy(struct cu_ev_passes *p)
{
	for (uint32_t i = 0; i < p->count; i++)
		for (uint32_t k = 0; k < p->passes[i].count; k++) {
			struct group *g = p->passes[i].groups[k];

			if (g->enabled)
				abort();
			*g = (struct group){ .domain = 0 };
		}
	free(p);
	return 0;
}

int cuptiEventGroupGetAttribute(void *group, int what, size_t *bytes, void *value);
int cuptiEventGroupGetAttribute(void *group, int what, size_t *bytes, void *value)
{
	const struct group *g = group;
	uint32_t instances = g->every ? domain_of(g->domain)->readable : 1;

	switch (what) {
	case CU_EV_GROUP_DOMAIN:
		return put(&g->domain, 4, bytes, value);
	case CU_EV_GROUP_EVENT_COUNT:
		return put(&g->count, 4, bytes, value);
	case CU_EV_GROUP_EVENTS:
		return put(g->events, 4 * g->count, bytes, value);
	case CU_EV_GROUP_INSTANCES:
		return put(&instances, 4, bytes, value);
	default:
		return 1;
	}
}

int cuptiEventGroupSetAttribute(void *group, int what, size_t bytes, void *value);
int cuptiEventGroupSetAttribute(void *group, int what, size_t bytes, void *value)
{
	struct group *g = group;

	if (what != CU_EV_GROUP_COUNT_ALL || bytes != 4 || g->enabled)
		return 1;
	memcpy(&g->every, value, 4);
	return 0;
}

/* ---- counting ---------------------------------------------------------------------------------------- */

int cuptiSetEventCollectionMode(void *context, int to);
int cuptiSetEventCollectionMode(void *context, int to)
{
	ALLOWED();
	if (replay || !context)
		return 7;
	mode = to;
	return 0;
}

int cuptiEnableKernelReplayMode(void *context);
int cuptiEnableKernelReplayMode(void *context)
{
	ALLOWED();
	if (fake_cupti_trouble("evnoreplay"))
		return CU_ERROR_NOT_SUPPORTED;
	mode = context ? CU_EV_MODE_KERNEL : -1;
	replay = 1;
	return 0;
}

int cuptiEventGroupSetEnable(struct cu_ev_pass *pass);
int cuptiEventGroupSetEnable(struct cu_ev_pass *pass)
{
	if (fake_cupti_trouble("evdenied"))
		return CU_ERROR_INSUFFICIENT_PRIVILEGES;
	if (fake_cupti_trouble("evbusy"))
		return CU_ERROR_HARDWARE_BUSY;
	if (mode < 0 || (enabled_passes && !replay))
		return CU_ERROR_NOT_COMPATIBLE;
	enabled_passes++;
	for (uint32_t i = 0; i < pass->count; i++) {
		struct group *g = pass->groups[i];

		g->enabled = 1;
		g->over = 0;
		memset(g->values, 0, sizeof(g->values));
	}
	return 0;
}

int cuptiEventGroupSetDisable(struct cu_ev_pass *pass);
int cuptiEventGroupSetDisable(struct cu_ev_pass *pass)
{
	for (uint32_t i = 0; i < pass->count; i++)
		((struct group *)pass->groups[i])->enabled = 0;
	return --enabled_passes < 0 ? 7 : 0;
}

int cuptiEventGroupReadEvent(void *group, int flags, uint32_t event, size_t *bytes, uint64_t *to);
int cuptiEventGroupReadEvent(void *group, int flags, uint32_t event, size_t *bytes, uint64_t *to)
{
	struct group *g = group;
	uint32_t all = domain_of(g->domain)->all, n = g->every ? domain_of(g->domain)->readable : 1, at = 0;

	if (flags || !g->enabled || *bytes < n * sizeof(*to))
		return CU_ERROR_INVALID_PARAMETER;
	while (at < g->count && g->events[at] != event)
		at++;
	if (at == g->count)
		abort();
	for (uint32_t i = 0; i < n; i++)
		to[i] = fake_cupti_now() < g->over
				? 0
				: g->values[at] * (i + 1) / all - g->values[at] * i / all;
	if (event == 103 && fake_cupti_trouble("evoverflow") && kernels % 2)
		to[n - 1] = CU_EV_OVERFLOW;
	g->values[at] = 0;
	*bytes = n * sizeof(*to);
	return 0;
}

int fake_events_kernel(uint64_t threads, uint64_t start, uint64_t end);
/* A kernel is launched. 1: it is replayed, and over when this returns, and its record has no times. */
int fake_events_kernel(uint64_t threads, uint64_t start, uint64_t end)
{
	(void)start;
	if (!enabled_passes)
		return 0;
	kernels++;
	for (struct group *g = groups; g < groups + GROUPS; g++) {
		if (!g->enabled)
			continue;
		g->over = end;
		for (uint32_t i = 0; i < g->count; i++) {
			uint64_t n = event_of(g->events[i])->each * (threads / 32);

			g->values[i] = mode == CU_EV_MODE_KERNEL ? n : g->values[i] + n;
		}
	}
	while (replay && fake_cupti_now() < end)
		usleep(100);
	if (fake_cupti_trouble("say"))
		fprintf(stderr, "fake: counted in %d passes, %s\n", enabled_passes,
			mode == CU_EV_MODE_KERNEL ? "kernel" : "continuous");
	return replay && fake_cupti_trouble("evzero");
}
