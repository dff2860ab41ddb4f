/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Identifies a device by its number: UUID, bus address and name, as the driver gives them. Processes may
 * number devices differently (CUDA_VISIBLE_DEVICES); the archive has one node for each device.
 *
 * Limits: a driver without one of the functions, or one that is on
 * its way out, tells nothing: then the device has no node of its own.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "cuda/cuda.h"

struct driver {
	int (*get)(int *device, int ordinal);
	int (*name)(char *name, int size, int device);
	int (*uuid)(unsigned char *uuid, int device);
	int (*address)(char *address, int size, int device);
};

static bool find_driver(void *handle, struct driver *driver)
{
	static const struct {
		const char *name, *older;
	} functions[] = {
		{ "cuDeviceGet", NULL },
		{ "cuDeviceGetName", NULL },
		{ "cuDeviceGetUuid_v2", "cuDeviceGetUuid" }, /* of a part of a device, where it is one */
		{ "cuDeviceGetPCIBusId", NULL },
	};
	void *symbols[4];

	for (unsigned i = 0; i < 4; i++) {
		symbols[i] = dlsym(handle, functions[i].name);
		if (!symbols[i] && functions[i].older)
			symbols[i] = dlsym(handle, functions[i].older);
		if (!symbols[i])
			return false;
	}
	memcpy(driver, symbols, sizeof(*driver));
	return true;
}

/* "GPU-1b2c..-.." as nvidia-smi writes it. */
static void format_uuid(const unsigned char *uuid, char *text)
{
	unsigned n = (unsigned)sprintf(text, "GPU");

	for (unsigned i = 0; i < 16; i++)
		n += (unsigned)sprintf(text + n, i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x"
												: "%02x",
				       uuid[i]);
}

const char *gt_cu_device_uuid(uint32_t device, char *text, size_t size)
{
	void *handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	unsigned char uuid[16] = { 0 };
	struct driver driver;
	int number = 0;

	snprintf(text, size, "%u", device);
	if (handle && size > 40 && find_driver(handle, &driver) && !driver.get(&number, (int)device) &&
	    !driver.uuid(uuid, number))
		format_uuid(uuid, text);
	if (handle)
		dlclose(handle);
	return text;
}

unsigned gt_cu_device_capability(uint32_t device, int *number)
{
	enum { MAJOR = 75, MINOR = 76 };
	void *handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	void *symbol = handle ? dlsym(handle, "cuDeviceGetAttribute") : NULL;
	int (*attribute)(int *value, int which, int device) = NULL;
	struct driver driver;
	int n = 0, major = 0, minor = 0;

	memcpy(&attribute, &symbol, sizeof(attribute));
	if (!attribute || !find_driver(handle, &driver) || driver.get(&n, (int)device) ||
	    attribute(&major, MAJOR, n) || attribute(&minor, MINOR, n))
		major = minor = 0;
	if (handle)
		dlclose(handle);
	if (number)
		*number = n;
	return (unsigned)(10 * major + minor);
}

void gt_cu_device_define(uint32_t device)
{
	void *handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	char name[256] = "", address[32] = "", uuid_text[64];
	unsigned char uuid[16] = { 0 };
	struct driver driver;
	int number = 0;

	if (!handle)
		return;
	if (find_driver(handle, &driver) && !driver.get(&number, (int)device) &&
	    !driver.name(name, sizeof(name), number) && !driver.uuid(uuid, number) &&
	    !driver.address(address, sizeof(address), number) && *address) {
		name[sizeof(name) - 1] = 0;
		address[sizeof(address) - 1] = 0;
		format_uuid(uuid, uuid_text);
		gt_accel_device(device, uuid_text, address, name);
	}
	dlclose(handle);
}
