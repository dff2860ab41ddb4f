/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A metric plug-in as Score-P loads it, with known values, written from the interface as Score-P's manual
 * describes it and not from gputrace's. -DKIND=0: strictly synchronous, 1: synchronous with every third value
 * missing, 3: asynchronous. -DVERSION=1 has synchronize(), and no value before it was called.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
	char *name, *description;
	int mode, value_type, base;
	int64_t exponent;
	char *unit;
} properties;

typedef struct {
	uint64_t timestamp, value;
} pair;

typedef struct {
	uint32_t plugin_version;
	int run_per, sync;
	uint64_t delta_t;
	int32_t (*initialize)(void);
	void (*finalize)(void);
	properties *(*get_event_info)(char *);
	int32_t (*add_counter)(char *);
	uint64_t (*get_current_value)(int32_t);
	bool (*get_optional_value)(int32_t, uint64_t *);
	void (*set_clock_function)(uint64_t (*)(void));
	uint64_t (*get_all_values)(int32_t, pair **);
#if VERSION
	void (*synchronize)(bool, int);
	uint64_t reserved[92];
#else
	uint64_t reserved[100];
#endif
} info;

static uint64_t (*now)(void);
static uint64_t begin;
static bool ready = !VERSION;
static _Thread_local uint64_t reads[2];

static int32_t initialize(void)
{
	return 0;
}

static void finalize(void)
{
}

static void set_clock(uint64_t (*clock)(void))
{
	now = clock;
	begin = now();
}

/* "two" stands for two metrics. */
static properties *get_event_info(char *name)
{
	properties *p = calloc(3, sizeof(*p));
	int n = !strcmp(name, "two") ? 2 : 1;

	for (int i = 0; i < n; i++) {
		p[i].name = strdup(i ? "second" : n == 2 ? "first" : name);
		p[i].unit = strdup("apples");
		p[i].description = NULL;
		p[i].mode = 4; /* absolute, at a point */
		p[i].value_type = 1;
		p[i].base = 1;
		p[i].exponent = 3;
	}
	return p;
}

static int32_t add_counter(char *name)
{
	return !strcmp(name, "second");
}

static uint64_t current(int32_t id)
{
	return ready ? 1000u * (unsigned)id + ++reads[id] : 0;
}

static bool optional(int32_t id, uint64_t *value)
{
	*value = current(id);
	return reads[id] % 3;
}

static uint64_t all(int32_t id, pair **list)
{
	uint64_t step = (now() - begin) / 50;

	*list = calloc(40, sizeof(**list));
	for (int i = 0; i < 40; i++)
		(*list)[i] = (pair){ begin + (unsigned)i * step,
				     ready ? 1000u * (unsigned)id + (unsigned)i : 0 };
	return 40;
}

#if VERSION
static void synchronize(bool responsible, int mode)
{
	ready |= responsible && mode == 0;
}
#endif

#define JOIN(a, b, c) a##b##c
#define ENTRY(name) JOIN(SCOREP_MetricPlugin_, name, _get_info)
info ENTRY(NAME)(void);
info ENTRY(NAME)(void)
{
	return (info){
		.plugin_version = VERSION, .run_per = KIND == 3, .sync = KIND, .initialize = initialize,
		.finalize = finalize, .get_event_info = get_event_info, .add_counter = add_counter,
		.get_current_value = current, .get_optional_value = optional, .set_clock_function = set_clock,
		.get_all_values = all,
#if VERSION
		.synchronize = synchronize,
#endif
	};
}
