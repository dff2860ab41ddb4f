/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels of which the counters of a GPU are known, and a result that a replay which does not put memory
 * back would change. With SELF_METRICS (names with blanks between them) the program measures each
 * addition itself, by CUPTI's own headers and without gputrace, and prints the values.
 *
 * Arguments: elements, rounds, and how: nothing, ranges (NVTX; VT_USER_START if it is built with VTRACE),
 * threads, graph, reset (half of the rounds after it), long [SECONDS] (such a kernel before the rounds). Limits: one device; CUPTI 12.6 or
 * newer to measure itself, in one pass.
 */
#include "count.h"
#include "self.h"

#include <cuda.h>
#include <cupti_range_profiler.h>
#include <nvtx3/nvToolsExt.h>
#include <thread>
#include <vector>

#include "vt_user.h"

#ifdef VTRACE
#define BEGIN(name) VT_USER_START(name)
#define END(name)   VT_USER_END(name)
#else
#define BEGIN(name) nvtxRangePushA(name)
#define END(name)   nvtxRangePop()
#endif

__global__ void add(const float *a, const float *b, float *c, size_t n)
{
	size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;

	if (i < n)
		c[i] = a[i] + b[i];
}

namespace math {
template <typename T, int by>
__global__ void grow(T *data, size_t n)
{
	size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;

	if (i < n)
		data[i] = data[i] * by + 1;
}
} /* namespace math */

/* ---- measuring without gputrace -------------------------------------------------------------------------- */

static struct self : self_metrics {
	CUpti_RangeProfiler_Object *profiler;
} self;

static void self_clear()
{
	PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, clear);

	clear.pRangeProfilerObject = self.profiler;
	clear.counterDataSize = self.data.size();
	clear.pCounterData = self.data.data();
	CU(cuptiRangeProfilerCounterDataImageInitialize(&clear));
}

static void self_begin(const char *metrics)
{
	PARAMS(CUpti_RangeProfiler_Enable_Params, enable);
	PARAMS(CUpti_RangeProfiler_SetConfig_Params, config);
	PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, size);

	self_metrics_set(self, metrics, CUPTI_PROFILER_TYPE_RANGE_PROFILER);
	cuCtxGetCurrent(&enable.ctx);
	CU(cuptiRangeProfilerEnable(&enable));
	self.profiler = enable.pRangeProfilerObject;
	size.pRangeProfilerObject = config.pRangeProfilerObject = self.profiler;
	size.pMetricNames = self.names.data();
	size.numMetrics = self.names.size();
	size.maxNumOfRanges = size.maxNumRangeTreeNodes = 1;
	CU(cuptiRangeProfilerGetCounterDataSize(&size));
	self.data.resize(size.counterDataSize);
	self_clear();
	config.configSize = self.config.size();
	config.pConfig = self.config.data();
	config.counterDataImageSize = self.data.size();
	config.pCounterDataImage = self.data.data();
	config.range = CUPTI_UserRange;
	config.replayMode = CUPTI_UserReplay;
	config.maxRangesPerPass = config.numNestingLevels = config.minNestingLevel = 1;
	CU(cuptiRangeProfilerSetConfig(&config));
}

static void self_start()
{
	PARAMS(CUpti_RangeProfiler_Start_Params, start);
	PARAMS(CUpti_RangeProfiler_PushRange_Params, push);

	if (!self.profiler)
		return;
	start.pRangeProfilerObject = push.pRangeProfilerObject = self.profiler;
	push.pRangeName = "addition";
	CU(cuptiRangeProfilerStart(&start));
	CU(cuptiRangeProfilerPushRange(&push));
}

static void self_stop()
{
	PARAMS(CUpti_RangeProfiler_PopRange_Params, pop);
	PARAMS(CUpti_RangeProfiler_Stop_Params, stop);
	PARAMS(CUpti_RangeProfiler_DecodeData_Params, decode);
	PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, value);
	std::vector<double> values(self.names.size());

	if (!self.profiler)
		return;
	pop.pRangeProfilerObject = stop.pRangeProfilerObject = decode.pRangeProfilerObject = self.profiler;
	CU(cuptiRangeProfilerPopRange(&pop));
	CU(cuptiRangeProfilerStop(&stop));
	CU(cuptiRangeProfilerDecodeData(&decode));
	value.pHostObject = self.host;
	value.pCounterDataImage = self.data.data();
	value.counterDataImageSize = self.data.size();
	value.ppMetricNames = self.names.data();
	value.numMetrics = self.names.size();
	value.pMetricValues = values.data();
	CU(cuptiProfilerHostEvaluateToGpuValues(&value));
	for (size_t i = 0; i < values.size(); i++)
		printf("SELF %s %.0f\n", self.names[i], values[i]);
	self_clear();
}

/* ---- what is measured ------------------------------------------------------------------------------------ */

static float *a, *b, *c, *d;

static void allocate(size_t n)
{
	CK(cudaMalloc(&a, n * sizeof(float)));
	CK(cudaMalloc(&b, n * sizeof(float)));
	CK(cudaMalloc(&c, n * sizeof(float)));
	CK(cudaMalloc(&d, n * sizeof(float)));
	CK(cudaMemset(a, 0, n * sizeof(float)));
	CK(cudaMemset(b, 0, n * sizeof(float)));
	CK(cudaMemset(d, 0, n * sizeof(float)));
	CK(cudaDeviceSynchronize());
}

static void rounds(size_t n, int count, bool ranges, cudaStream_t stream)
{
	unsigned blocks = (unsigned)((n + 255) / 256);

	for (int i = 0; i < count; i++) {
		if (ranges)
			BEGIN("round");
		self_start();
		LAUNCH(add, blocks, 256, 0, stream, a, b, c, n);
		self_stop();
		LAUNCH((math::grow<float, 2>), blocks, 256, 0, stream, d, n);
		if (ranges)
			END("round");
	}
	CK(cudaStreamSynchronize(stream));
}

/* d is 2^k - 1 everywhere after k rounds, up to 2^24. */
static void put_result(size_t n)
{
	float first, last;

	CK(cudaMemcpy(&first, d, sizeof(first), cudaMemcpyDeviceToHost));
	CK(cudaMemcpy(&last, d + n - 1, sizeof(last), cudaMemcpyDeviceToHost));
	put_count("first", (uint64_t)first);
	put_count("last", (uint64_t)last);
}

static void in_threads(size_t n, int count)
{
	std::vector<std::thread> threads;

	for (int i = 0; i < 4; i++)
		threads.emplace_back([=] {
			cudaStream_t stream;

			CK(cudaStreamCreate(&stream));
			for (int k = 0; k < count; k++)
				LAUNCH(add, (unsigned)((n + 255) / 256), 256, 0, stream, a, b, c, n);
			CK(cudaStreamSynchronize(stream));
		});
	for (auto &thread : threads)
		thread.join();
}

static void in_graph(size_t n, int count)
{
	cudaGraphExec_t exec;
	cudaGraph_t graph;
	cudaStream_t stream;

	CK(cudaStreamCreate(&stream));
	CK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	math::grow<float, 2><<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(d, n);
	CK(cudaStreamEndCapture(stream, &graph));
	CK(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < count; i++)
		CK(cudaGraphLaunch(exec, stream));
	n_kernels += (uint64_t)count;
	CK(cudaStreamSynchronize(stream));
}

int main(int argc, char **argv)
{
	size_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 500000000;
	int count = argc > 2 ? atoi(argv[2]) : 3;
	std::string how = argc > 3 ? argv[3] : "";
	const char *metrics = getenv("SELF_METRICS");

	CK(cudaFree(0));
	if (metrics)
		self_begin(metrics);
	allocate(n);
	if (how == "long")
		LAUNCH(k_spin, 1, 32, 0, 0, UINT64_C(1000000000) * (argc > 4 ? atoi(argv[4]) : 1));
	if (how == "threads")
		in_threads(n, count);
	else if (how == "graph")
		in_graph(n, count);
	rounds(n, count, how == "ranges", 0);
	put_result(n);
	if (how == "reset") {
		CK(cudaDeviceReset());
		allocate(n);
		rounds(n, count, false, 0);
		put_result(n);
	}
	put_count("kernels", n_kernels);
	put_count("warps", (n + 255) / 256 * 8);
	put_count("read", 2 * n * sizeof(float));
	put_count("elements", n);
	return 0;
}
