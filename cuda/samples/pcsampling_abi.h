/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CUPTI's PC sampling (cupti_pcsampling.h, 11.3 and newer) and its SASS metrics (cupti_sass_metrics.h, 12.2
 * and newer) in our own words, as abi.h has the rest. test/cuda/abi.test compares it with the headers that it
 * finds.
 *
 * Limits: what is used here. CUPTI reads from `bytes` how much of a structure there is.
 */
#ifndef GT_CUDA_PCSAMPLING_ABI_H
#define GT_CUDA_PCSAMPLING_ABI_H

#include <stddef.h>
#include <stdint.h>

/* CUpti_PCSamplingConfigurationAttributeType, CUpti_PCSamplingCollectionMode */
enum {
	CU_PC_PERIOD = 1,
	CU_PC_REASONS = 2,
	CU_PC_SCRATCH_BYTES = 3,
	CU_PC_HARDWARE_BYTES = 4,
	CU_PC_MODE = 5,
	CU_PC_BUFFER = 8,
	CU_PC_CONTINUOUS = 1,
	CU_PC_SERIALIZED = 2,
};

#define CU_PC_REASON_TEXT 128u /* CUPTI_STALL_REASON_STRING_SIZE */

/* CUpti_ModuleResourceData */
struct cu_module {
	uint32_t id;
	size_t bytes;
	const char *cubin;
};

/* CUpti_PCSamplingStallReason, CUpti_PCSamplingPCData, CUpti_PCSamplingData: packed, which moves nothing */
struct cu_pc_stall {
	uint32_t reason, samples;
};

struct cu_pc {
	size_t bytes;
	uint64_t crc, offset;
	uint32_t function; /* its number in the cubin's table of symbols */
	uint32_t pad;
	char *name;
	size_t stalls;
	struct cu_pc_stall *stall;
	uint32_t correlation; /* serialized only */
	uint32_t pad2;
};

struct cu_pc_data {
	size_t bytes;
	size_t room;       /* of pcs[] */
	uint64_t total;    /* samples, those of the next and those dropped among them */
	uint64_t dropped;
	size_t count, remaining;
	uint64_t range;
	struct cu_pc *pcs;
	uint64_t foreign;  /* in kernels that are not the program's */
	uint8_t full;      /* the hardware's buffer */
};

/* CUpti_PCSamplingConfigurationInfo */
struct cu_pc_option {
	uint32_t type;
	int32_t status;
	union {
		uint64_t all[3];
		uint32_t number;
		size_t size;
		void *buffer;
		struct {
			size_t count;
			uint32_t *index;
		} reasons;
	} value;
};

/* CUpti_PCSampling...Params: all begin alike. */
struct cu_pc_plain { /* Enable, Disable */
	size_t bytes;
	void *priv, *context;
};

struct cu_pc_get { /* GetData */
	size_t bytes;
	void *priv, *context;
	struct cu_pc_data *data;
};

struct cu_pc_count { /* GetNumStallReasons */
	size_t bytes;
	void *priv, *context;
	size_t *count;
};

struct cu_pc_names { /* GetStallReasons */
	size_t bytes;
	void *priv, *context;
	size_t count;
	uint32_t *index;
	char **names;
};

struct cu_pc_configure { /* ConfigurationInfo */
	size_t bytes;
	void *priv, *context;
	size_t count;
	struct cu_pc_option *options;
};

/* CUpti_GetCubinCrcParams */
struct cu_cubin_crc {
	size_t bytes, size;
	const void *cubin;
	uint64_t crc;
};

/* CUpti_SassMetrics_MetricDetails, ..._Config, ..._InstanceValue, ..._Data */
struct cu_sass_metric {
	uint64_t id;
	const char *name, *description;
};

struct cu_sass_config {
	uint64_t id;
	uint8_t granularity; /* 0: of the whole GPU */
};

struct cu_sass_value {
	uint64_t id, value;
};

struct cu_sass_data { /* one metric of one instruction */
	size_t bytes;
	void *priv;
	uint32_t crc, function; /* its number in the cubin's table of symbols */
	const char *name;
	uint32_t offset;
	struct cu_sass_value *values;
};

/* CUpti_SassMetrics...Params; `bytes` ends behind the member that is named here. */
struct cu_sass_count { /* GetNumOfMetrics: count */
	size_t bytes;
	void *priv;
	const char *chip;
	size_t count;
};

struct cu_sass_list { /* GetMetrics: list */
	size_t bytes;
	void *priv;
	const char *chip;
	size_t count;
	struct cu_sass_metric *list;
};

struct cu_sass_set { /* SetConfig: device */
	size_t bytes;
	void *priv;
	size_t count;
	struct cu_sass_config *configs;
	uint32_t device;
};

struct cu_sass_enable { /* Enable: lazy */
	size_t bytes;
	void *priv, *context;
	uint8_t lazy;
};

struct cu_sass_disable { /* Disable: dropped */
	size_t bytes;
	void *priv, *context;
	size_t dropped;
};

struct cu_sass_flush { /* GetDataProperties and FlushData: instances */
	size_t bytes;
	void *priv, *context;
	size_t records, instances;
	struct cu_sass_data *data; /* FlushData */
};

#endif
