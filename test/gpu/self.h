/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What programs that measure themselves by CUPTI's own headers share: the metrics of SELF_METRICS (names with
 * blanks between them) as CUPTI's host API wants them.
 *
 * Limits: one device.
 */
#ifndef GT_TEST_GPU_SELF_H
#define GT_TEST_GPU_SELF_H

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>
#include <sstream>
#include <string>
#include <vector>

#define PARAMS(type, name) \
	type name; \
	memset(&name, 0, sizeof(name)); \
	name.structSize = type##_STRUCT_SIZE
#define CU(call) \
	do { \
		CUptiResult result_ = (call); \
		if (result_) { \
			fprintf(stderr, "%s: %d\n", #call, (int)result_); \
			exit(4); \
		} \
	} while (0)

struct self_metrics {
	std::vector<std::string> texts;
	std::vector<const char *> names;
	std::vector<uint8_t> config, data;
	CUpti_Profiler_Host_Object *host;
};

static void self_configure(struct self_metrics &self, const char *chip, CUpti_ProfilerType type)
{
	PARAMS(CUpti_Profiler_Host_Initialize_Params, host);
	PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, add);
	PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params, size);
	PARAMS(CUpti_Profiler_Host_GetConfigImage_Params, image);

	host.profilerType = type;
	host.pChipName = chip;
	CU(cuptiProfilerHostInitialize(&host));
	self.host = add.pHostObject = size.pHostObject = image.pHostObject = host.pHostObject;
	add.ppMetricNames = self.names.data();
	add.numMetrics = self.names.size();
	CU(cuptiProfilerHostConfigAddMetrics(&add));
	CU(cuptiProfilerHostGetConfigImageSize(&size));
	self.config.resize(size.configImageSize);
	image.configImageSize = self.config.size();
	image.pConfigImage = self.config.data();
	CU(cuptiProfilerHostGetConfigImage(&image));
}

static void self_metrics_set(struct self_metrics &self, const char *metrics, CUpti_ProfilerType type)
{
	PARAMS(CUpti_Profiler_Initialize_Params, initialize);
	PARAMS(CUpti_Device_GetChipName_Params, chip);
	std::istringstream words(metrics);
	std::string word;

	while (words >> word)
		self.texts.push_back(word);
	for (auto &text : self.texts)
		self.names.push_back(text.c_str());
	CU(cuptiProfilerInitialize(&initialize));
	CU(cuptiDeviceGetChipName(&chip));
	self_configure(self, chip.pChipName, type);
}

#endif
