/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes the locations of the device's events: a location group for each agent, a location for each of its
 * streams, or for each queue where rocprofiler-sdk does not say which stream it was. What overlaps on one
 * of them is parted when assembling.
 *
 * Limits: memory is kept until the process ends. An agent that was not announced gets the next number. With
 * the lock, but for gt_hip_agents_find().
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hip/hip.h"

enum { AGENTS = 256, BUCKETS = 256 };
#define ON_QUEUE (1u << 31) /* in keys of locations */

static struct agent {
	uint64_t id;
	uint32_t number;
	bool gpu, defined;
	gt_ref group;
	char uuid[64], address[32], name[128];
} agents[AGENTS];
static unsigned agent_count, gpu_count;

static struct place {
	const struct agent *agent;
	uint64_t stream, queue;
	struct gt_location *location;
	struct place *next;
} *places[BUCKETS];

/* A stream by the program's handle, which may be used again for another one. */
static struct stream {
	uint64_t handle, number;
	char name[64]; /* by roctx; empty: none */
	struct stream *next;
} *streams[BUCKETS];

static struct agent *find(uint64_t id)
{
	for (unsigned i = 0; i < agent_count; i++)
		if (agents[i].id == id)
			return &agents[i];
	return NULL;
}

static struct agent *add(uint64_t id, bool gpu)
{
	struct agent *a = agent_count < AGENTS ? &agents[agent_count] : &agents[AGENTS - 1];

	agent_count += agent_count < AGENTS;
	*a = (struct agent){ .id = id, .gpu = gpu, .number = gpu ? gpu_count : 0 };
	gpu_count += gpu;
	snprintf(a->uuid, sizeof(a->uuid), "hip-%u", a->number);
	snprintf(a->address, sizeof(a->address), "%u", a->number);
	snprintf(a->name, sizeof(a->name), "device");
	return a;
}

/* Does an agent have this member? */
#define HAS(agent, member) \
	((agent)->size >= offsetof(struct rocp_agent, member) + sizeof((agent)->member))

static void describe(struct agent *a, const struct rocp_agent *info)
{
	uint64_t half[2] = { 0, 0 };
	const char *name = NULL;

	if (HAS(info, logical_of_type) && info->logical_of_type >= 0)
		a->number = (uint32_t)info->logical_of_type;
	if (HAS(info, product))
		name = info->product && *info->product ? info->product : info->name;
	if (name && *name)
		snprintf(a->name, sizeof(a->name), "%s", name);
	if (HAS(info, domain) && info->location)
		snprintf(a->address, sizeof(a->address), "%04x:%02x:%02x.%x", info->domain,
			 info->location >> 8 & 0xff, info->location >> 3 & 0x1f, info->location & 7);
	else
		snprintf(a->address, sizeof(a->address), "%u", a->number);
	snprintf(a->uuid, sizeof(a->uuid), "hip-%u", a->number);
	if (HAS(info, uuid))
		memcpy(half, info->uuid, sizeof(half));
	if (half[0] || half[1])
		snprintf(a->uuid, sizeof(a->uuid), "GPU-%016llx%016llx", (unsigned long long)half[0],
			 (unsigned long long)half[1]);
}

static int take(uint32_t version, const void **list, size_t count, void *data)
{
	(void)version;
	(void)data;
	for (size_t i = 0; list && i < count; i++) {
		const struct rocp_agent *info = list[i];

		if (!info || !HAS(info, type) || find(info->id.handle))
			continue;
		if (info->type == ROCP_AGENT_GPU)
			describe(add(info->id.handle, true), info);
		else
			add(info->id.handle, false);
	}
	return ROCP_SUCCESS;
}

int gt_hip_agents_find(void)
{
	return gt_hip_api.agents(ROCP_AGENT_VERSION, take, offsetof(struct rocp_agent, uuid), NULL);
}

bool gt_hip_is_gpu(uint64_t agent)
{
	const struct agent *a = find(agent);

	return !a || a->gpu;
}

static void define(struct agent *a)
{
	char label[192];

	if (a->defined)
		return;
	a->defined = true;
	gt_accel_device(a->number, a->uuid, a->address, a->name);
	snprintf(label, sizeof(label), "HIP device %u: %s", a->number, a->name);
	a->group = gt_accel_group(label, a->number, 0);
}

/* ---- names of streams ------------------------------------------------------------------------------ */

/* A place of a stream that the program has named. */
static void put_name(const struct place *p, const struct stream *s)
{
	char name[160];

	if (!p->location || p->stream != s->number + 1 || !*s->name)
		return;
	snprintf(name, sizeof(name), "%s[%u:%u] %s", gt_accel_runtime.name, p->agent->number,
		 (uint32_t)s->number, s->name);
	gt_location_name(p->location, name);
}

static struct stream **bucket_of(uint64_t handle)
{
	return &streams[(handle >> 4 ^ handle >> 12) % BUCKETS];
}

static struct stream *add_stream(uint64_t handle)
{
	struct stream *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->handle = handle; /* the default stream's is 0, and so is its number */
	s->number = handle ? UINT64_MAX - 1 : 0;
	s->next = *bucket_of(handle);
	*bucket_of(handle) = s;
	return s;
}

/* The newest of this handle. */
static struct stream *stream_of(uint64_t handle)
{
	struct stream *s = *bucket_of(handle);

	while (s && s->handle != handle)
		s = s->next;
	return s ? s : add_stream(handle);
}

/* One that has a name is kept beside it: what it did may be told after a new stream has got its handle. */
void gt_hip_stream_handle(uint64_t number, uint64_t handle)
{
	struct stream *s = handle ? stream_of(handle) : NULL;

	if (s && *s->name)
		s = add_stream(handle);
	if (s)
		s->number = number;
}

void gt_hip_stream_name(uint64_t handle, const char *name)
{
	struct stream *s = stream_of(handle);

	if (!s)
		return;
	snprintf(s->name, sizeof(s->name), "%s", name);
	for (unsigned i = 0; i < BUCKETS; i++)
		for (const struct place *p = places[i]; p; p = p->next)
			put_name(p, s);
}

/* ---- places ---------------------------------------------------------------------------------------- */

static void make(struct place *p)
{
	static uint32_t queues;
	uint32_t number = p->stream && p->stream <= ON_QUEUE ? (uint32_t)(p->stream - 1) : ON_QUEUE | queues;
	char name[80];

	p->location = gt_accel_stream(p->agent->group, p->agent->number, number);
	for (unsigned i = 0; i < BUCKETS; i++)
		for (const struct stream *s = streams[i]; s; s = s->next)
			put_name(p, s);
	if (!(number & ON_QUEUE) || !p->location)
		return;
	snprintf(name, sizeof(name), p->queue || p->stream ? "HIP[%u:queue %u]" : "HIP[%u:copies]",
		 p->agent->number, queues);
	gt_location_name(p->location, name);
	queues++;
}

gt_ref gt_hip_group(uint64_t agent)
{
	struct agent *a = find(agent);

	if (!a)
		a = add(agent, true);
	define(a);
	return a->group;
}

struct gt_location *gt_hip_place(uint64_t agent, uint64_t stream, uint64_t queue)
{
	struct agent *a = find(agent);
	struct place *p, **bucket;

	if (!a)
		a = add(agent, true);
	if (stream)
		queue = 0;
	bucket = &places[(agent * 31 + stream * 7 + (queue >> 4)) % BUCKETS];
	for (p = *bucket; p; p = p->next)
		if (p->agent == a && p->stream == stream && p->queue == queue)
			return p->location;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	define(a);
	*p = (struct place){ .agent = a, .stream = stream, .queue = queue, .next = *bucket };
	make(p);
	*bucket = p; /* also if it failed: that is not tried for every record */
	return p->location;
}
