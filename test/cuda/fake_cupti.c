/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A CUPTI without NVIDIA (libcupti.so.13): one subscriber, callbacks by id, records in buffers that a
 * thread of its own gives back. FAKE_CUPTI holds words for trouble:
 *
 *   taken         another tool subscribed before           noclock   no timestamp callback
 *   noinit        every call fails                          hang      cuptiActivityFlushAll never returns
 *   zero          every 10th record has no times            drop      every 10th record is dropped
 *   early         every 10th record begins 20 ms too early, and every 20th ends so
 *   swap          records come in the reverse order
 *   fatal         gives up after 50 calls                   nomemset  this kind is refused
 *   old           is CUPTI of CUDA 12.4                     say       tells what it was asked for
 *   hoard         keeps all buffers that it is given and asks for more
 *   nographs      graphs as a whole are refused
 *   noevents      callbacks of resources and states are refused
 *   pm..., rp...  metrics: fake_profiler.c; ev...: fake_events.c
 *
 * FAKE_FAIL is "FUNCTION=CODE": every call of that function fails with that code and does nothing.
 *
 * Limits: what gputrace calls. Its ways are those that were seen of the real one, not all of it.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cuda/abi.h"
#include "cuda/samples/pcsampling_abi.h"
#include "fake.h"

void fake_pcsampling_kernel(const char *name, uint32_t correlation);
int fake_range_kernel(uint64_t threads, uint64_t start, uint64_t end);
int fake_events_kernel(uint64_t threads, uint64_t start, uint64_t end);

typedef void callback_function(void *, uint32_t, uint32_t, const void *);
typedef void request_function(uint8_t **, size_t *, size_t *);
typedef void complete_function(void *, uint32_t, uint8_t *, size_t, size_t);

static const struct {
	uint32_t domain, id;
	const char *name;
} names[] = {
	{ 1, 17, "cuCtxSynchronize" }, { 1, 120, "cuEventQuery" }, { 1, 126, "cuStreamSynchronize" },
	{ 1, 216, "cuMemsetD8Async" }, { 1, 243, "cuMemAlloc_v2" }, { 1, 245, "cuMemFree_v2" },
	{ 1, 276, "cuMemcpyHtoD_v2" }, { 1, 277, "cuMemcpyHtoDAsync_v2" }, { 1, 278, "cuMemcpyDtoH_v2" },
	{ 1, 307, "cuLaunchKernel" }, { 1, 318, "cuMemcpyPeer" }, { 1, 497, "cuStreamEndCapture" },
	{ 1, 514, "cuGraphLaunch" }, { 1, 539, "cuStreamBeginCapture_v2" },
	{ 2, 31, "cudaMemcpy_v3020" }, { 2, 138, "cudaEventQuery_v3020" },
	{ 2, 165, "cudaDeviceSynchronize_v3020" }, { 2, 211, "cudaLaunchKernel_v7000" },
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
callback_function *fake_cupti_callback;
#define callback fake_cupti_callback
static request_function *request;
static complete_function *complete;
static uint64_t (*timestamp)(void);
static uint8_t enabled[8][1024], kinds[64];

/* Records that no buffer has yet, in order of their making. */
static struct fake_work *works;
static size_t work_count, work_room;
static uint64_t made, dropped, calls;
static uint64_t flush_asked, flush_done, flush_forced;
static int thread_runs;

int fake_cupti_trouble(const char *word);
#define trouble fake_cupti_trouble
int fake_cupti_trouble(const char *word)
{
	const char *list = getenv("FAKE_CUPTI");
	size_t n = strlen(word);

	while (list && *list) {
		size_t m = strcspn(list, ",");

		if (m == n && !strncmp(list, word, n))
			return 1;
		list += m + (list[m] == ',');
	}
	return 0;
}

/* What this function is to return, 0: nothing special. */
int fake_cupti_failure(const char *function);
#define failure fake_cupti_failure
int fake_cupti_failure(const char *function)
{
	const char *wanted = getenv("FAKE_FAIL");
	size_t n = strlen(function);

	return wanted && !strncmp(wanted, function, n) && wanted[n] == '=' ? atoi(wanted + n + 1) : 0;
}

#define MAY_FAIL()                                                                                 \
	do {                                                                                       \
		if (failure(__func__))                                                             \
			return failure(__func__);                                                  \
	} while (0)

uint64_t fake_cupti_now(void);
uint64_t fake_cupti_now(void)
{
	struct timespec ts;

	if (timestamp)
		return timestamp();
	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* ---- records --------------------------------------------------------------------------------------- */

#define KERNEL_BYTES 216u /* as in CUPTI 13.0: more than what is known here */
#define COPY_BYTES   96u
#define MEMORY_BYTES 128u

static size_t bytes_of(uint32_t kind)
{
	if (kind == CU_KIND_CONCURRENT_KERNEL || kind == CU_KIND_KERNEL)
		return KERNEL_BYTES;
	return kind == CU_KIND_MEMORY2 ? MEMORY_BYTES : COPY_BYTES;
}

static void write_kernel(const struct fake_work *w, struct cu_kernel *k)
{
	k->kind = w->kind;
	k->registers = 24;
	k->start = w->start;
	k->end = w->end;
	k->device = w->device;
	k->context = w->context;
	k->stream = w->stream;
	memcpy(k->grid, w->grid, sizeof(k->grid));
	memcpy(k->block, w->block, sizeof(k->block));
	k->dynamic_shared = (int32_t)w->shared;
	k->correlation = w->correlation;
	k->grid_id = w->grid_id;
	k->name = w->name;
	k->graph = w->graph;
	k->graph_node = w->graph_node;
}

static void write_copy(const struct fake_work *w, void *place)
{
	struct cu_memcpy *m = place;
	struct cu_memcpy2 *p = place;

	m->kind = w->kind;
	m->copy = w->copy;
	m->source = w->source;
	m->destination = w->destination;
	m->bytes = w->bytes;
	m->start = w->start;
	m->end = w->end;
	m->device = w->device;
	m->context = w->context;
	m->stream = w->stream;
	if (w->kind == CU_KIND_MEMCPY) {
		m->correlation = w->correlation;
		return;
	}
	p->source_device = w->device;
	p->source_context = w->context;
	p->destination_device = w->peer_device;
	p->destination_context = w->peer_context;
	p->correlation = w->correlation;
}

static void write_record(const struct fake_work *w, uint8_t *at)
{
	struct cu_memset *s = (struct cu_memset *)at;
	struct cu_memory *m = (struct cu_memory *)at;
	struct cu_sync *y = (struct cu_sync *)at;
	struct cu_overhead *o = (struct cu_overhead *)at;
	struct cu_jit *j = (struct cu_jit *)at;
	struct cu_unified *u = (struct cu_unified *)at;

	memset(at, 0, bytes_of(w->kind));
	switch (w->kind) {
	case CU_KIND_KERNEL:
	case CU_KIND_CONCURRENT_KERNEL:
		write_kernel(w, (struct cu_kernel *)at);
		break;
	case CU_KIND_MEMCPY:
	case CU_KIND_MEMCPY2:
		write_copy(w, at);
		break;
	case CU_KIND_MEMSET:
		*s = (struct cu_memset){ .kind = w->kind, .bytes = w->bytes, .start = w->start,
					 .end = w->end, .device = w->device, .context = w->context,
					 .stream = w->stream, .correlation = w->correlation };
		break;
	case CU_KIND_SYNCHRONIZATION:
		*y = (struct cu_sync){ .kind = w->kind, .type = w->copy, .start = w->start, .end = w->end,
				       .correlation = w->correlation, .context = w->context,
				       .stream = w->stream };
		break;
	case CU_KIND_OVERHEAD:
		*o = (struct cu_overhead){ .kind = w->kind, .overhead = 6 << 16, .start = w->start,
					   .end = w->end, .data = malloc(16) };
		break;
	case CU_KIND_JIT:
		*j = (struct cu_jit){ .kind = w->kind, .entry = 1, .operation = 3, .start = w->start,
				      .end = w->end };
		break;
	case CU_KIND_UNIFIED_MEMORY:
		*u = (struct cu_unified){ .kind = w->kind, .counter = w->copy, .value = w->bytes,
					  .start = w->start, .end = w->end };
		break;
	case CU_KIND_MEMORY2:
		*m = (struct cu_memory){ .kind = w->kind, .operation = w->copy, .memory = 3,
					 .correlation = w->correlation, .address = w->address,
					 .bytes = w->bytes, .timestamp = w->start,
					 .context = w->context };
		break;
	}
}

/* Takes the works that may be given out from the list. Under the lock. */
static struct fake_work *take(size_t *count, int forced)
{
	uint64_t now = fake_cupti_now();
	struct fake_work *taken = malloc((work_count + 1) * sizeof(*taken));
	size_t kept = 0;

	*count = 0;
	for (size_t i = 0; i < work_count; i++) {
		struct fake_work w = works[i];

		/* Not complete, and no later one is given out before it. */
		if (!forced && (w.replayed || (kept && works[0].replayed))) {
			works[kept++] = w;
			continue;
		}
		if (w.replayed)
			w.start = w.end = 0;
		if (w.end > now && !forced) {
			works[kept++] = w;
			continue;
		}
		if (w.end > now)
			w.start = w.end = 0;
		taken[(*count)++] = w;
	}
	work_count = kept;
	return taken;
}

static void give_out(struct fake_work *w, size_t count)
{
	uint8_t *buffer = NULL;
	size_t size = 0, used = 0, most = 0;

	for (unsigned i = 0; count && i < 2000 && trouble("hoard"); i++)
		request(&buffer, &size, &most);
	buffer = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct fake_work *one = &w[trouble("swap") ? count - 1 - i : i];

		if (buffer && used + bytes_of(one->kind) > size) {
			complete(NULL, 0, buffer, size, used);
			buffer = NULL;
		}
		if (!buffer) {
			request(&buffer, &size, &most);
			used = 0;
		}
		if (!buffer) {
			dropped++;
			continue;
		}
		write_record(one, buffer + used);
		used += bytes_of(one->kind);
	}
	if (buffer)
		complete(NULL, 0, buffer, size, used);
}

static void *deliver(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&lock);
	for (;;) {
		struct fake_work *taken;
		uint64_t asked;
		size_t count;
		int forced;

		while (flush_asked == flush_done && work_count < 20000)
			pthread_cond_wait(&changed, &lock);
		asked = flush_asked;
		forced = flush_forced != 0;
		flush_forced = 0;
		taken = take(&count, forced);
		pthread_mutex_unlock(&lock);
		give_out(taken, count);
		free(taken);
		if (!count && asked == flush_done)
			usleep(1000); /* full of work that is not over */
		pthread_mutex_lock(&lock);
		flush_done = asked;
		pthread_cond_broadcast(&changed);
	}
	return NULL;
}

int fake_cupti_kind(uint32_t kind);
int fake_cupti_kind(uint32_t kind)
{
	return kinds[kind];
}

void fake_cupti_done(const struct fake_work *work);
void fake_cupti_done(const struct fake_work *work)
{
	struct fake_work w = *work;
	uint64_t n;
	int range = 0;

	if (w.kind == CU_KIND_CONCURRENT_KERNEL) {
		fake_pcsampling_kernel(w.name, w.correlation);
		if (!w.graph)
			range = fake_range_kernel((uint64_t)(w.grid[0] * w.block[0]), w.start, w.end);
		w.replayed = range == 1;
		if (!w.graph && fake_events_kernel((uint64_t)(w.grid[0] * w.block[0]), w.start, w.end))
			w.replayed = 1;
		if (kinds[CU_KIND_KERNEL])
			w.kind = CU_KIND_KERNEL;
	}
	if (w.kind >= 64 || !kinds[w.kind])
		return;
	pthread_mutex_lock(&lock);
	n = made++;
	if (trouble("drop") && n % 10 == 9) {
		dropped++;
		pthread_mutex_unlock(&lock);
		return;
	}
	if (trouble("zero") && n % 10 == 9)
		w.start = w.end = 0;
	if (trouble("early") && n % 10 == 9) {
		w.start -= 20000000;
		w.end -= n % 20 == 9 ? 20000000 : 0;
	}
	if (work_count + 4 >= work_room) {
		work_room = work_room ? 2 * work_room : 1024;
		works = realloc(works, work_room * sizeof(*works));
	}
	works[work_count++] = w;
	if (range == 2) { /* CUPTI's own, before the first of a range */
		w.name = "WaitNs";
		w.correlation = 0;
		works[work_count++] = w;
	}
	if (!thread_runs) {
		static const uint8_t extras[] = { CU_KIND_OVERHEAD, CU_KIND_JIT, CU_KIND_UNIFIED_MEMORY };
		pthread_t thread;

		for (unsigned i = 0; i < 3; i++) { /* one of each kind that is wanted */
			struct fake_work x = { .kind = extras[i], .start = w.start, .end = w.start + 5000,
					       .bytes = 65536, .copy = 1 };

			if (kinds[extras[i]])
				works[work_count++] = x;
		}

		thread_runs = !pthread_create(&thread, NULL, deliver, NULL);
	}
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

/* ---- calls ------------------------------------------------------------------------------------------ */

static void call_back(struct fake_call *c, int site)
{
	struct cu_call_data data = {
		.site = site, .function = c->function, .params = c->params, .result = &c->result,
		.symbol = c->symbol, .context = c->context, .context_uid = c->context_uid,
		.data = &c->data, .correlation = c->correlation,
	};

	if (callback && c->domain < 8 && c->id < 1024 && enabled[c->domain][c->id])
		callback(NULL, c->domain, c->id, &data);
}

void fake_cupti_begin(struct fake_call *call);
void fake_cupti_begin(struct fake_call *call)
{
	if (trouble("fatal") && __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) == 50) {
		const struct cu_state_data state = { CU_ERROR_UNKNOWN, "the fake is tired" };

		if (callback && enabled[6][1])
			callback(NULL, 6, 1, &state);
		memset(enabled, 0, sizeof(enabled));
		memset(kinds, 0, sizeof(kinds));
	}
	call_back(call, 0);
}

void fake_cupti_end(struct fake_call *call);
void fake_cupti_end(struct fake_call *call)
{
	call_back(call, 1);
}

void fake_cupti_context(void *context);
void fake_cupti_context(void *context)
{
	const struct cu_resource_data data = { .context = context };

	if (callback && enabled[3][5])
		callback(NULL, 3, 5, &data);
	if (callback && enabled[3][1])
		callback(NULL, 3, 1, &data);
}

void fake_cupti_context_gone(void *context);
void fake_cupti_context_gone(void *context)
{
	const struct cu_resource_data data = { .context = context };

	if (callback && enabled[3][2])
		callback(NULL, 3, 2, &data);
}

void fake_cupti_module(const struct cu_module *module);
void fake_cupti_module(const struct cu_module *module)
{
	struct cu_resource_data data = { .context = (void *)0x1000 };

	data.descriptor = (void *)(uintptr_t)module;
	if (callback && enabled[3][CU_RESOURCE_MODULE_LOADED])
		callback(NULL, 3, CU_RESOURCE_MODULE_LOADED, &data);
}

void fake_cupti_stream(void *context, void *stream, int made);
void fake_cupti_stream(void *context, void *stream, int made)
{
	const struct cu_resource_data data = { .context = context, .stream = stream };
	uint32_t id = made ? CU_RESOURCE_STREAM_CREATED : CU_RESOURCE_STREAM_DESTROY;

	if (callback && enabled[3][id])
		callback(NULL, 3, id, &data);
}

int cuptiGetStreamIdEx(void *context, void *stream, uint8_t per_thread, uint32_t *id);
int cuptiGetStreamIdEx(void *context, void *stream, uint8_t per_thread, uint32_t *id)
{
	MAY_FAIL();
	(void)context;
	(void)per_thread;
	*id = (uint32_t)(uintptr_t)stream;
	return 0;
}

int cuptiGetContextId(void *context, uint32_t *id);
int cuptiGetContextId(void *context, uint32_t *id)
{
	*id = context == (void *)0x2000 ? 2 : 1;
	return context != (void *)0x1000 && context != (void *)0x2000;
}

int cuptiGetDeviceId(void *context, uint32_t *device);
int cuptiGetDeviceId(void *context, uint32_t *device)
{
	*device = context == (void *)0x2000;
	return 0;
}

int cuptiActivityConfigureUnifiedMemoryCounter(void *configs, uint32_t count);
int cuptiActivityConfigureUnifiedMemoryCounter(void *configs, uint32_t count)
{
	MAY_FAIL();
	return configs && count ? 0 : CU_ERROR_INVALID_PARAMETER;
}

/* ---- CUPTI's own functions ------------------------------------------------------------------- */

int cuptiGetVersion(uint32_t *version);
int cuptiGetVersion(uint32_t *version)
{
	MAY_FAIL();
	*version = trouble("old") ? 22 : 130001;
	return 0;
}

int cuptiGetResultString(int result, const char **text);
int cuptiGetResultString(int result, const char **text)
{
	*text = result == 39   ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"
		: result == 15 ? "CUPTI_ERROR_NOT_INITIALIZED"
		: result == 27 ? "CUPTI_ERROR_NOT_SUPPORTED"
		: result == 35 ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
			       : "CUPTI_ERROR_UNKNOWN";
	return 0;
}

int cuptiSubscribe(void **subscriber, callback_function *function, void *user);
int cuptiSubscribe(void **subscriber, callback_function *function, void *user)
{
	MAY_FAIL();
	(void)user;
	if (trouble("noinit"))
		return CU_ERROR_NOT_INITIALIZED;
	if (trouble("taken") || callback)
		return CU_ERROR_SUBSCRIBER;
	callback = function;
	*subscriber = &lock;
	return 0;
}

int cuptiSubscribe_v2(void **subscriber, callback_function *function, void *user,
		      struct cu_subscriber_params *params);
int cuptiSubscribe_v2(void **subscriber, callback_function *function, void *user,
		      struct cu_subscriber_params *params)
{
	int rc = cuptiSubscribe(subscriber, function, user);

	MAY_FAIL();
	if (rc == CU_ERROR_SUBSCRIBER && params && params->old_name)
		snprintf(params->old_name, params->old_size, "some other tool");
	return rc;
}

int cuptiEnableCallback(uint32_t on, void *subscriber, uint32_t domain, uint32_t id);
int cuptiEnableCallback(uint32_t on, void *subscriber, uint32_t domain, uint32_t id)
{
	MAY_FAIL();
	(void)subscriber;
	if (domain >= 8 || id >= 1024)
		return CU_ERROR_INVALID_PARAMETER;
	if (domain > 2 && trouble("noevents"))
		return CU_ERROR_NOT_SUPPORTED;
	enabled[domain][id] = (uint8_t)on;
	return 0;
}

int cuptiGetCallbackName(uint32_t domain, uint32_t id, const char **name);
int cuptiGetCallbackName(uint32_t domain, uint32_t id, const char **name)
{
	MAY_FAIL();
	if (id > 800)
		return CU_ERROR_INVALID_PARAMETER;
	*name = "INVALID";
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].domain == domain && names[i].id == id)
			*name = names[i].name;
	return 0;
}

int cuptiActivityRegisterCallbacks(request_function *r, complete_function *c);
int cuptiActivityRegisterCallbacks(request_function *r, complete_function *c)
{
	MAY_FAIL();
	request = r;
	complete = c;
	return 0;
}

int cuptiActivityEnable(uint32_t kind);
int cuptiActivityEnable(uint32_t kind)
{
	MAY_FAIL();
	if (trouble("say"))
		fprintf(stderr, "fake: enable kind %u\n", kind);
	if ((kind == CU_KIND_MEMSET && trouble("nomemset")) ||
	    (kind == CU_KIND_GRAPH_TRACE && trouble("nographs")))
		return CU_ERROR_NOT_SUPPORTED;
	if (kind >= 64)
		return CU_ERROR_INVALID_KIND;
	kinds[kind] = 1;
	return 0;
}

int cuptiActivityDisable(uint32_t kind);
int cuptiActivityDisable(uint32_t kind)
{
	MAY_FAIL();
	if (kind >= 64)
		return CU_ERROR_INVALID_KIND;
	kinds[kind] = 0;
	return 0;
}

int cuptiActivityFlushAll(uint32_t flag);
int cuptiActivityFlushAll(uint32_t flag)
{
	uint64_t mine;

	MAY_FAIL();
	while (trouble("hang"))
		sleep(1);
	pthread_mutex_lock(&lock);
	if (thread_runs) {
		mine = ++flush_asked;
		if (flag & CU_FLUSH_FORCED)
			flush_forced = 1;
		pthread_cond_broadcast(&changed);
		while (flush_done < mine)
			pthread_cond_wait(&changed, &lock);
	}
	pthread_mutex_unlock(&lock);
	return 0;
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, struct cu_record **record);
int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, struct cu_record **record)
{
	uint8_t *next = *record ? (uint8_t *)*record + bytes_of((*record)->kind) : buffer;

	MAY_FAIL();
	if (next >= buffer + valid)
		return CU_ERROR_MAX_LIMIT_REACHED;
	*record = (struct cu_record *)next;
	return 0;
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *n);
int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *n)
{
	MAY_FAIL();
	(void)context;
	(void)stream;
	*n = dropped;
	dropped = 0;
	return 0;
}

int cuptiGetTimestamp(uint64_t *now);
int cuptiGetTimestamp(uint64_t *now)
{
	MAY_FAIL();
	*now = fake_cupti_now();
	return 0;
}

int cuptiActivityRegisterTimestampCallback(uint64_t (*now)(void));
int cuptiActivityRegisterTimestampCallback(uint64_t (*now)(void))
{
	MAY_FAIL();
	if (trouble("noclock"))
		return CU_ERROR_NOT_SUPPORTED;
	timestamp = now;
	return 0;
}

int cuptiActivitySetAttribute(uint32_t attribute, size_t *size, void *value);
int cuptiActivitySetAttribute(uint32_t attribute, size_t *size, void *value)
{
	MAY_FAIL();
	if (trouble("say"))
		fprintf(stderr, "fake: attribute %u of %zu bytes is %u\n", attribute, *size,
			*(uint8_t *)value);
	return 0;
}

__attribute__((destructor)) static void unloaded(void)
{
	if (trouble("say"))
		fprintf(stderr, "fake: unloaded, %zu records left\n", work_count);
}
