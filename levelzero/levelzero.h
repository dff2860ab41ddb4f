/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The adapter for Level Zero: objects of the program's, by their handles, and commands whose times the device
 * has still to say.
 *
 * An event of ours, with timestamps, is put into each command that signals none. Where the program's own
 * event has no timestamps ours takes its place, and a barrier that waits for ours comes before the program's
 * event is signaled. An event with timestamps of the program's is read before the program resets it.
 *
 * Limits: as abi.h. All but clock.c's is called with the lock held, where not said otherwise.
 */
#ifndef GPUTRACE_LEVELZERO_LEVELZERO_H
#define GPUTRACE_LEVELZERO_LEVELZERO_H

#include "accel/accel.h"
#include "levelzero/abi.h"

/* ---- api.c --------------------------------------------------------------------------------------- */

/* The functions of the loader; none of them is NULL while the adapter records. */
struct gt_ze_functions {
#define GT_ZE_FUNCTION(name, arguments) int(*name) arguments;
	GT_ZE_FUNCTIONS(GT_ZE_FUNCTION)
#undef GT_ZE_FUNCTION
};
GT_HIDDEN extern struct gt_ze_functions gt_ze;
/* False: one is missing. */
GT_HIDDEN bool gt_ze_functions_find(void);

/* ---- clock.c: a device's clock, on the core's ---------------------------------------------------- */

struct gt_ze_clock {
	double rate;                   /* nanoseconds of CLOCK_MONOTONIC in a tick */
	bool exact;                    /* the device said it in ticks a second */
	uint64_t mask, timestamp_mask; /* valid bits of the clock, and of timestamps */
	uint64_t latest, latest_ns;    /* the newest reading, with the bits that were carried */
	uint64_t at, at_ns;            /* the pair from which is counted */
	uint64_t first, first_ns;      /* the oldest one */
};

GT_HIDDEN void gt_ze_clock_setup(struct gt_ze_clock *clock, void *device,
				 const struct gt_ze_abi_device *properties);
/* Reads the device's clock, unless that was done just now. */
GT_HIDDEN void gt_ze_clock_note(struct gt_ze_clock *clock, void *device);
/* Ticks of a span of timestamps. */
GT_HIDDEN void gt_ze_clock_span(const struct gt_ze_clock *clock, const struct gt_ze_abi_span *span,
				uint64_t *start, uint64_t *end);

/* ---- objects.c ----------------------------------------------------------------------------------- */

enum gt_ze_kind {
	GT_ZE_CONTEXT,
	GT_ZE_DEVICE,
	GT_ZE_QUEUE,
	GT_ZE_LIST,
	GT_ZE_POOL,
	GT_ZE_EVENT,
	GT_ZE_KERNEL,
};

struct gt_ze_object {
	void *handle;
	enum gt_ze_kind kind;
	struct gt_ze_object *next;
};

/* The object of this handle, or NULL; one of `bytes`, zeroed, in the place of any that has the handle. */
GT_HIDDEN void *gt_ze_find(enum gt_ze_kind kind, const void *handle);
GT_HIDDEN void *gt_ze_put(enum gt_ze_kind kind, void *handle, size_t bytes);
/* All objects of a kind. */
GT_HIDDEN void gt_ze_each(enum gt_ze_kind kind, void (*call)(struct gt_ze_object *object, void *data),
			  void *data);
/* It has no handle any more. The memory is the caller's. */
GT_HIDDEN void *gt_ze_take(enum gt_ze_kind kind, const void *handle);

struct gt_ze_device {
	struct gt_ze_object object;
	uint32_t number, queues;
	gt_ref group;
	struct gt_ze_clock clock;
};

/* A command queue, or a command list that is one (immediate). Kept until the process ends. */
struct gt_ze_queue {
	struct gt_ze_object object;
	struct gt_ze_device *device;
	struct gt_location *location;
};

/* A pool of the program's, and an event in one. */
struct gt_ze_pool {
	struct gt_ze_object object;
	bool timestamps;
};
struct gt_ze_event {
	struct gt_ze_object object;
	bool timestamps;
	struct gt_ze_command *command; /* whose times are read from it, and were not yet */
	uint32_t users;                /* commands that signal it; destroyed, it is kept as long */
};

struct gt_ze_kernel {
	struct gt_ze_object object;
	char *name;
	uint32_t size[3]; /* of a group; 0: not known */
};

/* NULL: no memory. */
GT_HIDDEN struct gt_ze_device *gt_ze_device_of(void *handle);
GT_HIDDEN struct gt_ze_queue *gt_ze_queue_make(enum gt_ze_kind kind, void *handle, void *device);

/* ---- events.c: events of ours -------------------------------------------------------------------- */

struct gt_ze_own {
	void *handle;
	struct gt_ze_context *context;
	struct gt_ze_own *next;
};

struct gt_ze_context {
	struct gt_ze_object object;
	struct gt_ze_own *unused;
	struct gt_ze_pool_of_ours *pools;
	bool failed; /* no pool can be made */
};

/* The context of a handle, or NULL: no memory. */
GT_HIDDEN struct gt_ze_context *gt_ze_context_of(void *handle);
/* One that is not signaled, or NULL. */
GT_HIDDEN struct gt_ze_own *gt_ze_own_take(void *context);
/* It was not signaled, or nothing waits for it any more and it is reset. */
GT_HIDDEN void gt_ze_own_give(struct gt_ze_own *own, bool signaled);
GT_HIDDEN bool gt_ze_is_signaled(void *event);
/* The program destroys the context: ours are destroyed first. */
GT_HIDDEN void gt_ze_context_end(void *handle);

/* ---- work.c -------------------------------------------------------------------------------------- */

/* A command's work on the device. */
struct gt_ze_work {
	const char *name; /* NULL: the kernel's */
	const char *group;
	unsigned role;
	const void *from, *to; /* of a copy of which `copies` is set */
	bool copies;
	uint64_t bytes;
	void *kernel;
	const uint32_t *count; /* of groups, in three dimensions, or NULL */
};

/* The call that had a command executed. */
struct gt_ze_cause {
	struct gt_ze_queue *queue;
	uint64_t correlation;
	uint32_t host; /* location of the thread */
};

struct gt_ze_command {
	struct gt_ze_list *list;
	struct gt_ze_own *own;    /* signaled by the command, NULL: the program's is */
	struct gt_ze_own *bridge; /* by the barrier that is before the signal of the program's, or NULL */
	struct gt_ze_event *theirs;
	struct gt_ze_own *copied; /* signaled when the times of the program's event are in `times` */
	struct gt_ze_abi_times *times;
	gt_ref region, params;
	uint64_t bytes;
	uint8_t direction;
	bool done; /* recorded, or lost; of the present run of a list */
	struct gt_ze_cause cause; /* on an immediate list */
	struct gt_ze_command *next;
};

/* A command list. */
struct gt_ze_list {
	struct gt_ze_object object;
	void *context, *device;
	uint32_t ordinal;
	struct gt_ze_queue *immediate; /* NULL: it is executed by a queue */
	struct gt_ze_command *first, **last;
	bool running;
	bool lost; /* what is known of its events is no longer right: until it is reset nothing is recorded */
	struct gt_ze_cause cause; /* of the run */
	const void *rerun; /* what must be over before the events say something of this run, or NULL */
	bool listed;
	struct gt_ze_list *next; /* that have something to wait for */
};

/* Is it memory that the device may have, of a context? */
GT_HIDDEN bool gt_ze_is_on_device(void *context, const void *memory);
/* Says in `c` what its list is to do. */
GT_HIDDEN void gt_ze_describe(struct gt_ze_command *c, const struct gt_ze_work *work);

/* ---- commands.c ---------------------------------------------------------------------------------- */

/* A command that is being appended, on its thread. */
struct gt_ze_append {
	struct gt_ze_list *list;
	struct gt_ze_own *own, *bridge;
	struct gt_ze_event *theirs;
	void *signal; /* the program's */
};

GT_HIDDEN void gt_ze_commands_setup(void);
GT_HIDDEN void gt_ze_list_make(void *handle, void *context, void *device, uint32_t ordinal, bool immediate);
/* The program destroys the context of lists. */
GT_HIDDEN void gt_ze_lists_end(void *context);
/* The program resets or destroys it. */
GT_HIDDEN void gt_ze_list_empty(struct gt_ze_list *list, bool destroy);
/* Chooses the event that the command is to signal. */
GT_HIDDEN void *gt_ze_append_begin(struct gt_ze_append *a, void *list, void *signal);
GT_HIDDEN void gt_ze_append_end(struct gt_ze_append *a, bool ok, const struct gt_ze_work *work,
				uint64_t correlation);
/* An event of the program's is about to lose its times: by the host, or by a list if that is not NULL. */
GT_HIDDEN void gt_ze_event_ends(void *event, void *list);
GT_HIDDEN void gt_ze_event_destroyed(void *event);

/* Before lists are executed, by the call with this correlation id: what is to be executed in their place
 * (to be freed), or NULL. */
GT_HIDDEN void **gt_ze_execute(void *queue, uint32_t *count, void **lists, uint64_t correlation);
/* The call failed. */
GT_HIDDEN void gt_ze_not_executed(uint32_t count, void **lists);

/* Records what is over. */
GT_HIDDEN void gt_ze_collect(void);
/* The process ends; called without the lock. */
GT_HIDDEN void gt_ze_collect_last(void);

#endif
