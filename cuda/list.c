/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a chip can count: `gputrace info --gpu-metrics` loads the adapter, without recording, and calls this.
 * Limits: a chip that is named needs no GPU and no driver; otherwise it is that of the first GPU.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/api.h"
#include "cuda/metrics.h"
#include "gputrace/plugin.h"

/* The first GPU's chip; NULL: there is none. */
static const char *chip_here(void)
{
	struct cu_profiler_plain initialize = { CU_PARAMS(cu_profiler_plain, priv) };
	struct cu_profiler_chip p = { CU_PARAMS(cu_profiler_chip, name) };
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	void *symbol = driver ? dlsym(driver, "cuInit") : NULL;
	int (*start)(unsigned) = NULL;

	memcpy(&start, &symbol, sizeof(start));
	/* Without a driver that runs CUPTI would crash here. */
	if (!start || start(0) || gt_cu_profiler(GT_CU_P_ProfilerInitialize, &initialize) ||
	    gt_cu_profiler(GT_CU_P_DeviceGetChipName, &p))
		return NULL;
	return p.name;
}

static void text(char *to, size_t room, const char *from)
{
	snprintf(to, room, "%s", from ? from : "");
}

static void describe(void *host, const char *name, struct gt_plugin_metric *m)
{
	struct cu_host_properties p;

	memset(m, 0, sizeof(*m));
	m->bytes = sizeof(*m);
	text(m->name, sizeof(m->name), name);
	if (!gt_cu_metric_properties(host, name, &p))
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

/* VT_CUPTI_KERNEL measures kernels as often as there are passes; sampling has one. */
static int type_asked(void)
{
	const char *way = getenv("VT_CUPTI_KERNEL");

	return way && *way && strcmp(way, "no") ? CU_PROFILER_RANGE : CU_PROFILER_PM;
}

static void check(void *host, const char *chip, const char *wanted, gt_plugin_each *each, void *argument)
{
	struct gt_cu_wishes *wishes = calloc(1, sizeof(*wishes));
	struct gt_cu_set set = { .type = type_asked(), .chip = chip };
	struct telling telling = { host, each, argument };
	struct gt_plugin_metric metric;

	if (!wishes)
		return;
	gt_cu_wishes_add(wishes, wanted);
	gt_cu_wishes_fit(wishes, &set, refused, &telling);
	for (unsigned i = 0; i < set.count; i++) {
		describe(host, set.names[i], &metric);
		each(&metric, argument);
	}
	free(wishes);
}

static void name_chips(char *why, size_t room)
{
	struct cu_host_chips p = { CU_PARAMS(cu_host_chips, names) };
	size_t n = strlen(why);

	if (gt_cu_profiler(GT_CU_P_ProfilerHostGetSupportedChips, &p))
		return;
	for (size_t i = 0; i < p.count && n + 16 < room; i++)
		n += (size_t)snprintf(why + n, room - n, "%s%s", i ? " " : ": ", p.names[i]);
}

/*
 * Calls `each` for every metric of the chip (NULL: the first GPU's), or for those of the list `wanted`, with
 * the reason where one cannot be sampled together with those before it; their `kind` is CUPTI's type of the
 * metric. False: nothing can be said, for the reason in why[].
 */
GT_API bool gt_cuda_metrics(const char *chip, const char *wanted, char *why, size_t room,
			    const char **chip_used, gt_plugin_each *each, void *argument);
bool gt_cuda_metrics(const char *chip, const char *wanted, char *why, size_t room, const char **chip_used,
		     gt_plugin_each *each, void *argument)
{
	struct cu_host_chips p = { CU_PARAMS(cu_host_chips, names) };
	void *host;

	if (!gt_cu_api_load(why, room))
		return false;
	if (gt_cu_profiler(GT_CU_P_ProfilerHostGetSupportedChips, &p)) {
		snprintf(why, room, "this CUPTI is older than 12.6: it cannot sample");
		return false;
	}
	if (!chip && !(chip = chip_here())) {
		snprintf(why, room, "no GPU that can be used is here; --chip names one");
		name_chips(why, room);
		return false;
	}
	host = gt_cu_host_open(CU_PROFILER_PM, chip);
	if (!host) {
		snprintf(why, room, "CUPTI does not know the chip %s, but these", chip);
		name_chips(why, room);
		return false;
	}
	*chip_used = chip;
	if (wanted && *wanted)
		check(host, chip, wanted, each, argument);
	else
		list_all(host, each, argument);
	gt_cu_host_close(host);
	return true;
}
