/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parameters of CUPTI's profiler functions: host side (metrics, configurations, values), PM sampling and
 * ranges of kernels. As with cuda/abi.h, NVIDIA's headers are not needed to build; test/cuda/abi.test
 * compares every size and offset with those that it finds.
 *
 * CUPTI tells versions of a structure apart by its first member, the size; CU_PARAMS fills it in, as far as
 * the last member that is known here.
 *
 * Limits: Linux, 64 bit; CUPTI 12.6 and newer.
 */
#ifndef GT_CUDA_PROFILER_ABI_H
#define GT_CUDA_PROFILER_ABI_H

#include <stddef.h>
#include <stdint.h>

#define CU_BYTES_TO(type, last)  (offsetof(struct type, last) + sizeof(((struct type *)0)->last))
#define CU_PARAMS(type, last)    .bytes = CU_BYTES_TO(type, last)

/* CUpti_ProfilerType, CUpti_MetricType, CUpti_Profiler_Support_Level, CUpti_Profiler_API */
enum {
	CU_PROFILER_RANGE = 0,
	CU_PROFILER_PM = 1,
	CU_PROFILER_EVENTS = 2, /* none of CUPTI's: gt_cu_older */
	CU_METRIC_COUNTER = 0,
	CU_METRIC_RATIO = 1,
	CU_METRIC_THROUGHPUT = 2,
	CU_METRIC_TYPES = 3,
	CU_PROFILER_DISABLED = 2,
	CU_PROFILER_SUPPORTED = 3,
	CU_API_RANGE = 0,
	CU_API_PM = 3,
};

/* CUpti_PmSampling_TriggerMode, .._DecodeStopReason, .._HardwareBuffer_AppendMode */
enum {
	CU_PM_TRIGGER_CLOCK = 0,
	CU_PM_TRIGGER_TIME = 1,
	CU_PM_STOP_FULL = 1,
	CU_PM_STOP_END = 2,
	CU_PM_KEEP_OLDEST = 0,
	CU_PM_KEEP_LATEST = 1,
};

/* cuptiProfilerInitialize, cuptiProfilerDeInitialize; last: priv */
struct cu_profiler_plain {
	size_t bytes;
	void *priv;
};

/*
 * Functions of one object: ...HostDeinitialize, ...Start, ...Stop (of PM sampling), ...Disable, ...PopRange;
 * last: object
 */
struct cu_profiler_object {
	size_t bytes;
	void *priv;
	void *object;
};

/* cuptiDeviceGetChipName; last: name */
struct cu_profiler_chip {
	size_t bytes;
	void *priv;
	size_t device;
	const char *name;
};

/* cuptiProfilerDeviceSupported; last: api */
struct cu_profiler_supported {
	size_t bytes;
	void *priv;
	int32_t device;
	int32_t supported;
	int32_t architecture, sli, vgpu, confidential, cmp, wsl;
	int32_t api;
};

/* cuptiProfilerHostGetSupportedChips; last: names */
struct cu_host_chips {
	size_t bytes;
	void *priv;
	size_t count;
	const char *const *names;
};

/* cuptiProfilerHostInitialize; last: object */
struct cu_host_initialize {
	size_t bytes;
	void *priv;
	int32_t type;
	const char *chip;
	const uint8_t *availability;
	void *object;
};

/* cuptiProfilerHostGetBaseMetrics; last: count */
struct cu_host_base {
	size_t bytes;
	void *priv;
	void *object;
	int32_t type;
	const char **names;
	size_t count;
};

/* cuptiProfilerHostGetSubMetrics; last: names */
struct cu_host_sub {
	size_t bytes;
	void *priv;
	void *object;
	int32_t type;
	const char *name;
	size_t count;
	const char **names;
};

/* cuptiProfilerHostGetMetricProperties; last: type */
struct cu_host_properties {
	size_t bytes;
	void *priv;
	void *object;
	const char *name;
	const char *description, *hardware, *unit;
	int32_t type;
};

/* cuptiProfilerHostConfigAddMetrics; last: count */
struct cu_host_add {
	size_t bytes;
	void *priv;
	void *object;
	const char **names;
	size_t count;
};

/* cuptiProfilerHostGetConfigImageSize (last: size), cuptiProfilerHostGetConfigImage (last: image) */
struct cu_host_image {
	size_t bytes;
	void *priv;
	void *object;
	size_t size;
	uint8_t *image;
};

/* cuptiProfilerHostGetNumOfPasses; last: passes */
struct cu_host_passes {
	size_t bytes;
	void *priv;
	size_t size;
	uint8_t *image;
	size_t passes;
};

/* cuptiProfilerHostEvaluateToGpuValues; last: values */
struct cu_host_evaluate {
	size_t bytes;
	void *priv;
	void *object;
	const uint8_t *data;
	size_t size;
	size_t range;
	const char **names;
	size_t count;
	double *values;
};

/* cuptiPmSamplingEnable; last: object */
struct cu_pm_enable {
	size_t bytes;
	void *priv;
	size_t device;
	void *object;
};

/* cuptiPmSamplingSetConfig; last: append */
struct cu_pm_config {
	size_t bytes;
	void *priv;
	void *object;
	size_t size;
	const uint8_t *image;
	size_t hardware_bytes;
	uint64_t interval;
	int32_t trigger;
	int32_t append;
};

/* cuptiPmSamplingGetCounterAvailability; last: image */
struct cu_pm_availability {
	size_t bytes;
	void *priv;
	size_t device;
	size_t size;
	uint8_t *image;
};

/* cuptiPmSamplingGetCounterDataSize; last: size */
struct cu_pm_data_size {
	size_t bytes;
	void *priv;
	void *object;
	const char **names;
	size_t count;
	uint32_t most;
	size_t size;
};

/* cuptiPmSamplingCounterDataImageInitialize, cuptiRangeProfilerCounterDataImageInitialize; last: data */
struct cu_profiler_data {
	size_t bytes;
	void *priv;
	void *object;
	size_t size;
	uint8_t *data;
};

/* cuptiPmSamplingDecodeData; last: overflow */
struct cu_pm_decode {
	size_t bytes;
	void *priv;
	void *object;
	uint8_t *data;
	size_t size;
	int32_t reason;
	uint8_t overflow;
};

/* cuptiPmSamplingGetCounterDataInfo; last: completed */
struct cu_pm_info {
	size_t bytes;
	void *priv;
	const uint8_t *data;
	size_t size;
	size_t total, populated, completed;
};

/* cuptiPmSamplingCounterDataGetSampleInfo; last: end */
struct cu_pm_sample {
	size_t bytes;
	void *priv;
	void *object;
	const uint8_t *data;
	size_t size;
	size_t index;
	uint64_t start, end;
};

/* CUpti_ProfilerRange, CUpti_ProfilerReplayMode */
enum {
	CU_RANGE_AUTO = 1,
	CU_RANGE_USER = 2,
	CU_REPLAY_KERNEL = 2,
	CU_REPLAY_USER = 3,
};

/* cuptiRangeProfilerEnable; last: object */
struct cu_range_enable {
	size_t bytes;
	void *priv;
	void *context;
	void *object;
};

/* cuptiRangeProfilerSetConfig; last: target_level */
struct cu_range_config {
	size_t bytes;
	void *priv;
	void *object;
	size_t size;
	const uint8_t *image;
	size_t data_size;
	uint8_t *data;
	int32_t range, replay;
	size_t most;
	uint16_t levels, least_level;
	size_t pass;
	uint16_t target_level;
};

/* cuptiRangeProfilerStop; last: all_passes */
struct cu_range_stop {
	size_t bytes;
	void *priv;
	void *object;
	size_t pass;
	size_t target_level;
	uint8_t all_passes;
};

/* cuptiRangeProfilerPushRange; last: name */
struct cu_range_push {
	size_t bytes;
	void *priv;
	void *object;
	const char *name;
};

/* cuptiRangeProfilerDecodeData; last: dropped */
struct cu_range_decode {
	size_t bytes;
	void *priv;
	void *object;
	size_t dropped;
};

/* cuptiRangeProfilerGetCounterDataSize; last: size */
struct cu_range_data_size {
	size_t bytes;
	void *priv;
	void *object;
	const char **names;
	size_t count;
	size_t most;
	uint32_t most_nodes;
	size_t size;
};

/* cuptiRangeProfilerGetCounterDataInfo; last: count */
struct cu_range_info {
	size_t bytes;
	void *priv;
	const uint8_t *data;
	size_t size;
	size_t count;
};

#endif
