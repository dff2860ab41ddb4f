/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CUPTI's profiler, found in the CUPTI that is loaded; sets of metrics and their names.
 *
 * Limits: the host side allocates, so it is called under gt_guard(), and never in a callback.
 */
#include "cuda/profiler.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/api.h"
#include "gputrace/adapter.h"
#include "gputrace/near.h"
#include "gputrace/syscall.h"

static int (*functions[GT_CU_P_COUNT])(void *params);

static void find_functions(void)
{
	static const char *const names[] = {
#define NAME(name) "cupti" #name,
		GT_CU_PROFILER_FUNCTIONS(NAME)
#undef NAME
	};

	for (unsigned i = 0; i < GT_CU_P_COUNT; i++) {
		void *symbol = gt_cu_api_symbol(names[i]);

		memcpy(&functions[i], &symbol, sizeof(symbol));
	}
}

int gt_cu_profiler(enum gt_cu_profiler_function function, void *params)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find_functions);
	return functions[function] ? functions[function](params) : CU_ERROR_NOT_SUPPORTED;
}

int gt_cu_profiler_object(enum gt_cu_profiler_function function, void *object)
{
	struct cu_profiler_object p = { CU_PARAMS(cu_profiler_object, object), .object = object };

	return gt_cu_profiler(function, &p);
}

bool gt_cu_profiler_mps(void)
{
	const char *pipes = getenv("CUDA_MPS_PIPE_DIRECTORY");
	char path[512];

	snprintf(path, sizeof(path), "%s/control", pipes && *pipes ? pipes : "/tmp/nvidia-mps");
	return !gt_raw(SYS_faccessat, AT_FDCWD, path, F_OK);
}

/* Is the device a part of one? Its name has the profile then: "NVIDIA H100 80GB HBM3 MIG 1g.10gb". */
static bool is_mig(void)
{
	int (*name_of)(char *name, int size, int device) = NULL;
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	void *symbol = driver ? dlsym(driver, "cuDeviceGetName") : NULL;
	char name[256] = "";

	memcpy(&name_of, &symbol, sizeof(name_of));
	if (name_of && name_of(name, sizeof(name) - 1, 0))
		name[0] = 0;
	if (driver)
		dlclose(driver);
	return strstr(name, " MIG ");
}

void gt_cu_profiler_property(const char *what, unsigned device, const char *before, const char *text)
{
	char key[40], value[320];

	snprintf(key, sizeof(key), "cuda:%s_%u", what, device);
	snprintf(value, sizeof(value), "%s%s", before, text);
	gt_def_property(key, value);
}

const char *gt_cu_profiler_reason(int rc)
{
	if (rc == CU_ERROR_NOT_SUPPORTED && is_mig())
		return "it is a MIG device, whose counters CUPTI does not offer";
	if ((rc == CU_ERROR_NOT_SUPPORTED || rc == CU_ERROR_UNKNOWN) && gt_cu_profiler_mps())
		return "it is shared by MPS, where CUPTI does not count";
	switch (rc) {
	case CU_ERROR_INSUFFICIENT_PRIVILEGES:
		return "no permission: the driver lets only root count "
		       "(NVreg_RestrictProfilingToAdminUsers=0 would allow it)";
	case CU_ERROR_HARDWARE_BUSY:
		return "another profiler uses its counters";
	case CU_ERROR_LEGACY:
		return "GPUs before compute capability 7.5 are counted by CUPTI's events, which this CUPTI "
		       "has no more: that of CUDA 12 has them (LD_PRELOAD=.../libcupti.so.12)";
	case CU_ERROR_OLD_PROFILER:
		return "another part of CUPTI's profiler is in use in this process";
	case CU_ERROR_NOT_SUPPORTED:
		return "this GPU or its configuration (MIG, vGPU, an old CUPTI or driver) does not offer it";
	default:
		return gt_cu_result(rc);
	}
}

int gt_cu_profiler_chip(unsigned device, int api, char *chip, size_t size)
{
	struct cu_profiler_plain initialize = { CU_PARAMS(cu_profiler_plain, priv) };
	struct cu_profiler_chip p = { CU_PARAMS(cu_profiler_chip, name), .device = device };
	struct cu_profiler_supported support = { CU_PARAMS(cu_profiler_supported, api), .device = (int)device,
						 .api = api };
	int rc;

	gt_cu_profiler(GT_CU_P_ProfilerInitialize, &initialize); /* not while CUDA begins: that crashed */
	rc = gt_cu_profiler(GT_CU_P_DeviceGetChipName, &p);
	if (rc || !p.name)
		return rc ? rc : CU_ERROR_NOT_SUPPORTED;
	snprintf(chip, size, "%s", p.name);
	if (!gt_cu_profiler(GT_CU_P_ProfilerDeviceSupported, &support) &&
	    support.supported != CU_PROFILER_SUPPORTED)
		return CU_ERROR_NOT_SUPPORTED;
	return 0;
}

/* ---- sets -------------------------------------------------------------------------------------------- */

void *gt_cu_host_open(int type, const char *chip)
{
	struct cu_host_initialize p = { CU_PARAMS(cu_host_initialize, object), .type = type, .chip = chip };

	return gt_cu_profiler(GT_CU_P_ProfilerHostInitialize, &p) ? NULL : p.object;
}

void gt_cu_host_close(void *host)
{
	if (host)
		gt_cu_profiler_object(GT_CU_P_ProfilerHostDeinitialize, host);
}

static int make_image(struct gt_cu_set *set)
{
	struct cu_host_image p = { CU_PARAMS(cu_host_image, size), .object = set->host };
	int rc = gt_cu_profiler(GT_CU_P_ProfilerHostGetConfigImageSize, &p);

	if (rc)
		return rc;
	set->image_bytes = p.size;
	set->image = calloc(1, p.size + 1);
	if (!set->image)
		return CU_ERROR_OUT_OF_MEMORY;
	p.bytes = CU_BYTES_TO(cu_host_image, image);
	p.image = set->image;
	return gt_cu_profiler(GT_CU_P_ProfilerHostGetConfigImage, &p);
}

static int configure(struct gt_cu_set *set)
{
	struct cu_host_add add = { CU_PARAMS(cu_host_add, count), .object = set->host, .names = set->names,
				   .count = set->count };
	struct cu_host_passes passes = { CU_PARAMS(cu_host_passes, passes) };
	int rc = gt_cu_profiler(GT_CU_P_ProfilerHostConfigAddMetrics, &add);

	if (!rc)
		rc = make_image(set);
	if (rc)
		return rc;
	passes.size = set->image_bytes;
	passes.image = set->image;
	rc = gt_cu_profiler(GT_CU_P_ProfilerHostGetNumOfPasses, &passes);
	set->passes = passes.passes;
	return rc;
}

int gt_cu_set_open(struct gt_cu_set *set)
{
	int rc;

	set->image = NULL;
	set->passes = 0;
	set->host = gt_cu_host_open(set->type, set->chip);
	rc = set->host ? configure(set) : CU_ERROR_NOT_SUPPORTED;
	if (rc)
		gt_cu_set_close(set);
	return rc;
}

void gt_cu_set_close(struct gt_cu_set *set)
{
	gt_cu_host_close(set->host);
	free(set->image);
	set->host = NULL;
	set->image = NULL;
}

size_t gt_cu_set_passes(const struct gt_cu_set *set)
{
	struct gt_cu_set copy = *set;

	if (gt_cu_set_open(&copy))
		return 0;
	gt_cu_set_close(&copy);
	return copy.passes;
}

/* ---- names ------------------------------------------------------------------------------------------- */

size_t gt_cu_metric_base(void *host, int type, const char ***names)
{
	struct cu_host_base p = { CU_PARAMS(cu_host_base, count), .object = host, .type = type };

	if (gt_cu_profiler(GT_CU_P_ProfilerHostGetBaseMetrics, &p))
		return 0;
	*names = p.names;
	return p.count;
}

bool gt_cu_metric_properties(void *host, const char *name, struct cu_host_properties *p)
{
	*p = (struct cu_host_properties){ CU_PARAMS(cu_host_properties, type), .object = host, .name = name };
	return !gt_cu_profiler(GT_CU_P_ProfilerHostGetMetricProperties, p);
}

bool gt_cu_metric_is_sum(void *host, const char *name, struct cu_host_properties *p)
{
	const char *dot = strrchr(name, '.');

	if (!gt_cu_metric_properties(host, name, p))
		*p = (struct cu_host_properties){ .unit = NULL };
	/* Of its rollups that which is no average or rate. */
	return p->unit && p->type == CU_METRIC_COUNTER && dot && !strcmp(dot, ".sum");
}

struct nearest {
	const char *name;
	int type;
	unsigned distance;
};

static void compare(struct nearest *best, const char *given, const char *name, int type)
{
	unsigned distance = gt_near_distance(given, name, best->distance);

	if (distance < best->distance)
		*best = (struct nearest){ name, type, distance };
}

/* What follows the name proper, ".sum": of those that the metric has, the one most like it. */
static struct nearest nearest_rollup(void *host, const struct nearest *metric, const char *given)
{
	static const char *const usual[CU_METRIC_TYPES] = { ".sum", ".pct",
							 ".avg.pct_of_peak_sustained_elapsed" };
	struct cu_host_sub p = { CU_PARAMS(cu_host_sub, names), .object = host, .type = metric->type,
				 .name = metric->name };
	struct nearest best = { usual[metric->type], 0, (unsigned)strlen(given) };

	if (*given && !gt_cu_profiler(GT_CU_P_ProfilerHostGetSubMetrics, &p))
		for (size_t i = 0; i < p.count; i++)
			compare(&best, given, p.names[i], 0);
	return best;
}

bool gt_cu_metric_near(void *host, const char *name, char *text, size_t size)
{
	struct nearest best = { NULL, 0, (unsigned)strlen(name) / 3 + 1 };
	char base[GT_CU_METRIC_NAME];
	const char **names = NULL;
	/* NVIDIA's own set for one pass: "FBSP.TriageCompute.dramc__read_throughput.avg" */
	const char *triage = strstr(name, ".TriageCompute."), *dot = strchr(triage ? triage + 15 : name, '.');

	if (snprintf(base, sizeof(base), "%.*s", dot ? (int)(dot - name) : (int)strlen(name), name) >=
	    (int)sizeof(base))
		return false;
	for (int type = 0; type < CU_METRIC_TYPES; type++) {
		size_t n = gt_cu_metric_base(host, type, &names);

		for (size_t i = 0; i < n; i++)
			compare(&best, base, names[i], type);
	}
	if (!best.name)
		return false;
	snprintf(text, size, "%s%s", best.name, nearest_rollup(host, &best, dot ? dot : "").name);
	return true;
}
