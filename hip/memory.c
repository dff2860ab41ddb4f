/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The device memory that the program holds (VT_GPUTRACE_MEMUSAGE): a metric of each device, on its default
 * stream. And whether an address is a device's memory.
 *
 * Limits: with the lock. Sizes of blocks are kept, because a release tells neither size nor agent. Memory by
 * the virtual memory interface is not counted.
 */
#include <stdlib.h>

#include "hip/hip.h"

enum { DEVICES = 64, BLOCKS = 1024 };
#define DEFAULT_STREAM 1u /* its number + 1 */

static struct held {
	uint64_t agent, bytes;
	gt_ref metric;
} held[DEVICES];
static unsigned held_count;

static struct block {
	uint64_t address, bytes, agent;
	struct block *next;
} *blocks[BLOCKS];

static struct held *find(uint64_t agent)
{
	struct gt_metric_info info = {
		.bytes = sizeof(info),
		.name = "gpu_mem_usage",
		.unit = "B",
		.description = "Device memory that the program holds",
		.value = GT_VALUE_UINT,
		.mode = GT_METRIC_ABSOLUTE_NEXT,
		.scope = 2,
		.scope_id = gt_hip_group(agent),
	};

	for (unsigned i = 0; i < held_count; i++)
		if (held[i].agent == agent)
			return &held[i];
	if (held_count == DEVICES)
		return NULL;
	held[held_count] = (struct held){ .agent = agent, .metric = gt_def_metric(&info) };
	return &held[held_count++];
}

static void put(struct held *h, uint64_t end)
{
	gt_location_record(gt_hip_place(h->agent, DEFAULT_STREAM, 0), GT_T_METRIC, h->metric,
			   (uint64_t[2]){ h->bytes, 0 }, 1, gt_accel_ticks(end));
}

static void allocated(const struct rocp_allocation *a)
{
	struct block **at = &blocks[(a->address >> 8) % BLOCKS];
	struct held *h = gt_hip_is_gpu(a->agent.handle) ? find(a->agent.handle) : NULL;
	struct block *b = h ? calloc(1, sizeof(*b)) : NULL;

	if (!b)
		return;
	*b = (struct block){ a->address, a->bytes, a->agent.handle, *at };
	*at = b;
	h->bytes += a->bytes;
	put(h, a->end);
}

static void released(const struct rocp_allocation *a)
{
	struct block **at = &blocks[(a->address >> 8) % BLOCKS], *b;
	struct held *h;

	while (*at && (*at)->address != a->address)
		at = &(*at)->next;
	b = *at;
	h = b ? find(b->agent) : NULL;
	if (!h)
		return;
	h->bytes -= b->bytes;
	*at = b->next;
	free(b);
	put(h, a->end);
}

void gt_hip_memory(const struct rocp_allocation *a)
{
	gt_hip_count(&gt_hip_counts.allocations);
	if (!a->end)
		gt_hip_count(&gt_hip_counts.zero_time);
	else if (a->operation == ROCP_ALLOCATE)
		allocated(a);
	else if (a->operation == ROCP_RELEASE)
		released(a);
}

bool gt_hip_holds(const void *address)
{
	struct hsa_pointer info = { .size = sizeof(info) };
	uint32_t device = 0;

	return gt_hip_ready() && gt_hip_api.pointer &&
	       !gt_hip_api.pointer(address, &info, NULL, NULL, NULL) && info.type != HSA_UNKNOWN_MEMORY &&
	       info.owner &&
	       !gt_hip_api.agent_info(info.owner, HSA_ABOUT_DEVICE, &device) && device == HSA_DEVICE_GPU;
}
