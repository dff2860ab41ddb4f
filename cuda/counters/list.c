/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists the metrics that a chip can count: `gputrace info --gpu-metrics` loads the adapter, without
 * recording, and calls this.
 * Limits: a chip that is named needs no GPU and no driver; otherwise it is that of the first GPU.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/api.h"
#include "cuda/cuda.h"
#include "cuda/counters/metrics.h"
#include "cuda/counters/older.h"
#include "gputrace/gpu_metrics.h"

/* Without a driver that runs CUPTI would crash. */
static bool start_driver(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	void *symbol = driver ? dlsym(driver, "cuInit") : NULL;
	int (*start)(unsigned) = NULL;

	memcpy(&start, &symbol, sizeof(start));
	return start && !start(0);
}

/* The first GPU's chip, of which the driver runs; NULL: there is none. */
static const char *chip_here(void)
{
	struct cu_profiler_plain initialize = { CU_PARAMS(cu_profiler_plain, priv) };
	struct cu_profiler_chip p = { CU_PARAMS(cu_profiler_chip, name) };

	if (gt_cu_profiler(GT_CU_P_ProfilerInitialize, &initialize) ||
	    gt_cu_profiler(GT_CU_P_DeviceGetChipName, &p))
		return NULL;
	return p.name;
}

static void text(char *to, size_t room, const char *from)
{
	snprintf(to, room, "%s", from ? from : "");
}

/* host NULL: of the first GPU, by CUPTI's events. */
static void describe(void *host, const char *name, struct gt_plugin_metric *m)
{
	struct cu_host_properties p;
	bool sum;

	memset(m, 0, sizeof(*m));
	m->bytes = sizeof(*m);
	text(m->name, sizeof(m->name), name);
	if (host ? !gt_cu_metric_properties(host, name, &p) : !gt_cu_older->describe(0, name, &p, &sum))
		return;
	text(m->unit, sizeof(m->unit), p.unit);
	text(m->description, sizeof(m->description), p.description);
	m->kind = (uint32_t)p.type;
}

static void list_all(void *host, gt_plugin_each *each, void *argument)
{
	struct gt_plugin_metric metric;
	const char **names = NULL;

	for (int type = 0; type < CU_METRIC_TYPES; type++) {
		size_t n = gt_cu_metric_base(host, type, &names);

		for (size_t i = 0; i < n; i++) {
			describe(host, names[i], &metric);
			each(&metric, argument);
		}
	}
}

struct telling {
	void *host;
	gt_plugin_each *each;
	void *argument;
};

static void refused(const char *name, const char *why, void *argument)
{
	const struct telling *t = argument;
	struct gt_plugin_metric metric;

	describe(t->host, name, &metric);
	text(metric.missing, sizeof(metric.missing), why);
	t->each(&metric, t->argument);
}

static void silent(const char *name, const char *why, void *unused)
{
	(void)name;
	(void)why;
	(void)unused;
}

/* VT_CUPTI_KERNEL measures kernels as often as there are passes; sampling has one. */
static bool asks_for_kernels(void)
{
	const char *way = getenv("VT_CUPTI_KERNEL");

	return way && *way && strcmp(way, "no");
}

/* The metrics of the set that can be; the others are told as missing. */
static void tell(void *host, const struct gt_cu_wishes *wishes, struct gt_cu_set *set, gt_plugin_each *each,
		 void *argument)
{
	struct telling telling = { host, each, argument };
	struct gt_plugin_metric metric;

	gt_cu_wishes_fit(wishes, set, refused, &telling);
	for (unsigned i = 0; i < set->count; i++) {
		describe(host, set->names[i], &metric);
		each(&metric, argument);
	}
}

static void check(void *host, const char *wanted, struct gt_gpu_listing *about, gt_plugin_each *each,
		  void *argument)
{
	struct gt_cu_wishes *wishes = calloc(1, sizeof(*wishes));
	struct gt_cu_set set = { .type = CU_PROFILER_PM, .chip = about->chip }, exact = set;

	if (!wishes)
		return;
	exact.type = CU_PROFILER_RANGE;
	wishes->exact = asks_for_kernels();
	gt_cu_wishes_add(wishes, wanted);
	if (wishes->exact) {
		tell(host, wishes, &exact, each, argument);
	} else {
		tell(host, wishes, &set, each, argument);
		gt_cu_wishes_fit(wishes, &exact, silent, NULL);
	}
	about->counted = exact.count;
	about->passes = exact.count ? gt_cu_set_passes(&exact) : 0;
	free(wishes);
}

/* ---- by events --------------------------------------------------------------------------------------- */

/* CUPTI asks for a context before it says what can be counted together. */
static void *context_here(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), *context = NULL;
	int (*retain)(void **context, int device) = NULL, (*push)(void *context) = NULL;
	void *symbols[2];
	int device = 0;

	if (!driver || !gt_cu_device_capability(0, &device))
		return NULL;
	symbols[0] = dlsym(driver, "cuDevicePrimaryCtxRetain");
	symbols[1] = dlsym(driver, "cuCtxPushCurrent_v2");
	memcpy(&retain, &symbols[0], sizeof(retain));
	memcpy(&push, &symbols[1], sizeof(push));
	return retain && push && !retain(&context, device) && !push(context) ? context : NULL;
}

struct each_event {
	gt_plugin_each *each;
	void *argument;
};

static void list_event(const char *name, void *argument)
{
	const struct each_event *to = argument;
	struct gt_plugin_metric metric;

	describe(NULL, name, &metric);
	to->each(&metric, to->argument);
}

static bool check_events(const char *wanted, char *why, size_t room, struct gt_gpu_listing *about,
			 gt_plugin_each *each, void *argument)
{
	struct gt_cu_wishes *wishes = calloc(1, sizeof(*wishes));
	struct gt_cu_set set = { .type = CU_PROFILER_EVENTS, .chip = about->chip, .context = context_here() };

	if (!wishes || !set.context) {
		free(wishes);
		snprintf(why, room, "no context can be made on the GPU");
		return false;
	}
	wishes->exact = true;
	gt_cu_wishes_add(wishes, wanted);
	tell(NULL, wishes, &set, each, argument);
	about->counted = set.count;
	about->passes = set.count ? gt_cu_wishes_passes(&set) : 0;
	free(wishes);
	return true;
}

/* A GPU before compute capability 7.5. */
static bool by_events(const char *wanted, char *why, size_t room, struct gt_gpu_listing *about,
		      gt_plugin_each *each, void *argument)
{
	static char chip[32];
	struct each_event to = { each, argument };
	unsigned capability = gt_cu_device_capability(0, NULL);
	int rc = gt_cu_older->offered(0);

	if (rc) {
		snprintf(why, room, "%s", gt_cu_profiler_reason(rc));
		return false;
	}
	snprintf(chip, sizeof(chip), "this GPU (%u.%u)", capability / 10, capability % 10);
	about->chip = chip;
	about->sampled = false;
	if (wanted && *wanted)
		return check_events(wanted, why, room, about, each, argument);
	gt_cu_older->list(0, list_event, &to);
	return true;
}

static void name_chips(const struct cu_host_chips *chips, char *why, size_t room)
{
	size_t n = strlen(why);

	for (size_t i = 0; i < chips->count && n + 16 < room; i++)
		n += (size_t)snprintf(why + n, room - n, "%s%s", i ? " " : ": ", chips->names[i]);
}

/* CUPTI lists chips that it counts by other means, too: the host side has no metrics of them. */
static void refuse_chip(const char *chip, const struct cu_host_chips *chips, char *why, size_t room)
{
	for (size_t i = 0; i < chips->count; i++) {
		if (!strcmp(chip, chips->names[i])) {
			snprintf(why, room, "CUPTI cannot sample on the chip %s", chip);
			return;
		}
	}
	snprintf(why, room, "CUPTI does not know the chip %s; it knows these", chip);
	name_chips(chips, why, room);
}

GT_API gt_cuda_metrics_function gt_cuda_metrics;
bool gt_cuda_metrics(const char *chip, const char *wanted, char *why, size_t room,
		     struct gt_gpu_listing *about, gt_plugin_each *each, void *argument)
{
	struct cu_host_chips p = { CU_PARAMS(cu_host_chips, names) };
	bool runs;
	void *host;

	*about = (struct gt_gpu_listing){ .sampled = true };
	if (!gt_cu_api_load(why, room))
		return false;
	runs = !chip && start_driver();
	if (runs && gt_cu_older_is_for(0))
		return by_events(wanted, why, room, about, each, argument);
	if (gt_cu_profiler(GT_CU_P_ProfilerHostGetSupportedChips, &p)) {
		snprintf(why, room, "this CUPTI is older than 12.6: it cannot sample");
		return false;
	}
	if (!chip && !(chip = runs ? chip_here() : NULL)) {
		snprintf(why, room, "there is no usable GPU; name a chip with --chip");
		name_chips(&p, why, room);
		return false;
	}
	host = gt_cu_host_open(CU_PROFILER_PM, chip);
	if (!host) {
		refuse_chip(chip, &p, why, room);
		return false;
	}
	about->chip = chip;
	if (wanted && *wanted)
		check(host, wanted, about, each, argument);
	else
		list_all(host, each, argument);
	gt_cu_host_close(host);
	return true;
}
