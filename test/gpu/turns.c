/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stands between gputrace and CUPTI, so that one process can launch interleaved without a tool, with CUPTI's
 * records, and with gputrace. A library with the name of CUPTI's own, in front of it in LD_LIBRARY_PATH;
 * TURNS_CUPTI is the path of the real one. `loop turns` finds it in its process and calls turns_mode().
 *
 *   TURNS_NONE      no kind of record and no callback is enabled
 *   TURNS_RECORDS   the kinds that gputrace has enabled; its buffers are not used: records are stepped
 *                   through on CUPTI's thread and thrown away
 *   TURNS_EMPTY     the same, and gputrace's callbacks, but the function returns at once
 *   TURNS_RUNTIME   the same with one callback instead: the runtime's launch
 *   TURNS_CALLS     gputrace's callbacks, no records
 *   TURNS_TOOL      what gputrace has asked for
 *
 * TURNS_LATE: nothing is enabled before the first turn. TURNS_ATTRIBUTES is a list of NUMBER=VALUE with
 * commas: attributes of CUPTI (8 bytes each, or 1 with "b" behind the value) that are set before all else,
 * and not again by gputrace.
 *
 * Limits: the functions that gputrace calls, with their arguments in registers. Between CUPTI and gputrace is
 * one jump in each callback, which is part of what gputrace seems to add.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { TURNS_NONE, TURNS_RECORDS, TURNS_EMPTY, TURNS_RUNTIME, TURNS_CALLS, TURNS_TOOL };
enum { RUNTIME = 2, LAUNCH_KERNEL = 211, BUFFERS = 64, BUFFER_BYTES = 1 << 20, MANY = 4096 };

typedef void callback_function(void *, uint32_t, uint32_t, const void *);
typedef void request_function(uint8_t **, size_t *, size_t *);
typedef void complete_function(void *, uint32_t, uint8_t *, size_t, size_t);

static callback_function *tool, *volatile target;
static request_function *tool_request;
static complete_function *tool_complete;
static void *subscriber;
static int mode = TURNS_TOOL;
static struct {
	uint32_t domain, id;
} calls[MANY];
static uint32_t kinds[64], call_count, kind_count;
static uint8_t *memory;
static uint32_t out[BUFFERS];

static void *real(const char *name)
{
	static void *cupti;
	const char *path = getenv("TURNS_CUPTI");
	void *symbol;

	if (!cupti && path)
		cupti = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	symbol = cupti ? dlsym(cupti, name) : NULL;
	if (!symbol) {
		fprintf(stderr, "turns: no %s in %s\n", name, path ? path : "nothing");
		abort();
	}
	return symbol;
}

#define PASS_ON(name)                                                                              \
	long name(long a, long b, long c, long d, long e, long f);                                 \
	long name(long a, long b, long c, long d, long e, long f)                                  \
	{                                                                                          \
		static long (*to)(long, long, long, long, long, long);                             \
		if (!to)                                                                           \
			*(void **)&to = real(#name);                                               \
		return to(a, b, c, d, e, f);                                                       \
	}

PASS_ON(cuptiGetVersion)
PASS_ON(cuptiGetCallbackName)
PASS_ON(cuptiActivityFlushAll)
PASS_ON(cuptiActivityGetNextRecord)
PASS_ON(cuptiActivityGetNumDroppedRecords)
PASS_ON(cuptiGetTimestamp)
PASS_ON(cuptiGetResultString)
PASS_ON(cuptiActivityRegisterTimestampCallback)
PASS_ON(cuptiGetStreamIdEx)
PASS_ON(cuptiGetDeviceId)
PASS_ON(cuptiGetContextId)

static int call_enable(const char *name, uint32_t on, uint32_t domain, uint32_t id)
{
	int (*enable)(uint32_t, void *, uint32_t, uint32_t) = NULL;

	*(void **)&enable = real(name);
	return enable(on, subscriber, domain, id);
}

static int kind_call(const char *name, uint32_t kind)
{
	int (*call)(uint32_t) = NULL;

	*(void **)&call = real(name);
	return call(kind);
}

/* ---- what gputrace calls ---------------------------------------------------------------------------- */

static void nothing(void *user, uint32_t domain, uint32_t id, const void *data)
{
	(void)user, (void)domain, (void)id, (void)data;
}

static void dispatch(void *user, uint32_t domain, uint32_t id, const void *data)
{
	target(user, domain, id, data);
}

/* Sets those of the list, or only looks whether `wanted` is one of them. */
static int attributes(int (*set)(uint32_t, size_t *, void *), uint32_t wanted)
{
	const char *at = getenv("TURNS_ATTRIBUTES");

	while (at && *at) {
		char *end;
		uint32_t number = (uint32_t)strtoul(at, &end, 10);
		uint64_t value = *end == '=' ? strtoull(end + 1, &end, 10) : 0;
		size_t size = *end == 'b' ? 1 : 8;
		int rc = set ? set(number, &size, &value) : 0;

		if (!set && number == wanted)
			return 1;
		if (rc)
			fprintf(stderr, "turns: attribute %u is refused: %d\n", number, rc);
		at = end + strcspn(end, ",");
		at += *at == ',';
	}
	return 0;
}

int cuptiActivitySetAttribute(uint32_t number, size_t *size, void *value);
int cuptiActivitySetAttribute(uint32_t number, size_t *size, void *value)
{
	int (*set)(uint32_t, size_t *, void *) = NULL;

	*(void **)&set = real("cuptiActivitySetAttribute");
	return attributes(NULL, number) ? 0 : set(number, size, value);
}

int cuptiSubscribe(void **handle, callback_function *function, void *user);
int cuptiSubscribe(void **handle, callback_function *function, void *user)
{
	int (*subscribe)(void **, callback_function *, void *) = NULL;
	int (*set)(uint32_t, size_t *, void *) = NULL;
	int rc;

	*(void **)&subscribe = real("cuptiSubscribe");
	*(void **)&set = real("cuptiActivitySetAttribute");
	tool = target = function;
	rc = subscribe(handle, dispatch, user);
	subscriber = *handle;
	if (!rc)
		attributes(set, 0);
	return rc;
}

int cuptiEnableCallback(uint32_t on, void *handle, uint32_t domain, uint32_t id);
int cuptiEnableCallback(uint32_t on, void *handle, uint32_t domain, uint32_t id)
{
	(void)handle;
	if (domain > RUNTIME)
		return call_enable("cuptiEnableCallback", on, domain, id);
	if (!on || call_count == MANY)
		return 1;
	calls[call_count].domain = domain;
	calls[call_count++].id = id;
	return getenv("TURNS_LATE") ? 0 : call_enable("cuptiEnableCallback", 1, domain, id);
}

int cuptiActivityEnable(uint32_t kind);
int cuptiActivityEnable(uint32_t kind)
{
	if (kind_count == sizeof(kinds) / sizeof(*kinds))
		return 1;
	kinds[kind_count++] = kind;
	return getenv("TURNS_LATE") ? 0 : kind_call("cuptiActivityEnable", kind);
}

/* ---- buffers ------------------------------------------------------------------------------------------ */

static void request(uint8_t **buffer, size_t *size, size_t *records)
{
	if (mode == TURNS_CALLS || mode == TURNS_TOOL) {
		tool_request(buffer, size, records);
		return;
	}
	*records = 0;
	*buffer = NULL;
	*size = 0;
	for (unsigned i = 0; i < BUFFERS && memory; i++)
		if (!__atomic_exchange_n(&out[i], 1, __ATOMIC_ACQUIRE)) {
			*buffer = memory + (size_t)i * BUFFER_BYTES;
			*size = BUFFER_BYTES;
			return;
		}
}

static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	int (*next)(uint8_t *, size_t, void **) = NULL;
	void *record = NULL;

	if (buffer < memory || buffer >= memory + (size_t)BUFFERS * BUFFER_BYTES) {
		tool_complete(context, stream, buffer, size, valid);
		return;
	}
	*(void **)&next = real("cuptiActivityGetNextRecord");
	while (valid && !next(buffer, valid, &record))
		;
	memset(buffer, 0, valid); /* gputrace has said that buffers come zeroed */
	__atomic_store_n(&out[(size_t)(buffer - memory) / BUFFER_BYTES], 0, __ATOMIC_RELEASE);
}

int cuptiActivityRegisterCallbacks(request_function *r, complete_function *c);
int cuptiActivityRegisterCallbacks(request_function *r, complete_function *c)
{
	int (*set)(request_function *, complete_function *) = NULL;

	*(void **)&set = real("cuptiActivityRegisterCallbacks");
	tool_request = r;
	tool_complete = c;
	memory = mmap(NULL, (size_t)BUFFERS * BUFFER_BYTES, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		memory = NULL;
	else
		memset(memory, 0, (size_t)BUFFERS * BUFFER_BYTES);
	return set(request, complete);
}

/* ---- what the program calls -------------------------------------------------------------------------- */

/* With no work on the device. Returns how many calls of CUPTI failed. */
int turns_mode(int wanted);
int turns_mode(int wanted)
{
	int records = wanted != TURNS_NONE && wanted != TURNS_CALLS, failed = 0;
	int callbacks = wanted == TURNS_EMPTY || wanted == TURNS_CALLS || wanted == TURNS_TOOL;

	if (!subscriber)
		return -1;
	kind_call("cuptiActivityFlushAll", 0);
	target = nothing;
	for (uint32_t i = 0; i < call_count; i++)
		failed += call_enable("cuptiEnableCallback", (uint32_t)callbacks, calls[i].domain,
				      calls[i].id) != 0;
	failed += call_enable("cuptiEnableCallback", wanted == TURNS_RUNTIME, RUNTIME, LAUNCH_KERNEL) != 0;
	for (uint32_t i = 0; i < kind_count; i++)
		failed += kind_call(records ? "cuptiActivityEnable" : "cuptiActivityDisable", kinds[i]) != 0;
	mode = wanted;
	target = wanted == TURNS_CALLS || wanted == TURNS_TOOL ? tool : nothing;
	return failed;
}
