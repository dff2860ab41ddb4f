/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the device's events go: a location group for each context, a location for each stream, and
 * further ones (lanes) for what overlaps on one stream, as the branches of a graph do.
 *
 * Limits: only the reading thread comes here; memory is kept until the process ends. A lane remembers
 * its latest RECENT records; what is older than all of these goes to the first lane as it is.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/cuda.h"

#define BUCKETS 256u
#define RECENT  1024u /* a power of two */
#define LANES   64u

static struct gt_cu_context *contexts;
static struct gt_cu_place *buckets[BUCKETS];
static struct gt_location *side;

static struct gt_cu_context *find_context(uint32_t device, uint32_t context)
{
	struct gt_cu_context *c;
	char name[80];

	for (c = contexts; c; c = c->next)
		if (c->id == context)
			return c;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->id = context;
	c->device = device;
	snprintf(name, sizeof(name), "CUDA Context %u on device %u", context, device);
	c->group = gt_def_locgroup(name, 1, (uint64_t)device << 32 | context);
	c->next = contexts;
	contexts = c;
	return c;
}

static bool add_lane(struct gt_cu_place *p)
{
	struct gt_location_info info = {
		.bytes = sizeof(info),
		.kind = GT_LOC_GPU_STREAM,
		.flags = GT_LOC_UNSORTED | GT_LOC_COMMITS,
		.group = p->owner->group,
		.key = (uint64_t)p->device << 32 | p->stream,
	};
	struct gt_cu_lane *lanes = realloc(p->lanes, (p->lane_count + 1) * sizeof(*lanes));
	struct gt_cu_lane *lane;
	char name[80];

	if (!lanes)
		return false;
	p->lanes = lanes;
	lane = &lanes[p->lane_count];
	memset(lane, 0, sizeof(*lane));
	if (p->lane_count)
		snprintf(name, sizeof(name), "CUDA[%u:%u] lane %u", p->device, p->stream,
			 p->lane_count + 1);
	else
		snprintf(name, sizeof(name), "CUDA[%u:%u]", p->device, p->stream);
	info.name = name;
	lane->recent = calloc(RECENT, 2 * sizeof(*lane->recent));
	lane->location = lane->recent ? gt_location_create(&info) : NULL;
	if (!lane->location) {
		free(lane->recent);
		return false;
	}
	lane->id = gt_location_id(lane->location);
	p->lane_count++;
	return true;
}

struct gt_cu_place *gt_cu_place(uint32_t device, uint32_t context, uint32_t stream)
{
	uint32_t hash = (context * 31u + stream) % BUCKETS;
	struct gt_cu_place *p;

	for (p = buckets[hash]; p; p = p->next)
		if (p->stream == stream && p->context == context)
			return p->lane_count ? p : NULL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->device = device;
	p->context = context;
	p->stream = stream;
	p->owner = find_context(device, context);
	p->next = buckets[hash];
	buckets[hash] = p; /* also if it fails: that is not tried for every record */
	if (!p->owner || !add_lane(p))
		return NULL;
	return p;
}

struct gt_cu_place *gt_cu_place_of_context(uint32_t context)
{
	for (unsigned i = 0; i < BUCKETS; i++)
		for (struct gt_cu_place *p = buckets[i]; p; p = p->next)
			if (p->context == context && p->lane_count)
				return p;
	return NULL;
}

static uint64_t *nth(const struct gt_cu_lane *lane, uint32_t i)
{
	return &lane->recent[2 * ((lane->first + i) % RECENT)];
}

/* Puts an interval into the lane if nothing is there at that time. */
static bool fits(struct gt_cu_lane *lane, uint64_t start, uint64_t end, bool anyway)
{
	uint32_t low = 0, high = lane->count;

	while (low < high) { /* the first that begins after `start` */
		uint32_t mid = (low + high) / 2;

		if (nth(lane, mid)[0] <= start)
			low = mid + 1;
		else
			high = mid;
	}
	if (!anyway && low && nth(lane, low - 1)[1] > start)
		return false;
	if (!anyway && low < lane->count && nth(lane, low)[0] < end)
		return false;
	if (lane->count == RECENT) {
		if (!low)
			return true; /* older than all that is remembered */
		lane->first = (lane->first + 1) % RECENT;
		lane->count--;
		low--;
	}
	for (uint32_t i = lane->count; i > low; i--) {
		nth(lane, i)[0] = nth(lane, i - 1)[0];
		nth(lane, i)[1] = nth(lane, i - 1)[1];
	}
	nth(lane, low)[0] = start;
	nth(lane, low)[1] = end;
	lane->count++;
	if (end > lane->end)
		lane->end = end;
	return true;
}

struct gt_cu_lane *gt_cu_lane(struct gt_cu_place *p, uint64_t start, uint64_t end)
{
	for (unsigned i = 0; i < p->lane_count; i++)
		if (fits(&p->lanes[i], start, end, false)) {
			gt_cu_count(&gt_cu_counts.lanes, i > 0);
			return &p->lanes[i];
		}
	if (p->lane_count < LANES && add_lane(p)) {
		gt_cu_count(&gt_cu_counts.lanes, 1);
		fits(&p->lanes[p->lane_count - 1], start, end, true);
		return &p->lanes[p->lane_count - 1];
	}
	fits(&p->lanes[0], start, end, true);
	return &p->lanes[0];
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
