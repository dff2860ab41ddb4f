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
#include <unistd.h>

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
	{ "gpu__time_duration", "ns", "incremental duration of the range", CU_METRIC_COUNTER, 1 },
	{ "nvlrx__bytes", "byte", "# of bytes received", CU_METRIC_COUNTER, 1 },
	{ "nvltx__bytes", "byte", "# of bytes sent", CU_METRIC_COUNTER, 1 },
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
	int type;
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
	((struct host *)p->object)->type = p->type;
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

/*
 * ---- PM sampling
 * --------------------------------------------------------------------------------------------
 */

/*
 * Every sample has for each metric of it the value 1000 * (1 + its place in the set), whatever the fake
 * device does. FAKE_CUPTI: pmbusy, pmdenied, pmnone: it is refused; pmlate: refused for 0.4 s, pmflood:
 * the buffer overflows after 300 samples; pmstall: no sample is complete while there are more than two
 * metrics; pmgap: every 100th sample is not there; pmhang: a decoding never returns.
 */
#define DEVICES 2

static struct sampling {
	int there, started, first, links;
	size_t device, put;
	uint64_t interval, next;
	uint64_t begun;
} samplings[DEVICES];

struct image {
	size_t room, count, complete;
	struct {
		uint64_t start, end;
	} samples[];
};

uint64_t fake_cupti_now(void);
int fake_cupti_trouble(const char *word);

/* The real one's libraries are torn down so: nothing of them may be called then. */
static int torn_down;

static void tear_down(void)
{
	torn_down = 1;
}

static uint64_t since_start(void)
{
	static uint64_t start;

	start = start ? start : fake_cupti_now();
	return fake_cupti_now() - start;
}

int cuptiProfilerDeviceSupported(struct cu_profiler_supported *p);
int cuptiProfilerDeviceSupported(struct cu_profiler_supported *p)
{
	const char *capability = getenv("FAKE_CAPABILITY");

	CHECK(p, cu_profiler_supported, api);
	p->supported = CU_PROFILER_SUPPORTED;
	if ((capability && atoi(capability) < 75) ||
	    fake_cupti_trouble(p->api == CU_API_PM ? "pmnone" : "rpnone"))
		p->supported = 1;
	return 0;
}

int cuptiPmSamplingEnable(struct cu_pm_enable *p);
int cuptiPmSamplingEnable(struct cu_pm_enable *p)
{
	CHECK(p, cu_pm_enable, object);
	since_start();
	if (fake_cupti_trouble("pmdenied"))
		return CU_ERROR_INSUFFICIENT_PRIVILEGES;
	if (p->device >= DEVICES || samplings[p->device].there)
		return 7;
	atexit(tear_down);
	samplings[p->device] = (struct sampling){ .there = 1, .device = p->device };
	p->object = &samplings[p->device];
	return 0;
}

int cuptiPmSamplingDisable(struct cu_profiler_object *p);
int cuptiPmSamplingDisable(struct cu_profiler_object *p)
{
	CHECK(p, cu_profiler_object, object);
	((struct sampling *)p->object)->there = 0;
	return 0;
}

int cuptiPmSamplingSetConfig(struct cu_pm_config *p);
int cuptiPmSamplingSetConfig(struct cu_pm_config *p)
{
	struct sampling *s = p->object;
	size_t passes;

	if (fake_cupti_trouble("old")) /* 12.6 */
		CHECK(p, cu_pm_config, trigger);
	else
		CHECK(p, cu_pm_config, append);
	memcpy(&passes, p->image, sizeof(passes));
	if (passes != 1 || p->trigger != CU_PM_TRIGGER_TIME)
		return CU_ERROR_NOT_SUPPORTED;
	if (fake_cupti_trouble("pmbusy") || (fake_cupti_trouble("pmlate") && since_start() < 400000000))
		return CU_ERROR_HARDWARE_BUSY;
	s->interval = p->interval;
	return 0;
}

int cuptiPmSamplingGetCounterDataSize(struct cu_pm_data_size *p);
int cuptiPmSamplingGetCounterDataSize(struct cu_pm_data_size *p)
{
	CHECK(p, cu_pm_data_size, size);
	for (size_t i = 0; i < p->count; i++)
		((struct sampling *)p->object)->links |= !strncmp(p->names[i], "nvl", 3);
	p->size = sizeof(struct image) + p->most * 16;
	return 0;
}

int cuptiPmSamplingCounterDataImageInitialize(struct cu_profiler_data *p);
int cuptiPmSamplingCounterDataImageInitialize(struct cu_profiler_data *p)
{
	struct image *image = (struct image *)p->data;

	CHECK(p, cu_profiler_data, data);
	*image = (struct image){ .room = (p->size - sizeof(*image)) / 16 };
	return 0;
}

int cuptiPmSamplingStart(struct cu_profiler_object *p);
int cuptiPmSamplingStart(struct cu_profiler_object *p)
{
	struct sampling *s = p->object;

	CHECK(p, cu_profiler_object, object);
	if (!s->interval || s->started)
		return 7;
	s->started = s->first = 1;
	s->begun = s->next = fake_cupti_now();
	return 0;
}

int cuptiPmSamplingStop(struct cu_profiler_object *p);
int cuptiPmSamplingStop(struct cu_profiler_object *p)
{
	struct sampling *s = p->object;

	CHECK(p, cu_profiler_object, object);
	if (!s->started)
		return 7;
	if (fake_cupti_trouble("say"))
		fprintf(stderr, "fake: device %zu stopped\n", s->device);
	return 0;
}

int cuptiPmSamplingDecodeData(struct cu_pm_decode *p);
int cuptiPmSamplingDecodeData(struct cu_pm_decode *p)
{
	struct sampling *s = p->object;
	struct image *image = (struct image *)p->data;
	uint64_t now = fake_cupti_now();

	CHECK(p, cu_pm_decode, overflow);
	if (torn_down)
		abort();
	while (fake_cupti_trouble("pmhang") && now - s->begun > 300000000)
		pause();
	if (fake_cupti_trouble("pmflood") && s->put > 300) {
		p->overflow = 1;
		return CU_ERROR_OUT_OF_MEMORY;
	}
	for (; s->next + s->interval <= now && image->count < image->room; s->next += s->interval) {
		if (++s->put % 100 == 0 && fake_cupti_trouble("pmgap"))
			continue;
		image->samples[image->count].start = s->first ? s->next - 3000000000 : s->next;
		image->samples[image->count++].end = s->next + s->interval;
		s->first = 0;
	}
	image->complete = fake_cupti_trouble("pmstall") && s->links ? 0 : image->count;
	p->reason = image->count == image->room ? CU_PM_STOP_FULL : CU_PM_STOP_END;
	return 0;
}

int cuptiPmSamplingGetCounterDataInfo(struct cu_pm_info *p);
int cuptiPmSamplingGetCounterDataInfo(struct cu_pm_info *p)
{
	const struct image *image = (const struct image *)p->data;

	CHECK(p, cu_pm_info, completed);
	p->total = image->room;
	p->populated = image->count;
	p->completed = image->complete;
	return 0;
}

int cuptiPmSamplingCounterDataGetSampleInfo(struct cu_pm_sample *p);
int cuptiPmSamplingCounterDataGetSampleInfo(struct cu_pm_sample *p)
{
	const struct image *image = (const struct image *)p->data;

	CHECK(p, cu_pm_sample, end);
	p->start = image->samples[p->index].start;
	p->end = image->samples[p->index].end;
	return p->index < image->count ? 0 : CU_ERROR_INVALID_PARAMETER;
}

/*
 * ---- ranges
 * --------------------------------------------------------------------------------------------
 */

/*
 * A range has the warps, thread instructions (10 each) and bytes read (4 a thread) of its kernels, and
 * the time from the first to the last; everything else is as with sampling. A user range is complete
 * after as many times as the set has passes. FAKE_CUPTI: rpbusy, rpdenied, rpnone: it is refused; rptwo:
 * a kernel of somebody else comes into each range; rphang: a replay never ends. What the fake does wrong
 * ends the program.
 */
static struct ranges {
	void *context; /* NULL: not enabled */
	int started, user, open;
	size_t passes, pass;
	struct range_image {
		size_t count;
		struct range {
			uint64_t warps, threads, start, end;
		} range[2];
	} *image;
} all_ranges[2], *counting;

static struct ranges *ranges_of(void *object)
{
	struct ranges *r = object;

	if (r < all_ranges || r >= all_ranges + 2 || !r->context)
		abort();
	return r;
}

int fake_range_kernel(uint64_t threads, uint64_t start, uint64_t end);
/*
 * A kernel is launched. 1: it is replayed, alone, and over when this returns; 2: it is the first in a
 * range of the program's.
 */
int fake_range_kernel(uint64_t threads, uint64_t start, uint64_t end)
{
	struct ranges *r = counting;
	struct range *range;

	if (!r || !r->image || (r->user && !r->open))
		return 0;
	range = &r->image->range[0];
	range->start = range->start ? range->start : start;
	range->end = end;
	range->threads += threads;
	range->warps += (threads + 31) / 32;
	r->image->count = fake_cupti_trouble("rptwo") ? 2 : 1;
	if (r->user)
		return range->start == start ? 2 : 0;
	while (fake_cupti_now() < end || fake_cupti_trouble("rphang"))
		usleep(100);
	if (fake_cupti_trouble("say"))
		fprintf(stderr, "fake: replayed %zu times\n", r->passes);
	return 1;
}

int cuptiRangeProfilerEnable(struct cu_range_enable *p);
int cuptiRangeProfilerEnable(struct cu_range_enable *p)
{
	struct ranges *r = &all_ranges[p->context == (void *)0x2000];

	CHECK(p, cu_range_enable, object);
	if (fake_cupti_trouble("rpdenied"))
		return CU_ERROR_INSUFFICIENT_PRIVILEGES;
	if (r->context)
		abort();
	*r = (struct ranges){ .context = p->context };
	p->object = r;
	return 0;
}

int cuptiRangeProfilerDisable(struct cu_profiler_object *p);
int cuptiRangeProfilerDisable(struct cu_profiler_object *p)
{
	struct ranges *r = ranges_of(p->object);

	CHECK(p, cu_profiler_object, object);
	if (r == counting)
		abort();
	r->context = NULL;
	return 0;
}

int cuptiRangeProfilerGetCounterDataSize(struct cu_range_data_size *p);
int cuptiRangeProfilerGetCounterDataSize(struct cu_range_data_size *p)
{
	CHECK(p, cu_range_data_size, size);
	ranges_of(p->object);
	p->size = sizeof(struct range_image);
	return p->most && p->most <= p->most_nodes ? 0 : CU_ERROR_INVALID_PARAMETER;
}

int cuptiRangeProfilerCounterDataImageInitialize(struct cu_profiler_data *p);
int cuptiRangeProfilerCounterDataImageInitialize(struct cu_profiler_data *p)
{
	CHECK(p, cu_profiler_data, data);
	memset(p->data, 0, p->size);
	return 0;
}

int cuptiRangeProfilerSetConfig(struct cu_range_config *p);
int cuptiRangeProfilerSetConfig(struct cu_range_config *p)
{
	struct ranges *r = ranges_of(p->object);

	CHECK(p, cu_range_config, target_level);
	memcpy(&r->passes, p->image, sizeof(r->passes));
	r->image = (struct range_image *)p->data;
	r->user = p->range == CU_RANGE_USER;
	r->pass = 0;
	return r->user == (p->replay == CU_REPLAY_USER) && p->levels == 1 ? 0 : CU_ERROR_INVALID_PARAMETER;
}

int cuptiRangeProfilerStart(struct cu_profiler_object *p);
int cuptiRangeProfilerStart(struct cu_profiler_object *p)
{
	struct ranges *r = ranges_of(p->object);

	CHECK(p, cu_profiler_object, object);
	if (fake_cupti_trouble("rpbusy") || counting || all_ranges[r == all_ranges].context)
		return CU_ERROR_HARDWARE_BUSY;
	counting = r;
	return 0;
}

int cuptiRangeProfilerStop(struct cu_range_stop *p);
int cuptiRangeProfilerStop(struct cu_range_stop *p)
{
	struct ranges *r = ranges_of(p->object);

	CHECK(p, cu_range_stop, all_passes);
	if (counting != r)
		return 7;
	counting = NULL;
	r->open = 0;
	p->pass = ++r->pass;
	p->all_passes = !r->user || r->pass == r->passes;
	return 0;
}

int cuptiRangeProfilerPushRange(struct cu_range_push *p);
int cuptiRangeProfilerPushRange(struct cu_range_push *p)
{
	CHECK(p, cu_range_push, name);
	if (counting != p->object || counting->open++)
		return 7;
	if (counting->image && counting->pass && counting->image->count) /* one pass tells it all */
		memset(counting->image, 0, sizeof(*counting->image));
	return p->name ? 0 : CU_ERROR_INVALID_PARAMETER;
}

int cuptiRangeProfilerPopRange(struct cu_profiler_object *p);
int cuptiRangeProfilerPopRange(struct cu_profiler_object *p)
{
	CHECK(p, cu_profiler_object, object);
	if (counting != p->object || !counting->open)
		return 7;
	counting->open--;
	counting->image->count += !counting->image->count;
	return 0;
}

int cuptiRangeProfilerDecodeData(struct cu_range_decode *p);
int cuptiRangeProfilerDecodeData(struct cu_range_decode *p)
{
	CHECK(p, cu_range_decode, dropped);
	p->dropped = 0;
	return ranges_of(p->object) == counting ? 7 : 0;
}

int cuptiRangeProfilerGetCounterDataInfo(struct cu_range_info *p);
int cuptiRangeProfilerGetCounterDataInfo(struct cu_range_info *p)
{
	CHECK(p, cu_range_info, count);
	p->count = ((const struct range_image *)p->data)->count;
	return 0;
}

static double value_of(const struct range *r, const char *name, size_t i)
{
	if (!strcmp(name, "smsp__warps_launched.sum"))
		return (double)r->warps;
	if (!strcmp(name, "smsp__thread_inst_executed.sum"))
		return 10.0 * (double)r->threads;
	if (!strcmp(name, "dram__bytes_read.sum"))
		return 4.0 * (double)r->threads;
	if (!strcmp(name, "gpu__time_duration.sum"))
		return (double)(r->end - r->start);
	return 1000.0 * (double)(1 + i);
}

int cuptiProfilerHostEvaluateToGpuValues(struct cu_host_evaluate *p);
int cuptiProfilerHostEvaluateToGpuValues(struct cu_host_evaluate *p)
{
	const struct range_image *image = (const struct range_image *)p->data;
	const struct host *host = p->object;

	CHECK(p, cu_host_evaluate, values);
	for (size_t i = 0; i < p->count; i++)
		p->values[i] = host->type == CU_PROFILER_PM
				       ? 1000.0 * (double)(1 + i)
				       : value_of(&image->range[p->range], p->names[i], i);
	return 0;
}
