/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares cuda/legacy/events_abi.h with NVIDIA's headers: compiles only if all numbers, structures and
 * functions agree.
 * Limits: headers that have cupti_events.h and cupti_metrics.h.
 */
#include <cupti.h>
#include <cupti_events.h>
#include <cupti_metrics.h>
#include <stddef.h>

#include "cuda/abi.h"
#include "cuda/legacy/events_abi.h"

#define SAME(type, theirs, ours, mine) \
	_Static_assert(offsetof(type, theirs) == offsetof(struct ours, mine) && \
		       sizeof(((type *)0)->theirs) == sizeof(((struct ours *)0)->mine), #type "." #theirs)
#define NUMBER(theirs, mine) _Static_assert((int)(theirs) == (int)(mine), #theirs)

NUMBER(CUPTI_EVENT_COLLECTION_MODE_CONTINUOUS, CU_EV_MODE_CONTINUOUS);
NUMBER(CUPTI_EVENT_COLLECTION_MODE_KERNEL, CU_EV_MODE_KERNEL);
NUMBER(CUPTI_EVENT_DOMAIN_ATTR_INSTANCE_COUNT, CU_EV_DOMAIN_INSTANCES);
NUMBER(CUPTI_EVENT_DOMAIN_ATTR_TOTAL_INSTANCE_COUNT, CU_EV_DOMAIN_ALL_INSTANCES);
NUMBER(CUPTI_EVENT_GROUP_ATTR_EVENT_DOMAIN_ID, CU_EV_GROUP_DOMAIN);
NUMBER(CUPTI_EVENT_GROUP_ATTR_PROFILE_ALL_DOMAIN_INSTANCES, CU_EV_GROUP_COUNT_ALL);
NUMBER(CUPTI_EVENT_GROUP_ATTR_NUM_EVENTS, CU_EV_GROUP_EVENT_COUNT);
NUMBER(CUPTI_EVENT_GROUP_ATTR_EVENTS, CU_EV_GROUP_EVENTS);
NUMBER(CUPTI_EVENT_GROUP_ATTR_INSTANCE_COUNT, CU_EV_GROUP_INSTANCES);
NUMBER(CUPTI_EVENT_ATTR_NAME, CU_EV_EVENT_NAME);
NUMBER(CUPTI_EVENT_ATTR_SHORT_DESCRIPTION, CU_EV_EVENT_SHORT);
NUMBER(CUPTI_METRIC_ATTR_NAME, CU_EV_METRIC_NAME);
NUMBER(CUPTI_METRIC_ATTR_SHORT_DESCRIPTION, CU_EV_METRIC_SHORT);
NUMBER(CUPTI_METRIC_ATTR_VALUE_KIND, CU_EV_METRIC_KIND);
NUMBER(CUPTI_METRIC_VALUE_KIND_DOUBLE, CU_EV_KIND_DOUBLE);
NUMBER(CUPTI_METRIC_VALUE_KIND_UINT64, CU_EV_KIND_UINT64);
NUMBER(CUPTI_METRIC_VALUE_KIND_PERCENT, CU_EV_KIND_PERCENT);
NUMBER(CUPTI_METRIC_VALUE_KIND_THROUGHPUT, CU_EV_KIND_THROUGHPUT);
NUMBER(CUPTI_METRIC_VALUE_KIND_INT64, CU_EV_KIND_INT64);
NUMBER(CUPTI_METRIC_VALUE_KIND_UTILIZATION_LEVEL, CU_EV_KIND_LEVEL);
NUMBER(CUPTI_ERROR_INVALID_METRIC_NAME, CU_ERROR_INVALID_METRIC_NAME);
NUMBER(CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED, CU_ERROR_OLD_PROFILER);
NUMBER(CUPTI_ERROR_NOT_COMPATIBLE, CU_ERROR_NOT_COMPATIBLE);
_Static_assert(CUPTI_EVENT_OVERFLOW == CU_EV_OVERFLOW && CUPTI_EVENT_INVALID == CU_EV_INVALID, "values");
SAME(CUpti_EventGroupSet, numEventGroups, cu_ev_pass, count);
SAME(CUpti_EventGroupSet, eventGroups, cu_ev_pass, groups);
SAME(CUpti_EventGroupSets, numSets, cu_ev_passes, count);
SAME(CUpti_EventGroupSets, sets, cu_ev_passes, passes);
_Static_assert(sizeof(CUpti_MetricValue) == sizeof(union cu_ev_value), "CUpti_MetricValue");
_Static_assert(sizeof(CUpti_EventID) == 4 && sizeof(CUpti_MetricID) == 4 &&
	       sizeof(CUpti_EventDomainID) == 4 && sizeof(CUdevice) == 4 &&
	       sizeof(CUpti_EventGroup) == sizeof(void *), "handles");

/* That each function takes what events_abi.h says: as many parameters, of the same width. */
static inline void check_events(int device, void *pointer, uint32_t id, uint32_t *ids, size_t bytes,
				size_t *size, uint64_t *values, CUpti_MetricValue *value)
{
	CUpti_EventGroupSets *sets = pointer, **made = pointer;
	CUpti_EventGroupSet *set = pointer;

	cuptiSetEventCollectionMode(pointer, CU_EV_MODE_KERNEL);
	cuptiEnableKernelReplayMode(pointer);
	cuptiDeviceEnumEventDomains(device, size, ids);
	cuptiDeviceGetEventDomainAttribute(device, id, CU_EV_DOMAIN_INSTANCES, size, pointer);
	cuptiEventDomainEnumEvents(id, size, ids);
	cuptiEventGetAttribute(id, CU_EV_EVENT_NAME, size, pointer);
	cuptiEventGetIdFromName(device, "", ids);
	cuptiEventGroupGetAttribute(pointer, CU_EV_GROUP_EVENTS, size, pointer);
	cuptiEventGroupSetAttribute(pointer, CU_EV_GROUP_COUNT_ALL, bytes, pointer);
	cuptiEventGroupReadEvent(pointer, 0, id, size, values);
	cuptiEventGroupSetsCreate(pointer, bytes, ids, made);
	cuptiEventGroupSetsDestroy(sets);
	cuptiEventGroupSetEnable(set);
	cuptiEventGroupSetDisable(set);
	cuptiDeviceEnumMetrics(device, size, ids);
	cuptiMetricGetAttribute(id, CU_EV_METRIC_KIND, size, pointer);
	cuptiMetricGetIdFromName(device, "", ids);
	cuptiMetricEnumEvents(id, size, ids);
	cuptiMetricCreateEventGroupSets(pointer, bytes, ids, made);
	cuptiMetricGetValue(device, id, bytes, ids, bytes, values, 1, value);
}
