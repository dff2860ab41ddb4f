/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Objects of the program's by their handles; devices and queues, which are locations.
 *
 * Limits: a sub-device is a device of its own. OTF2 has no paradigm for Level Zero: it is recorded with that
 * of OpenCL, which is the nearest.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gputrace/hash.h"
#include "levelzero/levelzero.h"

#define BUCKETS 4096u


const struct gt_accel_info gt_accel_runtime = {
	.name = "Level Zero",
	.adapter = "levelzero",
	.comm = "LEVEL_ZERO_COMM",
	.window = "LEVEL_ZERO_WINDOW",
	.paradigm = GT_PARADIGM_OPENCL,
};

static struct gt_ze_object *buckets[BUCKETS];
static uint32_t device_count;

static struct gt_ze_object **place_of(enum gt_ze_kind kind, const void *handle)
{
	struct gt_ze_object **at = &buckets[gt_hash_bytes(GT_HASH_START, &handle, sizeof(handle)) % BUCKETS];

	while (*at && ((*at)->handle != handle || (*at)->kind != kind))
		at = &(*at)->next;
	return at;
}

void *gt_ze_find(enum gt_ze_kind kind, const void *handle)
{
	return *place_of(kind, handle);
}

void *gt_ze_take(enum gt_ze_kind kind, const void *handle)
{
	struct gt_ze_object **at = place_of(kind, handle), *object = *at;

	if (object)
		*at = object->next;
	return object;
}

void gt_ze_each(enum gt_ze_kind kind, void (*call)(struct gt_ze_object *object, void *data), void *data)
{
	for (unsigned i = 0; i < BUCKETS; i++)
		for (struct gt_ze_object *object = buckets[i]; object; object = object->next)
			if (object->kind == kind)
				call(object, data);
}

void *gt_ze_put(enum gt_ze_kind kind, void *handle, size_t bytes)
{
	struct gt_ze_object **at, *object = calloc(1, bytes);

	gt_ze_take(kind, handle);
	if (!object)
		return NULL;
	at = place_of(kind, handle);
	object->handle = handle;
	object->kind = kind;
	*at = object;
	return object;
}

/* ---- devices ------------------------------------------------------------------------------------ */

/* 1.2 has the exact rate of the clock; a driver that does not know it answers as before, or not at all. */
static bool ask(void *device, struct gt_ze_abi_device *properties)
{
	static const uint32_t versions[] = { GT_ZE_ABI_DEVICE_PROPERTIES_1_2, GT_ZE_ABI_DEVICE_PROPERTIES };

	for (unsigned i = 0; i < 2; i++) {
		*properties = (struct gt_ze_abi_device){ .stype = versions[i] };
		if (gt_ze.DeviceGetProperties(device, properties) == GT_ZE_SUCCESS)
			return true;
	}
	return false;
}

static void define(struct gt_ze_device *device, const struct gt_ze_abi_device *properties)
{
	char label[64] = "GPU-", address[16], name[320];

	for (unsigned i = 0; i < 16; i++)
		snprintf(label + strlen(label), sizeof(label) - strlen(label), "%s%02x",
			 i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", properties->uuid[15 - i]);
	snprintf(address, sizeof(address), "%u", device->number);
	snprintf(name, sizeof(name), "%.255s", *properties->name ? properties->name : "device");
	gt_accel_device(device->number, label, address, name);
	snprintf(name, sizeof(name), "Level Zero device %u: %.255s", device->number, properties->name);
	device->group = gt_accel_group(name, device->number, 0);
}

struct gt_ze_device *gt_ze_device_of(void *handle)
{
	struct gt_ze_device *device = gt_ze_find(GT_ZE_DEVICE, handle);
	struct gt_ze_abi_device properties;
	static bool said;

	if (device)
		return device;
	if (!ask(handle, &properties)) {
		if (!said)
			gt_message(1,
				   "Level Zero does not describe a device: its activity is not in the trace");
		said = true;
		return NULL;
	}
	device = gt_ze_put(GT_ZE_DEVICE, handle, sizeof(*device));
	if (!device)
		return NULL;
	device->number = device_count++;
	define(device, &properties);
	gt_ze_clock_setup(&device->clock, handle, &properties);
	return device;
}

struct gt_ze_queue *gt_ze_queue_make(enum gt_ze_kind kind, void *handle, void *device_handle)
{
	struct gt_ze_device *device = gt_ze_device_of(device_handle);
	struct gt_ze_queue *queue = NULL;

	if (device && kind == GT_ZE_QUEUE)
		queue = gt_ze_put(kind, handle, sizeof(*queue));
	else if (device)
		queue = calloc(1, sizeof(*queue));
	if (!queue)
		return NULL;
	queue->device = device;
	queue->location = gt_accel_stream(device->group, device->number, device->queues++);
	return queue;
}
