/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NVIDIA's GPUs as the management library of the driver shows them: power, energy, clocks, utilisation,
 * memory, temperature, PCIe and NVLink. The library is found when the program runs; its header is not needed.
 *
 * Limits: all GPUs of the host, whatever CUDA_VISIBLE_DEVICES says; MOST of them. The driver measures pcie-tx
 * and pcie-rx for 20 ms at each reading. No MIG devices.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/counters.h"

#define MOST      16u
#define LINK_TX   138u /* NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX */
#define LINK_RX   139u
#define ALL_LINKS UINT32_MAX

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

/* Of the library, by its own names; nvmlReturn_t is 0 for success. */
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

enum kind {
	POWER, ENERGY, CLOCK_SM, CLOCK_MEM, USE, USE_MEM, MEMORY, TEMPERATURE, PCIE_TX, PCIE_RX, NVLINK_TX,
	NVLINK_RX, KINDS
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
};

static struct {
	void *handle;
	char name[64];
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
	return true;
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
static int read_one(void *device, enum kind kind, uint64_t *value)
{
	unsigned long long wide[3] = { 0 };
	unsigned narrow[2] = { 0 };
	int rc = -1;

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
	case KINDS:
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
	metric->value = GT_PLUGIN_UINT;
	metric->mode = kinds[kind].mode;
	metric->base = GT_PLUGIN_DECIMAL;
	metric->scope = GT_PLUGIN_HOST;
	metric->device = device + 1;
}

static bool offered(unsigned device, unsigned kind, char *why, size_t room)
{
	uint64_t value;
	int rc = read_one(devices[device].handle, (enum kind)kind, &value);

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

/* NAME.2: of GPU 2; NAME: of all that have it. "all": every counter but those that take long. */
static int find(const char *name, struct gt_plugin_metric *metrics, unsigned room, char *why, size_t why_room)
{
	unsigned found = 0, known = 0;

	for (unsigned i = 0; i < device_count * KINDS && found < room; i++) {
		unsigned device = i / KINDS, kind = i % KINDS;
		bool slow = kind == PCIE_TX || kind == PCIE_RX;

		describe(device, kind, &metrics[found]);
		if (strcmp(name, metrics[found].name) && strcmp(name, kinds[kind].name) &&
		    (slow || strcmp(name, "all")))
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
		if (read_one(devices[set->id[i] >> 8].handle, (enum kind)(set->id[i] & 255), &values[i]))
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
