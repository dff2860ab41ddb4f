/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library of NVIDIA's driver with two GPUs, which says what a test can expect: power rises by 1 W with each
 * reading, the second GPU has no NVLink and no GPM. GPM counts samples: the metric with the number N is N +
 * 0.5, but that of DRAM (10) is not a number.
 */
#include <stdint.h>
#include <stdio.h>

struct field {
	uint32_t id, scope;
	int64_t time, latency;
	uint32_t type;
	int32_t status;
	union {
		double floating;
		uint64_t number;
	} value;
};

static char gpus[2];
static unsigned power[2] = { 100000, 200000 };

int nvmlInit_v2(void)
{
	return 0;
}

int nvmlDeviceGetCount_v2(unsigned *n)
{
	*n = 2;
	return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **gpu)
{
	*gpu = &gpus[i];
	return 0;
}

int nvmlDeviceGetName(char *gpu, char *name, unsigned room)
{
	snprintf(name, room, "Fake %d", (int)(gpu - gpus));
	return 0;
}

int nvmlDeviceGetPowerUsage(char *gpu, unsigned *mw)
{
	*mw = power[gpu - gpus] += 1000;
	return 0;
}

int nvmlDeviceGetTotalEnergyConsumption(char *gpu, unsigned long long *mj)
{
	*mj = power[gpu - gpus] * 5000000000ull;
	return 0;
}

int nvmlDeviceGetClockInfo(char *gpu, int type, unsigned *mhz)
{
	(void)gpu;
	*mhz = 1000u + (unsigned)type;
	return 0;
}

int nvmlDeviceGetUtilizationRates(char *gpu, unsigned rates[2])
{
	(void)gpu;
	rates[0] = 90;
	rates[1] = 40;
	return 0;
}

int nvmlDeviceGetMemoryInfo(char *gpu, unsigned long long memory[3])
{
	(void)gpu;
	memory[0] = 80ull << 30;
	memory[1] = 50ull << 30;
	memory[2] = 30ull << 30;
	return 0;
}

int nvmlDeviceGetTemperature(char *gpu, int sensor, unsigned *c)
{
	(void)gpu;
	*c = 40u + (unsigned)sensor;
	return 0;
}

int nvmlDeviceGetPcieThroughput(char *gpu, int way, unsigned *kbs)
{
	(void)gpu;
	*kbs = 7u + (unsigned)way;
	return 0;
}

int nvmlDeviceGetFieldValues(char *gpu, int n, struct field *field)
{
	(void)n;
	field->type = 3; /* unsigned long long */
	field->status = gpu == gpus ? 0 : 3;
	field->value.number = field->scope == UINT32_MAX ? 1000 + field->id : 0;
	return 0;
}

int nvmlGpmQueryDeviceSupport(char *gpu, unsigned support[2])
{
	support[1] = gpu == gpus;
	return support[0] != 1;
}

int nvmlGpmSampleAlloc(void **sample)
{
	static unsigned samples[2], count;

	*sample = &samples[count++ % 2];
	return 0;
}

int nvmlGpmSampleGet(char *gpu, unsigned *sample)
{
	static unsigned taken;

	*sample = ++taken;
	return gpu != gpus;
}

struct gpm_get {
	unsigned version, count;
	unsigned *samples[2];
	struct {
		unsigned id;
		int status;
		double value;
		const char *texts[3];
	} metrics[];
};

int nvmlGpmMetricsGet(struct gpm_get *get)
{
	for (unsigned i = 0; i < get->count; i++) {
		get->metrics[i].status = 0;
		get->metrics[i].value = get->metrics[i].id == 10 ? 0.0 / 0.0 : get->metrics[i].id + 0.5;
	}
	return get->version != 1 || *get->samples[0] >= *get->samples[1]; /* older first */
}
