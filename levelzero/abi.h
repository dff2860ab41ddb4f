/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Level Zero as the adapter knows it: numbers and structs of ze_api.h, and of its tracing layer. No header of
 * Level Zero's is needed to build this; test/levelzero/abi.c compares.
 *
 * Limits: what the adapter uses; 64 bits.
 */
#ifndef GPUTRACE_LEVELZERO_ABI_H
#define GPUTRACE_LEVELZERO_ABI_H

#include <stddef.h>
#include <stdint.h>

enum {
	GT_ZE_SUCCESS = 0,
	GT_ZE_VERSION_1_0 = 0x10000,
	GT_ZE_ABI_DEVICE_PROPERTIES = 0x3, /* ze_structure_type_t */
	GT_ZE_ABI_COMMAND_LIST = 0xf,
	GT_ZE_ABI_EVENT_POOL = 0x10,
	GT_ZE_ABI_EVENT = 0x11,
	GT_ZE_ABI_HOST_MEMORY = 0x16,
	GT_ZE_ABI_MEMORY_PROPERTIES = 0x17,
	GT_ZE_ABI_DEVICE_PROPERTIES_1_2 = 0x20006,
	GT_ZE_ABI_TRACER = 1,
	GT_ZE_POOL_HOST_VISIBLE = 1,
	GT_ZE_POOL_TIMESTAMPS = 4,
	GT_ZE_SCOPE_HOST = 4,
	GT_ZE_MEMORY_DEVICE = 2,
	GT_ZE_MEMORY_SHARED = 3,
	GT_ZE_CALLBACKS = 120, /* in the table of callbacks, whose order never changes */
	GT_ZE_MORE = 256,      /* room for the tables of other versions */
};

/* Called before and after; `params` are the addresses of the arguments, which may be changed before. */
typedef void (*gt_ze_callback)(void **params, int result, void *user, void **instance);

struct gt_ze_abi_tracer {
	uint32_t stype;
	const void *next;
	void *user;
};

/* zel_tracer_dditable_t. */
struct gt_ze_abi_tracing {
	int (*create)(const struct gt_ze_abi_tracer *desc, void **tracer);
	int (*destroy)(void *tracer);
	int (*set_prologues)(void *tracer, gt_ze_callback *callbacks);
	int (*set_epilogues)(void *tracer, gt_ze_callback *callbacks);
	int (*set_enabled)(void *tracer, uint8_t enabled);
	void *more[GT_ZE_MORE];
};

struct gt_ze_abi_pool {
	uint32_t stype;
	const void *next;
	uint32_t flags, count;
};

struct gt_ze_abi_event {
	uint32_t stype;
	const void *next;
	uint32_t index, signal, wait;
};

struct gt_ze_abi_list {
	uint32_t stype;
	const void *next;
	uint32_t ordinal, flags;
};

struct gt_ze_abi_queue {
	uint32_t stype;
	const void *next;
	uint32_t ordinal, index, flags, mode, priority;
};

struct gt_ze_abi_host_memory {
	uint32_t stype;
	const void *next;
	uint32_t flags;
};

struct gt_ze_abi_kernel {
	uint32_t stype;
	const void *next;
	uint32_t flags;
	const char *name;
};

struct gt_ze_abi_memory {
	uint32_t stype;
	void *next;
	uint32_t type;
	uint64_t id, page;
};

struct gt_ze_abi_device {
	uint32_t stype;
	void *next;
	uint32_t type, vendor, device, flags, subdevice, clock;
	uint64_t max_alloc;
	uint32_t contexts, priority, threads, width, units, subslices, slices;
	uint64_t resolution;                 /* of the clock: see stype */
	uint32_t clock_bits, timestamp_bits; /* that are valid */
	uint8_t uuid[16];
	char name[256];
};

struct gt_ze_abi_span {
	uint64_t start, end;
};

/* Times of a kernel or another command: by the device's clock, and by one that stops when it is not in
 * use. */
struct gt_ze_abi_times {
	struct gt_ze_abi_span global, context;
};

struct gt_ze_abi_region {
	uint32_t origin[3], size[3];
};

/* The loader's functions; X(result, name, arguments). */
#define GT_ZE_FUNCTIONS(X)                                                                                 \
	X(DeviceGetProperties, (void *device, struct gt_ze_abi_device *properties))                        \
	X(DeviceGetGlobalTimestamps, (void *device, uint64_t *host, uint64_t *ticks))                      \
	X(EventPoolCreate, (void *context, const struct gt_ze_abi_pool *desc, uint32_t n, void **devices, \
			    void **pool))                                                                  \
	X(EventPoolDestroy, (void *pool))                                                                  \
	X(EventCreate, (void *pool, const struct gt_ze_abi_event *desc, void **event))                     \
	X(EventDestroy, (void *event))                                                                     \
	X(EventHostReset, (void *event))                                                                   \
	X(EventHostSignal, (void *event))                                                                  \
	X(EventHostSynchronize, (void *event, uint64_t timeout))                                           \
	X(EventQueryStatus, (void *event))                                                                 \
	X(EventQueryKernelTimestamp, (void *event, struct gt_ze_abi_times *times))                         \
	X(CommandListCreate, (void *context, void *device, const struct gt_ze_abi_list *desc, void **list)) \
	X(CommandListDestroy, (void *list))                                                                \
	X(CommandListClose, (void *list))                                                                  \
	X(CommandListAppendBarrier, (void *list, void *signal, uint32_t n, void **waits))                  \
	X(CommandListAppendSignalEvent, (void *list, void *event))                                         \
	X(CommandListAppendWaitOnEvents, (void *list, uint32_t n, void **events))                          \
	X(CommandListAppendEventReset, (void *list, void *event))                                          \
	X(CommandListAppendQueryKernelTimestamps,                                                          \
	  (void *list, uint32_t n, void **events, void *to, const size_t *offsets, void *signal,           \
	   uint32_t wait_n, void **waits))                                                                 \
	X(MemAllocHost, (void *context, const struct gt_ze_abi_host_memory *desc, size_t bytes,            \
			 size_t alignment, void **memory))                                                 \
	X(MemFree, (void *context, void *memory))                                                          \
	X(MemGetAllocProperties, (void *context, const void *memory, struct gt_ze_abi_memory *properties, \
				  void **device))                                                          \
	X(KernelGetName, (void *kernel, size_t *size, char *name))

#endif
