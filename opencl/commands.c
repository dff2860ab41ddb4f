/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands: enqueued by the program, with an event by which the device says later when it ran them. Nothing
 * runs on threads of the driver: what is over is found when the program enqueues more, waits, or ends.
 *
 * Limits: an event of the program's is held until then; clGetEventInfo() does not show that.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gputrace/hash.h"
#include "opencl/opencl.h"

enum { AT_ONCE = 4, LOOKED_AT = 64, SIZES = 256 };

struct gt_cl_command {
	void *event;
	uint64_t before, after, bytes, correlation;
	gt_ref region, params;
	uint32_t location;
	uint8_t direction;
	bool theirs; /* the event is the program's, too */
	struct gt_cl_command *next;
};

static struct gt_cl_command *unused;
static struct gt_location *deferred;
static uint64_t last_correlation;
static gt_ref attribute_correlation, attribute_bytes, param_global, param_local, comm;

void gt_cl_commands_setup(void)
{
	attribute_correlation = gt_def_attribute("CORRELATION_ID", "Number of the call that caused it",
						 GT_VALUE_UINT);
	attribute_bytes = gt_def_attribute("BYTES", "Bytes that were copied or set", GT_VALUE_UINT);
	param_global = gt_def_parameter("global work size", GT_VALUE_UINT);
	param_local = gt_def_parameter("local work size", GT_VALUE_UINT);
	comm = gt_def_comm("OPENCL_COMM", GT_NONE, GT_CL_PARADIGM, 0);
}

/* ---- regions of the device ---------------------------------------------------------------------- */

static gt_ref region_named(const char *name, bool kernel)
{
	const char *copies = strstr(name, " fill ") ? "OPENCL_MEMSET" : "OPENCL_MEMCPY";
	static struct known {
		char *name;
		gt_ref region;
		struct known *next;
	} *buckets[256];
	uint32_t hash = (uint32_t)gt_hash_text(GT_HASH_START, name) % 256;
	const struct gt_region_info info = {
		.bytes = sizeof(info),
		.name = name,
		.group = kernel ? "OPENCL_KERNEL" : copies,
		.role = kernel ? GT_CL_ROLE_FUNCTION : GT_CL_ROLE_TRANSFER,
		.paradigm = GT_CL_PARADIGM,
	};
	struct known *k;

	for (k = buckets[hash]; k; k = k->next)
		if (!strcmp(k->name, name))
			return k->region;
	k = calloc(1, sizeof(*k));
	if (!k || !(k->name = strdup(name))) {
		free(k);
		return GT_NONE;
	}
	k->region = gt_def_region(&info);
	k->next = buckets[hash];
	buckets[hash] = k;
	return k->region;
}

static gt_ref region_of(const struct gt_cl_work *work)
{
	char name[1024];

	if (work->name)
		return region_named(work->name, false);
	name[0] = 0;
	if (!work->kernel)
		return region_named("native kernel", true);
	if (!gt_cl_ask(GT_CL_GET_KERNEL_INFO, work->kernel, GT_CL_KERNEL_NAME, sizeof(name), name) || !*name)
		return region_named("kernel without a name", true);
	name[sizeof(name) - 1] = 0;
	return region_named(name, true);
}

static gt_ref dimensions(const size_t *of, uint32_t count)
{
	char text[80];

	snprintf(text, sizeof(text), "(%zu,%zu,%zu)", of[0], count > 1 ? of[1] : 1, count > 2 ? of[2] : 1);
	return gt_def_string(text);
}

/* Sizes of kernels come again and again: the last ones of each hash are kept. */
static gt_ref params_of(const struct gt_cl_work *work)
{
	static struct sizes {
		size_t of[6];
		gt_ref id;
	} kept[SIZES];
	struct sizes sizes = { { 0 }, GT_NONE };
	struct gt_def_param params[2];
	struct sizes *at;
	unsigned n = 0;

	if (!work->dimensions || work->dimensions > 3 || !work->global)
		return GT_NONE;
	memcpy(sizes.of, work->global, work->dimensions * sizeof(size_t));
	if (work->local)
		memcpy(sizes.of + 3, work->local, work->dimensions * sizeof(size_t));
	at = &kept[gt_hash_bytes(GT_HASH_START, sizes.of, sizeof(sizes.of)) % SIZES];
	if (at->id && !memcmp(at->of, sizes.of, sizeof(sizes.of)))
		return at->id;
	params[n++] = (struct gt_def_param){ GT_T_PARAM_STR, param_global,
					     dimensions(work->global, work->dimensions) };
	if (work->local)
		params[n++] = (struct gt_def_param){ GT_T_PARAM_STR, param_local,
						     dimensions(work->local, work->dimensions) };
	sizes.id = gt_def_params(params, n);
	*at = sizes;
	return sizes.id;
}

/* ---- records ------------------------------------------------------------------------------------ */

/* A record of a thread of the host, at a time that is past. */
static void defer(uint32_t location, unsigned type, const uint64_t *data, uint64_t tick)
{
	static const struct gt_location_info info = {
		.bytes = sizeof(info),
		.name = "OpenCL",
		.kind = GT_LOC_DEFERRED,
		.flags = GT_LOC_UNSORTED | GT_LOC_COMMITS,
	};
	static bool tried;

	if (!deferred && !tried) {
		tried = true;
		deferred = gt_location_create(&info);
	}
	gt_location_record(deferred, GT_T_FOR_LOCATION, location, NULL, 0, tick);
	gt_location_record(deferred, type, comm, data, 1, tick);
}

/* One end of the message that a copy is. */
static void message_end(const struct gt_cl_queue *queue, const struct gt_cl_command *c, bool send,
			bool on_device, uint32_t other, uint64_t tick)
{
	uint64_t data[2] = { other | (uint64_t)(uint32_t)c->correlation << 32, c->bytes };

	if (on_device)
		gt_location_record(queue->location, send ? GT_T_XFER_SEND : GT_T_XFER_RECV, comm, data, 1,
				   tick);
	else if (c->location != UINT32_MAX)
		defer(c->location, send ? GT_T_XFER_SEND : GT_T_XFER_RECV, data, tick);
}

static void record(const struct gt_cl_queue *queue, const struct gt_cl_command *c, uint64_t start,
		   uint64_t end)
{
	struct gt_location *l = queue->location;
	uint32_t here = gt_location_id(l);
	bool message = c->direction && c->location != UINT32_MAX;

	gt_location_record(l, GT_T_ATTR, attribute_correlation, (uint64_t[2]){ c->correlation, 0 }, 1, start);
	if (c->bytes)
		gt_location_record(l, GT_T_ATTR, attribute_bytes, (uint64_t[2]){ c->bytes, 0 }, 1, start);
	gt_location_record(l, GT_T_ENTER, c->region, NULL, 0, start);
	if (c->params)
		gt_location_record(l, GT_T_PARAMS, c->params, NULL, 0, start);
	if (message)
		message_end(queue, c, true, c->direction != GT_CL_TO_DEVICE,
			    c->direction == GT_CL_FROM_DEVICE ? c->location : here, start);
	if (message)
		message_end(queue, c, false, c->direction != GT_CL_FROM_DEVICE,
			    c->direction == GT_CL_TO_DEVICE ? c->location : here, end);
	gt_location_record(l, GT_T_LEAVE, c->region, NULL, 0, end);
}

/* ---- what is over ------------------------------------------------------------------------------- */

static bool time_of(const struct gt_cl_command *c, uint32_t what, uint64_t *ns)
{
	return gt_cl_ask(GT_CL_GET_EVENT_PROFILING_INFO, c->event, what, sizeof(*ns), ns);
}

static void finish(struct gt_cl_queue *queue, struct gt_cl_command *c, int status)
{
	uint64_t queued, start, end;

	if (status < 0 || !c->region)
		return;
	if (!time_of(c, GT_CL_QUEUED, &queued) || !time_of(c, GT_CL_START, &start) ||
	    !time_of(c, GT_CL_END, &end) || !queue->location) {
		gt_lost(GT_LOSS_NO_LOCATION, 2);
		return;
	}
	gt_cl_clock_bound(&queue->device->clock, c->before, c->after, queued, end);
	start = gt_cl_ticks(&queue->device->clock, start);
	end = gt_cl_ticks(&queue->device->clock, end);
	record(queue, c, start, end > start ? end : start);
}

/* Looks at the oldest commands of a queue, and records at most `most` that are over. */
static void collect(struct gt_cl_queue *queue, unsigned most)
{
	struct gt_cl_command **at = &queue->first;
	unsigned seen = 0;

	while (*at && most && (most > AT_ONCE || seen++ < LOOKED_AT)) {
		struct gt_cl_command *c = *at;
		int status = -1;

		if (gt_cl_ask(GT_CL_GET_EVENT_INFO, c->event, GT_CL_EVENT_STATUS, sizeof(status), &status) &&
		    status > 0) {
			if (!queue->out_of_order)
				return;
			at = &c->next;
			continue;
		}
		finish(queue, c, status);
		((int (*)(void *))gt_cl_next[GT_CL_RELEASE_EVENT])(c->event);
		*at = c->next;
		if (!*at)
			queue->last = at;
		c->next = unused;
		unused = c;
		most--;
	}
}

void gt_cl_collect(void *handle)
{
	if (!gt_cl_lock(false))
		return;
	gt_cl_clock_note();
	for (struct gt_cl_queue *queue = gt_cl_queues(); queue; queue = queue->next)
		if (queue->first && (!handle || queue->handle == handle))
			collect(queue, UINT32_MAX);
	gt_cl_unlock();
}

void gt_cl_collect_last(void)
{
	uint64_t left = 0;

	if (!gt_cl_lock(true))
		return;
	gt_cl_clock_note();
	for (struct gt_cl_queue *queue = gt_cl_queues(); queue; queue = queue->next) {
		collect(queue, UINT32_MAX);
		for (const struct gt_cl_command *c = queue->first; c; c = c->next)
			left += 2;
		queue->first = NULL;
		queue->last = &queue->first;
	}
	gt_cl_unlock();
	if (left)
		gt_lost(GT_LOSS_LATE, left);
}

/* ---- enqueueing --------------------------------------------------------------------------------- */

void gt_cl_enqueue_begin(struct gt_cl_enqueue *e, gt_ref region, void **event)
{
	*e = (struct gt_cl_enqueue){ .event = event, .region = region };
	if (!gt_cl_alive() || !gt_active())
		return;
	e->active = true;
	e->correlation = __atomic_add_fetch(&last_correlation, 1, __ATOMIC_RELAXED);
	if (!event)
		e->event = &e->own;
	if (!gt_enter_attribute(region, attribute_correlation, e->correlation, 0))
		e->region = GT_NONE;
	e->before = gt_now();
}

static struct gt_cl_command *command(void)
{
	struct gt_cl_command *c = unused;

	if (c)
		unused = c->next;
	else
		c = malloc(sizeof(*c));
	return c;
}

static bool add(struct gt_cl_queue *queue, const struct gt_cl_enqueue *e, uint64_t after,
		const struct gt_cl_work *work)
{
	struct gt_cl_command *c = queue && queue->profiled ? command() : NULL;

	if (!c)
		return false;
	*c = (struct gt_cl_command){
		.event = *e->event,
		.theirs = !e->own,
		.before = e->before,
		.after = after,
		.bytes = work->bytes,
		.correlation = e->correlation,
		.region = region_of(work),
		.params = params_of(work),
		.location = gt_self_location(),
		.direction = (uint8_t)work->direction,
	};
	if (c->theirs)
		((int (*)(void *))gt_cl_next[GT_CL_RETAIN_EVENT])(c->event);
	*queue->last = c;
	queue->last = &c->next;
	return true;
}

void gt_cl_enqueue_end(struct gt_cl_enqueue *e, int result, void *handle, const struct gt_cl_work *work)
{
	uint64_t after = gt_now();
	struct gt_cl_queue *queue;
	bool added = false;

	if (!e->active)
		return;
	gt_leave(e->region);
	if (result == GT_CL_SUCCESS && *e->event && gt_cl_lock(false)) {
		queue = gt_cl_queue_find(handle);
		added = add(queue, e, after, work);
		if (added) {
			gt_cl_clock_note();
			collect(queue, work->blocking ? UINT32_MAX : AT_ONCE);
		}
		gt_cl_unlock();
	}
	if (!added && e->own)
		((int (*)(void *))gt_cl_next[GT_CL_RELEASE_EVENT])(e->own);
}

bool gt_cl_is_held(void *event)
{
	bool held = false;

	if (!gt_cl_lock(false))
		return false;
	for (struct gt_cl_queue *queue = gt_cl_queues(); queue; queue = queue->next)
		for (const struct gt_cl_command *c = queue->first; c; c = c->next)
			held |= c->event == event && c->theirs;
	gt_cl_unlock();
	return held;
}
