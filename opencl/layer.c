/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The layer: OpenCL's loader (OPENCL_LAYERS) gives it the table of the functions below, and calls what it
 * puts in their places. Queues are made with profiling, and the program's own queries of them and of events
 * answer as if they were not.
 *
 * Limits: loaders with layers (ocl-icd 2.3, the Khronos loader of 2020 and later). Queries, arguments of
 * kernels and references are not recorded. Queues on the device are as the program makes them.
 */
#include <stdlib.h>
#include <string.h>

#include "opencl/opencl.h"

static gt_cl_function ours[GT_CL_ENTRIES];
static gt_ref regions[GT_CL_ENTRIES];
static bool ended;
static GT_TLS unsigned calling;

static size_t volume(const size_t *region)
{
	return region ? region[0] * region[1] * region[2] : 0;
}

static size_t image_bytes(void *image, const size_t *region)
{
	size_t element = 0;

	gt_cl_ask(GT_CL_GET_IMAGE_INFO, image, GT_CL_IMAGE_ELEMENT_SIZE, sizeof(element), &element);
	return element * volume(region);
}

/* ---- calls -------------------------------------------------------------------------------------- */

/*
 * What is recorded as a region and nothing else:
 *	X(place, name, role, result, parameters, arguments)
 */
#define CALLS(X)                                                                                             \
	X(4, clCreateContext, FUNCTION, void *,                                                              \
	  (const intptr_t *properties, uint32_t n, void *const *devices, void *notify, void *data,           \
	   int *error),                                                                                      \
	  (properties, n, devices, notify, data, error))                                                     \
	X(5, clCreateContextFromType, FUNCTION, void *,                                                      \
	  (const intptr_t *properties, uint64_t type, void *notify, void *data, int *error),                 \
	  (properties, type, notify, data, error))                                                           \
	X(14, clCreateBuffer, ALLOCATE, void *,                                                              \
	  (void *context, uint64_t flags, size_t bytes, void *host, int *error),                             \
	  (context, flags, bytes, host, error))                                                              \
	X(18, clReleaseMemObject, DEALLOCATE, int, (void *memory), (memory))                                 \
	X(26, clCreateProgramWithSource, FUNCTION, void *,                                                   \
	  (void *context, uint32_t n, const char **text, const size_t *sizes, int *error),                   \
	  (context, n, text, sizes, error))                                                                  \
	X(27, clCreateProgramWithBinary, FUNCTION, void *,                                                   \
	  (void *context, uint32_t n, void *const *devices, const size_t *sizes,                             \
	   const unsigned char **binaries, int *status, int *error),                                         \
	  (context, n, devices, sizes, binaries, status, error))                                             \
	X(30, clBuildProgram, FUNCTION, int,                                                                 \
	  (void *program, uint32_t n, void *const *devices, const char *options, void *notify, void *data),  \
	  (program, n, devices, options, notify, data))                                                      \
	X(34, clCreateKernel, FUNCTION, void *, (void *program, const char *name, int *error),               \
	  (program, name, error))                                                                            \
	X(46, clFlush, FUNCTION, int, (void *queue), (queue))                                                \
	X(62, clEnqueueMarker, FUNCTION, int, (void *queue, void **event), (queue, event))                   \
	X(63, clEnqueueWaitForEvents, FUNCTION, int, (void *queue, uint32_t n, void *const *events),         \
	  (queue, n, events))                                                                                \
	X(64, clEnqueueBarrier, FUNCTION, int, (void *queue), (queue))                                       \
	X(96, clCreateImage, ALLOCATE, void *,                                                               \
	  (void *context, uint64_t flags, const void *format, const void *description, void *host,           \
	   int *error),                                                                                      \
	  (context, flags, format, description, host, error))                                                \
	X(98, clCompileProgram, FUNCTION, int,                                                               \
	  (void *program, uint32_t n, void *const *devices, const char *options, uint32_t headers,           \
	   void *const *texts, const char **names, void *notify, void *data),                                \
	  (program, n, devices, options, headers, texts, names, notify, data))                               \
	X(99, clLinkProgram, FUNCTION, void *,                                                               \
	  (void *context, uint32_t n, void *const *devices, const char *options, uint32_t count,             \
	   void *const *programs, void *notify, void *data, int *error),                                     \
	  (context, n, devices, options, count, programs, notify, data, error))                              \
	X(105, clEnqueueMarkerWithWaitList, FUNCTION, int, (void *queue, WAITS), (queue, PASS))              \
	X(106, clEnqueueBarrierWithWaitList, FUNCTION, int, (void *queue, WAITS), (queue, PASS))             \
	X(126, clSVMAlloc, ALLOCATE, void *,                                                                 \
	  (void *context, uint64_t flags, size_t bytes, uint32_t alignment),                                 \
	  (context, flags, bytes, alignment))                                                                \
	X(138, clCreateProgramWithIL, FUNCTION, void *,                                                      \
	  (void *context, const void *code, size_t bytes, int *error), (context, code, bytes, error))

#define WAITS uint32_t wait_count, void *const *waits, void **event
#define PASS  wait_count, waits, event

#define CALL(place, name, role, result, parameters, arguments)                                               \
	static result name parameters                                                                        \
	{                                                                                                    \
		bool active = gt_accel_alive() && gt_enter_if_active(regions[place]);                        \
		gt_ref region = active ? regions[place] : GT_NONE;                                           \
		result value;                                                                                \
													     \
		calling++;                                                                                   \
		value = ((result(*) parameters)gt_cl_next[place])arguments;                                  \
		calling--;                                                                                   \
		gt_leave(region);                                                                            \
		return value;                                                                                \
	}
CALLS(CALL)
#undef CALL

/*
 * What waits for the device; what is over by then is recorded:
 *	X(place, name, parameters, arguments, queue)
 */
#define WAITING(X)                                                                                     \
	X(GT_CL_WAIT_FOR_EVENTS, clWaitForEvents, (uint32_t n, void *const *events), (n, events), NULL) \
	X(GT_CL_FINISH, clFinish, (void *queue), (queue), queue)

#define WAIT(place, name, parameters, arguments, queue)                                                      \
	static int name parameters                                                                           \
	{                                                                                                    \
		bool active = gt_accel_alive() && gt_enter_if_active(regions[place]);                        \
		gt_ref region = active ? regions[place] : GT_NONE;                                           \
		int value;                                                                                   \
													     \
		calling++;                                                                                   \
		value = ((int(*) parameters)gt_cl_next[place])arguments;                                     \
		gt_leave(region);                                                                            \
		gt_cl_collect(queue);                                                                        \
		calling--;                                                                                   \
		return value;                                                                                \
	}
WAITING(WAIT)
#undef WAIT

/* ---- commands ----------------------------------------------------------------------------------- */

/*
 * What is enqueued, and what it does on the device:
 *	X(place, name, parameters, arguments, members of struct gt_cl_work)
 */
#define COMMANDS(X)                                                                                         \
	X(48, clEnqueueReadBuffer,                                                                          \
	  (void *queue, void *from, uint32_t blocking, size_t offset, size_t bytes, void *to, WAITS),       \
	  (queue, from, blocking, offset, bytes, to, PASS), "OpenCL read buffer", .bytes = bytes,           \
	  .direction = GT_ACCEL_FROM_DEVICE, .blocking = blocking)                                          \
	X(49, clEnqueueWriteBuffer,                                                                         \
	  (void *queue, void *to, uint32_t blocking, size_t offset, size_t bytes, const void *from, WAITS), \
	  (queue, to, blocking, offset, bytes, from, PASS), "OpenCL write buffer", .bytes = bytes,          \
	  .direction = GT_ACCEL_TO_DEVICE, .blocking = blocking)                                            \
	X(50, clEnqueueCopyBuffer,                                                                          \
	  (void *queue, void *from, void *to, size_t from_offset, size_t to_offset, size_t bytes, WAITS),   \
	  (queue, from, to, from_offset, to_offset, bytes, PASS), "OpenCL copy buffer", .bytes = bytes,     \
	  .direction = GT_ACCEL_WITHIN)                                                                     \
	X(51, clEnqueueReadImage,                                                                           \
	  (void *queue, void *from, uint32_t blocking, const size_t *origin, const size_t *region,          \
	   size_t row, size_t slice, void *to, WAITS),                                                      \
	  (queue, from, blocking, origin, region, row, slice, to, PASS), "OpenCL read image",               \
	  .bytes = image_bytes(from, region), .direction = GT_ACCEL_FROM_DEVICE, .blocking = blocking)      \
	X(52, clEnqueueWriteImage,                                                                          \
	  (void *queue, void *to, uint32_t blocking, const size_t *origin, const size_t *region,            \
	   size_t row, size_t slice, const void *from, WAITS),                                              \
	  (queue, to, blocking, origin, region, row, slice, from, PASS), "OpenCL write image",              \
	  .bytes = image_bytes(to, region), .direction = GT_ACCEL_TO_DEVICE, .blocking = blocking)          \
	X(53, clEnqueueCopyImage,                                                                           \
	  (void *queue, void *from, void *to, const size_t *from_origin, const size_t *to_origin,           \
	   const size_t *region, WAITS),                                                                    \
	  (queue, from, to, from_origin, to_origin, region, PASS), "OpenCL copy image",                     \
	  .bytes = image_bytes(from, region), .direction = GT_ACCEL_WITHIN)                                 \
	X(54, clEnqueueCopyImageToBuffer,                                                                   \
	  (void *queue, void *from, void *to, const size_t *origin, const size_t *region, size_t offset,    \
	   WAITS),                                                                                          \
	  (queue, from, to, origin, region, offset, PASS), "OpenCL copy image to buffer",                   \
	  .bytes = image_bytes(from, region), .direction = GT_ACCEL_WITHIN)                                 \
	X(55, clEnqueueCopyBufferToImage,                                                                   \
	  (void *queue, void *from, void *to, size_t offset, const size_t *origin, const size_t *region,    \
	   WAITS),                                                                                          \
	  (queue, from, to, offset, origin, region, PASS), "OpenCL copy buffer to image",                   \
	  .bytes = image_bytes(to, region), .direction = GT_ACCEL_WITHIN)                                   \
	X(58, clEnqueueUnmapMemObject, (void *queue, void *memory, void *at, WAITS),                        \
	  (queue, memory, at, PASS), "OpenCL unmap", .bytes = 0)                                            \
	X(59, clEnqueueNDRangeKernel,                                                                       \
	  (void *queue, void *kernel, uint32_t dimensions, const size_t *offset, const size_t *global,      \
	   const size_t *local, WAITS),                                                                     \
	  (queue, kernel, dimensions, offset, global, local, PASS), NULL, .kernel = kernel,                 \
	  .dimensions = dimensions, .global = global, .local = local)                                       \
	X(60, clEnqueueTask, (void *queue, void *kernel, WAITS), (queue, kernel, PASS), NULL,               \
	  .kernel = kernel)                                                                                 \
	X(61, clEnqueueNativeKernel,                                                                        \
	  (void *queue, void *function, void *arguments, size_t bytes, uint32_t n, void *const *memory,     \
	   const void **places, WAITS),                                                                     \
	  (queue, function, arguments, bytes, n, memory, places, PASS), NULL, .kernel = NULL)               \
	X(86, clEnqueueReadBufferRect,                                                                      \
	  (void *queue, void *from, uint32_t blocking, const size_t *from_origin, const size_t *to_origin,  \
	   const size_t *region, size_t from_row, size_t from_slice, size_t to_row, size_t to_slice,        \
	   void *to, WAITS),                                                                                \
	  (queue, from, blocking, from_origin, to_origin, region, from_row, from_slice, to_row, to_slice,   \
	   to, PASS),                                                                                       \
	  "OpenCL read buffer", .bytes = volume(region), .direction = GT_ACCEL_FROM_DEVICE,                 \
	  .blocking = blocking)                                                                             \
	X(87, clEnqueueWriteBufferRect,                                                                     \
	  (void *queue, void *to, uint32_t blocking, const size_t *to_origin, const size_t *from_origin,    \
	   const size_t *region, size_t to_row, size_t to_slice, size_t from_row, size_t from_slice,        \
	   const void *from, WAITS),                                                                        \
	  (queue, to, blocking, to_origin, from_origin, region, to_row, to_slice, from_row, from_slice,     \
	   from, PASS),                                                                                     \
	  "OpenCL write buffer", .bytes = volume(region), .direction = GT_ACCEL_TO_DEVICE,                  \
	  .blocking = blocking)                                                                             \
	X(88, clEnqueueCopyBufferRect,                                                                      \
	  (void *queue, void *from, void *to, const size_t *from_origin, const size_t *to_origin,           \
	   const size_t *region, size_t from_row, size_t from_slice, size_t to_row, size_t to_slice,        \
	   WAITS),                                                                                          \
	  (queue, from, to, from_origin, to_origin, region, from_row, from_slice, to_row, to_slice, PASS),  \
	  "OpenCL copy buffer", .bytes = volume(region), .direction = GT_ACCEL_WITHIN)                      \
	X(102, clEnqueueFillBuffer,                                                                         \
	  (void *queue, void *to, const void *pattern, size_t size, size_t offset, size_t bytes, WAITS),    \
	  (queue, to, pattern, size, offset, bytes, PASS), "OpenCL fill buffer", .bytes = bytes)            \
	X(103, clEnqueueFillImage,                                                                          \
	  (void *queue, void *to, const void *color, const size_t *origin, const size_t *region, WAITS),    \
	  (queue, to, color, origin, region, PASS), "OpenCL fill image", .bytes = image_bytes(to, region))  \
	X(104, clEnqueueMigrateMemObjects,                                                                  \
	  (void *queue, uint32_t n, void *const *memory, uint64_t flags, WAITS),                            \
	  (queue, n, memory, flags, PASS), "OpenCL migrate", .bytes = 0)                                    \
	X(129, clEnqueueSVMMemcpy,                                                                          \
	  (void *queue, uint32_t blocking, void *to, const void *from, size_t bytes, WAITS),                \
	  (queue, blocking, to, from, bytes, PASS), "OpenCL copy SVM", .bytes = bytes,                      \
	  .direction = GT_ACCEL_WITHIN, .blocking = blocking)                                               \
	X(130, clEnqueueSVMMemFill,                                                                         \
	  (void *queue, void *to, const void *pattern, size_t size, size_t bytes, WAITS),                   \
	  (queue, to, pattern, size, bytes, PASS), "OpenCL fill SVM", .bytes = bytes)                       \
	X(131, clEnqueueSVMMap,                                                                             \
	  (void *queue, uint32_t blocking, uint64_t flags, void *memory, size_t bytes, WAITS),              \
	  (queue, blocking, flags, memory, bytes, PASS), "OpenCL map", .bytes = bytes,                      \
	  .blocking = blocking)                                                                             \
	X(132, clEnqueueSVMUnmap, (void *queue, void *memory, WAITS), (queue, memory, PASS),                \
	  "OpenCL unmap", .bytes = 0)

#define COMMAND(place, name, parameters, arguments, what, ...)                                     \
	static int name parameters                                                                 \
	{                                                                                          \
		struct gt_cl_enqueue e;                                                            \
		int value;                                                                         \
												   \
		gt_cl_enqueue_begin(&e, regions[place], event);                                    \
		event = e.event;                                                                   \
		calling++;                                                                         \
		value = ((int (*) parameters)gt_cl_next[place]) arguments;                         \
		gt_cl_enqueue_end(&e, value, queue, &(struct gt_cl_work){ what, __VA_ARGS__ });    \
		calling--;                                                                         \
		return value;                                                                      \
	}
COMMANDS(COMMAND)
#undef COMMAND

/* These give the address, and the error last. */
#define MAPS(X)                                                                                              \
	X(56, clEnqueueMapBuffer,                                                                            \
	  (void *queue, void *memory, uint32_t blocking, uint64_t flags, size_t offset, size_t bytes, WAITS, \
	   int *error),                                                                                      \
	  (queue, memory, blocking, flags, offset, bytes, PASS, error), .bytes = bytes)                      \
	X(57, clEnqueueMapImage,                                                                             \
	  (void *queue, void *memory, uint32_t blocking, uint64_t flags, const size_t *origin,               \
	   const size_t *region, size_t *row, size_t *slice, WAITS, int *error),                             \
	  (queue, memory, blocking, flags, origin, region, row, slice, PASS, error),                         \
	  .bytes = image_bytes(memory, region))

#define MAP(place, name, parameters, arguments, ...)                                              \
	static void *name parameters                                                              \
	{                                                                                         \
		struct gt_cl_enqueue e;                                                           \
		void *value;                                                                      \
												  \
		gt_cl_enqueue_begin(&e, regions[place], event);                                   \
		event = e.event;                                                                  \
		calling++;                                                                        \
		value = ((void *(*)parameters)gt_cl_next[place]) arguments;                       \
		gt_cl_enqueue_end(&e, value ? GT_CL_SUCCESS : GT_CL_INVALID_VALUE, queue,         \
				  &(struct gt_cl_work){ "OpenCL map", .blocking = blocking, __VA_ARGS__ }); \
		calling--;                                                                        \
		return value;                                                                     \
	}
MAPS(MAP)
#undef MAP

/* ---- queues and events -------------------------------------------------------------------------- */

static void *remember(void *queue, bool asked, bool profiled, const uint64_t *properties)
{
	if (queue && gt_accel_lock(false)) {
		gt_cl_queue_add(queue, asked, profiled, properties);
		gt_accel_unlock();
	}
	return queue;
}

static void *clCreateCommandQueue(void *context, void *device, uint64_t properties, int *error)
{
	void *(*create)(void *, void *, uint64_t, int *) =
		(void *(*)(void *, void *, uint64_t, int *))gt_cl_next[GT_CL_CREATE_QUEUE];
	bool asked = properties & GT_CL_PROFILING;
	void *queue;

	calling++;
	queue = create(context, device, gt_accel_alive() ? properties | GT_CL_PROFILING : properties, error);
	if (queue || asked)
		queue = remember(queue, asked, true, NULL);
	else
		queue = remember(create(context, device, properties, error), false, false, NULL);
	calling--;
	return queue;
}

/* Adds profiling to what the program wants; false: it is a queue on the device, or there are too many. */
static bool with_profiling(const uint64_t *properties, uint64_t *more, unsigned room, bool *asked)
{
	unsigned n = 0;
	bool found = false;

	for (; properties && properties[n]; n += 2) {
		if (n + 5 > room)
			return false;
		more[n] = properties[n];
		more[n + 1] = properties[n + 1];
		if (properties[n] != GT_CL_QUEUE_PROPERTIES)
			continue;
		if (properties[n + 1] & GT_CL_ON_DEVICE)
			return false;
		found = true;
		*asked = properties[n + 1] & GT_CL_PROFILING;
		more[n + 1] |= GT_CL_PROFILING;
	}
	if (!found) {
		more[n++] = GT_CL_QUEUE_PROPERTIES;
		more[n++] = GT_CL_PROFILING;
	}
	more[n] = 0;
	return true;
}

static void *clCreateCommandQueueWithProperties(void *context, void *device, const uint64_t *properties,
						int *error)
{
	static const uint64_t none[1];
	void *(*create)(void *, void *, const uint64_t *, int *) =
		(void *(*)(void *, void *, const uint64_t *,
			   int *))gt_cl_next[GT_CL_CREATE_QUEUE_WITH_PROPERTIES];
	uint64_t more[16];
	bool asked = false, changed = gt_accel_alive() && with_profiling(properties, more, 16, &asked);
	void *queue;

	calling++;
	queue = create(context, device, changed ? more : properties, error);
	if (queue || !changed || asked)
		queue = remember(queue, asked, changed, properties ? properties : none);
	else
		queue = remember(create(context, device, properties, error), false, false, properties);
	calling--;
	return queue;
}

static int clReleaseCommandQueue(void *handle)
{
	uint32_t references = 0;

	if (gt_cl_ask(GT_CL_GET_QUEUE_INFO, handle, GT_CL_QUEUE_REFERENCES, sizeof(references),
		      &references) &&
	    references == 1 && gt_accel_alive()) {
		gt_cl_collect(handle);
		if (gt_accel_lock(false)) {
			struct gt_cl_queue *queue = gt_cl_queue_find(handle);

			if (queue)
				queue->handle = NULL;
			gt_accel_unlock();
		}
	}
	return ((int (*)(void *))gt_cl_next[GT_CL_RELEASE_QUEUE])(handle);
}

/* The program's own properties, if it asked for no profiling. NULL: the answer of the layer below is
 * right. */
static const struct gt_cl_queue *changed_queue(void *handle)
{
	struct gt_cl_queue *queue = NULL;

	if (gt_accel_lock(false)) {
		queue = gt_cl_queue_find(handle);
		gt_accel_unlock();
	}
	return queue && queue->profiled && !queue->asked ? queue : NULL;
}

static int clGetCommandQueueInfo(void *handle, uint32_t what, size_t size, void *value, size_t *needed)
{
	const struct gt_cl_queue *queue = what == GT_CL_QUEUE_PROPERTIES ||
							  what == GT_CL_QUEUE_PROPERTIES_ARRAY
						  ? changed_queue(handle)
						  : NULL;
	size_t bytes = queue ? queue->property_count * sizeof(uint64_t) : 0;
	uint64_t bits;
	int rc;

	if (queue && what == GT_CL_QUEUE_PROPERTIES_ARRAY && queue->property_count) {
		bytes = queue->properties[0] ? bytes : 0; /* none were given */
		if (value && size < bytes)
			return GT_CL_INVALID_VALUE;
		if (value && bytes)
			memcpy(value, queue->properties, bytes);
		if (needed)
			*needed = bytes;
		return GT_CL_SUCCESS;
	}
	rc = ((gt_cl_info)gt_cl_next[GT_CL_GET_QUEUE_INFO])(handle, what, size, value, needed);
	if (queue && rc == GT_CL_SUCCESS && value && what == GT_CL_QUEUE_PROPERTIES) {
		memcpy(&bits, value, sizeof(bits));
		bits &= ~(uint64_t)GT_CL_PROFILING;
		memcpy(value, &bits, sizeof(bits));
	}
	return rc;
}

static int clGetEventInfo(void *event, uint32_t what, size_t size, void *value, size_t *needed)
{
	int rc = ((gt_cl_info)gt_cl_next[GT_CL_GET_EVENT_INFO])(event, what, size, value, needed);
	uint32_t references;

	if (what == GT_CL_EVENT_REFERENCES && rc == GT_CL_SUCCESS && value && gt_cl_is_held(event)) {
		memcpy(&references, value, sizeof(references));
		references--;
		memcpy(value, &references, sizeof(references));
	}
	return rc;
}

static int clGetEventProfilingInfo(void *event, uint32_t what, size_t size, void *value, size_t *needed)
{
	void *queue = NULL;

	if (gt_cl_ask(GT_CL_GET_EVENT_INFO, event, GT_CL_EVENT_QUEUE, sizeof(queue), (void *)&queue) &&
	    queue && changed_queue(queue))
		return GT_CL_PROFILING_INFO_NOT_AVAILABLE;
	return ((gt_cl_info)gt_cl_next[GT_CL_GET_EVENT_PROFILING_INFO])(event, what, size, value, needed);
}

/* ---- the layer ---------------------------------------------------------------------------------- */

static const struct place {
	unsigned place, role; /* role 0: not recorded itself */
	const char *name;
	gt_cl_function function;
} places[] = {
#define CALL(place, name, role, ...) { place, GT_REGION_ROLE_##role, #name, (gt_cl_function)name },
	CALLS(CALL)
#undef CALL
#define WAIT(place, name, ...) { place, GT_REGION_ROLE_IMPLICIT_BARRIER, #name, (gt_cl_function)name },
	WAITING(WAIT)
#undef WAIT
#define COMMAND(place, name, ...) { place, GT_REGION_ROLE_FUNCTION, #name, (gt_cl_function)name },
	COMMANDS(COMMAND) MAPS(COMMAND)
#undef COMMAND
#define QUERY(place, name) { place, 0, #name, (gt_cl_function)name },
	QUERY(GT_CL_CREATE_QUEUE, clCreateCommandQueue)
	QUERY(GT_CL_CREATE_QUEUE_WITH_PROPERTIES, clCreateCommandQueueWithProperties)
	QUERY(GT_CL_RELEASE_QUEUE, clReleaseCommandQueue)
	QUERY(GT_CL_GET_QUEUE_INFO, clGetCommandQueueInfo)
	QUERY(GT_CL_GET_EVENT_INFO, clGetEventInfo)
	QUERY(GT_CL_GET_EVENT_PROFILING_INFO, clGetEventProfilingInfo)
#undef QUERY
};

static void fork_child(void)
{
	gt_accel_set_alive(false);
}

/* Before the driver's own handlers run, where the process ends by exit(). */
static void at_exit(void)
{
	if (!ended)
		gt_cl_collect_last();
	ended = true;
}

static void end(int how)
{
	(void)how;
	if (!ended && !gt_is_confined())
		gt_cl_collect_last();
}

static bool inside(void)
{
	return calling;
}

static const struct gt_adapter adapter = {
	.bytes = sizeof(adapter),
	.abi = GT_ADAPTER_ABI,
	.name = "opencl",
	.fork_child = fork_child,
	.end = end,
	.inside = inside,
};

static void begin(void)
{
	const char *wanted = gt_setting("VT_OPENCL");

	if (!wanted || strcmp(wanted, "yes") != 0 || gt_adapter_register(&adapter))
		return;
	gt_guard();
	gt_accel_clock_setup(gt_monotonic);
	gt_cl_commands_setup();
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (places[i].role)
			regions[places[i].place] = gt_accel_region(places[i].name, "OpenCL", places[i].role);
		if (gt_cl_next[places[i].place])
			ours[places[i].place] = places[i].function;
	}
	gt_unguard();
	atexit(at_exit);
	gt_accel_set_alive(true);
}

GT_API int clGetLayerInfo(uint32_t what, size_t size, void *value, size_t *needed);
GT_API int clInitLayer(uint32_t count, const gt_cl_function *below, uint32_t *count_above,
		       const gt_cl_function **above);

/* As CL/cl_layer.h has it. */
int clGetLayerInfo(uint32_t what, size_t size, void *value, size_t *needed)
{
	static const uint32_t version = GT_CL_LAYER_VERSION_100;
	static const char name[] = "gputrace";
	const void *answer = what == GT_CL_LAYER_VERSION ? (const void *)&version : name;
	size_t bytes = what == GT_CL_LAYER_VERSION ? sizeof(version) : sizeof(name);

	if ((what != GT_CL_LAYER_VERSION && what != GT_CL_LAYER_NAME) || (value && size < bytes))
		return GT_CL_INVALID_VALUE;
	if (value)
		memcpy(value, answer, bytes);
	if (needed)
		*needed = bytes;
	return GT_CL_SUCCESS;
}

int clInitLayer(uint32_t count, const gt_cl_function *below, uint32_t *count_above,
		const gt_cl_function **above)
{
	if (!below || !count_above || !above)
		return GT_CL_INVALID_VALUE;
	if (count > GT_CL_ENTRIES)
		count = GT_CL_ENTRIES;
	if (!gt_accel_alive()) {
		memcpy(gt_cl_next, below, count * sizeof(*below));
		memcpy(ours, below, count * sizeof(*below));
		begin();
	}
	*count_above = count;
	*above = ours;
	return GT_CL_SUCCESS;
}
