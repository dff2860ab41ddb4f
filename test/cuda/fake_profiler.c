/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The profiler of the fake CUPTI: the chip FAKE1 with a handful of metrics, whose host side needs no device.
 *
 * Limits: parameters must have exactly the size that CUPTI 13.0 gives them. A set of more than LANES metrics
 * needs two passes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/abi.h"
#include "cuda/profiler_abi.h"

#define LANES 8u
#define MOST  64u
#define CHECK(p, type, last) \
	do { \
		if (!(p) || (p)->bytes != CU_BYTES_TO(type, last)) \
			return CU_ERROR_INVALID_PARAMETER; \
	} while (0)

static const struct metric {
	const char *name, *unit, *description;
	int type;
	size_t passes;
} metrics[] = {
	{ "dram__bytes_read", "byte", "# of bytes read from DRAM", CU_METRIC_COUNTER, 1 },
	{ "dram__bytes_write", "byte", "# of bytes written to DRAM", CU_METRIC_COUNTER, 1 },
	{ "sm__cycles_active", "cycle", "# of cycles with a warp in flight", CU_METRIC_COUNTER, 1 },
	{ "gr__cycles_active", "cycle", "# of cycles where GR was active", CU_METRIC_COUNTER, 1 },
	{ "smsp__warps_launched", "warp", "# of warps launched", CU_METRIC_COUNTER, 1 },
	{ "smsp__thread_inst_executed", "instruction", "# of thread instructions", CU_METRIC_COUNTER, 2 },
	{ "lts__t_sector_hit_rate", "", "proportion of L2 sector lookups that hit", CU_METRIC_RATIO, 1 },
	{ "sm__throughput", "percent", "SM throughput", CU_METRIC_THROUGHPUT, 19 },
};
#define METRICS (sizeof(metrics) / sizeof(metrics[0]))

static const char *rollups[CU_METRIC_TYPES][4] = {
	{ ".sum", ".avg", ".avg.pct_of_peak_sustained_elapsed", ".sum.pct_of_peak_sustained_elapsed" },
	{ ".pct", ".ratio" },
	{ ".avg.pct_of_peak_sustained_elapsed" },
};

struct host {
	const char *names[MOST];
	size_t count, passes;
};

/* A metric by its whole name, or by its name without a rollup if `bare` is not 0. */
static const struct metric *find(const char *name, int bare)
{
	size_t n = strcspn(name, ".");

	for (size_t i = 0; i < METRICS; i++) {
		const struct metric *m = &metrics[i];

		if (strlen(m->name) != n || memcmp(m->name, name, n))
			continue;
		if (!name[n] && bare)
			return m;
		for (unsigned k = 0; k < 4 && rollups[m->type][k]; k++)
			if (!strcmp(rollups[m->type][k], name + n))
				return m;
	}
	return NULL;
}

int cuptiProfilerInitialize(struct cu_profiler_plain *p);
int cuptiProfilerInitialize(struct cu_profiler_plain *p)
{
	CHECK(p, cu_profiler_plain, priv);
	return 0;
}

int cuptiDeviceGetChipName(struct cu_profiler_chip *p);
int cuptiDeviceGetChipName(struct cu_profiler_chip *p)
{
	CHECK(p, cu_profiler_chip, name);
	p->name = "FAKE1";
	return p->device > 1 ? CU_ERROR_INVALID_PARAMETER : 0;
}

int cuptiProfilerHostGetSupportedChips(struct cu_host_chips *p);
int cuptiProfilerHostGetSupportedChips(struct cu_host_chips *p)
{
	static const char *const chips[] = { "FAKE0", "FAKE1" };

	CHECK(p, cu_host_chips, names);
	p->names = chips;
	p->count = 2;
	return 0;
}

int cuptiProfilerHostInitialize(struct cu_host_initialize *p);
int cuptiProfilerHostInitialize(struct cu_host_initialize *p)
{
	CHECK(p, cu_host_initialize, object);
	if (!p->chip || strcmp(p->chip, "FAKE1"))
		return CU_ERROR_INVALID_PARAMETER;
	p->object = calloc(1, sizeof(struct host));
	return 0;
}

int cuptiProfilerHostDeinitialize(struct cu_profiler_object *p);
int cuptiProfilerHostDeinitialize(struct cu_profiler_object *p)
{
	CHECK(p, cu_profiler_object, object);
	free(p->object);
	return 0;
}

int cuptiProfilerHostGetBaseMetrics(struct cu_host_base *p);
int cuptiProfilerHostGetBaseMetrics(struct cu_host_base *p)
{
	static const char *names[CU_METRIC_TYPES][METRICS];

	CHECK(p, cu_host_base, count);
	p->count = 0;
	for (size_t i = 0; i < METRICS; i++)
		if (metrics[i].type == p->type)
			names[p->type][p->count++] = metrics[i].name;
	p->names = names[p->type];
	return 0;
}

int cuptiProfilerHostGetSubMetrics(struct cu_host_sub *p);
int cuptiProfilerHostGetSubMetrics(struct cu_host_sub *p)
{
	CHECK(p, cu_host_sub, names);
	for (p->count = 0; p->count < 4 && rollups[p->type][p->count];)
		p->count++;
	p->names = rollups[p->type];
	return 0;
}

int cuptiProfilerHostGetMetricProperties(struct cu_host_properties *p);
int cuptiProfilerHostGetMetricProperties(struct cu_host_properties *p)
{
	const struct metric *m;

	CHECK(p, cu_host_properties, type);
	m = find(p->name, 1);
	if (!m)
		return 17;
	p->description = m->description;
	p->hardware = "fake";
	p->unit = strstr(p->name, ".pct") ? "percent" : m->unit;
	p->type = m->type;
	return 0;
}

int cuptiProfilerHostConfigAddMetrics(struct cu_host_add *p);
int cuptiProfilerHostConfigAddMetrics(struct cu_host_add *p)
{
	struct host *h = p->object;

	CHECK(p, cu_host_add, count);
	for (size_t i = 0; i < p->count; i++) {
		const struct metric *m = find(p->names[i], 0);

		if (!m || h->count == MOST)
			return CU_ERROR_INVALID_PARAMETER;
		h->names[h->count++] = p->names[i];
		h->passes = m->passes > h->passes ? m->passes : h->passes;
	}
	if (h->count > LANES && h->passes < 2)
		h->passes = 2;
	return 0;
}

int cuptiProfilerHostGetConfigImageSize(struct cu_host_image *p);
int cuptiProfilerHostGetConfigImageSize(struct cu_host_image *p)
{
	CHECK(p, cu_host_image, size);
	p->size = sizeof(size_t);
	return 0;
}

int cuptiProfilerHostGetConfigImage(struct cu_host_image *p);
int cuptiProfilerHostGetConfigImage(struct cu_host_image *p)
{
	CHECK(p, cu_host_image, image);
	memcpy(p->image, &((struct host *)p->object)->passes, sizeof(size_t));
	return p->size == sizeof(size_t) ? 0 : CU_ERROR_INVALID_PARAMETER;
}

int cuptiProfilerHostGetNumOfPasses(struct cu_host_passes *p);
int cuptiProfilerHostGetNumOfPasses(struct cu_host_passes *p)
{
	CHECK(p, cu_host_passes, passes);
	memcpy(&p->passes, p->image, sizeof(size_t));
	return 0;
}
