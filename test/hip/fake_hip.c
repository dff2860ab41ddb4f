/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fake libamdhip64 with two devices: streams do one thing after the other, each in its own time. As the
 * real one, it loads rocprofiler-sdk with the first call of a program if a tool asks for that, and not
 * otherwise.
 *
 * Limits: memory of devices is the host's.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake.h"

enum { KERNEL_NS = 20000, COPY_NS = 10000, KERNELS = 64, NODES = 16 };

struct node {
	uintptr_t kernel; /* 0: a copy */
	unsigned grid[3], block[3];
	int kind;
	size_t bytes;
};

struct ihipGraph {
	struct node nodes[NODES];
	int count;
};

struct ihipStream_t {
	uint64_t number, free_at;
	int device;
	struct ihipGraph *capture;
};

static struct ihipStream_t default_stream[2] = { { .device = 0 }, { .device = 1 } };
static const struct fake_hooks *hooks;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t stream_count, last_end;
static char *kernels[KERNELS];
static __thread int device;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void load(void)
{
	const char *tools = getenv("ROCP_TOOL_LIBRARIES");
	void *sdk = tools && *tools ? dlopen("librocprofiler-sdk.so.1", RTLD_NOW | RTLD_LOCAL) : NULL;
	const struct fake_hooks *(*get)(void) = NULL;
	void *symbol = sdk ? dlsym(sdk, "fake_rocprofiler") : NULL;

	memcpy(&get, &symbol, sizeof(symbol));
	hooks = get ? get() : NULL;
}

static uint64_t enter(int operation)
{
	pthread_once(&once, load);
	return hooks ? hooks->enter(operation) : 0;
}

static hipError_t leave(int operation, uint64_t id, hipError_t result)
{
	if (hooks)
		hooks->leave(operation, id, (int)result);
	return result;
}

static struct ihipStream_t *stream_of(hipStream_t stream)
{
	return stream ? stream : &default_stream[device];
}

/* When something on the stream begins that takes so long. */
static uint64_t enqueue(struct ihipStream_t *s, uint64_t ns)
{
	uint64_t begin = now() + 2000;

	pthread_mutex_lock(&lock);
	if (begin < s->free_at && !getenv("FAKE_OVERLAP"))
		begin = s->free_at;
	s->free_at = begin + ns;
	if (s->free_at > last_end)
		last_end = s->free_at;
	pthread_mutex_unlock(&lock);
	return begin;
}

static void wait_until(uint64_t end)
{
	uint64_t t;

	while ((t = now()) < end) {
		struct timespec pause = { (time_t)((end - t) / 1000000000), (long)((end - t) % 1000000000) };

		nanosleep(&pause, NULL);
	}
}

/* ---- memory ------------------------------------------------------------------------------------- */

hipError_t hipMalloc(void **address, size_t bytes)
{
	uint64_t id = enter(FAKE_MALLOC);

	if (!address)
		return leave(FAKE_MALLOC, id, hipErrorInvalidValue);
	*address = malloc(bytes);
	fake_hsa_put(*address, bytes, FAKE_GPU_AGENT + (uint64_t)device);
	if (hooks)
		hooks->memory(id, device, *address, bytes, 0);
	return leave(FAKE_MALLOC, id, hipSuccess);
}

hipError_t hipFree(void *address)
{
	uint64_t id = enter(FAKE_FREE);

	if (hooks)
		hooks->memory(id, device, address, 0, 1);
	fake_hsa_take(address);
	free(address);
	return leave(FAKE_FREE, id, hipSuccess);
}

hipError_t hipHostMalloc(void **address, size_t bytes, unsigned flags)
{
	uint64_t id = enter(FAKE_HOST_MALLOC);

	(void)flags;
	*address = malloc(bytes);
	fake_hsa_put(*address, bytes, FAKE_HOST_AGENT);
	return leave(FAKE_HOST_MALLOC, id, hipSuccess);
}

static uint64_t copy(uint64_t id, struct ihipStream_t *s, int kind, int from, int to, size_t bytes)
{
	uint64_t begin = enqueue(s, COPY_NS + bytes / 16);

	if (!hooks)
		return s->free_at;
	hooks->stream(1, s->number);
	hooks->copy(id, kind, from, to, bytes, begin, begin + COPY_NS + bytes / 16);
	hooks->stream(0, s->number);
	return s->free_at;
}

hipError_t hipMemcpy(void *to, const void *from, size_t bytes, hipMemcpyKind kind)
{
	uint64_t id = enter(FAKE_MEMCPY);

	memmove(to, from, bytes);
	wait_until(copy(id, stream_of(NULL), (int)kind, device, device, bytes));
	return leave(FAKE_MEMCPY, id, hipSuccess);
}

hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t stream)
{
	uint64_t id = enter(FAKE_MEMCPY_ASYNC);

	if (stream && stream->capture) {
		stream->capture->nodes[stream->capture->count++] =
			(struct node){ .kind = (int)kind, .bytes = bytes };
		return leave(FAKE_MEMCPY_ASYNC, id, hipSuccess);
	}
	memmove(to, from, bytes);
	copy(id, stream_of(stream), (int)kind, device, device, bytes);
	return leave(FAKE_MEMCPY_ASYNC, id, hipSuccess);
}

hipError_t hipMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
			      hipStream_t stream)
{
	uint64_t id = enter(FAKE_MEMCPY_PEER);

	memmove(to, from, bytes);
	copy(id, stream_of(stream), 3, from_device, to_device, bytes);
	return leave(FAKE_MEMCPY_PEER, id, hipSuccess);
}

/* ---- streams ------------------------------------------------------------------------------------ */

hipError_t hipStreamCreate(hipStream_t *stream)
{
	uint64_t id = enter(FAKE_STREAM_CREATE);

	*stream = calloc(1, sizeof(**stream));
	(*stream)->number = __atomic_add_fetch(&stream_count, 1, __ATOMIC_RELAXED);
	(*stream)->device = device;
	if (hooks)
		hooks->stream_made((*stream)->number, *stream);
	return leave(FAKE_STREAM_CREATE, id, hipSuccess);
}

hipError_t hipStreamDestroy(hipStream_t stream)
{
	uint64_t id = enter(FAKE_STREAM_DESTROY);

	free(stream);
	return leave(FAKE_STREAM_DESTROY, id, hipSuccess);
}

hipError_t hipStreamSynchronize(hipStream_t stream)
{
	uint64_t id = enter(FAKE_STREAM_SYNCHRONIZE);

	wait_until(stream_of(stream)->free_at);
	return leave(FAKE_STREAM_SYNCHRONIZE, id, hipSuccess);
}

hipError_t hipStreamQuery(hipStream_t stream)
{
	uint64_t id = enter(FAKE_STREAM_QUERY);

	return leave(FAKE_STREAM_QUERY, id,
		     stream_of(stream)->free_at > now() ? hipErrorNotReady : hipSuccess);
}

hipError_t hipDeviceSynchronize(void)
{
	uint64_t id = enter(FAKE_SYNCHRONIZE);

	wait_until(last_end);
	return leave(FAKE_SYNCHRONIZE, id, hipSuccess);
}

hipError_t hipSetDevice(int number)
{
	uint64_t id = enter(FAKE_SET_DEVICE);

	device = number & 1;
	return leave(FAKE_SET_DEVICE, id, number < 2 ? hipSuccess : hipErrorInvalidValue);
}

/* ---- kernels ------------------------------------------------------------------------------------ */

hipError_t hipModuleLoad(hipModule_t *module, const char *name)
{
	uint64_t id = enter(FAKE_MODULE_LOAD);

	*module = (hipModule_t)(void *)module;
	return leave(FAKE_MODULE_LOAD, id, name ? hipSuccess : hipErrorInvalidValue);
}

hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *name)
{
	uint64_t id = enter(FAKE_GET_FUNCTION), n = 1;
	char symbol[256];

	(void)module;
	pthread_mutex_lock(&lock);
	while (n < KERNELS - 1 && kernels[n] && strcmp(kernels[n], name) != 0)
		n++;
	if (!kernels[n]) {
		kernels[n] = strdup(name);
		snprintf(symbol, sizeof(symbol), "%s.kd", name);
		if (hooks)
			hooks->symbol(n, symbol);
	}
	pthread_mutex_unlock(&lock);
	*function = (hipFunction_t)(uintptr_t)n;
	return leave(FAKE_GET_FUNCTION, id, hipSuccess);
}

static void run(uint64_t id, struct ihipStream_t *s, const struct node *n)
{
	uint64_t begin = enqueue(s, KERNEL_NS);

	if (!hooks)
		return;
	hooks->stream(1, s->number);
	hooks->kernel(id, s->device, n->kernel, n->grid, n->block, (unsigned)n->bytes, begin,
		      begin + KERNEL_NS);
	hooks->stream(0, s->number);
}

hipError_t hipModuleLaunchKernel(hipFunction_t f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
				 unsigned by, unsigned bz, unsigned shared, hipStream_t stream,
				 void **arguments, void **extra)
{
	const struct node node = { (uintptr_t)f, { gx * bx, gy * by, gz * bz }, { bx, by, bz }, 0, shared };
	uint64_t id = enter(FAKE_LAUNCH);
	struct ihipStream_t *s = stream_of(stream);

	(void)arguments;
	(void)extra;
	if (!f)
		return leave(FAKE_LAUNCH, id, hipErrorInvalidValue);
	if (s->capture)
		s->capture->nodes[s->capture->count++] = node;
	else
		run(id, s, &node);
	return leave(FAKE_LAUNCH, id, hipSuccess);
}

/* ---- graphs ------------------------------------------------------------------------------------- */

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode)
{
	uint64_t id = enter(FAKE_BEGIN_CAPTURE);

	(void)mode;
	stream->capture = calloc(1, sizeof(*stream->capture));
	return leave(FAKE_BEGIN_CAPTURE, id, hipSuccess);
}

hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t *graph)
{
	uint64_t id = enter(FAKE_END_CAPTURE);

	*graph = stream->capture;
	stream->capture = NULL;
	return leave(FAKE_END_CAPTURE, id, hipSuccess);
}

hipError_t hipGraphInstantiate(hipGraphExec_t *made, hipGraph_t graph, void *node, char *log, size_t size)
{
	uint64_t id = enter(FAKE_INSTANTIATE);

	(void)node, (void)log, (void)size;
	*made = (hipGraphExec_t)(void *)graph;
	return leave(FAKE_INSTANTIATE, id, hipSuccess);
}

/* All that it does is of one call. */
hipError_t hipGraphLaunch(hipGraphExec_t graph, hipStream_t stream)
{
	const struct ihipGraph *g = (const void *)graph;
	uint64_t id = enter(FAKE_GRAPH_LAUNCH);

	for (int i = 0; i < g->count; i++)
		if (g->nodes[i].kernel)
			run(id, stream, &g->nodes[i]);
		else
			copy(id, stream, g->nodes[i].kind, device, device, g->nodes[i].bytes);
	return leave(FAKE_GRAPH_LAUNCH, id, hipSuccess);
}

/* ---- roctx -------------------------------------------------------------------------------------- */

static void marker(enum fake_marker which, const char *text, uint64_t number, uint64_t result)
{
	pthread_once(&once, load);
	if (hooks)
		hooks->marker(which, text, number, result);
}

void roctxMarkA(const char *message)
{
	marker(FAKE_MARK, message, 0, 0);
}

int roctxRangePushA(const char *message)
{
	marker(FAKE_PUSH, message, 0, 0);
	return 0;
}

int roctxRangePop(void)
{
	marker(FAKE_POP, NULL, 0, 0);
	return 0;
}

uint64_t roctxRangeStartA(const char *message)
{
	static uint64_t last;
	uint64_t id = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);

	marker(FAKE_START, message, 0, id);
	return id;
}

void roctxRangeStop(uint64_t id)
{
	marker(FAKE_STOP, NULL, id, 0);
}

int roctxNameOsThread(const char *name)
{
	marker(FAKE_NAMES, name, 0, 0);
	return 0;
}

int roctxNameHipStream(const char *name, const struct ihipStream_t *stream)
{
	marker(FAKE_STREAM_NAME, name, (uintptr_t)stream, 0);
	return 0;
}
