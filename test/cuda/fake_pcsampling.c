/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PC sampling of the fake CUPTI. Each kernel gives six samples of two instructions; with FAKE_PC=DIR, what
 * was captured on a GPU is given once instead: DIR/pcsamples, as an archive has it, of the cubins
 * DIR/<crc>.cubin. FAKE_CUPTI holds words for trouble:
 *
 *   pcfull    the device's buffer is full after 2 kernels
 *   pctaken   another process takes the GPU away after 2 kernels
 *   pchang    cuptiPCSamplingGetData never returns
 *
 * Limits: one context; three instructions for each GetData.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include <unistd.h>

#include "cuda/abi.h"
#include "cuda/samples/pcsampling_abi.h"
#include "fake.h"

#define MOST 200000
#define AT_ONCE 3

struct sample {
	uint64_t crc, offset;
	uint32_t function, correlation, stalls;
	char *name;
	struct cu_pc_stall stall[40];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sample *waiting;
static size_t count, captured;
static uint64_t crc;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint64_t kernels;
static int enabled, serialized, full, taken;
static struct cu_pc_data *rest;
static struct { uint32_t index; char name[CU_PC_REASON_TEXT]; } reasons[40] = {
	{ 28, "smsp__pcsamp_warps_issue_stalled_selected" },
	{ 14, "smsp__pcsamp_warps_issue_stalled_long_scoreboard" },
	{ 15, "smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued" },
};
static size_t reason_count = 3;

int fake_cupti_trouble(const char *word);
int fake_cupti_failure(const char *function);
void fake_cupti_module(const struct cu_module *module);
void fake_pcsampling_kernel(const char *name, uint32_t correlation);
void fake_sass_kernel(const char *name, uint32_t crc);

#define MAY_FAIL()                                                                                 \
	do {                                                                                       \
		if (fake_cupti_failure(__func__))                                                  \
			return fake_cupti_failure(__func__);                                       \
	} while (0)

static uint64_t hash(const char *data, size_t bytes)
{
	uint32_t crc = 2166136261u;

	for (size_t i = 0; i < bytes; i++)
		crc = (crc ^ (unsigned char)data[i]) * 16777619u;
	return crc;
}

/* ---- what was captured --------------------------------------------------------------------------- */

static char *load(const char *dir, const char *name, size_t *size)
{
	char path[600], *data = calloc(1, 1 << 20);
	FILE *in;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	in = fopen(path, "r");
	*size = in ? fread(data, 1, (1 << 20) - 1, in) : 0;
	if (in)
		fclose(in);
	return data;
}

/* Lines as in an archive: "reason", "function", "pc". */
static void read_line(char *line)
{
	static uint64_t module;
	static uint32_t function;
	static char name[512];
	struct sample *s = &waiting[count];
	unsigned index, context, period;
	char *at;
	int n = 0;

	memset(s, 0, sizeof(*s));
	if (sscanf(line, "reason %u %127s", &reasons[reason_count].index, reasons[reason_count].name) == 2)
		reason_count++;
	else if (sscanf(line, "function %lx %u %511s", &module, &index, name) == 3)
		function = index;
	else if (sscanf(line, "pc %lx %u %u %u%n", &s->offset, &context, &period, &s->correlation, &n) == 4) {
		s->crc = module;
		s->function = function;
		s->name = strdup(name);
		for (at = line + n; sscanf(at, " %u:%u%n", &s->stall[s->stalls].reason,
					   &s->stall[s->stalls].samples, &n) == 2; at += n)
			s->stalls++;
		count++;
	}
}

static void read_samples(void)
{
	const char *dir = getenv("FAKE_PC");
	size_t size;
	char *text, *save, *line;

	waiting = calloc(MOST, sizeof(*waiting));
	if (!dir)
		return;
	text = load(dir, "pcsamples", &size);
	reason_count = 0;
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		read_line(line);
	captured = count;
	count = 0;
}

static void give_modules(const char *name)
{
	struct dirent *entry;
	DIR *folder = opendir(name);

	while (folder && (entry = readdir(folder)))
		if (strstr(entry->d_name, ".cubin")) {
			size_t size;
			char *cubin = load(name, entry->d_name, &size);
			const struct cu_module module = { .id = 1, .bytes = size, .cubin = cubin };

			crc = strtoull(entry->d_name, NULL, 16);
			fake_cupti_module(&module);
		}
}

static const char text[] = "a fake cubin: not an ELF file";

/* The first kernel is being launched: its module is loaded. */
static void first_kernel(void)
{
	const struct cu_module module = { .id = 1, .bytes = sizeof(text), .cubin = text };

	pthread_once(&once, read_samples);
	crc = hash(text, sizeof(text));
	if (getenv("FAKE_PC"))
		give_modules(getenv("FAKE_PC"));
	else
		fake_cupti_module(&module);
	count = captured;
}

void fake_pcsampling_kernel(const char *name, uint32_t correlation)
{
	static pthread_once_t first = PTHREAD_ONCE_INIT;

	pthread_once(&first, first_kernel);
	fake_sass_kernel(name, (uint32_t)crc);
	pthread_mutex_lock(&lock);
	kernels++;
	full = fake_cupti_trouble("pcfull") && kernels > 2;
	taken = fake_cupti_trouble("pctaken") && kernels > 2;
	for (uint32_t i = 0; enabled && !full && !taken && i < 2 && count < MOST && !getenv("FAKE_PC"); i++) {
		struct sample *s = &waiting[count++];

		*s = (struct sample){ .crc = crc, .offset = 16 * (i + 1), .function = 7,
				      .correlation = serialized ? correlation : 0, .stalls = i ? 1 : 2,
				      .name = (char *)(uintptr_t)name };
		s->stall[0] = (struct cu_pc_stall){ i ? 28 : 14, i ? 1 : 5 };
		s->stall[1] = (struct cu_pc_stall){ 15, 2 };
	}
	pthread_mutex_unlock(&lock);
}

/* ---- CUPTI's functions --------------------------------------------------------------------------- */

int cuptiGetCubinCrc(struct cu_cubin_crc *params);
int cuptiGetCubinCrc(struct cu_cubin_crc *params)
{
	MAY_FAIL();
	params->crc = crc;
	return 0;
}

int cuptiPCSamplingEnable(struct cu_pc_plain *params);
int cuptiPCSamplingEnable(struct cu_pc_plain *params)
{
	MAY_FAIL();
	if (fake_cupti_trouble("say"))
		fprintf(stderr, "fake: PC sampling begins\n");
	enabled = params->context != NULL;
	return enabled ? 0 : CU_ERROR_INVALID_PARAMETER;
}

int cuptiPCSamplingGetNumStallReasons(struct cu_pc_count *params);
int cuptiPCSamplingGetNumStallReasons(struct cu_pc_count *params)
{
	MAY_FAIL();
	pthread_once(&once, read_samples);
	*params->count = reason_count;
	return 0;
}

int cuptiPCSamplingGetStallReasons(struct cu_pc_names *params);
int cuptiPCSamplingGetStallReasons(struct cu_pc_names *params)
{
	MAY_FAIL();
	for (size_t i = 0; i < params->count; i++) {
		params->index[i] = reasons[i].index;
		strcpy(params->names[i], reasons[i].name);
	}
	return 0;
}

int cuptiPCSamplingSetConfigurationAttribute(struct cu_pc_configure *params);
int cuptiPCSamplingSetConfigurationAttribute(struct cu_pc_configure *params)
{
	MAY_FAIL();
	for (size_t i = 0; i < params->count; i++) {
		const struct cu_pc_option *o = &params->options[i];

		if (o->type == CU_PC_MODE)
			serialized = o->value.number == CU_PC_SERIALIZED;
		else if (o->type == CU_PC_BUFFER)
			rest = o->value.buffer;
	}
	return 0;
}

static void give(struct cu_pc_data *d, size_t most)
{
	d->count = d->remaining = 0;
	d->total = d->dropped = d->foreign = 0;
	for (size_t i = 0; i < count && i < most && i < d->room; i++) {
		const struct sample *s = &waiting[i];
		struct cu_pc *pc = &d->pcs[d->count++];

		pc->crc = s->crc;
		pc->offset = s->offset;
		pc->function = s->function;
		pc->name = s->name;
		pc->correlation = s->correlation;
		pc->stalls = s->stalls;
		memcpy(pc->stall, s->stall, s->stalls * sizeof(*s->stall));
		for (uint32_t k = 0; k < s->stalls; k++)
			for (size_t r = 0; r < reason_count; r++)
				if (reasons[r].index == s->stall[k].reason &&
				    !strstr(reasons[r].name, "_not_issued"))
					d->total += s->stall[k].samples;
	}
	count -= d->count;
	memmove(waiting, waiting + d->count, count * sizeof(*waiting));
	d->remaining = count;
}

int cuptiPCSamplingGetData(struct cu_pc_get *params);
int cuptiPCSamplingGetData(struct cu_pc_get *params)
{
	int rc = 0;

	MAY_FAIL();
	while (fake_cupti_trouble("pchang"))
		sleep(1);
	pthread_mutex_lock(&lock);
	if (!enabled)
		rc = CU_ERROR_INVALID_PARAMETER;
	else if (taken)
		rc = CU_ERROR_UNKNOWN;
	else if (full)
		rc = CU_ERROR_OUT_OF_MEMORY;
	else
		give(params->data, AT_ONCE);
	pthread_mutex_unlock(&lock);
	return rc;
}

int cuptiPCSamplingDisable(struct cu_pc_plain *params);
int cuptiPCSamplingDisable(struct cu_pc_plain *params)
{
	MAY_FAIL();
	(void)params;
	if (fake_cupti_trouble("say"))
		fprintf(stderr, "fake: PC sampling ends\n");
	pthread_mutex_lock(&lock);
	if (rest && !full)
		give(rest, MOST);
	enabled = 0;
	pthread_mutex_unlock(&lock);
	return taken ? CU_ERROR_UNKNOWN : 0;
}
