/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CUPTI's Event and Metric API, which counts on GPUs before compute capability 7.5: numbers, structures and
 * functions. As with cuda/abi.h, NVIDIA's headers are not needed to build; test/cuda/abi.test compares with
 * those that it finds.
 *
 * Limits: Linux, 64 bit; CUPTI before 13.
 */
#ifndef GT_CUDA_EVENTS_ABI_H
#define GT_CUDA_EVENTS_ABI_H

#include <stddef.h>
#include <stdint.h>

/* CUpti_EventCollectionMode */
enum { CU_EV_MODE_CONTINUOUS = 0, CU_EV_MODE_KERNEL = 1 };

/* CUpti_EventDomainAttribute, CUpti_EventGroupAttribute, CUpti_EventAttribute, CUpti_MetricAttribute */
enum {
	CU_EV_DOMAIN_INSTANCES = 1,     /* uint32_t: those that are counted */
	CU_EV_DOMAIN_ALL_INSTANCES = 3, /* uint32_t */
	CU_EV_GROUP_DOMAIN = 0,         /* uint32_t */
	CU_EV_GROUP_COUNT_ALL = 1,      /* uint32_t, is set: all instances instead of one */
	CU_EV_GROUP_EVENT_COUNT = 3,    /* uint32_t */
	CU_EV_GROUP_EVENTS = 4,         /* uint32_t[] */
	CU_EV_GROUP_INSTANCES = 5,      /* uint32_t */
	CU_EV_EVENT_NAME = 0,
	CU_EV_EVENT_SHORT = 1,
	CU_EV_METRIC_NAME = 0,
	CU_EV_METRIC_SHORT = 1,
	CU_EV_METRIC_KIND = 4, /* CU_EV_KIND_... */
};

/* CUpti_MetricValueKind */
enum {
	CU_EV_KIND_DOUBLE = 0,
	CU_EV_KIND_UINT64 = 1,
	CU_EV_KIND_PERCENT = 2,
	CU_EV_KIND_THROUGHPUT = 3,
	CU_EV_KIND_INT64 = 4,
	CU_EV_KIND_LEVEL = 5,
};

/* Instead of an instance's value. */
#define CU_EV_OVERFLOW UINT64_C(0xffffffffffffffff)
#define CU_EV_INVALID  UINT64_C(0xfffffffffffffffe)

/* CUpti_EventGroupSet: groups that are counted in one pass; CUpti_EventGroupSets: the passes. */
struct cu_ev_pass {
	uint32_t count;
	void **groups;
};
struct cu_ev_passes {
	uint32_t count;
	struct cu_ev_pass *passes;
};

/* CUpti_MetricValue */
union cu_ev_value {
	double real; /* also of a percentage */
	uint64_t whole;
	int64_t integer;
	uint32_t level;
};

/* F(name without "cupti", parameters): all of them must be there. */
#define CU_EV_FUNCTIONS(F) \
	F(SetEventCollectionMode, (void *context, int mode)) \
	F(EnableKernelReplayMode, (void *context)) \
	F(DeviceEnumEventDomains, (int device, size_t *bytes, uint32_t *domains)) \
	F(DeviceGetEventDomainAttribute, \
	  (int device, uint32_t domain, int what, size_t *bytes, void *value)) \
	F(EventDomainEnumEvents, (uint32_t domain, size_t *bytes, uint32_t *events)) \
	F(EventGetAttribute, (uint32_t event, int what, size_t *bytes, void *value)) \
	F(EventGetIdFromName, (int device, const char *name, uint32_t *event)) \
	F(EventGroupGetAttribute, (void *group, int what, size_t *bytes, void *value)) \
	F(EventGroupSetAttribute, (void *group, int what, size_t bytes, void *value)) \
	F(EventGroupReadEvent, (void *group, int flags, uint32_t event, size_t *bytes, uint64_t *values)) \
	F(EventGroupSetsCreate, \
	  (void *context, size_t bytes, uint32_t *events, struct cu_ev_passes **passes)) \
	F(EventGroupSetsDestroy, (struct cu_ev_passes *passes)) \
	F(EventGroupSetEnable, (struct cu_ev_pass *pass)) \
	F(EventGroupSetDisable, (struct cu_ev_pass *pass)) \
	F(DeviceEnumMetrics, (int device, size_t *bytes, uint32_t *metrics)) \
	F(MetricGetAttribute, (uint32_t metric, int what, size_t *bytes, void *value)) \
	F(MetricGetIdFromName, (int device, const char *name, uint32_t *metric)) \
	F(MetricEnumEvents, (uint32_t metric, size_t *bytes, uint32_t *events)) \
	F(MetricCreateEventGroupSets, \
	  (void *context, size_t bytes, uint32_t *metrics, struct cu_ev_passes **passes)) \
	F(MetricGetValue, (int device, uint32_t metric, size_t event_bytes, uint32_t *events, \
			   size_t value_bytes, uint64_t *values, uint64_t ns, union cu_ev_value *value))

struct cu_ev_functions {
#define CU_EV_MEMBER(name, parameters) int (*name) parameters;
	CU_EV_FUNCTIONS(CU_EV_MEMBER)
#undef CU_EV_MEMBER
};

#endif
