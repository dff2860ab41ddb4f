/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NVIDIA's GPUs as the management library of the driver shows them: power, energy, clocks, utilisation,
 * memory, temperature, PCIe and NVLink; and since Hopper its performance monitoring (GPM): how busy the
 * multiprocessors and their pipes were, and traffic, on average since the reading before. The library is
 * found when the program runs; its header is not needed.
 *
 * Limits: all GPUs of the host, whatever CUDA_VISIBLE_DEVICES says; MOST of them. The driver measures pcie-tx
 * and pcie-rx for 20 ms at each reading. GPM is read every GPM_MS at most (readings 20 ms apart had no value
 * for DRAM, seen on an H100). No MIG devices.
 */
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counters/counters.h"
#include "gputrace/syscall.h"

#define MOST      16u
#define LINK_TX   138u /* NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX */
#define LINK_RX   139u
#define ALL_LINKS UINT32_MAX
#define GPM_MS    100u

struct field { /* nvmlFieldValue_t */
	uint32_t id, scope;
	int64_t time, latency;
	uint32_t type;
	int32_t status;
	union {
		double floating;
		uint64_t number;
	} value;
};

/* The library's functions, under their own names; nvmlReturn_t is 0 for success. */
#define FUNCTIONS(F) \
	F(Init_v2, (void)) F(DeviceGetCount_v2, (unsigned *)) \
	F(DeviceGetHandleByIndex_v2, (unsigned, void **)) \
	F(DeviceGetName, (void *, char *, unsigned)) F(DeviceGetPowerUsage, (void *, unsigned *)) \
	F(DeviceGetTotalEnergyConsumption, (void *, unsigned long long *)) \
	F(DeviceGetClockInfo, (void *, int, unsigned *)) \
	F(DeviceGetUtilizationRates, (void *, unsigned[2])) \
	F(DeviceGetMemoryInfo, (void *, unsigned long long[3])) \
	F(DeviceGetTemperature, (void *, int, unsigned *)) \
	F(DeviceGetPcieThroughput, (void *, int, unsigned *)) \
	F(DeviceGetFieldValues, (void *, int, struct field *))
#define POINTER(name, arguments) static int (*nvml##name) arguments;
FUNCTIONS(POINTER)

struct gpm_support { /* nvmlGpmSupport_t */
	uint32_t version, supported;
};

struct gpm_metric { /* nvmlGpmMetric_t */
	uint32_t id;
	int32_t status;
	double value;
	const char *brief, *name, *unit;
};

/* Older libraries have none of these. */
static int (*gpm_query)(void *device, struct gpm_support *support);
static int (*gpm_alloc)(void **sample);
static int (*gpm_get)(void *device, void *sample);
static int (*gpm_metrics)(void *get);

enum kind {
	POWER, ENERGY, CLOCK_SM, CLOCK_MEM, USE, USE_MEM, MEMORY, TEMPERATURE, PCIE_TX, PCIE_RX, NVLINK_TX,
	NVLINK_RX, GPM, KINDS = GPM + 11
};
static const struct {
	const char *name, *unit, *description;
	uint8_t mode;
} kinds[KINDS] = {
	{ "power", "mW", "power", GT_PLUGIN_ABSOLUTE },
	{ "energy", "mJ", "energy since the driver was loaded", GT_PLUGIN_ACCUMULATED },
	{ "clock-sm", "MHz", "clock of the processors", GT_PLUGIN_ABSOLUTE },
	{ "clock-mem", "MHz", "clock of the memory", GT_PLUGIN_ABSOLUTE },
	{ "utilization", "%", "part of the time in which a kernel ran", GT_PLUGIN_ABSOLUTE },
	{ "utilization-mem", "%", "part of the time in which memory was read or written",
	  GT_PLUGIN_ABSOLUTE },
	{ "memory-used", "bytes", "memory in use", GT_PLUGIN_ABSOLUTE },
	{ "temperature", "C", "temperature", GT_PLUGIN_ABSOLUTE },
	{ "pcie-tx", "kB/s", "sent over PCIe", GT_PLUGIN_ABSOLUTE },
	{ "pcie-rx", "kB/s", "received over PCIe", GT_PLUGIN_ABSOLUTE },
	{ "nvlink-tx", "KiB", "sent over all NVLinks", GT_PLUGIN_ACCUMULATED },
	{ "nvlink-rx", "KiB", "received over all NVLinks", GT_PLUGIN_ACCUMULATED },
	{ "gpm-sm", "%", "part of the time that multiprocessors had work", GT_PLUGIN_ABSOLUTE },
	{ "gpm-occupancy", "%", "part of the warps that there can be", GT_PLUGIN_ABSOLUTE },
	{ "gpm-tensor", "%", "part of the time that tensor cores worked", GT_PLUGIN_ABSOLUTE },
	{ "gpm-dram", "%", "part of the memory's bandwidth", GT_PLUGIN_ABSOLUTE },
	{ "gpm-fp64", "%", "part of the time that the FP64 pipe worked", GT_PLUGIN_ABSOLUTE },
	{ "gpm-fp32", "%", "part of the time that the FP32 pipe worked", GT_PLUGIN_ABSOLUTE },
	{ "gpm-fp16", "%", "part of the time that the FP16 pipe worked", GT_PLUGIN_ABSOLUTE },
	{ "gpm-pcie-tx", "MiB/s", "sent over PCIe", GT_PLUGIN_ABSOLUTE },
	{ "gpm-pcie-rx", "MiB/s", "received over PCIe", GT_PLUGIN_ABSOLUTE },
	{ "gpm-nvlink-rx", "MiB/s", "received over all NVLinks", GT_PLUGIN_ABSOLUTE },
	{ "gpm-nvlink-tx", "MiB/s", "sent over all NVLinks", GT_PLUGIN_ABSOLUTE },
};
/* NVML_GPM_METRIC_...: SM_UTIL, SM_OCCUPANCY, ANY_TENSOR_UTIL, DRAM_BW_UTIL ... */
static const uint8_t gpm_ids[KINDS - GPM] = { 2, 3, 5, 10, 11, 12, 13, 20, 21, 60, 61 };

static struct device {
	void *handle;
	char name[64];
	void *samples[2];     /* of GPM; the older one first */
	uint64_t sampled;     /* when the newer one was taken */
	bool computed;        /* there are values */
	double gpm[KINDS - GPM];
} devices[MOST];
static unsigned device_count;

/* ---- the library ---------------------------------------------------------------------------------- */

static bool load(char *why, size_t room)
{
	void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!library) {
		gt_cn_text(why, room, "there is no libnvidia-ml.so.1 (no NVIDIA driver)");
		return false;
	}
#define FIND(name, arguments) \
	*(void **)(void *)&nvml##name = dlsym(library, "nvml" #name); \
	if (!nvml##name) { \
		gt_cn_text(why, room, "libnvidia-ml.so.1 has no nvml" #name); \
		return false; \
	}
	FUNCTIONS(FIND)
#define FIND_GPM(pointer, name) *(void **)(void *)&pointer = dlsym(library, "nvmlGpm" name)
	FIND_GPM(gpm_query, "QueryDeviceSupport");
	FIND_GPM(gpm_alloc, "SampleAlloc");
	FIND_GPM(gpm_get, "SampleGet");
	FIND_GPM(gpm_metrics, "MetricsGet");
	return true;
}

/* ---- GPM ------------------------------------------------------------------------------------------- */

/* Two samples for a device that can have them. */
static void begin_gpm(struct device *d)
{
	struct gpm_support support = { .version = 1 };

	if (!gpm_query || !gpm_alloc || !gpm_get || !gpm_metrics || gpm_query(d->handle, &support) ||
	    !support.supported || gpm_alloc(&d->samples[0]) || gpm_alloc(&d->samples[1]) ||
	    gpm_get(d->handle, d->samples[1]))
		d->samples[1] = NULL;
	d->sampled = gt_monotonic();
}

/* Computes the values between two samples. */
static int compute_gpm(struct device *d)
{
	struct { /* nvmlGpmMetricsGet_t */
		uint32_t version, count;
		void *samples[2];
		struct gpm_metric metrics[KINDS - GPM];
	} get = { .version = 1, .count = KINDS - GPM, .samples = { d->samples[0], d->samples[1] } };
	int rc;

	for (unsigned i = 0; i < KINDS - GPM; i++)
		get.metrics[i].id = gpm_ids[i];
	rc = gpm_metrics(&get);
	for (unsigned i = 0; !rc && i < KINDS - GPM; i++) {
		const struct gpm_metric *m = &get.metrics[i];

		d->gpm[i] = m->status || !isfinite(m->value) ? 0 : m->value;
	}
	return rc;
}

/*
 * 0, or an error of the library's. The value is that of the last GPM_MS or more; the first reading waits for
 * it, on the thread that reads.
 */
static int read_gpm(struct device *d, unsigned index, uint64_t *value)
{
	uint64_t now = gt_monotonic();
	void *older = d->samples[0];
	int rc = d->samples[1] ? 0 : -1;

	if (!rc && !d->computed && now - d->sampled < GPM_MS * UINT64_C(1000000)) {
		const struct timespec rest = { 0, (long)(GPM_MS * 1000000 - (now - d->sampled) + 1000) };

		gt_raw(SYS_nanosleep, &rest, NULL);
		now = gt_monotonic();
	}
	if (!rc && now - d->sampled >= GPM_MS * UINT64_C(1000000)) {
		d->computed = true;
		d->samples[0] = d->samples[1];
		d->samples[1] = older;
		d->sampled = now;
		rc = gpm_get(d->handle, d->samples[1]);
		rc = rc ? rc : compute_gpm(d);
	}
	memcpy(value, &d->gpm[index], sizeof(*value));
	return rc;
}

static int begin(const struct gt_plugin_host *host, char *why, size_t room)
{
	unsigned n = 0;
	int rc;

	(void)host;
	if (!load(why, room))
		return -ENOENT;
	rc = nvmlInit_v2();
	if (rc || nvmlDeviceGetCount_v2(&n)) {
		snprintf(why, room, "libnvidia-ml.so.1 cannot be used (error %d)", rc);
		return -EIO;
	}
	for (unsigned i = 0; i < n && i < MOST; i++) {
		char name[32] = "?";

		if (nvmlDeviceGetHandleByIndex_v2(i, &devices[i].handle))
			break;
		nvmlDeviceGetName(devices[i].handle, name, sizeof(name));
		snprintf(devices[i].name, sizeof(devices[i].name), "GPU %u (%s)", i, name);
		begin_gpm(&devices[i]);
		device_count = i + 1;
	}
	if (!device_count)
		gt_cn_text(why, room, "there is no GPU");
	return device_count ? 0 : -ENODEV;
}

static int read_field(void *device, uint32_t id, uint64_t *value)
{
	struct field field = { .id = id, .scope = ALL_LINKS };
	int rc = nvmlDeviceGetFieldValues(device, 1, &field);

	*value = field.type == 0 ? (uint64_t)field.value.floating
		 : field.type == 1 ? (uint32_t)field.value.number : field.value.number;
	return rc ? rc : field.status;
}

/* 0, or an error of the library's. */
static int read_one(struct device *d, enum kind kind, uint64_t *value)
{
	void *device = d->handle;
	unsigned long long wide[3] = { 0 };
	unsigned narrow[2] = { 0 };
	int rc = -1;

	if (kind >= GPM)
		return read_gpm(d, kind - GPM, value);
	switch (kind) {
	case POWER:
		rc = nvmlDeviceGetPowerUsage(device, narrow);
		break;
	case ENERGY:
		rc = nvmlDeviceGetTotalEnergyConsumption(device, wide);
		break;
	case CLOCK_SM:
	case CLOCK_MEM:
		rc = nvmlDeviceGetClockInfo(device, kind == CLOCK_SM ? 1 : 2, narrow);
		break;
	case USE:
	case USE_MEM:
		rc = nvmlDeviceGetUtilizationRates(device, narrow);
		narrow[0] = narrow[kind == USE_MEM];
		break;
	case MEMORY: /* total, free, used */
		rc = nvmlDeviceGetMemoryInfo(device, wide);
		wide[0] = wide[2];
		break;
	case TEMPERATURE:
		rc = nvmlDeviceGetTemperature(device, 0, narrow);
		break;
	case PCIE_TX:
	case PCIE_RX:
		rc = nvmlDeviceGetPcieThroughput(device, kind == PCIE_RX, narrow);
		break;
	case NVLINK_TX:
	case NVLINK_RX:
		return read_field(device, kind == NVLINK_TX ? LINK_TX : LINK_RX, value);
	default:
		break;
	}
	*value = wide[0] ? wide[0] : narrow[0];
	return rc;
}

/* ---- the source --------------------------------------------------------------------------------------- */

static void describe(unsigned device, unsigned kind, struct gt_plugin_metric *metric)
{
	metric->id = device << 8 | kind;
	snprintf(metric->name, sizeof(metric->name), "%s.%u", kinds[kind].name, device);
	gt_cn_text(metric->unit, sizeof(metric->unit), kinds[kind].unit);
	gt_cn_text(metric->description, sizeof(metric->description), kinds[kind].description);
	gt_cn_text(metric->device_name, sizeof(metric->device_name), devices[device].name);
	metric->value = kind >= GPM ? GT_PLUGIN_DOUBLE : GT_PLUGIN_UINT;
	metric->mode = kinds[kind].mode;
	metric->base = GT_PLUGIN_DECIMAL;
	metric->scope = GT_PLUGIN_HOST;
	metric->device = device + 1;
}

static bool offered(unsigned device, unsigned kind, char *why, size_t room)
{
	uint64_t value;
	struct device *d = &devices[device];
	int rc = kind >= GPM ? !d->samples[1] : read_one(d, (enum kind)kind, &value);

	if (rc)
		snprintf(why, room, "the driver does not count it on this GPU (error %d)", rc);
	return !rc;
}

static void list(gt_plugin_each *each, void *argument)
{
	for (unsigned i = 0; i < device_count * KINDS; i++) {
		struct gt_plugin_metric metric = { .bytes = sizeof(metric) };

		describe(i / KINDS, i % KINDS, &metric);
		offered(i / KINDS, i % KINDS, metric.missing, sizeof(metric.missing));
		each(&metric, argument);
	}
}

/* Is it among those of a name for several? "all": but those that take long; "gpm": GPM, or else PCIe. */
static bool is_of(const char *name, unsigned device, unsigned kind)
{
	bool slow = kind == PCIE_TX || kind == PCIE_RX;

	if (!strcmp(name, "gpm"))
		return devices[device].samples[1] ? kind >= GPM : slow;
	return !strcmp(name, "all") && !slow && kind < GPM;
}

/* NAME.2: of GPU 2; NAME: of all that have it. */
static int find(const char *name, struct gt_plugin_metric *metrics, unsigned room, char *why, size_t why_room)
{
	unsigned found = 0, known = 0;

	for (unsigned i = 0; i < device_count * KINDS && found < room; i++) {
		unsigned device = i / KINDS, kind = i % KINDS;

		describe(device, kind, &metrics[found]);
		if (strcmp(name, metrics[found].name) && strcmp(name, kinds[kind].name) &&
		    !is_of(name, device, kind))
			continue;
		known++;
		found += offered(device, kind, why, why_room);
	}
	return found || !known ? (int)found : -ENOTSUP;
}

/* Openings are of the one process that reads, and few. */
static struct set {
	uint16_t id[GT_PLUGIN_METRICS];
	bool used;
} sets[GT_CN_GROUPS];

static int open_set(const uint64_t *ids, unsigned count, unsigned flags, void **state)
{
	(void)flags;
	for (unsigned i = 0; i < GT_CN_GROUPS; i++) {
		if (sets[i].used)
			continue;
		sets[i].used = true;
		for (unsigned k = 0; k < count; k++)
			sets[i].id[k] = (uint16_t)ids[k];
		*state = &sets[i];
		return 0;
	}
	return -ENOSPC;
}

static void close_set(void *state)
{
	((struct set *)state)->used = false;
}

static int read_set(void *state, uint64_t *values, unsigned count)
{
	const struct set *set = state;

	for (unsigned i = 0; i < count; i++)
		if (read_one(&devices[set->id[i] >> 8], (enum kind)(set->id[i] & 255), &values[i]))
			return -EIO;
	return 0;
}

const struct gt_plugin gt_cn_nvml = {
	.bytes = sizeof(gt_cn_nvml),
	.abi = GT_PLUGIN_ABI,
	.ways = GT_PLUGIN_POLLED,
	.name = "nvml",
	.description = "NVIDIA's GPUs: power, energy, clocks, utilisation, memory, temperature, PCIe, NVLink",
	.begin = begin,
	.list = list,
	.find = find,
	.open = open_set,
	.read = read_set,
	.close = close_set,
};
