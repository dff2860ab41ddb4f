/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the test programs, the fake driver and the fake CUPTI have in common.
 *
 * The fake driver (libcuda.so.1) loads CUDA_INJECTION64_PATH at cuInit, as the real one does. Its
 * calls go through the fake CUPTI (libcupti.so.13) if that is in the process: callbacks around each,
 * and for each a record, from a worker thread, when its buffer is full or flushed.
 *
 * FAKE_CUPTI in the environment asks for trouble: words with commas, see fake_cupti.c.
 */
#ifndef FAKE_H
#define FAKE_H

#include <stddef.h>
#include <stdint.h>

/* The fake driver's interface: CUDA's own, as far as it is needed. */
int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
int cuCtxSynchronize(void);
int cuCtxPushCurrent_v2(void *context);
int cuCtxPopCurrent_v2(void **context);
int cuCtxCreate_v2(void **context, unsigned flags, int device); /* one for each device */
int cuCtxDestroy_v2(void *context);
int cuCtxGetCurrent(void **context);
int cuStreamSynchronize(void *stream);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamDestroy_v2(void *stream);
int cuEventQuery(void *event);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
		   unsigned bz, unsigned shared, void *stream, void **params, void **extra);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream);
int cuMemcpyPeer(uint64_t to, void *to_context, uint64_t from, void *from_context, size_t bytes);
int cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void *stream);
int cuGraphLaunch(void *graph, void *stream);
/* Without a graph: 1, and the capture goes on. Of stream 13: 901, for it was invalidated. */
int cuStreamBeginCapture_v2(void *stream, int mode);
int cuStreamEndCapture(void *stream, void **graph);
int cuMemAlloc_v2(uint64_t *pointer, size_t bytes);
int cuMemFree_v2(uint64_t pointer);
void fake_on_device(const void *from, size_t bytes);
/* From now on asynchronous copies are of pageable memory, and so not asynchronous; or they are. */
void fake_pageable(int yes);
void fake_allocation(long ns); /* what each cuMemAlloc sleeps */

/* The same as the runtime would call them: a runtime callback around a driver callback. */
int cudaLaunchKernel(const void *function, unsigned grid, unsigned block, void *stream);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int cudaDeviceSynchronize(void);
int cudaEventQuery(void *event);

/* Called once, in the middle of the next launch, query, or wait for all, if the program sets it. */
extern void (*fake_inside)(void);

/* What the fake driver asks of the fake CUPTI, if that is there. */
struct fake_call {
	uint32_t domain, id;
	const char *function, *symbol;
	const void *params;
	void *context;
	uint32_t context_uid;
	uint64_t data;
	uint32_t correlation;
	int result;
};
typedef void fake_begin(struct fake_call *call);
typedef void fake_end(struct fake_call *call);

/* One thing that the fake device did; times as FAKE CUPTI's clock has them. */
struct fake_work {
	uint32_t kind, correlation;
	uint32_t device, context, stream;
	uint64_t start, end;
	uint64_t bytes;
	uint8_t copy, source, destination;
	uint32_t peer_device, peer_context;
	const char *name;
	int32_t grid[3], block[3];
	int64_t grid_id;
	uint32_t shared, graph;
	uint64_t graph_node;
	uint64_t address;
	int replayed; /* its record never gets times */
};
typedef void fake_done(const struct fake_work *work);
typedef uint64_t fake_now(void);

#endif
