/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A CUDA driver without a device (libcuda.so.1): streams are lines of time on which work is put, one
 * piece after the other, so that every time in a trace can be foretold.
 *
 * Limits: two contexts on two devices; the functions of fake.h only. Pointers are numbers.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fake.h"

#define STREAMS 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t busy_until[STREAMS]; /* by stream number */
static fake_begin *begin;
static fake_end *end;
static fake_done *done;
static fake_now *now_of_cupti;
static void (*created)(void *context), (*destroyed)(void *context);
static void (*streamed)(void *context, void *stream, int made);
static uint32_t next_correlation = 1;
static int64_t next_grid; /* as real ones, from 1 on; nodes of graphs have one number each */
static __thread uint32_t runtime_correlation;
static __thread const char *symbol; /* of the next call */

static uint64_t now(void)
{
	struct timespec ts;

	if (now_of_cupti)
		return now_of_cupti();
	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

int cuDriverGetVersion(int *version)
{
	const char *text = getenv("FAKE_DRIVER");

	*version = text ? atoi(text) : 13000;
	return 0;
}

static int torn_down;

static void tear_down(void)
{
	torn_down = 1;
}

__attribute__((constructor)) static void start(void)
{
	atexit(tear_down);
}

/* As the driver's: it knows its own errors only, and none any more when the program has ended. */
int cuGetErrorString(int error, const char **text);
int cuGetErrorString(int error, const char **text)
{
	if (torn_down)
		return 4; /* CUDA_ERROR_DEINITIALIZED */
	*text = error == 1 ? "invalid argument" : error == 710 ? "device-side assert triggered" : NULL;
	return *text ? 0 : 1;
}

/* Two devices, as a machine would have them. */
int cuDeviceGet(int *device, int ordinal);
int cuDeviceGet(int *device, int ordinal)
{
	*device = ordinal;
	return ordinal < 0 || ordinal > 1 ? 101 : 0;
}

int cuDeviceGetName(char *name, int size, int device);
int cuDeviceGetName(char *name, int size, int device)
{
	const char *other = getenv("FAKE_NAME");

	snprintf(name, (size_t)size, "%s%s", other ? other : "Fake GPU", device ? " Plus" : "");
	return 0;
}

/* FAKE_CAPABILITY: ten times the compute capability. */
int cuDeviceGetAttribute(int *value, int which, int device);
int cuDeviceGetAttribute(int *value, int which, int device)
{
	const char *text = getenv("FAKE_CAPABILITY");
	int capability = text ? atoi(text) : 90;

	*value = which == 75 ? capability / 10 : capability % 10;
	return (which != 75 && which != 76) || device < 0 || device > 1;
}

int cuDeviceGetUuid_v2(unsigned char *uuid, int device);
int cuDeviceGetUuid_v2(unsigned char *uuid, int device)
{
	for (int i = 0; i < 16; i++)
		uuid[i] = (unsigned char)(16 * i + 1 + device);
	return 0;
}

int cuDeviceGetPCIBusId(char *address, int size, int device);
int cuDeviceGetPCIBusId(char *address, int size, int device)
{
	snprintf(address, (size_t)size, "0000:%02x:00.0", 0x3b + device);
	return 0;
}

/* The real driver has such threads, made before it loads the tool. */
static void *wait_for_work(void *unused)
{
	static pthread_mutex_t mine = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

	pthread_mutex_lock(&mine);
	for (;;)
		pthread_cond_wait(&never, &mine);
	return unused;
}

static void set_up(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *tool = path && *path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*initialize)(void) = NULL;
	pthread_t thread;
	void *cupti;

	if (!pthread_create(&thread, NULL, wait_for_work, NULL))
		pthread_detach(thread);
	if (path && *path && !tool)
		fprintf(stderr, "fake driver: %s\n", dlerror());
	if (tool)
		*(void **)&initialize = dlsym(tool, "InitializeInjection");
	if (initialize)
		initialize();
	cupti = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
	cupti = cupti ? cupti : dlopen("libcupti.so.12", RTLD_NOW | RTLD_NOLOAD);
	if (!cupti)
		return;
	*(void **)&begin = dlsym(cupti, "fake_cupti_begin");
	*(void **)&end = dlsym(cupti, "fake_cupti_end");
	*(void **)&done = dlsym(cupti, "fake_cupti_done");
	*(void **)&now_of_cupti = dlsym(cupti, "fake_cupti_now");
	*(void **)&created = dlsym(cupti, "fake_cupti_context");
	*(void **)&destroyed = dlsym(cupti, "fake_cupti_context_gone");
	*(void **)&streamed = dlsym(cupti, "fake_cupti_stream");
	if (created)
		created((void *)0x1000);
}

int cuInit(unsigned flags)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)flags;
	pthread_once(&once, set_up);
	return 0;
}

static void enter_with(struct fake_call *c, uint32_t domain, uint32_t id, const char *function,
		       const void *params)
{
	cuInit(0);
	memset(c, 0, sizeof(*c));
	c->domain = domain;
	c->id = id;
	c->function = function;
	c->params = params;
	c->symbol = symbol;
	symbol = NULL;
	c->context = (void *)0x1000;
	c->context_uid = 1;
	c->correlation = domain == 1 && runtime_correlation
				 ? runtime_correlation
				 : __atomic_fetch_add(&next_correlation, 1, __ATOMIC_RELAXED);
	if (domain == 2)
		runtime_correlation = c->correlation;
	if (begin)
		begin(c);
}

static void enter(struct fake_call *c, uint32_t domain, uint32_t id, const char *function)
{
	enter_with(c, domain, id, function, NULL);
}

static int leave(struct fake_call *c, int result)
{
	c->result = result;
	if (end)
		end(c);
	if (c->domain == 2)
		runtime_correlation = 0;
	return result;
}

void (*fake_inside)(void);

static void inside(void)
{
	void (*call)(void) = fake_inside;
	uint32_t kept = runtime_correlation;

	fake_inside = NULL;
	if (!call)
		return;
	runtime_correlation = 0; /* it may not come back */
	call();
	runtime_correlation = kept;
}

static unsigned number_of(void *stream)
{
	unsigned n = stream ? (unsigned)(uintptr_t)stream : 7;

	return n % STREAMS;
}

/* Puts work of `ns` nanoseconds behind what the stream has; returns when it will be over. */
static uint64_t work(struct fake_work *w, void *stream, uint64_t ns)
{
	unsigned n = number_of(stream);
	uint64_t at = now() + 3000;

	pthread_mutex_lock(&lock);
	w->start = busy_until[n] > at ? busy_until[n] : at;
	w->end = w->start + ns;
	busy_until[n] = w->end;
	pthread_mutex_unlock(&lock);
	w->context = w->context ? w->context : 1;
	w->stream = n;
	if (done)
		done(w);
	return w->end;
}

static void wait_until(uint64_t then)
{
	for (uint64_t t = now(); t < then; t = now()) {
		struct timespec rest = { 0, 0 };

		if (then - t > 200000) {
			rest.tv_sec = (time_t)((then - t - 100000) / 1000000000u);
			rest.tv_nsec = (long)((then - t - 100000) % 1000000000u);
			nanosleep(&rest, NULL);
		}
	}
}

static uint64_t all_streams(void)
{
	uint64_t then = 0;

	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < STREAMS; i++)
		if (busy_until[i] > then)
			then = busy_until[i];
	pthread_mutex_unlock(&lock);
	return then;
}

int cuCtxSynchronize(void)
{
	struct fake_call c;

	struct fake_work w = { .kind = 38, .copy = 4, .context = 1 };

	enter(&c, 1, 17, "cuCtxSynchronize");
	w.correlation = c.correlation;
	w.start = now();
	inside();
	wait_until(all_streams());
	w.end = now();
	if (done)
		done(&w);
	return leave(&c, 0);
}

int cuCtxPushCurrent_v2(void *context)
{
	return context != (void *)0x1000;
}

int cuCtxPopCurrent_v2(void **context)
{
	*context = (void *)0x1000;
	return 0;
}

int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRetain(void **context, int device)
{
	*context = (void *)0x1000;
	return device;
}

int cuCtxGetCurrent(void **context)
{
	*context = begin ? (void *)0x1000 : NULL;
	return 0;
}

int cuCtxCreate_v2(void **context, unsigned flags, int device)
{
	(void)flags;
	*context = (void *)(device ? 0x2000 : 0x1000);
	if (created)
		created(*context);
	return 0;
}

int cuCtxDestroy_v2(void *context)
{
	if (destroyed)
		destroyed(context);
	return 0;
}

int cuStreamSynchronize(void *stream)
{
	struct fake_call c;

	enter(&c, 1, 126, "cuStreamSynchronize");
	wait_until(busy_until[number_of(stream)]);
	return leave(&c, 0);
}

int cuStreamCreate(void **stream, unsigned flags)
{
	static uintptr_t next = 20;

	(void)flags;
	cuInit(0);
	*stream = (void *)__atomic_fetch_add(&next, 1, __ATOMIC_RELAXED);
	if (streamed)
		streamed((void *)0x1000, *stream, 1);
	return 0;
}

int cuStreamDestroy_v2(void *stream)
{
	if (streamed)
		streamed((void *)0x1000, stream, 0);
	return 0;
}

int cuEventQuery(void *event)
{
	struct fake_call c;

	enter(&c, 1, 120, "cuEventQuery");
	inside();
	if (event == (void *)0xbad)
		return leave(&c, 400);
	return leave(&c, busy_until[number_of(event)] > now() ? 600 : 0);
}

int cuStreamBeginCapture_v2(void *stream, int mode)
{
	struct { void *stream; int mode; } params = { stream, mode };
	struct fake_call c;

	enter_with(&c, 1, 539, "cuStreamBeginCapture_v2", &params);
	return leave(&c, 0);
}

int cuStreamEndCapture(void *stream, void **graph)
{
	struct { void *stream, **graph; } params = { stream, graph };
	struct fake_call c;

	enter_with(&c, 1, 497, "cuStreamEndCapture", &params);
	return leave(&c, !graph ? 1 : stream == (void *)13 ? 901 : 0);
}

/* The stream number of a kernel tells how long it takes: its grid in microseconds. */
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
		   unsigned bz, unsigned shared, void *stream, void **params, void **extra)
{
	struct fake_call c;
	struct fake_work w = {
		.kind = 10, .name = function, .grid = { (int32_t)gx, (int32_t)gy, (int32_t)gz },
		.block = { (int32_t)bx, (int32_t)by, (int32_t)bz }, .shared = shared,
	};

	(void)params;
	(void)extra;
	symbol = function;
	enter(&c, 1, 307, "cuLaunchKernel");
	inside();
	if (!gx)
		return leave(&c, 1);
	w.correlation = c.correlation;
	w.grid_id = __atomic_add_fetch(&next_grid, 1, __ATOMIC_SEQ_CST);
	work(&w, stream, gx * 1000u);
	return leave(&c, 0);
}

static int copy(uint32_t id, const char *function, unsigned kind, size_t bytes, void *stream, int waits)
{
	struct fake_call c;
	struct fake_work w = {
		.kind = 1, .bytes = bytes, .copy = (uint8_t)kind,
		.source = kind == 1 ? waits ? 1 : 2 : 3, .destination = kind == 2 ? waits ? 1 : 2 : 3,
	};
	uint64_t then;

	enter(&c, 1, id, function);
	w.correlation = c.correlation;
	then = work(&w, stream, 1000 + bytes / 10); /* 10 GB/s */
	if (waits)
		wait_until(then + 2000);
	return leave(&c, 0);
}

int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes)
{
	(void)to;
	(void)from;
	return copy(276, "cuMemcpyHtoD_v2", 1, bytes, NULL, 1);
}

int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes)
{
	(void)to;
	(void)from;
	return copy(278, "cuMemcpyDtoH_v2", 2, bytes, NULL, 1);
}

static int pageable;

void fake_pageable(int yes)
{
	pageable = yes;
}

int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream)
{
	(void)to;
	(void)from;
	return copy(277, "cuMemcpyHtoDAsync_v2", 1, bytes, stream, pageable);
}

int cuMemcpyPeer(uint64_t to, void *to_context, uint64_t from, void *from_context, size_t bytes)
{
	struct fake_call c;
	struct fake_work w = { .kind = 22, .bytes = bytes, .copy = 10, .source = 3, .destination = 3,
			       .peer_device = 1, .peer_context = 2 };

	(void)to;
	(void)to_context;
	(void)from;
	(void)from_context;
	enter(&c, 1, 318, "cuMemcpyPeer");
	w.correlation = c.correlation;
	work(&w, NULL, 1000 + bytes / 300);
	return leave(&c, 0);
}

int cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void *stream)
{
	struct fake_call c;
	struct fake_work w = { .kind = 2, .bytes = bytes };

	(void)to;
	(void)value;
	enter(&c, 1, 216, "cuMemsetD8Async");
	w.correlation = c.correlation;
	work(&w, stream, 1000 + bytes / 100);
	return leave(&c, 0);
}

/* Three nodes; the second and the third run at the same time. */
int cuGraphLaunch(void *graph, void *stream)
{
	struct fake_call c;
	struct fake_work w = { .kind = 10, .name = "_Z4nodei", .grid = { 1, 1, 1 }, .block = { 32, 1, 1 } };
	unsigned n = number_of(stream);
	uint64_t at;

	(void)graph;
	enter(&c, 1, 514, "cuGraphLaunch");
	w.correlation = c.correlation;
	w.graph = 5;
	w.graph_node = 0x500000001;
	w.grid_id = 1000001;
	at = work(&w, stream, 20000);
	for (unsigned i = 0; i < 2; i++) {
		w.graph_node++;
		w.grid_id++;
		w.start = at + 1000 + 5000 * i;
		w.end = at + 31000;
		if (done)
			done(&w);
	}
	busy_until[n] = at + 31000;
	return leave(&c, 0);
}

static long allocation_ns;

void fake_allocation(long ns)
{
	allocation_ns = ns;
}

int cuMemAlloc_v2(uint64_t *pointer, size_t bytes)
{
	static uint64_t next = 0x7000000000;
	struct fake_call c;
	struct fake_work w = { .kind = 49, .bytes = bytes };

	enter(&c, 1, 243, "cuMemAlloc_v2");
	if (allocation_ns)
		nanosleep(&(struct timespec){ .tv_nsec = allocation_ns }, NULL);
	w.correlation = c.correlation;
	w.address = *pointer = __atomic_fetch_add(&next, bytes + 4096, __ATOMIC_RELAXED);
	w.copy = 1;
	w.start = w.end = now();
	w.context = 1;
	if (done)
		done(&w);
	return leave(&c, 0);
}

/* Memory of the host that is said to be a device's, so that an MPI can send it. */
static uint64_t device_from, device_to;

void fake_on_device(const void *from, size_t bytes)
{
	device_from = (uint64_t)(uintptr_t)from;
	device_to = device_from + bytes;
}

int cuPointerGetAttribute(void *value, int attribute, uint64_t pointer)
{
	if (attribute != 2 || pointer < device_from || pointer >= device_to)
		return 1;
	*(unsigned *)value = 2;
	return 0;
}

int cuMemFree_v2(uint64_t pointer)
{
	struct fake_call c;
	struct fake_work w = { .kind = 49, .address = pointer, .copy = 2, .context = 1 };

	enter(&c, 1, 245, "cuMemFree_v2");
	w.correlation = c.correlation;
	wait_until(all_streams());
	w.start = w.end = now();
	if (done)
		done(&w);
	return leave(&c, 0);
}

/* ---- the runtime's calls ------------------------------------------------------------------------ */

int cudaLaunchKernel(const void *function, unsigned grid, unsigned block, void *stream)
{
	struct fake_call c;

	enter(&c, 2, 211, "cudaLaunchKernel");
	return leave(&c, cuLaunchKernel((void *)(uintptr_t)function, grid, 1, 1, block, 1, 1, 0, stream,
					NULL, NULL));
}

int cudaMemcpy(void *to, const void *from, size_t bytes, int kind)
{
	struct fake_call c;

	enter(&c, 2, 31, "cudaMemcpy");
	return leave(&c, kind == 1 ? cuMemcpyHtoD_v2((uintptr_t)to, from, bytes)
				   : cuMemcpyDtoH_v2(to, (uintptr_t)from, bytes));
}

int cudaDeviceSynchronize(void)
{
	struct fake_call c;

	enter(&c, 2, 165, "cudaDeviceSynchronize");
	return leave(&c, cuCtxSynchronize());
}

int cudaEventQuery(void *event)
{
	struct fake_call c;

	enter(&c, 2, 138, "cudaEventQuery");
	return leave(&c, cuEventQuery(event));
}
