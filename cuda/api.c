/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding and loading CUPTI: one that is in the process already; one beside the CUDA libraries of a Python
 * program; then the newest of the usual folders.
 *
 * Limits: never linked, only loaded, and only in a process that uses CUDA. A library that lacks one of
 * the needed functions is passed over.
 */
#include "cuda/api.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gt_cupti_api gt_cu_api;

static const struct {
	const char *name;
	size_t at;
	bool needed;
} functions[] = {
#define F(symbol, member, needed) { #symbol, offsetof(struct gt_cupti_api, member), needed }
	F(cuptiGetVersion, version, true),
	F(cuptiSubscribe, subscribe, true),
	F(cuptiEnableCallback, enable_callback, true),
	F(cuptiGetCallbackName, callback_name, true),
	F(cuptiActivityRegisterCallbacks, register_buffers, true),
	F(cuptiActivityEnable, enable, true),
	F(cuptiActivityFlushAll, flush, true),
	F(cuptiActivityGetNextRecord, next_record, true),
	F(cuptiActivityGetNumDroppedRecords, dropped, true),
	F(cuptiGetTimestamp, timestamp, true),
	F(cuptiGetResultString, result_string, true),
	F(cuptiSubscribe_v2, subscribe_v2, false),
	F(cuptiActivityDisable, disable, false),
	F(cuptiActivitySetAttribute, set_attribute, false),
	F(cuptiActivityRegisterTimestampCallback, register_timestamp, false),
	F(cuptiGetStreamIdEx, stream_id, false),
	F(cuptiGetDeviceId, device_id, false),
	F(cuptiGetContextId, context_id, false),
	F(cuptiActivityConfigureUnifiedMemoryCounter, unified_configure, false),
#undef F
};

/* Newest first. A driver serves every CUPTI up to its own version. */
static const char *const names[] = {
	"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8", "libcupti.so",
};
static const char *const folders[] = {
	"", "/usr/local/cuda/extras/CUPTI/lib64/", "/usr/local/cuda/lib64/", "/usr/local/cuda/lib/",
	"/opt/cuda/extras/CUPTI/lib64/",
};

static bool fill(void *handle, struct gt_cupti_api *api)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *symbol = dlsym(handle, functions[i].name);

		if (!symbol && functions[i].needed)
			return false;
		memcpy((char *)api + functions[i].at, &symbol, sizeof(symbol));
	}
	return true;
}

/* The CUDA version that the driver serves, as 1000 * major + 10 * minor; 0: unknown. */
static int driver_version(void)
{
	void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	int (*get)(int *) = NULL;
	void *symbol = cuda ? dlsym(cuda, "cuDriverGetVersion") : NULL;
	int version = 0;

	memcpy(&get, &symbol, sizeof(get));
	if (!get || get(&version))
		version = 0;
	if (cuda)
		dlclose(cuda);
	return version;
}

const char *gt_cu_error(uint32_t error)
{
	void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	int (*get)(int, const char **) = NULL;
	void *symbol = cuda ? dlsym(cuda, "cuGetErrorString") : NULL;
	const char *text = NULL;

	memcpy(&get, &symbol, sizeof(get));
	if (!get || get((int)error, &text))
		text = NULL;
	if (cuda)
		dlclose(cuda);
	return text;
}

/* The CUDA major version that a CUPTI version belongs to. */
static int major_of(uint32_t version)
{
	return version >= 100000 ? (int)(version / 10000) : version >= 18 ? 12 : 11;
}

static bool usable(void *handle, int driver, char *why, size_t size)
{
	struct gt_cupti_api api = { 0 };
	uint32_t version = 0;
	Dl_info info;
	void *symbol;

	if (!fill(handle, &api)) {
		snprintf(why, size, "this CUPTI lacks functions that gputrace needs");
		return false;
	}
	if (api.version(&version)) {
		snprintf(why, size, "this CUPTI does not report its version");
		return false;
	}
	if (driver && major_of(version) > driver / 1000) {
		snprintf(why, size, "CUPTI %u is newer than the driver, which supports CUDA %d.%d",
			 version, driver / 1000, driver % 1000 / 10);
		return false;
	}
	memcpy(&symbol, &api.version, sizeof(symbol));
	if (dladdr(symbol, &info) && info.dli_fname)
		snprintf(api.path, sizeof(api.path), "%s", info.dli_fname);
	gt_cu_api = api;
	return true;
}

/* Folders in which Python's packages of NVIDIA lie, of libraries that the program has loaded. */
struct beside {
	char folder[8][256];
	unsigned count;
};

static int note_folder(struct dl_phdr_info *info, size_t size, void *data)
{
	const char *at = info->dlpi_name ? strstr(info->dlpi_name, "/nvidia/") : NULL;
	struct beside *b = data;
	size_t n = at ? (size_t)(at - info->dlpi_name) + 8 : 0;

	(void)size;
	if (!at || n >= sizeof(b->folder[0]) || b->count == 8)
		return 0;
	for (unsigned i = 0; i < b->count; i++)
		if (strlen(b->folder[i]) == n && !strncmp(b->folder[i], info->dlpi_name, n))
			return 0;
	memcpy(b->folder[b->count], info->dlpi_name, n);
	b->folder[b->count++][n] = 0;
	return 0;
}

static bool load(const char *path, int mode, int driver, char *why, size_t size)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | mode);

	if (handle && usable(handle, driver, why, size))
		return true;
	if (handle)
		dlclose(handle);
	return false;
}

/* The packages lie side by side: beside the program's CUDA is CUPTI. */
static bool look_beside(int driver, char *why, size_t size)
{
	static const char *const places[] = {
		"cu13/lib/libcupti.so.13", "cuda_cupti/lib/libcupti.so.12",
		"cuda_cupti/lib/libcupti.so.11.8",
	};
	struct beside beside = { .count = 0 };
	char path[400];

	dl_iterate_phdr(note_folder, &beside);
	for (unsigned k = 0; k < beside.count; k++)
		for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
			snprintf(path, sizeof(path), "%s%s", beside.folder[k], places[i]);
			if (load(path, 0, driver, why, size))
				return true;
		}
	return false;
}

bool gt_cu_api_load(char *why, size_t size)
{
	int driver = driver_version();

	snprintf(why, size, "no libcupti.so was found (it is part of the CUDA toolkit, and of Python's "
			    "package nvidia-cuda-cupti; LD_LIBRARY_PATH may say where it is)");
	/* What the program has brought in, as PyTorch does: two of them in one process do not go well. */
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (load(names[i], RTLD_NOLOAD, driver, why, size))
			return true;
	if (look_beside(driver, why, size))
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		for (size_t f = 0; f < sizeof(folders) / sizeof(folders[0]); f++) {
			char path[160];

			snprintf(path, sizeof(path), "%s%s", folders[f], names[i]);
			if (load(path, 0, driver, why, size))
				return true;
		}
	}
	return false;
}

void *gt_cu_api_symbol(const char *name)
{
	void *handle = gt_cu_api.path[0] ? dlopen(gt_cu_api.path, RTLD_NOW | RTLD_NOLOAD) : NULL;
	void *symbol = handle ? dlsym(handle, name) : NULL;

	if (handle) /* it stays: it was loaded before */
		dlclose(handle);
	return symbol;
}

const char *gt_cu_result(int result)
{
	const char *text = NULL;

	if (gt_cu_api.result_string && !gt_cu_api.result_string(result, &text) && text)
		return text;
	return "an unknown error";
}
