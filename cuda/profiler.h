/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CUPTI's profiler: its functions by number, and sets of metrics as its host side knows them. That side needs
 * no device: it answers for any chip by its name.
 *
 * Limits: CUPTI 12.6 and newer; older ones lack the functions, and gt_cu_profiler() says so. GT_CU_METRICS
 * metrics at once.
 */
#ifndef GT_CUDA_PROFILER_H
#define GT_CUDA_PROFILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/profiler_abi.h"
#include "gputrace/compiler.h"

#define GT_CU_METRICS     48u
#define GT_CU_METRIC_NAME 160u

/* GT_CU_P_X: cuptiX */
#define GT_CU_PROFILER_FUNCTIONS(F) \
	F(ProfilerInitialize) F(DeviceGetChipName) F(ProfilerDeviceSupported) \
	F(ProfilerHostGetSupportedChips) F(ProfilerHostInitialize) F(ProfilerHostDeinitialize) \
	F(ProfilerHostGetBaseMetrics) F(ProfilerHostGetSubMetrics) F(ProfilerHostGetMetricProperties) \
	F(ProfilerHostConfigAddMetrics) F(ProfilerHostGetConfigImageSize) F(ProfilerHostGetConfigImage) \
	F(ProfilerHostGetNumOfPasses) F(ProfilerHostEvaluateToGpuValues) \
	F(PmSamplingEnable) F(PmSamplingDisable) F(PmSamplingSetConfig) F(PmSamplingStart) F(PmSamplingStop) \
	F(PmSamplingGetCounterDataSize) F(PmSamplingCounterDataImageInitialize) F(PmSamplingDecodeData) \
	F(PmSamplingGetCounterDataInfo) F(PmSamplingCounterDataGetSampleInfo) \
	F(RangeProfilerEnable) F(RangeProfilerDisable) F(RangeProfilerSetConfig) F(RangeProfilerStart) \
	F(RangeProfilerStop) F(RangeProfilerPushRange) F(RangeProfilerPopRange) F(RangeProfilerDecodeData) \
	F(RangeProfilerGetCounterDataSize) F(RangeProfilerCounterDataImageInitialize) \
	F(RangeProfilerGetCounterDataInfo)

enum gt_cu_profiler_function {
#define GT_CU_NUMBER(name) GT_CU_P_##name,
	GT_CU_PROFILER_FUNCTIONS(GT_CU_NUMBER)
#undef GT_CU_NUMBER
	GT_CU_P_COUNT,
};

/*
 * Calls it with its parameters (profiler_abi.h). CUPTI's result; CU_ERROR_NOT_SUPPORTED: this CUPTI has
 * none.
 */
GT_HIDDEN int gt_cu_profiler(enum gt_cu_profiler_function function, void *params);

/* The same for a function of one object (struct cu_profiler_object). */
GT_HIDDEN int gt_cu_profiler_object(enum gt_cu_profiler_function function, void *object);

/* Is there a control daemon of MPS, which every process that uses CUDA goes through? */
GT_HIDDEN bool gt_cu_profiler_mps(void);

/* The meaning of a CUPTI result, for the user. */
GT_HIDDEN const char *gt_cu_profiler_reason(int rc);

/* The archive's property cuda:WHAT_DEVICE: `before` and `text`. */
GT_HIDDEN void gt_cu_profiler_property(const char *what, unsigned device, const char *before,
				       const char *text);

/* CUPTI's name of the device's chip, in chip[]. 0, or CUPTI's result, also if it does not offer CU_API_... */
GT_HIDDEN int gt_cu_profiler_chip(unsigned device, int api, char *chip, size_t size);

/* Metrics that are counted together. The caller fills in the first members, and keeps what they point at. */
struct gt_cu_set {
	int type;                    /* CU_PROFILER_... */
	const char *chip;
	unsigned device;             /* CU_PROFILER_EVENTS: which, and a context of its, which is current */
	void *context;
	const char *names[GT_CU_METRICS];
	unsigned count;
	void *host;                  /* from here on by gt_cu_set_open(); events: struct gt_cu_plan */
	uint8_t *image;              /* the configuration */
	size_t image_bytes, passes;
};

/* Asks CUPTI what the set needs (not: of events). 0, or its result: nothing is open. Any thread. */
GT_HIDDEN int gt_cu_set_open(struct gt_cu_set *set);
GT_HIDDEN void gt_cu_set_close(struct gt_cu_set *set);
/* The passes that these metrics need together; 0: some name is not known. */
GT_HIDDEN size_t gt_cu_set_passes(const struct gt_cu_set *set);
/*
 * The host side for a chip without any metric, for questions about names; NULL: CUPTI does not know the
 * chip.
 */
GT_HIDDEN void *gt_cu_host_open(int type, const char *chip);
GT_HIDDEN void gt_cu_host_close(void *host);

/* The name most like `name` among those of the chip, in text[]; false: none is like it. */
GT_HIDDEN bool gt_cu_metric_near(void *host, const char *name, char *text, size_t size);
/* CUPTI's description of a metric, by its full name or the part before the first dot; false: unknown. */
GT_HIDDEN bool gt_cu_metric_properties(void *host, const char *name, struct cu_host_properties *properties);
/* Is it counted in whole things, which add up? *p: what CUPTI says of it, if anything. */
GT_HIDDEN bool gt_cu_metric_is_sum(void *host, const char *name, struct cu_host_properties *p);
/* CUPTI's list of the names of a type, CU_METRIC_...; returns how many. */
GT_HIDDEN size_t gt_cu_metric_base(void *host, int type, const char ***names);

#endif
