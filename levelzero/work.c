/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Describes a command: its region, parameters, bytes and direction.
 *
 * Limits: copies of images have no bytes; shared memory is wherever it is.
 */
#include <string.h>

#include "levelzero/levelzero.h"

static struct gt_accel_name *kernel_name(void *handle)
{
	const struct gt_ze_kernel *kernel = gt_ze_find(GT_ZE_KERNEL, handle);
	size_t size = 1024;
	char name[1024] = "";

	if (kernel && kernel->name)
		return gt_accel_named(kernel->name, true, "ZE_KERNEL", GT_REGION_ROLE_FUNCTION);
	if (gt_ze.KernelGetName(handle, &size, name) != GT_ZE_SUCCESS || !*name)
		strcpy(name, "kernel without a name");
	name[sizeof(name) - 1] = 0;
	return gt_accel_named(name, true, "ZE_KERNEL", GT_REGION_ROLE_FUNCTION);
}

static gt_ref params_of(struct gt_accel_name *name, const struct gt_ze_work *work)
{
	const struct gt_ze_kernel *kernel = gt_ze_find(GT_ZE_KERNEL, work->kernel);
	struct gt_accel_launch launch = { { { 0 } }, { 0 } };

	for (unsigned i = 0; i < 3; i++) {
		launch.size[0][i] = work->count ? work->count[i] : 0;
		launch.size[1][i] = kernel ? kernel->size[i] : 0;
	}
	return work->count || kernel ? gt_accel_params(name, &launch) : GT_NONE;
}

enum place { HOST, DEVICE, SHARED };

static enum place place_of(void *context, const void *memory)
{
	struct gt_ze_abi_memory properties = { .stype = GT_ZE_ABI_MEMORY_PROPERTIES };
	void *device = NULL;

	if (gt_ze.MemGetAllocProperties(context, memory, &properties, &device) != GT_ZE_SUCCESS)
		return HOST;
	return properties.type == GT_ZE_MEMORY_DEVICE   ? DEVICE
	       : properties.type == GT_ZE_MEMORY_SHARED ? SHARED : HOST;
}

bool gt_ze_is_on_device(void *context, const void *memory)
{
	return place_of(context, memory) != HOST;
}

/* Shared memory may be anywhere: it counts as the device's where the other end is the host's. */
static const char *copy_name(const struct gt_ze_list *list, const struct gt_ze_work *work,
			     uint8_t *direction)
{
	static const char *const names[3][3] = {
		{ "Level Zero copy host to host", "Level Zero copy host to device",
		  "Level Zero copy host to shared" },
		{ "Level Zero copy device to host", "Level Zero copy device to device",
		  "Level Zero copy device to shared" },
		{ "Level Zero copy shared to host", "Level Zero copy shared to device",
		  "Level Zero copy shared to shared" },
	};
	enum place from = place_of(list->context, work->from), to = place_of(list->context, work->to);

	if (from != HOST && to != HOST)
		*direction = GT_ACCEL_WITHIN;
	else if (from != to)
		*direction = from == HOST ? GT_ACCEL_TO_DEVICE : GT_ACCEL_FROM_DEVICE;
	return names[from][to];
}

void gt_ze_describe(struct gt_ze_command *c, const struct gt_ze_work *work)
{
	struct gt_accel_name *name;

	if (!work->name && !work->copies)
		name = kernel_name(work->kernel);
	else
		name = gt_accel_named(work->copies ? copy_name(c->list, work, &c->direction) : work->name,
				      false, work->group, work->role);
	c->region = name ? name->region : GT_NONE;
	c->params = name && !work->name && !work->copies ? params_of(name, work) : GT_NONE;
	c->bytes = work->bytes;
}
