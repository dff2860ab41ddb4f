/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions below the layer; command queues and their devices. Memory is kept until the process ends.
 *
 * Limits: a queue with more than 15 properties is not profiled unless the program asks for that.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl/opencl.h"

enum { MARKERS = 10 };

const struct gt_accel_info gt_accel_runtime = {
	.name = "OpenCL", .adapter = "opencl", .comm = "OPENCL_COMM", .window = "OPENCL_WINDOW",
	.paradigm = GT_PARADIGM_OPENCL,
};

static struct gt_cl_device *devices;
static struct gt_cl_queue *queues;
static uint32_t device_count;

gt_cl_function gt_cl_next[GT_CL_ENTRIES];

bool gt_cl_ask(unsigned place, void *object, uint32_t what, size_t size, void *value)
{
	return gt_cl_next[place] &&
	       ((gt_cl_info)gt_cl_next[place])(object, what, size, value, NULL) == GT_CL_SUCCESS;
}

static void define_device(const struct gt_cl_device *device, char *name, size_t size)
{
	char label[64], address[16];

	if (!gt_cl_ask(GT_CL_GET_DEVICE_INFO, device->handle, GT_CL_DEVICE_NAME, size, name))
		strcpy(name, "device");
	name[size - 1] = 0;
	/* Devices have no number of their own; a node of the system tree needs one, and an address. */
	snprintf(label, sizeof(label), "opencl-%u", device->number);
	snprintf(address, sizeof(address), "%u", device->number);
	gt_accel_device(device->number, label, address, name);
}

/*
 * How the device's clock and ours agree, by markers in a queue of our own: the call that enqueues one is
 * short, as that of a program's command, which may compile a kernel, is not.
 */
static void calibrate(struct gt_cl_device *device, void *context)
{
	void *(*create)(void *, void *, uint64_t, int *) =
		(void *(*)(void *, void *, uint64_t, int *))gt_cl_next[GT_CL_CREATE_QUEUE];
	int (*mark)(void *, void **) = (int (*)(void *, void **))gt_cl_next[GT_CL_MARKER];
	int (*wait)(uint32_t,
		    void *const *) = (int (*)(uint32_t, void *const *))gt_cl_next[GT_CL_WAIT_FOR_EVENTS];
	int (*drop)(void *) = (int (*)(void *))gt_cl_next[GT_CL_RELEASE_EVENT], rc = 0;
	void *queue = create && mark ? create(context, device->handle, GT_CL_PROFILING, &rc) : NULL;

	for (int i = 0; queue && i < MARKERS; i++) {
		uint64_t before = gt_now(), queued, end, after;
		void *event = NULL;

		if (mark(queue, &event) || !event)
			break;
		after = gt_now();
		wait(1, &event);
		gt_accel_clock_note();
		if (gt_cl_ask(GT_CL_GET_EVENT_PROFILING_INFO, event, GT_CL_QUEUED, sizeof(queued), &queued) &&
		    gt_cl_ask(GT_CL_GET_EVENT_PROFILING_INFO, event, GT_CL_END, sizeof(end), &end))
			gt_cl_clock_bound(&device->clock, before, after, queued, end);
		drop(event);
	}
	if (queue)
		((int (*)(void *))gt_cl_next[GT_CL_RELEASE_QUEUE])(queue);
}

static struct gt_cl_device *device_of(void *queue)
{
	struct gt_cl_device *d;
	char name[200] = "", label[300];
	void *handle = NULL, *context = NULL;

	gt_cl_ask(GT_CL_GET_QUEUE_INFO, queue, GT_CL_QUEUE_DEVICE, sizeof(handle), (void *)&handle);
	for (d = devices; d; d = d->next)
		if (d->handle == handle)
			return d;
	d = calloc(1, sizeof(*d));
	if (!d)
		return NULL;
	d->handle = handle;
	d->number = device_count++;
	define_device(d, name, sizeof(name));
	if (gt_cl_ask(GT_CL_GET_QUEUE_INFO, queue, GT_CL_QUEUE_CONTEXT, sizeof(context), (void *)&context))
		calibrate(d, context);
	snprintf(label, sizeof(label), "OpenCL device %u: %s", d->number, name);
	d->group = gt_accel_group(label, d->number, 0);
	d->next = devices;
	devices = d;
	return d;
}

struct gt_cl_queue *gt_cl_queue_add(void *handle, bool asked, bool profiled, const uint64_t *properties)
{
	static uint32_t count;
	struct gt_cl_queue *queue = calloc(1, sizeof(*queue));
	uint64_t bits = 0;

	if (!queue || !(queue->device = device_of(handle))) {
		free(queue);
		return NULL;
	}
	gt_cl_ask(GT_CL_GET_QUEUE_INFO, handle, GT_CL_QUEUE_PROPERTIES, sizeof(bits), &bits);
	queue->handle = handle;
	queue->number = count++;
	queue->out_of_order = bits & GT_CL_OUT_OF_ORDER;
	queue->asked = asked;
	queue->profiled = profiled;
	for (; properties && queue->property_count < 15; queue->property_count++) {
		queue->properties[queue->property_count] = properties[queue->property_count];
		if (!properties[queue->property_count]) {
			queue->property_count++;
			break;
		}
	}
	queue->last = &queue->first;
	queue->location = profiled ? gt_accel_stream(queue->device->group, queue->device->number,
							      queue->number)
				    : NULL;
	queue->next = queues;
	queues = queue;
	return queue;
}

struct gt_cl_queue *gt_cl_queue_find(void *handle)
{
	struct gt_cl_queue *queue = queues;

	while (queue && queue->handle != handle)
		queue = queue->next;
	return queue;
}

struct gt_cl_queue *gt_cl_queues(void)
{
	return queues;
}
