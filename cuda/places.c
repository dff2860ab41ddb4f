/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the device's events go: a location group for each context, a location for each stream. What
 * overlaps on one stream, as the branches of a graph do, is parted when assembling.
 *
 * Limits: only the reading thread comes here; memory is kept until the process ends.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cuda/cuda.h"

#define BUCKETS 256u

static struct gt_cu_context *contexts;
static struct gt_cu_place *buckets[BUCKETS];
static struct gt_location *side;

/* Names that the program gave to streams: CUPTI's number of the stream, and the text. */
#define NAMES 512u
static struct {
	uint32_t stream;
	char text[64];
} names[NAMES];
static uint32_t name_count; /* atomic */
static uint32_t naming;     /* taken by who adds one */

static struct gt_cu_context *find_context(uint32_t device, uint32_t context)
{
	struct gt_cu_context *c;
	bool known = false;
	char name[80];

	for (c = contexts; c; c = c->next) {
		if (c->id == context)
			return c;
		known |= c->device == device;
	}
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	if (!known)
		gt_cu_device_tell(device);
	c->id = context;
	c->device = device;
	snprintf(name, sizeof(name), "CUDA Context %u on device %u", context, device);
	c->group = gt_def_locgroup(name, 1, (uint64_t)device << 32 | context);
	c->next = contexts;
	contexts = c;
	return c;
}

static bool make_location(struct gt_cu_place *p)
{
	struct gt_location_info info = {
		.bytes = sizeof(info),
		.kind = GT_LOC_GPU_STREAM,
		.flags = GT_LOC_UNSORTED | GT_LOC_COMMITS,
		.group = p->owner->group,
		.key = (uint64_t)p->device << 32 | p->stream,
	};
	char name[80];

	snprintf(name, sizeof(name), "CUDA[%u:%u]", p->device, p->stream);
	info.name = name;
	p->location = gt_location_create(&info);
	p->id = p->location ? gt_location_id(p->location) : UINT32_MAX;
	return p->location;
}

struct gt_cu_place *gt_cu_place(uint32_t device, uint32_t context, uint32_t stream)
{
	uint32_t hash = (context * 31u + stream) % BUCKETS;
	struct gt_cu_place *p;

	for (p = buckets[hash]; p; p = p->next)
		if (p->stream == stream && p->context == context)
			return p->location ? p : NULL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->device = device;
	p->context = context;
	p->stream = stream;
	p->owner = find_context(device, context);
	p->next = buckets[hash];
	buckets[hash] = p; /* also if it fails: that is not tried for every record */
	if (!p->owner || !make_location(p))
		return NULL;
	return p;
}

struct gt_cu_place *gt_cu_place_of_context(uint32_t context)
{
	for (unsigned i = 0; i < BUCKETS; i++)
		for (struct gt_cu_place *p = buckets[i]; p; p = p->next)
			if (p->context == context && p->location)
				return p;
	return NULL;
}

void gt_cu_name_stream(void *stream, const char *name)
{
	uint32_t id = 0, n;

	if (gt_cu_state_now() != GT_CU_READY || !gt_cu_api.stream_id ||
	    gt_cu_api.stream_id(NULL, stream, 0, &id))
		return;
	while (__atomic_exchange_n(&naming, 1, __ATOMIC_ACQUIRE))
		;
	n = name_count;
	if (n < NAMES) {
		names[n].stream = id;
		snprintf(names[n].text, sizeof(names[n].text), "%s", name);
		__atomic_store_n(&name_count, n + 1, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&naming, 0, __ATOMIC_RELEASE);
}

void gt_cu_places_name(void)
{
	uint32_t n = __atomic_load_n(&name_count, __ATOMIC_ACQUIRE);
	char name[160];

	if (!n)
		return;
	for (unsigned i = 0; i < BUCKETS; i++)
		for (struct gt_cu_place *p = buckets[i]; p; p = p->next)
			for (; p->location && p->named < n; p->named++) {
				if (names[p->named].stream != p->stream)
					continue;
				snprintf(name, sizeof(name), "CUDA[%u:%u] %s", p->device, p->stream,
					 names[p->named].text);
				gt_location_name(p->location, name);
			}
}

void gt_cu_side(uint32_t location, unsigned type, uint64_t low, const uint64_t *data, unsigned extra,
		uint64_t tick)
{
	static const struct gt_location_info info = {
		.bytes = sizeof(info),
		.name = "CUDA",
		.kind = GT_LOC_SIDE,
		.flags = GT_LOC_UNSORTED | GT_LOC_COMMITS,
	};
	static bool tried;

	if (!side && !tried) {
		tried = true;
		side = gt_location_create(&info);
	}
	if (!side) {
		gt_lost(GT_LOSS_NO_LOCATION, 1);
		return;
	}
	gt_location_record(side, GT_T_FOR_LOCATION, location, NULL, 0, tick);
	gt_location_record(side, type, low, data, extra, tick);
}
