/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenCL as the adapter knows it: the loader's table of functions (CL/cl_icd.h, whose order never changes),
 * numbers of cl.h, queues, and commands whose times the device has still to say. No header of OpenCL's is
 * needed to build this; test/opencl/abi.c compares.
 *
 * Limits: OpenCL 1.0 to 3.0.
 */
#ifndef GPUTRACE_OPENCL_OPENCL_H
#define GPUTRACE_OPENCL_OPENCL_H

#include "accel/accel.h"

/* Places in the table. */
enum {
	GT_CL_GET_DEVICE_INFO = 3,
	GT_CL_CREATE_QUEUE = 9,
	GT_CL_RELEASE_QUEUE = 11,
	GT_CL_GET_QUEUE_INFO = 12,
	GT_CL_GET_IMAGE_INFO = 21,
	GT_CL_GET_KERNEL_INFO = 39,
	GT_CL_WAIT_FOR_EVENTS = 41,
	GT_CL_GET_EVENT_INFO = 42,
	GT_CL_RETAIN_EVENT = 43,
	GT_CL_RELEASE_EVENT = 44,
	GT_CL_GET_EVENT_PROFILING_INFO = 45,
	GT_CL_FINISH = 47,
	GT_CL_MARKER = 62,
	GT_CL_CREATE_QUEUE_WITH_PROPERTIES = 123,
	GT_CL_ENTRIES = 160, /* more than there are */
};

/* Numbers of cl.h. */
enum {
	GT_CL_SUCCESS = 0,
	GT_CL_INVALID_VALUE = -30,
	GT_CL_PROFILING_INFO_NOT_AVAILABLE = -7,
	GT_CL_OUT_OF_ORDER = 1,
	GT_CL_PROFILING = 2,
	GT_CL_ON_DEVICE = 4,
	GT_CL_DEVICE_NAME = 0x102b,
	GT_CL_QUEUE_CONTEXT = 0x1090,
	GT_CL_QUEUE_DEVICE = 0x1091,
	GT_CL_QUEUE_REFERENCES = 0x1092,
	GT_CL_QUEUE_PROPERTIES = 0x1093,
	GT_CL_QUEUE_PROPERTIES_ARRAY = 0x1098,
	GT_CL_IMAGE_ELEMENT_SIZE = 0x1111,
	GT_CL_KERNEL_NAME = 0x1190,
	GT_CL_EVENT_QUEUE = 0x11d0,
	GT_CL_EVENT_REFERENCES = 0x11d2,
	GT_CL_EVENT_STATUS = 0x11d3,
	GT_CL_QUEUED = 0x1280,
	GT_CL_START = 0x1282,
	GT_CL_END = 0x1283,
	GT_CL_LAYER_VERSION = 0x4240,
	GT_CL_LAYER_NAME = 0x4241,
	GT_CL_LAYER_VERSION_100 = 100,
};

typedef void (*gt_cl_function)(void);
typedef int (*gt_cl_info)(void *object, uint32_t what, size_t size, void *value, size_t *needed);

/* ---- clock.c: what devices say, on the core's clock ---------------------------------------------- */

/* Between the two, what a device calls `queued` was; all that is known of how its clock and ours agree. */
struct gt_cl_clock {
	int64_t least, most; /* of what is added to the device's nanoseconds */
	bool known;
};

/* A command was enqueued between two ticks, and was over before now; the device says when. */
GT_HIDDEN void gt_cl_clock_bound(struct gt_cl_clock *clock, uint64_t before, uint64_t after, uint64_t queued,
				 uint64_t end);
/* The tick of a device's time. */
GT_HIDDEN uint64_t gt_cl_ticks(const struct gt_cl_clock *clock, uint64_t ns);

/* ---- queues.c ------------------------------------------------------------------------------------ */

/* The functions below this layer; NULL where the table ends sooner. */
GT_HIDDEN extern gt_cl_function gt_cl_next[GT_CL_ENTRIES];

/* A query of the layer below; false: it failed. */
GT_HIDDEN bool gt_cl_ask(unsigned place, void *object, uint32_t what, size_t size, void *value);

struct gt_cl_command;

struct gt_cl_device {
	void *handle;
	uint32_t number;
	gt_ref group;
	struct gt_cl_clock clock;
	struct gt_cl_device *next;
};

struct gt_cl_queue {
	void *handle; /* NULL: released */
	struct gt_cl_device *device;
	struct gt_location *location;
	uint32_t number;
	bool out_of_order;
	bool asked;     /* the program wanted profiling itself */
	bool profiled;  /* it is on */
	uint64_t properties[16]; /* as the program gave them, with the 0; a count of 0: it gave none */
	unsigned property_count;
	struct gt_cl_command *first, **last; /* that are not over, in the order in which they were enqueued */
	struct gt_cl_queue *next;
};

/* All are called with the lock below. */
GT_HIDDEN struct gt_cl_queue *gt_cl_queue_add(void *handle, bool asked, bool profiled,
					      const uint64_t *properties);
GT_HIDDEN struct gt_cl_queue *gt_cl_queue_find(void *handle);
GT_HIDDEN struct gt_cl_queue *gt_cl_queues(void);

/* ---- commands.c ---------------------------------------------------------------------------------- */

/* A command's work on the device. */
struct gt_cl_work {
	const char *name;    /* of its region; NULL: of the kernel */
	void *kernel;
	uint64_t bytes;
	enum gt_accel_direction direction;
	bool blocking;
	uint32_t dimensions; /* of a kernel; 0: none are known */
	const size_t *global, *local;
};

/* A command that is being enqueued, on the stack of its wrapper. */
struct gt_cl_enqueue {
	void *own;           /* our event, if the program wants none */
	void **event;        /* for the call below */
	uint64_t before, correlation;
	gt_ref region;       /* of the call */
	bool active;
};

GT_HIDDEN void gt_cl_commands_setup(void);
/* Around the call below; `region` is that of the call. */
GT_HIDDEN void gt_cl_enqueue_begin(struct gt_cl_enqueue *e, gt_ref region, void **event);
GT_HIDDEN void gt_cl_enqueue_end(struct gt_cl_enqueue *e, int result, void *queue,
				 const struct gt_cl_work *work);
/* Records what is over; queue NULL: on all. */
GT_HIDDEN void gt_cl_collect(void *queue);
/* Is an event of the program's held, which adds one to its references? */
GT_HIDDEN bool gt_cl_is_held(void *event);
/* The process ends: what is not over by now is lost. */
GT_HIDDEN void gt_cl_collect_last(void);

#endif
