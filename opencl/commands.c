/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands: enqueued by the program, with an event by which the device says later when it ran them. Nothing
 * runs on threads of the driver: what is over is found when the program enqueues more, waits, or ends.
 *
 * Limits: an event of the program's is held until then; clGetEventInfo() does not show that.
 */
#include <stdlib.h>
#include <string.h>

#include "opencl/opencl.h"

enum { AT_ONCE = 4, LOOKED_AT = 64 };

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
static uint64_t last_correlation;

void gt_cl_commands_setup(void)
{
	const char *transfers = gt_setting("VT_GPU_TRANSFERS");

	gt_accel_setup(transfers && !strcmp(transfers, "rma"));
	gt_accel_params_setup(&(struct gt_accel_param_names){
		.size = { "global work size", "local work size" } });
}

static struct gt_accel_name *name_of(const struct gt_cl_work *work)
{
	char name[1024];

	if (work->name)
		return gt_accel_named(work->name, false,
				      strstr(work->name, " fill ") ? "OPENCL_MEMSET" : "OPENCL_MEMCPY",
				      GT_REGION_ROLE_DATA_TRANSFER);
	if (!work->kernel)
		strcpy(name, "native kernel");
	else if (!gt_cl_ask(GT_CL_GET_KERNEL_INFO, work->kernel, GT_CL_KERNEL_NAME, sizeof(name), name) ||
		 !*name)
		strcpy(name, "kernel without a name");
	name[sizeof(name) - 1] = 0;
	return gt_accel_named(name, false, "OPENCL_KERNEL", GT_REGION_ROLE_FUNCTION);
}

static gt_ref params_of(struct gt_accel_name *name, const struct gt_cl_work *work)
{
	struct gt_accel_launch launch = { { { 0 } }, { 0 } };

	if (!work->dimensions || work->dimensions > 3 || !work->global)
		return GT_NONE;
	for (unsigned i = 0; i < 3; i++) {
		launch.size[0][i] = i < work->dimensions ? work->global[i] : 1;
		if (work->local)
			launch.size[1][i] = i < work->dimensions ? work->local[i] : 1;
	}
	return gt_accel_params(name, &launch);
}

static void record(const struct gt_cl_queue *queue, const struct gt_cl_command *c, uint64_t start,
		   uint64_t end)
{
	gt_accel_write(&(struct gt_accel_activity){
		.at = queue->location,
		.region = c->region,
		.params = c->params,
		.start = start,
		.end = end,
		.correlation = c->correlation,
		.bytes = c->bytes,
		.has_bytes = c->bytes,
		.direction = c->direction,
		.host = c->location,
	});
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
	if (!gt_accel_lock(false))
		return;
	gt_accel_clock_note();
	for (struct gt_cl_queue *queue = gt_cl_queues(); queue; queue = queue->next)
		if (queue->first && (!handle || queue->handle == handle))
			collect(queue, UINT32_MAX);
	gt_accel_unlock();
}

void gt_cl_collect_last(void)
{
	uint64_t left = 0;

	if (!gt_accel_lock(true))
		return;
	gt_accel_clock_note();
	for (struct gt_cl_queue *queue = gt_cl_queues(); queue; queue = queue->next) {
		collect(queue, UINT32_MAX);
		for (const struct gt_cl_command *c = queue->first; c; c = c->next)
			left += 2;
		queue->first = NULL;
		queue->last = &queue->first;
	}
	gt_accel_unlock();
	if (left)
		gt_lost(GT_LOSS_LATE, left);
}

/* ---- enqueueing --------------------------------------------------------------------------------- */

void gt_cl_enqueue_begin(struct gt_cl_enqueue *e, gt_ref region, void **event)
{
	*e = (struct gt_cl_enqueue){ .event = event, .region = region };
	if (!gt_accel_alive() || !gt_active())
		return;
	e->active = true;
	e->correlation = __atomic_add_fetch(&last_correlation, 1, __ATOMIC_RELAXED);
	if (!event)
		e->event = &e->own;
	if (!gt_enter_attribute(region, gt_accel_refs.correlation, e->correlation, 0))
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
	struct gt_accel_name *name;

	if (!c)
		return false;
	name = name_of(work);
	*c = (struct gt_cl_command){
		.event = *e->event,
		.theirs = !e->own,
		.before = e->before,
		.after = after,
		.bytes = work->bytes,
		.correlation = e->correlation,
		.region = name ? name->region : GT_NONE,
		.params = name ? params_of(name, work) : GT_NONE,
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
	if (result == GT_CL_SUCCESS && *e->event && gt_accel_lock(false)) {
		queue = gt_cl_queue_find(handle);
		added = add(queue, e, after, work);
		if (added) {
			gt_accel_clock_note();
			collect(queue, work->blocking ? UINT32_MAX : AT_ONCE);
		}
		gt_accel_unlock();
	}
	if (!added && e->own)
		((int (*)(void *))gt_cl_next[GT_CL_RELEASE_EVENT])(e->own);
}

bool gt_cl_is_held(void *event)
{
	bool held = false;

	if (!gt_accel_lock(false))
		return false;
	for (struct gt_cl_queue *queue = gt_cl_queues(); queue; queue = queue->next)
		for (const struct gt_cl_command *c = queue->first; c; c = c->next)
			held |= c->event == event && c->theirs;
	gt_accel_unlock();
	return held;
}
