/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A driver for Level Zero's loader (ZE_ENABLE_ALT_DRIVERS) with one device, which does what a device does
 * with command lists, on a thread of each queue: kernels last as many microseconds as they have groups,
 * copies are made. It says what it ran and when, and what no program may do: to destroy or reset what the
 * device uses.
 *
 * FAKE_ZE_LOG=FILE   says it there
 * FAKE_ZE_LANES=N    commands that overlap in a queue where nothing orders them
 * FAKE_ZE_BITS=N     valid bits of timestamps of commands; they wrap 50 ms after the start
 * FAKE_ZE_FAIL=NAME:N  the call of this name fails from the Nth on, once if it is NAME:N!;
 *                    calls before the first context are the loader's
 *
 * Limits: no images; a handful of objects.
 */
#include "driver.h"

#include <level_zero/ze_ddi.h>

static struct memory *memories;
static unsigned alive_events, alive_lists;
static int device, driver;
static bool begun; /* the program has a context; before, newer loaders call what they like */

static bool fails(const char *name)
{
	const char *wanted = getenv("FAKE_ZE_FAIL");
	static int calls;
	size_t n = strlen(name);
	int from;

	if (!begun || !wanted || strncmp(wanted, name, n) != 0 || wanted[n] != ':')
		return false;
	from = atoi(wanted + n + 1);
	calls++;
	return wanted[strlen(wanted) - 1] == '!' ? calls == from : calls >= from;
}
#define MAY_FAIL()           \
	if (fails(__func__)) \
	return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY

/* ---- devices, memory ---------------------------------------------------------------------------- */

static ze_result_t Init(ze_init_flags_t flags)
{
	(void)flags;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t DriverGet(uint32_t *count, ze_driver_handle_t *drivers)
{
	if (*count && drivers)
		drivers[0] = (ze_driver_handle_t)&driver;
	*count = 1;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t DriverGetApiVersion(ze_driver_handle_t handle, ze_api_version_t *version)
{
	(void)handle;
	*version = ZE_API_VERSION_1_3;
	return ZE_RESULT_SUCCESS;
}

/* Loaders since 1.18 ask for both before they take a driver. */
static ze_result_t DriverGetProperties(ze_driver_handle_t handle, ze_driver_properties_t *properties)
{
	(void)handle;
	properties->driverVersion = 1;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t DriverGetExtensionProperties(ze_driver_handle_t handle, uint32_t *count,
						ze_driver_extension_properties_t *properties)
{
	(void)handle;
	(void)properties;
	*count = 0;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t DeviceGet(ze_driver_handle_t handle, uint32_t *count, ze_device_handle_t *devices)
{
	(void)handle;
	if (*count && devices)
		devices[0] = (ze_device_handle_t)&device;
	*count = 1;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t DeviceGetProperties(ze_device_handle_t handle, ze_device_properties_t *p)
{
	ze_structure_type_t stype = p->stype;

	MAY_FAIL();
	(void)handle;
	memset(p, 0, sizeof(*p));
	p->stype = stype;
	p->timerResolution = stype == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2 ? HERTZ : 1000000000 / HERTZ;
	p->timestampValidBits = 40;
	p->kernelTimestampValidBits = bits;
	strcpy(p->name, "Fake GPU");
	return ZE_RESULT_SUCCESS;
}

static ze_result_t DeviceGetGlobalTimestamps(ze_device_handle_t handle, uint64_t *host, uint64_t *at)
{
	MAY_FAIL();
	(void)handle;
	*host = now();
	*at = ticks(*host) & (((uint64_t)1 << 40) - 1);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t ContextCreate(ze_driver_handle_t handle, const ze_context_desc_t *desc,
				 ze_context_handle_t *context)
{
	begun = true;
	(void)handle;
	(void)desc;
	*context = malloc(1);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t ContextDestroy(ze_context_handle_t context)
{
	if (alive_events || alive_lists)
		wrong("a context is destroyed that has events or lists");
	free(context);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t allocate(size_t size, ze_memory_type_t type, void **at)
{
	struct memory *m = malloc(sizeof(*m));

	*at = calloc(1, size);
	pthread_mutex_lock(&lock);
	*m = (struct memory){ *at, size, type, memories };
	memories = m;
	pthread_mutex_unlock(&lock);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t MemAllocHost(ze_context_handle_t context, const ze_host_mem_alloc_desc_t *desc,
				size_t size, size_t alignment, void **at)
{
	MAY_FAIL();
	(void)context, (void)desc, (void)alignment;
	return allocate(size, ZE_MEMORY_TYPE_HOST, at);
}

static ze_result_t MemAllocDevice(ze_context_handle_t context, const ze_device_mem_alloc_desc_t *desc,
				  size_t size, size_t alignment, ze_device_handle_t of, void **at)
{
	(void)context, (void)desc, (void)alignment, (void)of;
	return allocate(size, ZE_MEMORY_TYPE_DEVICE, at);
}

static ze_result_t MemAllocShared(ze_context_handle_t context, const ze_device_mem_alloc_desc_t *desc,
				  const ze_host_mem_alloc_desc_t *host, size_t size, size_t alignment,
				  ze_device_handle_t of, void **at)
{
	(void)context, (void)desc, (void)host, (void)alignment, (void)of;
	return allocate(size, ZE_MEMORY_TYPE_SHARED, at);
}

static ze_result_t MemFree(ze_context_handle_t context, void *at)
{
	(void)context;
	pthread_mutex_lock(&lock);
	for (struct memory **m = &memories; *m; m = &(*m)->next)
		if ((*m)->at == at) {
			*m = (*m)->next;
			break;
		}
	pthread_mutex_unlock(&lock);
	free(at);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t MemGetAllocProperties(ze_context_handle_t context, const void *at,
					 ze_memory_allocation_properties_t *p, ze_device_handle_t *of)
{
	MAY_FAIL();
	(void)context;
	p->type = ZE_MEMORY_TYPE_UNKNOWN;
	if (of)
		*of = NULL;
	pthread_mutex_lock(&lock);
	for (struct memory *m = memories; m; m = m->next)
		if ((const char *)at >= m->at && (const char *)at < m->at + m->size)
			p->type = m->type;
	pthread_mutex_unlock(&lock);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t ModuleCreate(ze_context_handle_t context, ze_device_handle_t of,
				const ze_module_desc_t *desc, ze_module_handle_t *module,
				ze_module_build_log_handle_t *log)
{
	(void)context, (void)of, (void)desc, (void)log;
	*module = malloc(1);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t ModuleDestroy(ze_module_handle_t module)
{
	free(module);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t KernelCreate(ze_module_handle_t module, const ze_kernel_desc_t *desc,
				ze_kernel_handle_t *kernel)
{
	struct kernel *k = calloc(1, sizeof(*k));

	(void)module;
	snprintf(k->name, sizeof(k->name), "%s", desc->pKernelName);
	*kernel = (ze_kernel_handle_t)k;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t KernelDestroy(ze_kernel_handle_t kernel)
{
	free(kernel);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t KernelSetGroupSize(ze_kernel_handle_t kernel, uint32_t x, uint32_t y, uint32_t z)
{
	(void)kernel, (void)x, (void)y, (void)z;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t KernelGetName(ze_kernel_handle_t kernel, size_t *size, char *name)
{
	snprintf(name, *size, "%s", ((struct kernel *)kernel)->name);
	return ZE_RESULT_SUCCESS;
}

/* ---- events ------------------------------------------------------------------------------------- */

static ze_result_t EventPoolCreate(ze_context_handle_t context, const ze_event_pool_desc_t *desc,
				   uint32_t count, ze_device_handle_t *devices,
				   ze_event_pool_handle_t *handle)
{
	struct pool *pool = calloc(1, sizeof(*pool));

	MAY_FAIL();
	(void)context, (void)count, (void)devices;
	pool->flags = desc->flags;
	pool->count = desc->count;
	pool->events = calloc(desc->count, sizeof(*pool->events));
	*handle = (ze_event_pool_handle_t)pool;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t EventPoolDestroy(ze_event_pool_handle_t handle)
{
	struct pool *pool = (struct pool *)handle;

	if (pool->alive)
		wrong("an event pool is destroyed that has events");
	free(pool->events);
	free(pool);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t EventCreate(ze_event_pool_handle_t handle, const ze_event_desc_t *desc,
			       ze_event_handle_t *event)
{
	struct pool *pool = (struct pool *)handle;
	struct event *e = &pool->events[desc->index];

	MAY_FAIL();
	*e = (struct event){ .pool = pool };
	pool->alive++;
	__atomic_add_fetch(&alive_events, 1, __ATOMIC_RELAXED);
	*event = (ze_event_handle_t)e;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t EventDestroy(ze_event_handle_t handle)
{
	struct event *e = (struct event *)handle;

	if (e->users)
		wrong("an event is destroyed that the device uses");
	e->pool->alive--;
	__atomic_sub_fetch(&alive_events, 1, __ATOMIC_RELAXED);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t EventHostSignal(ze_event_handle_t handle)
{
	pthread_mutex_lock(&lock);
	((struct event *)handle)->signaled = true;
	wake();
	pthread_mutex_unlock(&lock);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t EventHostReset(ze_event_handle_t handle)
{
	struct event *e = (struct event *)handle;

	MAY_FAIL();
	pthread_mutex_lock(&lock);
	if (e->users)
		wrong("an event is reset that the device uses");
	e->signaled = false;
	pthread_mutex_unlock(&lock);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t EventHostSynchronize(ze_event_handle_t handle, uint64_t timeout)
{
	return wait_for(&((struct event *)handle)->signaled, NULL, timeout);
}

static ze_result_t EventQueryStatus(ze_event_handle_t handle)
{
	bool is;

	MAY_FAIL();
	pthread_mutex_lock(&lock);
	is = ((struct event *)handle)->signaled;
	pthread_mutex_unlock(&lock);
	return is ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

static ze_result_t EventQueryKernelTimestamp(ze_event_handle_t handle, ze_kernel_timestamp_result_t *times)
{
	struct event *e = (struct event *)handle;
	bool is;

	if (!(e->pool->flags & ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP))
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	MAY_FAIL();
	pthread_mutex_lock(&lock);
	*times = e->times;
	is = e->signaled;
	pthread_mutex_unlock(&lock);
	return is ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

/* ---- lists and queues --------------------------------------------------------------------------- */

static ze_result_t CommandQueueCreate(ze_context_handle_t context, ze_device_handle_t of,
				      const ze_command_queue_desc_t *desc, ze_command_queue_handle_t *queue)
{
	(void)context, (void)of;
	*queue = (ze_command_queue_handle_t)queue_make(desc->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t CommandQueueDestroy(ze_command_queue_handle_t queue)
{
	queue_end((struct queue *)queue);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t CommandQueueSynchronize(ze_command_queue_handle_t queue, uint64_t timeout)
{
	return wait_for(NULL, &((struct queue *)queue)->pending, timeout);
}

static ze_result_t CommandQueueExecuteCommandLists(ze_command_queue_handle_t queue, uint32_t count,
						   ze_command_list_handle_t *lists, ze_fence_handle_t fence)
{
	struct queue *q = (struct queue *)queue;

	MAY_FAIL();
	pthread_mutex_lock(&lock);
	for (uint32_t i = 0; i < count; i++) {
		struct list *l = (struct list *)lists[i];

		if (!l->closed)
			wrong("a list is executed that is not closed");
		for (struct command *c = l->first; c; c = c->next)
			submit(q, c);
		submit(q, &(struct command){ .kind = FENCE });
	}
	if (fence)
		submit(q, &(struct command){ .kind = FENCE, .fence = &((struct fence *)fence)->signaled });
	pthread_mutex_unlock(&lock);
	return q->synchronous ? CommandQueueSynchronize(queue, UINT64_MAX) : ZE_RESULT_SUCCESS;
}

static ze_result_t list_make(struct queue *q, ze_command_list_handle_t *handle)
{
	struct list *l = calloc(1, sizeof(*l));

	l->last = &l->first;
	l->queue = q;
	__atomic_add_fetch(&alive_lists, 1, __ATOMIC_RELAXED);
	*handle = (ze_command_list_handle_t)l;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t CommandListCreate(ze_context_handle_t context, ze_device_handle_t of,
				     const ze_command_list_desc_t *desc, ze_command_list_handle_t *list)
{
	MAY_FAIL();
	(void)context, (void)of, (void)desc;
	return list_make(NULL, list);
}

static ze_result_t CommandListCreateImmediate(ze_context_handle_t context, ze_device_handle_t of,
					      const ze_command_queue_desc_t *desc,
					      ze_command_list_handle_t *list)
{
	(void)context, (void)of;
	return list_make(queue_make(desc->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS), list);
}

static ze_result_t CommandListReset(ze_command_list_handle_t handle)
{
	struct list *l = (struct list *)handle;

	for (struct command *c = l->first, *next; c; c = next) {
		next = c->next;
		free(c);
	}
	l->first = NULL;
	l->last = &l->first;
	l->closed = false;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t CommandListDestroy(ze_command_list_handle_t handle)
{
	struct list *l = (struct list *)handle;

	CommandListReset(handle);
	if (l->queue)
		queue_end(l->queue);
	free(l);
	__atomic_sub_fetch(&alive_lists, 1, __ATOMIC_RELAXED);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t CommandListClose(ze_command_list_handle_t handle)
{
	MAY_FAIL();
	((struct list *)handle)->closed = true;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t append(ze_command_list_handle_t handle, struct command c, ze_event_handle_t signal,
			  uint32_t n, ze_event_handle_t *waits)
{
	struct list *l = (struct list *)handle;
	struct queue *q = l->queue;

	if (n > MOST)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	c.signal = (struct event *)signal;
	c.wait_count = n;
	if (n)
		memcpy(c.waits, waits, n * sizeof(*waits));
	if (q) {
		pthread_mutex_lock(&lock);
		submit(q, &c);
		pthread_mutex_unlock(&lock);
		return q->synchronous ? wait_for(NULL, &q->pending, UINT64_MAX) : ZE_RESULT_SUCCESS;
	}
	if (l->closed)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	*l->last = malloc(sizeof(c));
	**l->last = c;
	(*l->last)->next = NULL;
	l->last = &(*l->last)->next;
	return ZE_RESULT_SUCCESS;
}

#define WAITS ze_event_handle_t signal, uint32_t n, ze_event_handle_t *waits

static ze_result_t CommandListAppendLaunchKernel(ze_command_list_handle_t list, ze_kernel_handle_t kernel,
						 const ze_group_count_t *count, WAITS)
{
	struct command c = { .kind = KERNEL, .length = 1000 * (uint64_t)count->groupCountX };

	MAY_FAIL();
	snprintf(c.name, sizeof(c.name), "%s", ((struct kernel *)kernel)->name);
	return append(list, c, signal, n, waits);
}

static ze_result_t CommandListAppendMemoryCopy(ze_command_list_handle_t list, void *to, const void *from,
					       size_t size, WAITS)
{
	struct command c = {
		.kind = COPY, .length = 1000 + size, .to = to, .from = from, .bytes = size, .name = "copy"
	};

	MAY_FAIL();
	return append(list, c, signal, n, waits);
}

static ze_result_t CommandListAppendMemoryFill(ze_command_list_handle_t list, void *to, const void *pattern,
					       size_t pattern_size, size_t size, WAITS)
{
	struct command c = { .kind = FILL,
			     .length = 1000 + size,
			     .to = to,
			     .pattern = *(const char *)pattern,
			     .bytes = size,
			     .name = "fill" };

	MAY_FAIL();
	(void)pattern_size;
	return append(list, c, signal, n, waits);
}

static ze_result_t CommandListAppendBarrier(ze_command_list_handle_t list, WAITS)
{
	MAY_FAIL();
	return append(list, (struct command){ .kind = BARRIER }, signal, n, waits);
}

static ze_result_t CommandListAppendSignalEvent(ze_command_list_handle_t list, ze_event_handle_t event)
{
	MAY_FAIL();
	return append(list, (struct command){ .kind = SIGNAL }, event, 0, NULL);
}

static ze_result_t CommandListAppendWaitOnEvents(ze_command_list_handle_t list, uint32_t n,
						 ze_event_handle_t *waits)
{
	MAY_FAIL();
	return append(list, (struct command){ .kind = WAIT }, NULL, n, waits);
}

static ze_result_t CommandListAppendEventReset(ze_command_list_handle_t list, ze_event_handle_t event)
{
	MAY_FAIL();
	return append(list, (struct command){ .kind = RESET, .of = { (struct event *)event }, .of_count = 1 },
		      NULL, 0, NULL);
}

static ze_result_t CommandListAppendQueryKernelTimestamps(ze_command_list_handle_t list, uint32_t count,
							  ze_event_handle_t *events, void *to,
							  const size_t *offsets, WAITS)
{
	struct command c = { .kind = QUERY, .to = to, .of_count = count };

	MAY_FAIL();
	(void)offsets;
	if (count > 64)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	memcpy(c.of, events, count * sizeof(*events));
	if (n > MOST) { /* the same, in two */
		for (uint32_t i = 0; i < n; i++)
			append(list, (struct command){ .kind = WAIT }, NULL, 1, waits + i);
		n = 0;
	}
	return append(list, c, signal, n, waits);
}

static ze_result_t FenceCreate(ze_command_queue_handle_t queue, const ze_fence_desc_t *desc,
			       ze_fence_handle_t *handle)
{
	struct fence *f = calloc(1, sizeof(*f));

	(void)desc;
	f->queue = (struct queue *)queue;
	*handle = (ze_fence_handle_t)f;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t FenceDestroy(ze_fence_handle_t handle)
{
	free(handle);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t FenceHostSynchronize(ze_fence_handle_t handle, uint64_t timeout)
{
	return wait_for(&((struct fence *)handle)->signaled, NULL, timeout);
}

/* ---- the loader's side -------------------------------------------------------------------------- */

static void setup(void)
{
	const char *log = getenv("FAKE_ZE_LOG"), *value;
	uint64_t period;

	if (said)
		return;
	said = log ? fopen(log, "ae") : NULL;
	if (!said)
		said = stderr;
	setvbuf(said, NULL, _IOLBF, 0);
	if ((value = getenv("FAKE_ZE_LANES")))
		lanes = (unsigned)atoi(value);
	if ((value = getenv("FAKE_ZE_BITS")))
		bits = (unsigned)atoi(value);
	period = (uint64_t)1 << (bits < 40 ? bits : 40);
	offset = period - ticks(now() + 50000000) % period;
}

#define TABLE(name, type, ...)                                                                          \
	__attribute__((visibility("default")))                                                          \
	ze_result_t zeGet##name##ProcAddrTable(ze_api_version_t version, ze_##type##_dditable_t *table) \
	{                                                                                               \
		setup();                                                                                \
		(void)version;                                                                          \
		*table = (ze_##type##_dditable_t){ __VA_ARGS__ };                                       \
		return ZE_RESULT_SUCCESS;                                                               \
	}
TABLE(Global, global, .pfnInit = Init)
TABLE(Driver, driver, .pfnGet = DriverGet, .pfnGetApiVersion = DriverGetApiVersion,
      .pfnGetProperties = DriverGetProperties, .pfnGetExtensionProperties = DriverGetExtensionProperties)
TABLE(Device, device, .pfnGet = DeviceGet, .pfnGetProperties = DeviceGetProperties,
      .pfnGetGlobalTimestamps = DeviceGetGlobalTimestamps)
TABLE(Context, context, .pfnCreate = ContextCreate, .pfnDestroy = ContextDestroy)
TABLE(CommandQueue, command_queue, .pfnCreate = CommandQueueCreate, .pfnDestroy = CommandQueueDestroy,
      .pfnExecuteCommandLists = CommandQueueExecuteCommandLists, .pfnSynchronize = CommandQueueSynchronize)
TABLE(CommandList, command_list, .pfnCreate = CommandListCreate,
      .pfnCreateImmediate = CommandListCreateImmediate, .pfnDestroy = CommandListDestroy,
      .pfnClose = CommandListClose, .pfnReset = CommandListReset,
      .pfnAppendBarrier = CommandListAppendBarrier, .pfnAppendMemoryCopy = CommandListAppendMemoryCopy,
      .pfnAppendMemoryFill = CommandListAppendMemoryFill,
      .pfnAppendSignalEvent = CommandListAppendSignalEvent,
      .pfnAppendWaitOnEvents = CommandListAppendWaitOnEvents,
      .pfnAppendEventReset = CommandListAppendEventReset,
      .pfnAppendQueryKernelTimestamps = CommandListAppendQueryKernelTimestamps,
      .pfnAppendLaunchKernel = CommandListAppendLaunchKernel)
TABLE(Event, event, .pfnCreate = EventCreate, .pfnDestroy = EventDestroy, .pfnHostSignal = EventHostSignal,
      .pfnHostSynchronize = EventHostSynchronize, .pfnQueryStatus = EventQueryStatus,
      .pfnHostReset = EventHostReset, .pfnQueryKernelTimestamp = EventQueryKernelTimestamp)
TABLE(EventPool, event_pool, .pfnCreate = EventPoolCreate, .pfnDestroy = EventPoolDestroy)
TABLE(Fence, fence, .pfnCreate = FenceCreate, .pfnDestroy = FenceDestroy,
      .pfnHostSynchronize = FenceHostSynchronize)
TABLE(Kernel, kernel, .pfnCreate = KernelCreate, .pfnDestroy = KernelDestroy,
      .pfnSetGroupSize = KernelSetGroupSize, .pfnGetName = KernelGetName)
TABLE(Mem, mem, .pfnAllocShared = MemAllocShared, .pfnAllocDevice = MemAllocDevice,
      .pfnAllocHost = MemAllocHost, .pfnFree = MemFree, .pfnGetAllocProperties = MemGetAllocProperties)
TABLE(Module, module, .pfnCreate = ModuleCreate, .pfnDestroy = ModuleDestroy)
