/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SASS metrics of the fake CUPTI. Each kernel gives counts of the instructions that FAKE_SASS names, a file
 * of lines CRC FUNCTION NAME OFFSET WARPS THREADS (numbers of one launch), or else of two instructions of the
 * fake cubin. Counts add up until they are fetched, as CUPTI's do. FAKE_CUPTI holds words for trouble:
 *
 *   sasshang  cuptiSassMetricsGetDataProperties never returns
 *
 * Limits: one device; a context is known by its pointer; 3 metrics, which are given in the order of their
 * names.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/abi.h"
#include "cuda/samples/pcsampling_abi.h"
#include "fake.h"

#define MOST 1000u

static const struct cu_sass_metric all[] = {
	{ 0xabc1, "smsp__sass_inst_executed", "# of warp instructions executed" },
	{ 0xabc2, "smsp__sass_thread_inst_executed_pred_on", "# of thread instructions" },
	{ 0xabc3, "smsp__sass_sectors_mem_global", "# of sectors" },
};
static struct instruction {
	uint32_t crc, function, offset;
	uint64_t warps, threads;
	char name[256];
} instructions[MOST];
static size_t count;
static uint64_t wanted[3];
static unsigned wanted_count;
static uint64_t launches; /* since the last fetch */
static int configured, enabled;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int fake_cupti_trouble(const char *word);
int fake_cupti_failure(const char *function);
int fake_cupti_kind(uint32_t kind);
void fake_sass_kernel(const char *name, uint32_t crc);

#define MAY_FAIL()                                                                                 \
	do {                                                                                       \
		if (fake_cupti_failure(__func__))                                                  \
			return fake_cupti_failure(__func__);                                       \
	} while (0)

static void read_file(const char *path)
{
	FILE *in = fopen(path, "r");
	struct instruction *at = instructions;

	while (in && count < MOST &&
	       fscanf(in, "%x %u %255s %x %lu %lu", &at->crc, &at->function, at->name, &at->offset,
		      &at->warps, &at->threads) == 6)
		at = &instructions[++count];
	if (in)
		fclose(in);
}

void fake_sass_kernel(const char *name, uint32_t crc)
{
	pthread_mutex_lock(&lock);
	if (!count && getenv("FAKE_SASS"))
		read_file(getenv("FAKE_SASS"));
	for (; count < 2; count++) {
		instructions[count] = (struct instruction){
			.crc = crc, .function = 7, .offset = 16 * (uint32_t)(count + 1), .warps = 2,
			.threads = 64,
		};
		snprintf(instructions[count].name, sizeof(instructions[count].name), "%s", name);
	}
	/* As CUPTI 13.0: without records of serialized kernels nothing is counted, or zeros. */
	if (fake_cupti_kind(CU_KIND_KERNEL) && !fake_cupti_kind(CU_KIND_CONCURRENT_KERNEL))
		launches += (uint64_t)enabled;
	pthread_mutex_unlock(&lock);
}

int cuptiSassMetricsGetNumOfMetrics(struct cu_sass_count *p);
int cuptiSassMetricsGetNumOfMetrics(struct cu_sass_count *p)
{
	MAY_FAIL();
	p->count = 3;
	return p->chip ? 0 : CU_ERROR_INVALID_PARAMETER;
}

int cuptiSassMetricsGetMetrics(struct cu_sass_list *p);
int cuptiSassMetricsGetMetrics(struct cu_sass_list *p)
{
	MAY_FAIL();
	memcpy(p->list, all, sizeof(all));
	return 0;
}

int cuptiSassMetricsSetConfig(struct cu_sass_set *p);
int cuptiSassMetricsSetConfig(struct cu_sass_set *p)
{
	MAY_FAIL();
	if (configured++) /* as CUPTI 13.0: once and for all */
		return CU_ERROR_OUT_OF_MEMORY;
	for (wanted_count = 0; wanted_count < p->count && wanted_count < 3; wanted_count++)
		wanted[wanted_count] = p->configs[wanted_count].id;
	return 0;
}

int cuptiSassMetricsEnable(struct cu_sass_enable *p);
int cuptiSassMetricsEnable(struct cu_sass_enable *p)
{
	MAY_FAIL();
	if (!configured || !p->context || !p->lazy)
		return CU_ERROR_INVALID_PARAMETER;
	if (fake_cupti_trouble("say"))
		fprintf(stderr, "fake: instructions are counted\n");
	enabled++;
	return 0;
}

int cuptiSassMetricsDisable(struct cu_sass_disable *p);
int cuptiSassMetricsDisable(struct cu_sass_disable *p)
{
	MAY_FAIL();
	p->dropped = 0;
	enabled--;
	return 0;
}

int cuptiSassMetricsGetDataProperties(struct cu_sass_flush *p);
int cuptiSassMetricsGetDataProperties(struct cu_sass_flush *p)
{
	MAY_FAIL();
	while (fake_cupti_trouble("sasshang"))
		sleep(1);
	p->records = launches ? count * wanted_count : 0;
	p->instances = 1;
	return 0;
}

int cuptiSassMetricsFlushData(struct cu_sass_flush *p);
int cuptiSassMetricsFlushData(struct cu_sass_flush *p)
{
	MAY_FAIL();
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < p->records; i++) {
		const struct instruction *at = &instructions[i / wanted_count];
		uint64_t id = wanted[i % wanted_count], each = 0;

		p->data[i].crc = at->crc;
		p->data[i].function = at->function;
		p->data[i].offset = at->offset;
		p->data[i].name = at->name;
		p->data[i].values[0].id = id;
		if (id == all[0].id)
			each = at->warps;
		else if (id == all[1].id)
			each = at->threads;
		p->data[i].values[0].value = launches * each;
	}
	launches = 0;
	pthread_mutex_unlock(&lock);
	return 0;
}
