/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands: appended to lists, which are executed at once (immediate ones) or by a queue, as often as the
 * program likes. What is over is found when the program appends or executes more, waits, or ends.
 *
 * A list that is executed again before its events of the last time were read gets a list of ours in front of
 * it, which waits for these events, copies their times and resets them.
 *
 * Limits: a list that another list executes (an extension) is not seen. Times of an event of the program's
 * that another list resets on the device are lost.
 */
#include <stdlib.h>
#include <string.h>

#include "levelzero/levelzero.h"

enum { AT_ONCE = 4, LOOKED_AT = 64 };

/* The earlier run of a list: its times, as the device copies them. */
struct rerun {
	void *list, *memory_context;
	struct gt_ze_own *copied, *over;
	struct gt_ze_abi_times *times;
	uint32_t count;
	struct gt_ze_list *of; /* NULL: it is gone */
	struct rerun *next;
	struct gt_ze_command commands[]; /* copies; of a cause */
};

static struct gt_ze_list *lists; /* that have something to wait for */
static struct rerun *reruns;

void gt_ze_commands_setup(void)
{
	const char *transfers = gt_setting("VT_GPU_TRANSFERS");

	gt_accel_setup(transfers && !strcmp(transfers, "rma"));
	gt_accel_params_setup(&(struct gt_accel_param_names){ .size = { "group count", "group size" } });
}

static void lost(void)
{
	gt_lost(GT_LOSS_NO_LOCATION, 2);
}

/* ---- what is over ------------------------------------------------------------------------------- */

static void *event_of(const struct gt_ze_command *c)
{
	if (c->copied)
		return c->copied->handle;
	if (c->bridge)
		return c->bridge->handle;
	return c->own ? c->own->handle : c->theirs ? c->theirs->object.handle : NULL;
}

static void record(const struct gt_ze_command *c, const struct gt_ze_cause *cause,
		   const struct gt_ze_abi_times *times)
{
	struct gt_accel_activity activity = {
		.at = cause->queue->location,
		.region = c->region,
		.params = c->params,
		.correlation = cause->correlation,
		.bytes = c->bytes,
		.has_bytes = c->bytes,
		.direction = c->direction,
		.host = cause->host,
	};

	if (!c->region || !cause->correlation)
		return; /* the filter leaves it out, or recording is off */
	gt_ze_clock_span(&cause->queue->device->clock, &times->global, &activity.start, &activity.end);
	gt_accel_write(&activity);
}

static const struct gt_ze_cause *cause_of(const struct gt_ze_command *c)
{
	return c->list->immediate ? &c->cause : &c->list->cause;
}

/* Its event is signaled. */
static void finish(struct gt_ze_command *c)
{
	void *event = c->own ? c->own->handle : c->theirs ? c->theirs->object.handle : NULL;
	struct gt_ze_abi_times times;

	c->done = true;
	if (c->theirs && c->theirs->command == c)
		c->theirs->command = NULL;
	if (c->copied)
		times = *c->times;
	else if (!event || gt_ze.EventQueryKernelTimestamp(event, &times) != GT_ZE_SUCCESS) {
		lost();
		return;
	}
	record(c, cause_of(c), &times);
}

/* Its times can no longer be had. */
static void give_up(struct gt_ze_command *c)
{
	c->done = true;
	if (c->theirs && c->theirs->command == c)
		c->theirs->command = NULL;
	lost();
}

static void try(struct gt_ze_command *c)
{
	if (!c->list->rerun && gt_ze_is_signaled(event_of(c)))
		finish(c);
}

/* How far the device is with a command's events. */
enum state { UNUSED, SIGNALED, UNKNOWN };

static void free_command(struct gt_ze_command *c, enum state state)
{
	if (c->theirs && c->theirs->command == c)
		c->theirs->command = NULL;
	if (c->theirs && !--c->theirs->users && !c->theirs->object.handle)
		free(c->theirs);
	if (state != UNKNOWN) {
		gt_ze_own_give(c->own, state == SIGNALED);
		gt_ze_own_give(c->bridge, state == SIGNALED);
		gt_ze_own_give(c->copied, state == SIGNALED);
		if (c->times)
			gt_ze.MemFree(c->list->context, c->times);
	}
	free(c);
}

/* At most so many that are not over are looked at. */
static void collect_immediate(struct gt_ze_list *list, unsigned most)
{
	struct gt_ze_command **at = &list->first;

	while (*at && most) {
		struct gt_ze_command *c = *at;

		if (!c->done)
			try(c);
		if (!c->done) {
			most--;
			at = &c->next;
			continue;
		}
		*at = c->next;
		if (!*at)
			list->last = at;
		free_command(c, SIGNALED);
	}
}

static bool reset(const struct gt_ze_own *own)
{
	return !own || gt_ze.EventHostReset(own->handle) == GT_ZE_SUCCESS;
}

/* All that has an event of ours is over when these are signaled; they are reset for the next run. */
static void end_run(struct gt_ze_list *list)
{
	list->running = false;
	for (struct gt_ze_command *c = list->first; c; c = c->next)
		if (!reset(c->own) || !reset(c->bridge) || !reset(c->copied))
			list->lost = true;
}

static void collect_run(struct gt_ze_list *list)
{
	unsigned waiting = 0;

	for (struct gt_ze_command *c = list->first; c && waiting < LOOKED_AT; c = c->next) {
		if (!c->done)
			try(c);
		waiting += !c->done;
	}
	if (!waiting)
		end_run(list);
}

static bool collect_rerun(struct rerun *rerun)
{
	if (!gt_ze_is_signaled(rerun->over->handle))
		return false;
	if (rerun->of && rerun->of->rerun == rerun)
		rerun->of->rerun = NULL;
	for (uint32_t i = 0; i < rerun->count; i++)
		record(&rerun->commands[i], &rerun->commands[i].cause, &rerun->times[i]);
	gt_ze.CommandListDestroy(rerun->list);
	gt_ze.MemFree(rerun->memory_context, rerun->times);
	gt_ze_own_give(rerun->copied, true);
	gt_ze_own_give(rerun->over, true);
	return true;
}

static void note_clocks(void)
{
	gt_accel_clock_note();
	for (struct gt_ze_list *list = lists; list; list = list->next) {
		const struct gt_ze_queue *queue = list->immediate ? list->immediate : list->cause.queue;

		gt_ze_clock_note(&queue->device->clock, queue->device->object.handle);
	}
	for (const struct rerun *rerun = reruns; rerun; rerun = rerun->next) {
		struct gt_ze_device *device = rerun->commands[0].cause.queue->device;

		gt_ze_clock_note(&device->clock, device->object.handle);
	}
}

static bool waits(const struct gt_ze_list *list)
{
	return list->immediate ? list->first != NULL : list->running;
}

static void collect_list(struct gt_ze_list *list)
{
	if (list->immediate)
		collect_immediate(list, LOOKED_AT);
	else if (list->running)
		collect_run(list);
}

void gt_ze_collect(void)
{
	if (lists || reruns)
		note_clocks();
	for (struct rerun **at = &reruns, *rerun; (rerun = *at);) {
		if (!collect_rerun(rerun)) {
			at = &rerun->next;
			continue;
		}
		*at = rerun->next;
		free(rerun);
	}
	for (struct gt_ze_list **at = &lists, *list; (list = *at);) {
		collect_list(list);
		if (waits(list)) {
			at = &list->next;
			continue;
		}
		*at = list->next;
		list->listed = false;
	}
}

static void enlist(struct gt_ze_list *list)
{
	if (list->listed)
		return;
	list->listed = true;
	list->next = lists;
	lists = list;
}

static void unlist(struct gt_ze_list *list)
{
	struct gt_ze_list **at = &lists;

	while (*at && *at != list)
		at = &(*at)->next;
	if (*at)
		*at = list->next;
	list->listed = false;
}

void gt_ze_collect_last(void)
{
	uint64_t left = 0;

	if (!gt_accel_lock(true))
		return;
	gt_ze_collect();
	for (struct gt_ze_list *list = lists; list; list = list->next) {
		list->listed = false;
		for (const struct gt_ze_command *c = list->first; c; c = c->next)
			left += c->done ? 0 : 2;
	}
	for (const struct rerun *rerun = reruns; rerun; rerun = rerun->next)
		left += 2 * rerun->count;
	lists = NULL;
	reruns = NULL;
	gt_accel_unlock();
	if (left)
		gt_lost(GT_LOSS_LATE, left);
}

/* ---- lists -------------------------------------------------------------------------------------- */

void gt_ze_list_make(void *handle, void *context, void *device, uint32_t ordinal, bool immediate)
{
	struct gt_ze_list *list = gt_ze_find(GT_ZE_LIST, handle);

	if (list)
		gt_ze_list_empty(list, true);
	list = gt_ze_put(GT_ZE_LIST, handle, sizeof(*list));
	if (!list)
		return;
	list->context = context;
	list->device = device;
	list->ordinal = ordinal;
	list->last = &list->first;
	if (immediate)
		list->immediate = gt_ze_queue_make(GT_ZE_LIST, handle, device);
	if (immediate && !list->immediate)
		free(gt_ze_take(GT_ZE_LIST, handle));
}

void gt_ze_list_empty(struct gt_ze_list *list, bool destroy)
{
	struct gt_ze_command *next;
	bool waiting;

	gt_ze_collect();
	waiting = waits(list);
	for (struct gt_ze_command *c = list->first; c; c = next) {
		next = c->next;
		if (waiting && !c->done)
			lost();
		if (list->lost || (waiting && !c->done))
			free_command(c, UNKNOWN); /* its events may still be signaled */
		else
			free_command(c, waiting ? SIGNALED : UNUSED);
	}
	unlist(list);
	for (struct rerun *rerun = reruns; rerun; rerun = rerun->next)
		if (rerun->of == list)
			rerun->of = NULL;
	list->rerun = NULL;
	list->first = NULL;
	list->last = &list->first;
	list->running = list->lost = false;
	if (destroy)
		free(gt_ze_take(GT_ZE_LIST, list->object.handle));
}

static void leave_context(struct gt_ze_object *object, void *context)
{
	struct gt_ze_list *list = (struct gt_ze_list *)object;

	if (list->context != context)
		return;
	gt_ze_list_empty(list, false);
	list->context = NULL;
}

void gt_ze_lists_end(void *context)
{
	gt_ze_each(GT_ZE_LIST, leave_context, context);
}

/* ---- appending ---------------------------------------------------------------------------------- */

/* The times of an earlier command in the program's event are lost if they were not read before. */
static void before_reuse(struct gt_ze_event *event)
{
	struct gt_ze_command *c = event->command;

	if (!c || (!c->list->immediate && !c->list->running))
		return;
	try(c);
	if (event->command)
		give_up(c);
}

void *gt_ze_append_begin(struct gt_ze_append *a, void *handle, void *signal)
{
	struct gt_ze_event *event = signal ? gt_ze_find(GT_ZE_EVENT, signal) : NULL;

	a->list = gt_ze_find(GT_ZE_LIST, handle);
	a->signal = signal;
	if (a->list && !a->list->context)
		a->list = NULL;
	if (!a->list)
		return signal;
	if (event && event->timestamps) {
		before_reuse(event);
		a->theirs = event;
		return signal;
	}
	if (signal && !event)
		return signal; /* it came by ways that are not known: it may have timestamps */
	a->own = gt_ze_own_take(a->list->context);
	if (a->own && signal)
		a->bridge = gt_ze_own_take(a->list->context);
	if (!a->own || (signal && !a->bridge)) {
		gt_ze_own_give(a->own, false);
		a->own = NULL;
		return signal;
	}
	return a->own->handle;
}

/*
 * The program's event is signaled once the command is over. It must be, whatever fails: each way that is left
 * is tried. False: the bridge's own event is not signaled.
 */
static bool bridge(struct gt_ze_append *a)
{
	void *list = a->list->object.handle;
	bool waits =
		gt_ze.CommandListAppendBarrier(list, a->bridge->handle, 1, &a->own->handle) == GT_ZE_SUCCESS;
	int rc;

	if (waits && gt_ze.CommandListAppendSignalEvent(list, a->signal) == GT_ZE_SUCCESS)
		return true;
	rc = gt_ze.CommandListAppendBarrier(list, a->signal, 1, &a->own->handle);
	if (rc == GT_ZE_SUCCESS)
		return waits;
	if (gt_ze.CommandListAppendWaitOnEvents(list, 1, &a->own->handle) == GT_ZE_SUCCESS)
		rc = gt_ze.CommandListAppendSignalEvent(list, a->signal);
	if (rc != GT_ZE_SUCCESS && a->list->immediate) {
		gt_ze.EventHostSynchronize(a->own->handle, UINT64_MAX);
		rc = gt_ze.EventHostSignal(a->signal);
	}
	if (rc != GT_ZE_SUCCESS)
		gt_message(0, "Level Zero cannot signal an event of the program's: error 0x%lx",
			   (unsigned long)rc);
	return waits;
}

static void add(struct gt_ze_append *a, const struct gt_ze_work *work, uint64_t correlation)
{
	struct gt_ze_command *c = calloc(1, sizeof(*c));

	if (!c) {
		lost();
		return;
	}
	c->list = a->list;
	c->own = a->own;
	c->bridge = a->bridge;
	c->theirs = a->theirs;
	gt_ze_describe(c, work);
	*a->list->last = c;
	a->list->last = &c->next;
	if (c->theirs) {
		c->theirs->command = c;
		c->theirs->users++;
	}
	if (!a->list->immediate)
		return;
	c->cause = (struct gt_ze_cause){ a->list->immediate, correlation, gt_self_location() };
	enlist(a->list);
	gt_accel_clock_note();
	gt_ze_clock_note(&a->list->immediate->device->clock, a->list->device);
	collect_immediate(a->list, AT_ONCE);
}

void gt_ze_append_end(struct gt_ze_append *a, bool ok, const struct gt_ze_work *work, uint64_t correlation)
{
	if (!a->list) {
		if (ok)
			lost();
		return;
	}
	if (!ok) {
		gt_ze_own_give(a->own, false);
		gt_ze_own_give(a->bridge, false);
		return;
	}
	if ((!a->own && !a->theirs) || (a->bridge && !bridge(a)))
		lost();
	else
		add(a, work, correlation);
}

/* ---- events of the program's --------------------------------------------------------------------- */

/*
 * A list is about to reset it: its times are copied before. Nothing waits for the program's event; it must be
 * over here anyway.
 */
static bool copy_times(struct gt_ze_command *c, void *event)
{
	const struct gt_ze_abi_host_memory desc = { .stype = GT_ZE_ABI_HOST_MEMORY };
	void *list = c->list->object.handle, *memory = NULL;
	struct gt_ze_own *copied = gt_ze_own_take(c->list->context);

	if (!copied)
		return false;
	if (gt_ze.MemAllocHost(c->list->context, &desc, sizeof(*c->times), 64, &memory) != GT_ZE_SUCCESS ||
	    gt_ze.CommandListAppendQueryKernelTimestamps(list, 1, &event, memory, NULL, copied->handle, 0,
							 NULL) != GT_ZE_SUCCESS) {
		if (memory)
			gt_ze.MemFree(c->list->context, memory);
		gt_ze_own_give(copied, false);
		return false;
	}
	gt_ze.CommandListAppendBarrier(list, NULL, 1, &copied->handle);
	c->times = memory;
	c->copied = copied;
	c->theirs->command = NULL;
	return true;
}

void gt_ze_event_ends(void *handle, void *list)
{
	struct gt_ze_event *event = gt_ze_find(GT_ZE_EVENT, handle);
	struct gt_ze_command *c = event ? event->command : NULL;

	if (!c)
		return;
	if (c->list->immediate || c->list->running)
		try(c);
	if (!event->command)
		return;
	if (list && c->list->object.handle == list && copy_times(c, handle))
		return;
	if (!list && !c->list->immediate && !c->list->running)
		return; /* before the list is executed, or executed again */
	if (!list)
		give_up(c);
}

void gt_ze_event_destroyed(void *handle)
{
	struct gt_ze_event *event;

	gt_ze_event_ends(handle, NULL);
	event = gt_ze_take(GT_ZE_EVENT, handle);
	if (!event)
		return;
	event->object.handle = NULL;
	if (!event->users)
		free(event);
}

/* ---- execution ---------------------------------------------------------------------------------- */

static bool append_rerun(struct rerun *rerun, const struct gt_ze_list *list, void **events, void **waits,
			 uint32_t count)
{
	void *of = rerun->list;

	if (gt_ze.CommandListAppendQueryKernelTimestamps(of, rerun->count, events, rerun->times, NULL,
							 rerun->copied->handle, count, waits) ||
	    gt_ze.CommandListAppendBarrier(of, NULL, 1, &rerun->copied->handle))
		return false;
	for (const struct gt_ze_command *c = list->first; c; c = c->next)
		if (!c->done && c->own &&
		    (gt_ze.CommandListAppendEventReset(of, c->own->handle) ||
		     (c->bridge && gt_ze.CommandListAppendEventReset(of, c->bridge->handle))))
			return false;
	return !gt_ze.CommandListAppendBarrier(of, rerun->over->handle, 0, NULL) &&
	       !gt_ze.CommandListClose(of);
}

static bool make_list(struct rerun *rerun, const struct gt_ze_list *list, void **events, void **waits,
		      uint32_t count)
{
	const struct gt_ze_abi_list desc = { .stype = GT_ZE_ABI_COMMAND_LIST, .ordinal = list->ordinal };
	const struct gt_ze_abi_host_memory memory = { .stype = GT_ZE_ABI_HOST_MEMORY };
	void *times = NULL;

	if (gt_ze.MemAllocHost(list->context, &memory, rerun->count * sizeof(*rerun->times), 64, &times))
		return false;
	rerun->times = times;
	rerun->memory_context = list->context;
	if (!gt_ze.CommandListCreate(list->context, list->device, &desc, &rerun->list)) {
		if (append_rerun(rerun, list, events, waits, count))
			return true;
		gt_ze.CommandListDestroy(rerun->list);
	}
	gt_ze.MemFree(list->context, times);
	return false;
}

/* What is to be executed between two runs of a list; NULL: there is nothing to do, or it cannot be made. */
static struct rerun *make_rerun(struct gt_ze_list *list, uint32_t most)
{
	struct rerun *rerun = calloc(1, sizeof(*rerun) + most * sizeof(rerun->commands[0]));
	void **events = calloc(3 * (size_t)most, sizeof(*events)), **waits = events + most;
	uint32_t n = 0;

	for (struct gt_ze_command *c = list->first; rerun && events && c; c = c->next) {
		if (c->done || !c->own)
			continue;
		rerun->commands[rerun->count] = *c;
		rerun->commands[rerun->count].cause = list->cause;
		events[rerun->count++] = c->own->handle;
		waits[n++] = event_of(c);
	}
	if (rerun && events) {
		rerun->copied = gt_ze_own_take(list->context);
		rerun->over = gt_ze_own_take(list->context);
	}
	if (!rerun || !rerun->copied || !rerun->over || !make_list(rerun, list, events, waits, n)) {
		if (rerun) {
			gt_ze_own_give(rerun->copied, false);
			gt_ze_own_give(rerun->over, false);
		}
		free(rerun);
		rerun = NULL;
	}
	free(events);
	return rerun;
}

/* Events of the earlier run that are signaled can be reset now; the others the list resets that is made. */
static struct rerun *between_runs(struct gt_ze_list *list)
{
	struct rerun *rerun = NULL;
	uint32_t n = 0, copied = 0;

	for (struct gt_ze_command *c = list->first; c; c = c->next) {
		if (!c->done)
			try(c);
		if (!c->done && !c->own)
			give_up(c);
		copied += c->copied && (list->rerun || !gt_ze_is_signaled(c->copied->handle));
		n += !c->done;
		if (c->done && !list->rerun && (!reset(c->own) || !reset(c->bridge) || !reset(c->copied)))
			list->lost = true;
	}
	if (n && !copied)
		rerun = make_rerun(list, n);
	list->lost |= copied || (n && !rerun);
	if (list->lost)
		gt_lost(GT_LOSS_NO_LOCATION, 2 * n);
	return rerun;
}

/* All that a list does. */
static void lose(const struct gt_ze_list *list)
{
	for (const struct gt_ze_command *c = list ? list->first : NULL; c; c = c->next)
		lost();
}

static void start(struct gt_ze_list *list, struct gt_ze_queue *queue, uint64_t correlation)
{
	list->running = true;
	list->cause = (struct gt_ze_cause){ queue, correlation, gt_self_location() };
	for (struct gt_ze_command *c = list->first; c; c = c->next) {
		c->done = list->lost;
		if (c->theirs && !c->copied)
			c->theirs->command = c;
	}
	if (list->lost)
		lose(list);
	else
		enlist(list);
	list->running = !list->lost;
}

void **gt_ze_execute(void *handle, uint32_t *count, void **of, uint64_t correlation)
{
	struct gt_ze_queue *queue = gt_ze_find(GT_ZE_QUEUE, handle);
	void **more = NULL;
	uint32_t n = 0;

	gt_ze_collect();
	for (uint32_t i = 0; !queue && of && i < *count; i++)
		lose(gt_ze_find(GT_ZE_LIST, of[i]));
	for (uint32_t i = 0; queue && of && i < *count; i++) {
		struct gt_ze_list *list = gt_ze_find(GT_ZE_LIST, of[i]);
		struct rerun *rerun = list && list->running ? between_runs(list) : NULL;

		if (rerun && !more) {
			more = calloc(2 * (size_t)*count, sizeof(*more));
			if (more && i)
				memcpy(more, of, i * sizeof(*of));
			n = i;
		}
		if (rerun && more) {
			more[n++] = rerun->list;
			rerun->next = reruns;
			reruns = rerun;
			rerun->of = list;
			list->rerun = rerun;
		} else if (rerun) {
			list->lost = true;
		}
		if (more)
			more[n++] = of[i];
		if (list && !list->immediate)
			start(list, queue, correlation);
	}
	if (more)
		*count = n;
	return more;
}

void gt_ze_not_executed(uint32_t count, void **of)
{
	for (uint32_t i = 0; i < count; i++) {
		struct gt_ze_list *list = gt_ze_find(GT_ZE_LIST, of[i]);

		if (!list || list->immediate)
			continue;
		list->lost |= list->rerun != NULL;
		list->running = false;
		unlist(list);
	}
}
