/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a GPU's counters must count: additions of vectors, of which the numbers of warps and of bytes are
 * known. With SELF_METRICS (names with blanks between them) the program samples itself, by CUPTI's own
 * headers and without gputrace, and prints the sum of each metric.
 *
 * Arguments: elements, additions; "reset": cudaDeviceReset() after half of them.
 * Limits: one device; CUPTI 12.6 or newer to sample itself.
 */
#include "count.h"
#include "self.h"

#include <cstring>
#include <thread>
#include <unistd.h>
#include <vector>
#include <cuda.h>
#include <cupti_pmsampling.h>

__global__ void fill(float *to, size_t n, float value)
{
	size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;

	if (i < n)
		to[i] = value;
}

__global__ void add(const float *a, const float *b, float *c, size_t n)
{
	size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;

	if (i < n)
		c[i] = a[i] + b[i];
}

/* ---- sampling without gputrace --------------------------------------------------------------------------- */

static struct self : self_metrics {
	std::vector<double> sums;
	CUpti_PmSampling_Object *sampler;
	bool first = true;
	std::atomic<bool> stop{false};
	std::thread thread;
} self;

static void self_clear()
{
	PARAMS(CUpti_PmSampling_CounterDataImage_Initialize_Params, clear);

	clear.pPmSamplingObject = self.sampler;
	clear.counterDataSize = self.data.size();
	clear.pCounterData = self.data.data();
	CU(cuptiPmSamplingCounterDataImageInitialize(&clear));
}

static void self_fetch()
{
	PARAMS(CUpti_PmSampling_DecodeData_Params, decode);
	PARAMS(CUpti_PmSampling_GetCounterDataInfo_Params, info);

	decode.pPmSamplingObject = self.sampler;
	decode.pCounterDataImage = self.data.data();
	decode.counterDataImageSize = self.data.size();
	CU(cuptiPmSamplingDecodeData(&decode));
	info.pCounterDataImage = self.data.data();
	info.counterDataImageSize = self.data.size();
	CU(cuptiPmSamplingGetCounterDataInfo(&info));
	for (size_t i = 0; i < info.numCompletedSamples; i++) {
		PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, value);
		std::vector<double> values(self.names.size());

		value.pHostObject = self.host;
		value.pCounterDataImage = self.data.data();
		value.counterDataImageSize = self.data.size();
		value.rangeIndex = i;
		value.ppMetricNames = self.names.data();
		value.numMetrics = self.names.size();
		value.pMetricValues = values.data();
		CU(cuptiProfilerHostEvaluateToGpuValues(&value));
		for (size_t k = 0; k < values.size() && !self.first; k++)
			self.sums[k] += values[k];
		self.first = false;
	}
	self_clear();
}

static void self_begin(const char *metrics)
{
	PARAMS(CUpti_PmSampling_Enable_Params, enable);
	PARAMS(CUpti_PmSampling_SetConfig_Params, config);
	PARAMS(CUpti_PmSampling_GetCounterDataSize_Params, size);
	PARAMS(CUpti_PmSampling_Start_Params, start);

	self_metrics_set(self, metrics, CUPTI_PROFILER_TYPE_PM_SAMPLING);
	self.sums.resize(self.names.size());
	CU(cuptiPmSamplingEnable(&enable));
	self.sampler = enable.pPmSamplingObject;
	config.pPmSamplingObject = size.pPmSamplingObject = start.pPmSamplingObject = self.sampler;
	config.configSize = self.config.size();
	config.pConfig = self.config.data();
	config.hardwareBufferSize = 64 << 20;
	config.samplingInterval = 200000;
	config.triggerMode = CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL;
	CU(cuptiPmSamplingSetConfig(&config));
	size.pMetricNames = self.names.data();
	size.numMetrics = self.names.size();
	size.maxSamples = 4096;
	CU(cuptiPmSamplingGetCounterDataSize(&size));
	self.data.resize(size.counterDataSize);
	self_clear();
	CU(cuptiPmSamplingStart(&start));
	usleep(5000);
	self.thread = std::thread([] {
		while (!self.stop) {
			self_fetch();
			usleep(50000);
		}
	});
}

static void self_end()
{
	PARAMS(CUpti_PmSampling_Stop_Params, stop);

	usleep(5000);
	self.stop = true;
	self.thread.join();
	stop.pPmSamplingObject = self.sampler;
	CU(cuptiPmSamplingStop(&stop));
	self_fetch();
	for (size_t k = 0; k < self.names.size(); k++)
		printf("SELF %s %.0f\n", self.names[k], self.sums[k]);
}

/* ---- the work ------------------------------------------------------------------------------------------------ */

static void additions(size_t n, int count)
{
	const unsigned blocks = (unsigned)((n + 255) / 256);
	float *a, *b, *c;
	uint64_t began;

	CK(cudaMalloc(&a, n * sizeof(float)));
	CK(cudaMalloc(&b, n * sizeof(float)));
	CK(cudaMalloc(&c, n * sizeof(float)));
	LAUNCH(fill, blocks, 256, 0, 0, a, n, 1.0f);
	LAUNCH(fill, blocks, 256, 0, 0, b, n, 2.0f);
	CK(cudaDeviceSynchronize());
	began = now_ns();
	for (int i = 0; i < count; i++)
		LAUNCH(add, blocks, 256, 0, 0, a, b, c, n);
	CK(cudaDeviceSynchronize());
	put_count("ns", now_ns() - began);
	CK(cudaFree(a));
	CK(cudaFree(b));
	CK(cudaFree(c));
}

int main(int argc, char **argv)
{
	size_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 500000000;
	int count = argc > 2 ? atoi(argv[2]) : 1;
	bool reset = argc > 3 && !strcmp(argv[3], "reset");
	const char *metrics = getenv("SELF_METRICS");

	cuInit(0);
	if (metrics)
		self_begin(metrics);
	CK(cudaFree(0));
	usleep(20000);
	additions(n, reset ? count - count / 2 : count);
	if (reset) {
		CK(cudaDeviceReset());
		additions(n, count / 2);
	}
	usleep(20000);
	if (metrics)
		self_end();
	put_count("warps", n_kernels * ((n + 255) / 256 * 8));
	put_count("read", (uint64_t)count * 2 * n * sizeof(float));
	put_count("kernels", n_kernels);
	return 0;
}
