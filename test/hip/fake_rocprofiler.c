/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fake librocprofiler-sdk: it loads the tools that ROCP_TOOL_LIBRARIES names, calls them on the program's
 * threads, and delivers records on a thread of its own when it is told to flush, or ends. FAKE_ROCP names
 * what is to go wrong, with blanks between:
 *
 *	version=NUMBER     what it says it is          error=FUNCTION     that fails
 *	kinds=old          no streams, no copies       short              records of half the size
 *	zero early back    times of each third record  unknown            kinds that nobody asked for
 *	reverse            newest records first        drop=N             so many are dropped
 *	late               delivered after the end     fini               calls while it ends, and after
 *	stray              ends of calls that never began, operations that do not exist
 *	agents=bad         agents of other sizes       garbage            external ids of its own
 *	hang               a flush never comes back
 *	slow               a flush takes 30 ms, with a lock that calls take, too
 *
 * FAKE_DELIVERED is a file that gets a line of how many kernels and copies are "given" before each delivery,
 * and "taken" after it.
 *
 * OLDER leaves out what a library need not have, BROKEN something it must.
 *
 * Limits: one tool.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "fake.h"
#include "hip/rocprofiler.h"

enum { HIP = 5, MARKER = 7, NAMES = 9, CODE = 10, STREAM = 20, COPY_RECORD = 10, KERNEL_RECORD = 11 };
enum { MEMORY_RECORD = 16, MOST = 200000 };
enum { FAILED = 1, LOCKED = 16 };

static const char *const operations[FAKE_OPERATIONS] = {
	"hipMalloc", "hipFree", "hipMemcpy", "hipMemcpyAsync", "hipMemcpyPeerAsync", "hipStreamCreate",
	"hipStreamDestroy", "hipStreamSynchronize", "hipStreamQuery", "hipDeviceSynchronize", "hipSetDevice",
	"hipModuleLoad", "hipModuleGetFunction", "hipModuleLaunchKernel", "hipStreamBeginCapture",
	"hipStreamEndCapture", "hipGraphInstantiate", "hipGraphLaunch", "hipHostMalloc",
};
static const char *const markers[] = { "roctxMarkA", "roctxRangePushA", "roctxRangePop", "roctxRangeStartA",
				       "roctxRangeStop" };
static const char *const names_of[] = { "roctxNameOsThread", "roctxNameHsaAgent", "roctxNameHipDevice",
					"roctxNameHipStream" };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER, over = PTHREAD_COND_INITIALIZER;
static unsigned wanted, reached;
static int state; /* 1: tools may be configured, 2: it runs, 3: it ends, 4: it has ended */
static struct rocp_tool *tool;
static rocp_callback callbacks[64];

static rocp_request requests[32];
static rocp_buffer buffer;
static bool started, records_of[64];
static uint64_t correlation, dropped;

static struct record {
	struct rocp_header header;
	union {
		struct rocp_kernel kernel;
		struct rocp_copy copy;
		struct rocp_allocation memory;
		uint64_t size;
	} what;
	uint64_t end;
	bool delivered;
} *records;
static size_t record_count, first;

static const char *fault(const char *name)
{
	const char *list = getenv("FAKE_ROCP"), *at = list;
	size_t n = strlen(name);

	while (at && (at = strstr(at, name))) {
		if ((at == list || at[-1] == ' ') && (!at[n] || at[n] == ' ' || name[n - 1] == '='))
			return at + n;
		at += n;
	}
	return NULL;
}

static bool fails(const char *function)
{
	const char *which = fault("error=");

	return which && !strncmp(which, function, strlen(function));
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* From the runtime's clock to this library's. */
static uint64_t converted(uint64_t monotonic)
{
	static uint64_t offset;
	struct timespec t;

	if (!offset) {
		clock_gettime(CLOCK_MONOTONIC, &t);
		offset = now() - ((uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec);
	}
	return monotonic + offset;
}

/* ---- the interface ------------------------------------------------------------------------------ */

int rocprofiler_create_context(struct rocp_id *context)
{
	context->handle = 1;
	return fails("create_context") ? FAILED : state == 1 ? 0 : LOCKED;
}

int rocprofiler_start_context(struct rocp_id context)
{
	started = context.handle == 1 && !fails("start_context");
	return started ? 0 : FAILED;
}

int rocprofiler_create_buffer(struct rocp_id context, size_t size, size_t watermark, uint32_t policy,
			      rocp_buffer callback, void *data, struct rocp_id *id)
{
	(void)data;
	if (context.handle != 1 || !size || watermark > size || policy != ROCP_POLICY_LOSSLESS ||
	    id->handle || fails("create_buffer"))
		return FAILED;
	buffer = callback;
	id->handle = 7;
	return 0;
}

int rocprofiler_configure_callback_tracing_service(struct rocp_id context, uint32_t kind, const int32_t *list,
						   size_t count, rocp_callback callback, void *data)
{
	(void)list;
	(void)data;
	if (context.handle != 1 || kind >= 64 || count || callbacks[kind] || fails("callback_service"))
		return FAILED;
	callbacks[kind] = callback;
	return 0;
}

int rocprofiler_configure_buffer_tracing_service(struct rocp_id context, uint32_t kind, const int32_t *list,
						 size_t count, struct rocp_id id)
{
	(void)list;
	if (context.handle != 1 || kind >= 64 || count || id.handle != 7 || fails("buffer_service"))
		return FAILED;
	records_of[kind] = true;
	return 0;
}

static int name(const char *text, const char **to, uint64_t *length)
{
	*to = text;
	*length = text ? strlen(text) : 0;
	return text ? 0 : FAILED;
}

int rocprofiler_query_callback_tracing_kind_name(uint32_t kind, const char **to, uint64_t *length)
{
	static const char *const names[64] = {
		[HIP] = "HIP_RUNTIME_API", [MARKER] = "MARKER_CORE_API", [NAMES] = "MARKER_NAME_API",
		[CODE] = "CODE_OBJECT", [STREAM] = "HIP_STREAM",
	};

	return name(kind < (fault("kinds=old") ? STREAM : 64) ? names[kind] : NULL, to, length);
}

int rocprofiler_query_callback_tracing_kind_operation_name(uint32_t kind, int32_t operation, const char **to,
							   uint64_t *length)
{
	if (kind == HIP && operation >= 0 && operation < FAKE_OPERATIONS && !fails("operation"))
		return name(operations[operation], to, length);
	if (kind == MARKER && operation >= 0 && operation < FAKE_NAMES)
		return name(markers[operation], to, length);
	if (kind == NAMES && operation >= 0 && operation < 4)
		return name(names_of[operation], to, length);
	return name(NULL, to, length);
}

int rocprofiler_query_buffer_tracing_kind_name(uint32_t kind, const char **to, uint64_t *length)
{
	static const char *const names[64] = { [COPY_RECORD] = "MEMORY_COPY",
					       [KERNEL_RECORD] = "KERNEL_DISPATCH",
					       [MEMORY_RECORD] = "MEMORY_ALLOCATION" };

	return name(kind < 64 && (kind != COPY_RECORD || !fault("kinds=old")) ? names[kind] : NULL, to,
		    length);
}

int rocprofiler_get_timestamp(uint64_t *ns)
{
	*ns = now();
	return 0;
}

#ifndef OLDER
int rocprofiler_query_available_agents(uint32_t version, rocp_agents callback, size_t size, void *data)
{
	static struct rocp_agent agents[3] = {
		{ .size = sizeof(agents[0]), .id = { 10 }, .type = 1, .name = "CPU", .product = "CPU" },
		{ .size = sizeof(agents[0]), .id = { 11 }, .type = 2, .name = "gfx942",
		  .product = "Fake Instinct", .location = 0x0300, .logical_of_type = 0, .uuid = { 1, 2, 3 } },
		{ .size = sizeof(agents[0]), .id = { 12 }, .type = 2, .name = "gfx942",
		  .product = "Fake Instinct", .location = 0x0400, .logical_of_type = 1, .uuid = { 4, 5, 6 } },
	};
	const void *list[4] = { &agents[0], &agents[1], &agents[2], NULL };

	if (version != ROCP_AGENT_VERSION || size > sizeof(agents[0]) || fails("agents"))
		return FAILED;
	if (fault("agents=bad"))
		agents[1].size = offsetof(struct rocp_agent, name), agents[2].size = 4;
	return callback(version, list, 4, data);
}

int rocprofiler_configure_external_correlation_id_request_service(struct rocp_id context,
								  const uint32_t *kinds, size_t count,
								  rocp_request callback, void *data)
{
	(void)data;
	if (context.handle != 1 || !count || fails("request"))
		return FAILED;
	for (size_t i = 0; i < count; i++)
		if (kinds[i] < 32)
			requests[kinds[i]] = callback;
	return 0;
}

const char *rocprofiler_get_status_string(int status)
{
	return status == FAILED ? "the fake says no" : NULL;
}
#endif

/* ---- delivery ----------------------------------------------------------------------------------- */

/* At once, for a process that is killed. */
static void say(const char *what, unsigned long kernels, unsigned long copies)
{
	const char *file = getenv("FAKE_DELIVERED");
	int fd = file ? open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;

	if (fd < 0)
		return;
	dprintf(fd, "%s %lu %lu\n", what, kernels, copies);
	close(fd);
}

/* With the lock. */
static void deliver(void)
{
	static struct rocp_header *list[MOST];
	static unsigned long kernels, copies;
	size_t n = 0;
	uint64_t t = now();

	for (size_t i = first; i < record_count; i++)
		if (!records[i].delivered && (records[i].end <= t || state >= 3)) {
			records[i].delivered = true;
			kernels += records[i].header.kind == KERNEL_RECORD;
			copies += records[i].header.kind == COPY_RECORD;
			list[n++] = &records[i].header;
		}
	while (first < record_count && records[first].delivered)
		first++;
	for (size_t i = 0; fault("reverse") && i < n / 2; i++) {
		struct rocp_header *other = list[i];

		list[i] = list[n - 1 - i];
		list[n - 1 - i] = other;
	}
	if (n && fault("unknown")) {
		static struct rocp_header strange[2] = { { 1, 40, strange }, { 9, 11, strange } };

		list[n++] = &strange[0];
		list[n++] = &strange[1];
		list[n++] = NULL;
	}
	if (!n || !buffer)
		return;
	pthread_mutex_unlock(&lock);
	say("given", kernels, copies);
	buffer((struct rocp_id){ 1 }, (struct rocp_id){ 7 }, list, n, NULL, dropped);
	say("taken", kernels, copies);
	pthread_mutex_lock(&lock);
}

static void *thread(void *nothing)
{
	(void)nothing;
	pthread_mutex_lock(&lock);
	for (;;) {
		while (reached == wanted)
			pthread_cond_wait(&work, &lock);
		if (fault("slow"))
			usleep(30000);
		if (!fault("late"))
			deliver();
		reached = wanted;
		pthread_cond_broadcast(&over);
	}
	return NULL;
}

#ifdef BROKEN
int rocprofiler_flush_something(struct rocp_id id)
#else
int rocprofiler_flush_buffer(struct rocp_id id)
#endif
{
	unsigned mine;

	if (id.handle != 7 || fails("flush") || state == 4)
		return FAILED;
	pthread_mutex_lock(&lock);
	mine = ++wanted;
	pthread_cond_signal(&work);
	while ((int)(reached - mine) < 0 || fault("hang"))
		pthread_cond_wait(&over, &lock);
	pthread_mutex_unlock(&lock);
	return 0;
}

/* ---- what the runtime tells ---------------------------------------------------------------------- */

static void call(uint32_t kind, int32_t operation, uint32_t phase, uint64_t id, void *payload)
{
	union rocp_user user = { 0 };
	struct rocp_call c = {
		.context = { 1 }, .thread = (uint64_t)syscall(SYS_gettid), .correlation = { id, { 0 }, 0 },
		.kind = kind, .operation = operation, .phase = phase, .payload = payload,
	};

	if (started && callbacks[kind])
		callbacks[kind](c, &user, NULL);
}

struct hip_payload {
	uint64_t size;
	char arguments[128];
	int result;
	char rest[20];
};

/* The arguments are a text and a handle, a text, or a number. */
struct marker_payload {
	uint64_t size, arguments[2], result;
};

static void api(int operation, uint32_t phase, uint64_t id, int result)
{
	struct hip_payload h = { .size = sizeof(h), .result = result };

	call(HIP, operation, phase, id, &h);
}

static void marker(enum fake_marker which, const char *text, uint64_t number, uint64_t result)
{
	uint64_t id = __atomic_add_fetch(&correlation, 1, __ATOMIC_RELAXED);
	struct marker_payload m = { sizeof(m), { (uintptr_t)text, number }, 0 };
	uint32_t kind = which < FAKE_NAMES ? MARKER : NAMES;
	int32_t operation = (int32_t)which - (which < FAKE_NAMES ? 0 : FAKE_NAMES);

	if (which == FAKE_STOP)
		m.arguments[0] = number;
	call(kind, operation, ROCP_PHASE_ENTER, id, &m);
	m.result = result;
	call(kind, operation, ROCP_PHASE_EXIT, id, &m);
}

static uint64_t enter(int operation)
{
	uint64_t id = __atomic_add_fetch(&correlation, 1, __ATOMIC_RELAXED);

	if (fault("stray") && id % 3 == 0) {
		api(FAKE_MALLOC, ROCP_PHASE_EXIT, id + 1000000, 0);
		call(HIP, 5000, ROCP_PHASE_ENTER, id + 2000000, NULL);
		call(HIP, 5000, ROCP_PHASE_EXIT, id + 2000000, NULL);
		call(HIP, -1, ROCP_PHASE_ENTER, id + 3000000, NULL);
		call(HIP, -1, ROCP_PHASE_EXIT, id + 3000000, NULL);
		call(HIP, 1, 7, id + 4000000, NULL);
		call(MARKER, 99, ROCP_PHASE_ENTER, id + 5000000, NULL);
		call(MARKER, 1, ROCP_PHASE_ENTER, id + 5000001, NULL);
		call(MARKER, 2, ROCP_PHASE_ENTER, id + 5000001, NULL);
		call(MARKER, FAKE_START, ROCP_PHASE_EXIT, id + 5000002, NULL);
		call(MARKER, FAKE_START, ROCP_PHASE_ENTER, id + 5000003, NULL);
		call(MARKER, FAKE_START, ROCP_PHASE_EXIT, id + 5000003, NULL);
		call(MARKER, FAKE_STOP, ROCP_PHASE_ENTER, id + 5000004, NULL);
		call(NAMES, 3, ROCP_PHASE_EXIT, id + 5000005, NULL);
		call(NAMES, 77, ROCP_PHASE_EXIT, id + 5000006, NULL);
		call(STREAM, ROCP_STREAM_CREATE, 0, 0, NULL);
		marker(FAKE_STOP, NULL, id, 0);
		marker(FAKE_STREAM_NAME, "nobody's", id, 0);
	}
	api(operation, ROCP_PHASE_ENTER, id, 0);
	return id;
}

static void leave(int operation, uint64_t id, int result)
{
	api(operation, ROCP_PHASE_EXIT, id, result);
}

static void stream(int begin, uint64_t number)
{
	struct rocp_stream s = { .size = sizeof(s), .stream = { number } };

	if (!fault("kinds=old"))
		call(STREAM, ROCP_STREAM_SET, begin ? ROCP_PHASE_ENTER : ROCP_PHASE_EXIT, 0, &s);
}

static void stream_made(uint64_t number, void *handle)
{
	struct rocp_stream s = { .size = sizeof(s), .stream = { number }, .value = (uintptr_t)handle };

	if (!fault("kinds=old"))
		call(STREAM, ROCP_STREAM_CREATE, 0, 0, &s);
}

static void symbol(uint64_t kernel, const char *text)
{
	struct rocp_symbol s = { .size = sizeof(s), .kernel = kernel, .code_object = 1, .name = text };

	call(CODE, ROCP_SYMBOL_REGISTER, ROCP_PHASE_ENTER, 0, &s);
}

static uint64_t external(uint64_t id, uint32_t kind)
{
	union rocp_user user = { 0 };

	if (requests[kind])
		requests[kind](0, (struct rocp_id){ 1 }, kind, 0, id, &user, NULL);
	return fault("garbage") ? 0xfedcba9876543210 + id : user.value;
}

/* The next record; NULL: it is dropped. With the lock. */
static struct record *take(uint32_t kind, uint64_t end)
{
	const char *drop = fault("drop=");
	struct record *r;

	if (!records)
		records = calloc(MOST, sizeof(*records));
	if (!started || !records_of[kind] || record_count == MOST)
		return NULL;
	if (drop && dropped < strtoull(drop, NULL, 10)) {
		dropped++;
		return NULL;
	}
	r = &records[record_count++];
	r->header = (struct rocp_header){ ROCP_CATEGORY_TRACING, kind, &r->what };
	r->end = end;
	return r;
}

/* Both begin alike. */
static void times(struct record *r, uint64_t *start, uint64_t *end, size_t bytes)
{
	bool third = record_count % 3 == 0;

	r->what.size = fault("short") && third ? bytes / 2 : bytes;
	if (fault("zero") && third)
		*start = 0;
	if (fault("early") && third)
		*start -= 50000000, *end -= 50000000;
	if (fault("back") && third)
		*end = *start - 1000;
}

static void kernel(uint64_t id, int device, uint64_t number, const unsigned *grid, const unsigned *block,
		   unsigned shared, uint64_t begin, uint64_t end)
{
	uint64_t ext = external(id, ROCP_REQUEST_KERNEL);
	struct record *r;

	pthread_mutex_lock(&lock);
	r = take(KERNEL_RECORD, converted(end));
	if (r) {
		r->what.kernel = (struct rocp_kernel){
			.kind = KERNEL_RECORD, .operation = 2, .correlation = { id, { ext } },
			.start = converted(begin), .end = converted(end),
			.dispatch = { .size = 72, .agent = { 11 + (uint64_t)device },
				      .queue = { 0x7f0000001000 }, .kernel = number, .group_segment = shared,
				      .workgroup = { block[0], block[1], block[2] },
				      .grid = { grid[0], grid[1], grid[2] } },
		};
		times(r, &r->what.kernel.start, &r->what.kernel.end, sizeof(struct rocp_kernel));
	}
	pthread_mutex_unlock(&lock);
}

static void copy(uint64_t id, int kind, int from, int to, size_t bytes, uint64_t begin, uint64_t end)
{
	uint64_t ext = external(id, ROCP_REQUEST_COPY);
	bool from_host = kind < 2, to_host = kind % 2 == 0;
	struct record *r;

	pthread_mutex_lock(&lock);
	r = take(COPY_RECORD, converted(end));
	if (r) {
		r->what.copy = (struct rocp_copy){
			.kind = COPY_RECORD, .operation = kind + 1, .correlation = { id, { ext } },
			.start = converted(begin), .end = converted(end),
			.source = { from_host ? 10 : 11 + (uint64_t)from },
			.destination = { to_host ? 10 : 11 + (uint64_t)to }, .bytes = bytes,
		};
		times(r, &r->what.copy.start, &r->what.copy.end, sizeof(struct rocp_copy));
	}
	pthread_mutex_unlock(&lock);
}

/* A release says nothing but the address. */
static void memory(uint64_t id, int device, void *address, size_t bytes, int release)
{
	uint64_t t = now();
	struct record *r;

	pthread_mutex_lock(&lock);
	r = take(MEMORY_RECORD, t);
	if (r)
		r->what.memory = (struct rocp_allocation){
			.size = sizeof(r->what.memory), .kind = MEMORY_RECORD, .operation = release ? 3 : 1,
			.correlation = { id, { 0 }, 0 }, .start = t, .end = t,
			.agent = { release ? 0 : 11 + (uint64_t)device },
			.address = (uint64_t)(uintptr_t)address, .bytes = bytes,
		};
	pthread_mutex_unlock(&lock);
}

/* ---- the beginning and the end ------------------------------------------------------------------- */

static void finish(void)
{
	if (state != 2)
		return;
	state = 3;
	if (fault("fini"))
		leave(FAKE_MALLOC, enter(FAKE_MALLOC), 0);
	if (tool && tool->finalize)
		tool->finalize(tool->data);
	state = 4;
	if (fault("fini"))
		leave(FAKE_MALLOC, enter(FAKE_MALLOC), 0);
	if (fault("late")) {
		pthread_mutex_lock(&lock);
		deliver();
		pthread_mutex_unlock(&lock);
	}
}

const struct fake_hooks *fake_rocprofiler(void);
const struct fake_hooks *fake_rocprofiler(void)
{
	static const struct fake_hooks hooks = { enter,  leave,  marker, stream, stream_made,
						    symbol, kernel, copy,   memory };
	static char client[64];
	const char *version = fault("version=");
	struct rocp_tool *(*configure)(uint32_t, const char *, uint32_t, void *) = NULL;
	void *library = dlopen(getenv("ROCP_TOOL_LIBRARIES"), RTLD_LAZY | RTLD_LOCAL), *found;
	pthread_t id;

	found = library ? dlsym(library, "rocprofiler_configure") : NULL;
	memcpy(&configure, &found, sizeof(found));
	if (!configure) {
		fprintf(stderr, "fake: no tool\n");
		abort();
	}
	atexit(finish);
	state = 1;
	tool = configure(version ? (uint32_t)atoi(version) : 10003, "the fake", 0, client);
	pthread_create(&id, NULL, thread, NULL);
	if (tool && (tool->size != sizeof(*tool) || tool->initialize(NULL, tool->data)))
		tool = NULL;
	if (!tool) {
		started = false;
		memset(callbacks, 0, sizeof(callbacks));
	}
	state = 2;
	return &hooks;
}
