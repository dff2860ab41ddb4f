/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between the fakes of libamdhip64 and librocprofiler-sdk, and the program's own declarations of HIP and
 * roctx. With REAL_HEADERS the program is compiled against HIP's own instead.
 *
 * Limits: what the tests need.
 */
#ifndef TEST_HIP_FAKE_H
#define TEST_HIP_FAKE_H

#include <stddef.h>
#include <stdint.h>

#ifdef REAL_HEADERS
#include <hip/hip_runtime_api.h>
#else
typedef enum { hipSuccess = 0, hipErrorInvalidValue = 1, hipErrorNotReady = 600 } hipError_t;
typedef enum { hipMemcpyHostToHost, hipMemcpyHostToDevice, hipMemcpyDeviceToHost, hipMemcpyDeviceToDevice }
	hipMemcpyKind;
typedef struct ihipStream_t *hipStream_t;
typedef struct ihipModuleSymbol_t *hipFunction_t;
typedef struct ihipModule_t *hipModule_t;
typedef struct ihipGraph *hipGraph_t;
typedef struct hipGraphExec *hipGraphExec_t;
typedef enum { hipStreamCaptureModeGlobal } hipStreamCaptureMode;

hipError_t hipMalloc(void **address, size_t bytes);
hipError_t hipFree(void *address);
hipError_t hipHostMalloc(void **address, size_t bytes, unsigned flags);
hipError_t hipMemcpy(void *to, const void *from, size_t bytes, hipMemcpyKind kind);
hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t stream);
hipError_t hipMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
			      hipStream_t stream);
hipError_t hipStreamCreate(hipStream_t *stream);
hipError_t hipStreamDestroy(hipStream_t stream);
hipError_t hipStreamSynchronize(hipStream_t stream);
hipError_t hipStreamQuery(hipStream_t stream);
hipError_t hipDeviceSynchronize(void);
hipError_t hipSetDevice(int device);
hipError_t hipModuleLoad(hipModule_t *module, const char *name);
hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *name);
hipError_t hipModuleLaunchKernel(hipFunction_t f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
				 unsigned by, unsigned bz, unsigned shared, hipStream_t stream,
				 void **arguments, void **extra);
hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode);
hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t *graph);
hipError_t hipGraphInstantiate(hipGraphExec_t *made, hipGraph_t graph, void *node, char *log, size_t size);
hipError_t hipGraphLaunch(hipGraphExec_t graph, hipStream_t stream);
#endif
int roctxRangePushA(const char *message);
int roctxRangePop(void);
void roctxMarkA(const char *message);
uint64_t roctxRangeStartA(const char *message);
void roctxRangeStop(uint64_t id);
int roctxNameOsThread(const char *name);
int roctxNameHipStream(const char *name, const struct ihipStream_t *stream);

enum fake_operation {
	FAKE_MALLOC,
	FAKE_FREE,
	FAKE_MEMCPY,
	FAKE_MEMCPY_ASYNC,
	FAKE_MEMCPY_PEER,
	FAKE_STREAM_CREATE,
	FAKE_STREAM_DESTROY,
	FAKE_STREAM_SYNCHRONIZE,
	FAKE_STREAM_QUERY,
	FAKE_SYNCHRONIZE,
	FAKE_SET_DEVICE,
	FAKE_MODULE_LOAD,
	FAKE_GET_FUNCTION,
	FAKE_LAUNCH,
	FAKE_BEGIN_CAPTURE,
	FAKE_END_CAPTURE,
	FAKE_INSTANTIATE,
	FAKE_GRAPH_LAUNCH,
	FAKE_HOST_MALLOC,
	FAKE_OPERATIONS
};

/* Of roctx: ranges and marks, and then names. */
enum fake_marker {
	FAKE_MARK,
	FAKE_PUSH,
	FAKE_POP,
	FAKE_START,
	FAKE_STOP,
	FAKE_NAMES,
	FAKE_STREAM_NAME = FAKE_NAMES + 3
};

/* Of libhsa-runtime64: memory of an agent's, and no longer. */
enum { FAKE_HOST_AGENT = 1000, FAKE_GPU_AGENT = 1001 };
void fake_hsa_put(const void *at, size_t bytes, uint64_t owner);
void fake_hsa_take(const void *at);

/* What librocprofiler-sdk offers to the runtime. */
struct fake_hooks {
	/* A call; returns its correlation id. */
	uint64_t (*enter)(int operation);
	void (*leave)(int operation, uint64_t correlation, int result);
	/* A whole call of roctx; number: of a range, or a handle. */
	void (*marker)(enum fake_marker which, const char *text, uint64_t number, uint64_t result);
	/* Work for a stream begins or ends; it is made, with a handle. */
	void (*stream)(int begin, uint64_t stream);
	void (*stream_made)(uint64_t stream, void *handle);
	void (*symbol)(uint64_t kernel, const char *name);
	/* Work that the device does between two times of CLOCK_MONOTONIC. */
	void (*kernel)(uint64_t correlation, int device, uint64_t kernel, const unsigned *grid,
		       const unsigned *block, unsigned shared, uint64_t begin, uint64_t end);
	void (*copy)(uint64_t correlation, int kind, int from, int to, size_t bytes, uint64_t begin,
		     uint64_t end);
	void (*memory)(uint64_t correlation, int device, void *address, size_t bytes, int release);
};

#endif
