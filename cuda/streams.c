/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes the locations of the device's events: a location group for each context, a location for each
 * stream. What overlaps on one stream, as the branches of a graph do, is parted when assembling.
 *
 * Limits: only the reading thread comes here, but for contexts; memory is kept until the process ends.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cuda/cuda.h"
#include "accel/wait.h"

#define BUCKETS 256u

static struct gt_cu_context *contexts;
static struct gt_cu_stream *buckets[BUCKETS];

/* Names that the program gave to streams: CUPTI's number of the stream, and the text. */
#define NAMES 512u
static struct {
	uint32_t stream;
	char text[64];
} names[NAMES];
static uint32_t name_count; /* atomic */
static struct gt_lock naming; /* of who adds one */

static struct gt_cu_context *context_locked(uint32_t device, uint32_t context)
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
		gt_cu_device_define(device);
	c->id = context;
	c->device = device;
	snprintf(name, sizeof(name), "CUDA Context %u on device %u", context, device);
	c->group = gt_def_locgroup(name, 1, (uint64_t)device << 32 | context);
	c->next = contexts;
	contexts = c;
	return c;
}

static struct gt_cu_context *find_context(uint32_t device, uint32_t context)
{
	static struct gt_lock lock;
	uint64_t mask = gt_lock(&lock);
	struct gt_cu_context *c = mask == GT_LOCK_REFUSED ? NULL : context_locked(device, context);

	gt_unlock(&lock, mask);
	return c;
}

gt_ref gt_cu_context_group(uint32_t device, uint32_t context)
{
	struct gt_cu_context *c = find_context(device, context);

	return c ? c->group : GT_NONE;
}

static bool make_location(struct gt_cu_stream *p)
{
	p->location = gt_accel_stream(p->owner->group, p->device, p->stream);
	return p->location;
}

/* ---- locations that are used again (VT_GPUTRACE=stream_reuse) ------------------------------------------ */

#define GONE  16384u
#define EARLY 65536u

/* Streams that the program has destroyed, until the reading thread looks. */
static struct {
	uint32_t context, stream, newest;
} gone[GONE];
static uint32_t gone_count;
static struct gt_lock going;
static uint32_t newest_stream;       /* atomic */
static struct gt_cu_stream *free_rows;

/* Used by the reading thread: destroyed streams without a location yet, whose records are still to come. */
static struct early {
	uint32_t context, stream, newest;
	struct early *next;
} *early[BUCKETS];
static uint32_t early_count;

static bool stream_number(void *context, void *stream, uint32_t *number)
{
	return gt_cu_state_now() == GT_CU_READY && gt_cu_api.stream_id &&
	       !gt_cu_api.stream_id(context, stream, 0, number);
}

void gt_cu_stream_made(void *context, void *stream)
{
	uint32_t number, before = __atomic_load_n(&newest_stream, __ATOMIC_RELAXED);

	if (!stream_number(context, stream, &number))
		return;
	while (number > before && !__atomic_compare_exchange_n(&newest_stream, &before, number, false,
							       __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

void gt_cu_stream_gone(void *context, void *stream)
{
	uint32_t number, owner;
	uint64_t mask;

	if (!gt_cu_api.context_id || gt_cu_api.context_id(context, &owner) ||
	    !stream_number(context, stream, &number))
		return;
	mask = gt_lock(&going);
	if (mask != GT_LOCK_REFUSED && gone_count < GONE) { /* else it keeps its location */
		gone[gone_count].context = owner;
		gone[gone_count].stream = number;
		gone[gone_count].newest = __atomic_load_n(&newest_stream, __ATOMIC_RELAXED);
		gone_count++;
	}
	gt_unlock(&going, mask);
}

static struct gt_cu_stream *find_place(uint32_t context, uint32_t stream)
{
	struct gt_cu_stream *p = buckets[(context * 31u + stream) % BUCKETS];

	while (p && (p->stream != stream || p->context != context))
		p = p->next;
	return p;
}

static void free_row(struct gt_cu_stream *p, uint32_t newest)
{
	p->newest = newest;
	p->next_gone = free_rows;
	free_rows = p;
}

static void note_early(uint32_t context, uint32_t stream, uint32_t newest)
{
	struct early *e = early_count < EARLY ? malloc(sizeof(*e)) : NULL;
	uint32_t hash = (context * 31u + stream) % BUCKETS;

	if (!e)
		return; /* it keeps its location */
	*e = (struct early){ context, stream, newest, early[hash] };
	early[hash] = e;
	early_count++;
}

/* A place was made: is its stream gone already? */
static void look_early(struct gt_cu_stream *p)
{
	struct early **at = &early[(p->context * 31u + p->stream) % BUCKETS], *e;

	while (*at && ((*at)->context != p->context || (*at)->stream != p->stream))
		at = &(*at)->next;
	e = *at;
	if (!e)
		return;
	*at = e->next;
	free_row(p, e->newest);
	free(e);
	early_count--;
}

static void take_gone(void)
{
	uint64_t mask;

	if (!__atomic_load_n(&gone_count, __ATOMIC_RELAXED))
		return;
	mask = gt_lock(&going);
	for (uint32_t i = 0; mask != GT_LOCK_REFUSED && i < gone_count; i++) {
		struct gt_cu_stream *p = find_place(gone[i].context, gone[i].stream);

		if (p && p->location)
			free_row(p, gone[i].newest);
		else /* its first record is on the way, or just being read */
			note_early(gone[i].context, gone[i].stream, gone[i].newest);
	}
	if (mask != GT_LOCK_REFUSED)
		gone_count = 0;
	gt_unlock(&going, mask);
}

/* The location of a stream of this context that was gone before this one was made. */
static bool take_row(struct gt_cu_stream *p)
{
	struct gt_cu_stream **at = &free_rows, *old;

	take_gone();
	while (*at && ((*at)->context != p->context || (*at)->newest >= p->stream))
		at = &(*at)->next_gone;
	old = *at;
	if (!old)
		return false;
	*at = old->next_gone;
	p->location = old->location;
	p->reused = true;
	return true;
}

/* ---- streams ------------------------------------------------------------------------------------ */

struct gt_cu_stream *gt_cu_stream_of(uint32_t device, uint32_t context, uint32_t stream)
{
	uint32_t hash = (context * 31u + stream) % BUCKETS;
	struct gt_cu_stream *p = find_place(context, stream);

	if (p)
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
	if (!p->owner || (!(gt_cu_options.stream_reuse && take_row(p)) && !make_location(p)))
		return NULL;
	if (gt_cu_options.stream_reuse)
		look_early(p);
	return p;
}

struct gt_cu_stream *gt_cu_stream_of_context(uint32_t context)
{
	for (unsigned i = 0; i < BUCKETS; i++)
		for (struct gt_cu_stream *p = buckets[i]; p; p = p->next)
			if (p->context == context && p->location)
				return p;
	return NULL;
}

void gt_cu_name_stream(void *stream, const char *name)
{
	uint32_t id = 0, n;
	uint64_t mask;

	if (gt_cu_state_now() != GT_CU_READY || !gt_cu_api.stream_id ||
	    gt_cu_api.stream_id(NULL, stream, 0, &id))
		return;
	mask = gt_lock(&naming);
	n = mask == GT_LOCK_REFUSED ? NAMES : name_count;
	if (n < NAMES) {
		names[n].stream = id;
		snprintf(names[n].text, sizeof(names[n].text), "%s", name);
		__atomic_store_n(&name_count, n + 1, __ATOMIC_RELEASE); /* pairs with gt_cu_streams_name() */
	}
	gt_unlock(&naming, mask);
}

void gt_cu_streams_name(void)
{
	uint32_t n = __atomic_load_n(&name_count, __ATOMIC_ACQUIRE);
	char name[160];

	take_gone();
	if (!n)
		return;
	for (unsigned i = 0; i < BUCKETS; i++)
		for (struct gt_cu_stream *p = buckets[i]; p; p = p->next)
			for (; p->location && p->named < n; p->named++) {
				if (names[p->named].stream != p->stream || p->reused)
					continue;
				snprintf(name, sizeof(name), "CUDA[%u:%u] %s", p->device, p->stream,
					 names[p->named].text);
				gt_location_name(p->location, name);
			}
}
