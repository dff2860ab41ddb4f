/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * VT_CUPTI_SASS: how often each instruction of a kernel ran, by how many threads, and what it asked of
 * memory. CUPTI patches a kernel when it is launched first (SASS metrics) and counts while it runs; the
 * counts are fetched where the program waits for the device anyway, at the end of a context and of the
 * program.
 *
 * Seen with CUDA 13.0 on an H100: a device is configured once, for a second time never. Beside records of
 * concurrent kernels all counts are 0, and without any records of kernels only the first kernel is counted:
 * so kernels are recorded one at a time (CU_KIND_KERNEL). To ask for counts waits for the device; what has
 * been fetched begins again at 0.
 *
 * Limits: CONTEXTS contexts, DEVICES devices, METRICS metrics. A kill loses the counts, which the archive
 * says. PC samples and metrics of the GPU need the same hardware or patches: CUPTI forbids them beside it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "cuda/cuda.h"
#include "cuda/hooks.h"
#include "accel/wait.h"
#include "cuda/profiler.h"
#include "cuda/samples/pcsampling_abi.h"
#include "cuda/samples/samples.h"
#include "gputrace/near.h"
#include "gputrace/syscall.h"

#define CONTEXTS 32u
#define DEVICES  16u
#define METRICS  32u
#define BETWEEN  " ,:"
#define NOTHING  (-1)  /* the device has none of the metrics */

enum function { COUNT_METRICS, LIST_METRICS, SET, ENABLE, DISABLE, PROPERTIES, FLUSH, FUNCTIONS };
static const char *const function_names[FUNCTIONS] = {
	"cuptiSassMetricsGetNumOfMetrics", "cuptiSassMetricsGetMetrics", "cuptiSassMetricsSetConfig",
	"cuptiSassMetricsEnable", "cuptiSassMetricsDisable", "cuptiSassMetricsGetDataProperties",
	"cuptiSassMetricsFlushData",
};
static int (*functions[FUNCTIONS])(void *params);

static const char usual[] = "smsp__sass_inst_executed:smsp__sass_thread_inst_executed_pred_on:"
			    "smsp__sass_sectors_mem_global:smsp__sass_sectors_mem_global_ideal";

static struct counted {
	void *context; /* NULL: free */
	uint32_t id;
	bool lost;     /* its counts cannot be had */
} contexts[CONTEXTS];
static struct device {
	bool tried, ready;
} devices[DEVICES];

static struct {
	uint64_t id;
	char name[GT_CU_METRIC_NAME];
} metrics[METRICS]; /* of all devices */
static unsigned metric_count;
static gt_ref record_count, record_metric;

/* ---- which metrics ------------------------------------------------------------------------------- */

static unsigned index_of(const struct cu_sass_metric *m)
{
	unsigned i = 0;

	while (i < metric_count && metrics[i].id != m->id)
		i++;
	if (i == metric_count && i < METRICS) {
		metrics[i].id = m->id;
		snprintf(metrics[i].name, sizeof(metrics[i].name), "%s", m->name);
		gt_cu_code_put(record_metric, (uint64_t[2]){ i, gt_def_string(metrics[i].name) }, 2);
		metric_count++;
	}
	return i;
}

static void refuse(uint32_t device, const char *name, const struct cu_sass_list *all)
{
	unsigned best = (unsigned)strlen(name) / 3 + 1;
	const char *near = NULL;

	for (size_t i = 0; i < all->count; i++) {
		unsigned distance = gt_near_distance(name, all->list[i].name, best);

		if (distance < best) {
			best = distance;
			near = all->list[i].name;
		}
	}
	gt_message(1, "VT_CUPTI_SASS: GPU %u has no metric %s of instructions%s%s%s", device, name,
		   near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

struct chosen {
	struct cu_sass_config configs[METRICS];
	size_t count;
};

static void choose_one(struct chosen *c, uint32_t device, const struct cu_sass_list *all, const char *name)
{
	size_t i = 0;

	while (i < all->count && strcmp(all->list[i].name, name))
		i++;
	if (i == all->count) {
		refuse(device, name, all);
		return;
	}
	for (size_t k = 0; k < c->count; k++)
		if (c->configs[k].id == all->list[i].id)
			return;
	if (c->count < METRICS && index_of(&all->list[i]) < METRICS)
		c->configs[c->count++] = (struct cu_sass_config){ .id = all->list[i].id };
	else
		gt_message(1, "VT_CUPTI_SASS: %s is left out: more than %u metrics", name, METRICS);
}

/* Those of a list that the device has. */
static void choose(struct chosen *c, uint32_t device, const struct cu_sass_list *all, const char *list)
{
	char name[GT_CU_METRIC_NAME];
	size_t n;

	for (; *list; list += n + (list[n] != 0)) {
		n = strcspn(list, BETWEEN);
		snprintf(name, sizeof(name), "%.*s", (int)n, list);
		if (!strcmp(name, "default"))
			choose(c, device, all, usual);
		else if (n)
			choose_one(c, device, all, name);
	}
}

/* All that the device has. 0, or CUPTI's result. */
static int list_all(uint32_t device, struct cu_sass_list *all)
{
	struct cu_profiler_plain initialize = { CU_PARAMS(cu_profiler_plain, priv) };
	struct cu_profiler_chip chip = { CU_PARAMS(cu_profiler_chip, name), .device = device };
	struct cu_sass_count count = { CU_PARAMS(cu_sass_count, count) };
	int rc;

	gt_cu_profiler(GT_CU_P_ProfilerInitialize, &initialize);
	rc = gt_cu_profiler(GT_CU_P_DeviceGetChipName, &chip);
	count.chip = chip.name;
	if (!rc)
		rc = functions[COUNT_METRICS](&count);
	if (rc)
		return rc;
	*all = (struct cu_sass_list){ CU_PARAMS(cu_sass_list, list), .chip = chip.name,
				      .count = count.count };
	all->list = calloc(count.count + 1, sizeof(*all->list));
	return all->list ? functions[LIST_METRICS](all) : CU_ERROR_OUT_OF_MEMORY;
}

/* 0, CUPTI's result, or NOTHING. */
static int configure(uint32_t device)
{
	struct cu_sass_list all = { .list = NULL };
	struct chosen chosen = { .count = 0 };
	struct cu_sass_set set = { CU_PARAMS(cu_sass_set, device), .configs = chosen.configs,
				   .device = device };
	int rc = list_all(device, &all);

	if (!rc) {
		choose(&chosen, device, &all, gt_setting("VT_CUPTI_SASS"));
		set.count = chosen.count;
		rc = set.count ? functions[SET](&set) : NOTHING;
	}
	free(all.list);
	return rc;
}

/* ---- counts -------------------------------------------------------------------------------------- */

static void put_counts(const struct counted *c, const struct cu_sass_data *d, size_t instances)
{
	for (size_t i = 0; i < instances; i++) {
		unsigned m = 0;

		while (m < metric_count && metrics[m].id != d->values[i].id)
			m++;
		if (m == metric_count || !d->values[i].value)
			continue;
		gt_cu_code_put(record_count,
			       (uint64_t[6]){ d->crc, d->offset,
					      (uint64_t)d->function << 32 | gt_cu_code_name(d->name),
					      (uint64_t)c->id << 32, m, d->values[i].value }, 6);
	}
}

/* The counts since the last time. 0, or CUPTI's result. */
static int flush(const struct counted *c)
{
	struct cu_sass_flush p = { CU_PARAMS(cu_sass_flush, instances), .context = c->context };
	int rc = functions[PROPERTIES](&p);
	struct cu_sass_value *values;

	gt_message(2, "SASS metrics: %lu counts of context %u, each of %lu", (unsigned long)p.records, c->id,
		   (unsigned long)p.instances);
	if (rc || !p.records)
		return rc;
	p.data = calloc(p.records, sizeof(*p.data));
	values = calloc(p.records * p.instances + 1, sizeof(*values));
	for (size_t i = 0; p.data && i < p.records; i++) {
		p.data[i].bytes = sizeof(*p.data);
		p.data[i].values = values + i * p.instances;
	}
	rc = p.data && values ? functions[FLUSH](&p) : CU_ERROR_OUT_OF_MEMORY;
	for (size_t i = 0; !rc && i < p.records; i++)
		put_counts(c, &p.data[i], p.instances);
	free(p.data);
	free(values);
	return rc;
}

static void fetch_one(struct counted *c)
{
	int rc = c->lost ? 0 : flush(c);

	c->lost |= rc != 0;
	if (rc)
		gt_message(1, "SASS metrics: counts of context %u are missing (%s)", c->id, gt_cu_result(rc));
}

/* Contexts whose counts were not fetched to the last: what a kill leaves in the archive. */
static void account(bool fetched)
{
	unsigned n = 0;
	char text[16];

	for (unsigned i = 0; i < CONTEXTS && !fetched; i++)
		n += contexts[i].context != NULL;
	snprintf(text, sizeof(text), "%u", n);
	gt_def_property("cuda:sass_unfetched", text);
}

/* ---- when: all of it under the lock of code.c ---------------------------------------------------- */

static int enable(struct counted *c, void *context, uint32_t device)
{
	struct cu_sass_enable p = { CU_PARAMS(cu_sass_enable, lazy), .context = context, .lazy = 1 };
	int rc = 0;

	if (!devices[device].tried)
		rc = configure(device);
	else if (!devices[device].ready)
		return 0;
	devices[device].tried = true;
	devices[device].ready |= !rc;
	if (!rc)
		rc = functions[ENABLE](&p);
	if (!rc)
		c->context = context;
	return rc;
}

static void begin(void *context)
{
	struct counted *c = NULL;
	uint32_t device = 0;
	int rc;

	for (unsigned i = 0; !c && i < CONTEXTS; i++)
		if (!contexts[i].context)
			c = &contexts[i];
	if (gt_cu_api.device_id)
		gt_cu_api.device_id(context, &device);
	if (!c || device >= DEVICES) {
		gt_message(1, "SASS metrics: there are too many contexts, this one is not counted");
		return;
	}
	c->id = 0;
	c->lost = false;
	if (gt_cu_api.context_id)
		gt_cu_api.context_id(context, &c->id);
	rc = enable(c, context, device);
	if (rc)
		gt_message(1, "SASS metrics of device %u: not possible (%s)", device,
			   rc == NOTHING ? "it has none of them" : gt_cu_result(rc));
	account(false);
}

static void end(void *context)
{
	struct cu_sass_disable p = { CU_PARAMS(cu_sass_disable, dropped), .context = context };

	for (unsigned i = 0; i < CONTEXTS; i++) {
		if (contexts[i].context != context)
			continue;
		fetch_one(&contexts[i]);
		functions[DISABLE](&p);
		contexts[i].context = NULL;
	}
	account(false);
}

static void fetch_all(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < CONTEXTS; i++)
		if (contexts[i].context)
			fetch_one(&contexts[i]);
	account(true);
}

static void not_last(void *unused)
{
	(void)unused;
	account(false);
}

static bool is_on(void)
{
	return gt_cu_options.sass && gt_cu_state_now() == GT_CU_READY;
}

static void goes_on(void)
{
	if (is_on())
		gt_cu_code_locked(not_last, NULL);
}

static void context_made(void *context)
{
	if (is_on())
		gt_cu_code_locked(begin, context);
}

static void context_gone(void *context)
{
	if (is_on())
		gt_cu_code_locked(end, context);
}

static uint32_t done; /* a futex: the last fetch is over */

static void *fetch(void *unused)
{
	gt_raw(SYS_prctl, PR_SET_NAME, "gputrace-sass");
	gt_cu_code_locked(fetch_all, unused);
	__atomic_store_n(&done, 1, __ATOMIC_SEQ_CST);
	gt_accel_wake(&done);
	return NULL;
}

/* When the device has done its work. False: it took too long (once only). */
static bool fetch_now(unsigned limit_ms)
{
	static bool reported;
	uint64_t end_ms = gt_monotonic() / 1000000 + limit_ms;

	if (!is_on())
		return true;
	__atomic_store_n(&done, 0, __ATOMIC_SEQ_CST);
	if (gt_cu_code_hangs() || !gt_accel_start_hidden(fetch))
		return __atomic_exchange_n(&reported, true, __ATOMIC_RELAXED);
	while (!__atomic_load_n(&done, __ATOMIC_SEQ_CST)) {
		if (gt_monotonic() / 1000000 >= end_ms) {
			gt_cu_code_give_up();
			return __atomic_exchange_n(&reported, true, __ATOMIC_RELAXED);
		}
		gt_accel_wait(&done, 0, 100);
	}
	return true;
}

static void forked(void)
{
	gt_cu_options.sass = false;
}

static void collect(bool last, unsigned limit_ms)
{
	(void)last;
	if (!fetch_now(limit_ms))
		gt_message(1, "SASS metrics: CUPTI does not answer: the counts are missing");
}

/* What it costs, as measured on an H100 with CUDA 13.0 (doc/cuda.md). */
static void announce(void)
{
	static const char text[] = "counted in patched kernels; price: kernels run one at a time "
				   "and take 20 to 60 times as long";

	gt_message(1, "SASS metrics: %s", text);
	gt_def_property("cuda:sass", text);
}

static bool is_set(const char *name)
{
	const char *value = gt_setting(name);

	return value && *value && strcmp(value, "no");
}

bool gt_cu_sass_setup(void)
{
	static struct gt_cu_hooks hooks = { .context = context_made, .context_gone = context_gone,
					    .module = gt_cu_code_module, .collect = collect,
					    .goes_on = goes_on, .forked = forked };

	if (is_set("VT_CUPTI_METRICS") || is_set("VT_CUPTI_METRICS_SPEC") || is_set("VT_CUPTI_PCSAMPLING")) {
		gt_message(1, "VT_CUPTI_SASS is ignored: CUPTI cannot count instructions in one run with "
			      "VT_CUPTI_METRICS or VT_CUPTI_PCSAMPLING");
		return false;
	}
	if (!gt_cu_options.kernel) {
		gt_message(1, "VT_CUPTI_SASS is ignored: VT_GPUTRACE excludes kernels");
		return false;
	}
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		void *symbol = gt_cu_api_symbol(function_names[i]);

		if (!symbol) {
			gt_message(1, "SASS metrics: this CUPTI lacks %s (12.2 has it)", function_names[i]);
			return false;
		}
		memcpy(&functions[i], &symbol, sizeof(symbol));
	}
	if (!gt_cu_code_setup("CUDA SASS metrics")) {
		gt_message(1, "SASS metrics: this CUPTI lacks cuptiGetCubinCrc");
		return false;
	}
	record_count = gt_def_record("cuda", "sass");
	record_metric = gt_def_record("cuda", "sass_metric");
	announce();
	gt_cu_hooks_add(&hooks);
	return true;
}
