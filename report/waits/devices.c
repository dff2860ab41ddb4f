/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds who ended the waits of hosts for devices, and of devices for hosts and for each other.
 *
 * Before an activity its stream was idle: because the activity was launched later (its launch is the cause),
 * or because it had to wait for one on another stream, which then ended just before it began, if it was told
 * to: by cudaStreamWaitEvent() since the launch before, by the graph of both, or as a legacy default stream
 * waits. Only while the whole device is idle it starves.
 *
 * Limits: which streams and events a call waits for is in no record, unless it is for all of a device; what
 * ended last is taken, of what its own thread has launched if that is known. The idle time before a stream's
 * first activity is in no timeline.
 */
#include "config.h"

#include "lib/assemble/util/memory.h"
#include "report/model/rules.h"
#include "report/waits/sync.h"

#include <stdlib.h>
#include <string.h>

/* An activity that ends so long before another begins can be what that one waited for: launching after the
 * event of another stream takes some microseconds. */
enum { DEPENDENCY_NS = 20000, CONTINUED = 4 };
#define MANY UINT32_MAX

/* Ends of a process's activities, in their order. */
struct end {
	uint64_t time;
	uint32_t location;
	uint32_t class;
	uint32_t launcher;
	uint64_t sent;
};

/* When calls began after which a stream waits for another one. */
struct told {
	uint64_t *times;
	size_t count, room;
};

struct devices {
	struct gt_sync *sync;
	struct gt_log *ends; /* by process */
	struct told *told;   /* the same */
	uint32_t *device;    /* the same: the only one, 1 + index; 0: none; or MANY */
	bool tells;          /* are such calls recorded, and no launches otherwise? */
};

static const struct gt_location_class *class_at(const struct devices *devices, uint32_t location)
{
	return &devices->sync->report->classes.locations[location];
}

static bool is_activity(const struct gt_wait_segment *segment)
{
	return segment->class != GT_CLASS_GPU_IDLE && segment->end > segment->begin;
}

/* ---- launches ------------------------------------------------------------------------------------ */

/* A copy that its call waited for ends in the call, of which HOST_IDLE can have made several segments. */
static void wait_in_call(struct gt_sync *sync, const struct gt_item *call, uint32_t stream, uint64_t end)
{
	uint64_t count = gt_segment_count(sync, call->location);
	uint32_t node = gt_segment_at(sync, call->location, call->segment)->node;

	for (uint64_t i = call->segment; i < count && i < call->segment + CONTINUED; i++)
		if (gt_segment_at(sync, call->location, i)->node == node)
			gt_sync_wait(sync, call->location, i, GT_WAIT_HIDDEN, stream, end);
}

static void pair(struct gt_sync *sync, const struct gt_item *call, const struct gt_item *activity)
{
	const struct gt_wait_segment *host = gt_segment_at(sync, call->location, call->segment);
	struct gt_wait_segment *segment = gt_segment_at(sync, activity->location, activity->segment);

	segment->launcher = call->location;
	segment->sent = call->time;
	segment->also = call->location;
	segment->also_until = call->time;
	segment->quick = segment->end - segment->begin < host->end - host->begin;
	if (sync->shows_launches)
		gt_launch_add(sync, call, activity);
	if (host->class == GT_CLASS_GPU_COPY)
		wait_in_call(sync, call, activity->location, segment->end);
}

/* Numbers come again after 2^32 calls: the last call before the activity is its own. */
static void match_launches(struct gt_sync *sync)
{
	struct gt_bag *bag = &sync->bags[GT_BAG_LAUNCHES];
	struct gt_item call = { .key = 0 };
	bool known = false;

	for (; gt_bag_next(bag); gt_spill_used(&sync->spill)) {
		struct gt_item item = gt_bag_take(bag);

		if (item.what == GT_LAUNCH_CALL) {
			call = item;
			known = true;
		} else if (known && call.key == item.key && call.time <= item.time) {
			pair(sync, &call, &item);
		}
	}
}

/* ---- what ended when ----------------------------------------------------------------------------- */

static void collect(struct devices *devices, uint32_t location)
{
	struct gt_sync *sync = devices->sync;
	uint32_t *only = &devices->device[class_at(devices, location)->process];
	uint32_t device = 1 + class_at(devices, location)->device; /* 0, if it is not known */

	*only = device && (!*only || *only == device) ? device : MANY;

	for (uint64_t i = 0; i < gt_segment_count(sync, location); i++) {
		const struct gt_wait_segment *segment = gt_segment_at(sync, location, i);
		struct gt_item item = { .key = class_at(devices, location)->process,
					.tie = segment->end,
					.time = segment->end,
					.location = location,
					.segment = (uint32_t)i,
					.what = segment->class };

		gt_spill_used(&sync->spill);
		if (!is_activity(segment))
			continue;
		gt_bag_add(&sync->spill, &sync->bags[GT_BAG_ENDS], &item);
		item.key = class_at(devices, location)->device;
		item.tie = segment->begin;
		gt_bag_add(&sync->spill, &sync->bags[GT_BAG_BEGINS], &item);
	}
}

static void order_ends(struct devices *devices)
{
	struct gt_bag *bag = &devices->sync->bags[GT_BAG_ENDS];

	while (gt_bag_next(bag)) {
		struct gt_item item = gt_bag_take(bag);
		struct gt_log *log = &devices->ends[item.key];
		const struct gt_wait_segment *segment =
			gt_segment_at(devices->sync, item.location, item.segment);

		log->size = sizeof(struct end);
		*(struct end *)gt_log_add(&devices->sync->spill, log) =
			(struct end){ item.time, item.location, item.what, segment->launcher, segment->sent };
	}
}

/* The last that ended after `from` and not after `to`, on another stream. `cursor` only grows. */
static const struct end *last_end(const struct gt_log *ends, uint64_t *cursor, uint64_t from, uint64_t to,
				  uint32_t but)
{
	while (*cursor < ends->count && ((struct end *)gt_log_at(ends, *cursor))->time <= to)
		++*cursor;
	for (uint64_t i = *cursor; i--;) {
		const struct end *end = gt_log_at(ends, i);

		if (end->time <= from)
			break;
		if (end->location != but)
			return end;
	}
	return NULL;
}

/* As last_end(); of those that `host` had launched, if there are any. */
static const struct end *last_of_own(const struct gt_log *ends, uint64_t *cursor, uint64_t from, uint64_t to,
				     uint32_t host)
{
	const struct end *last = last_end(ends, cursor, from, to, GT_NO_CAUSE);

	for (uint64_t i = *cursor; last && i--;) {
		const struct end *end = gt_log_at(ends, i);

		if (end->time <= from)
			break;
		if (end->launcher == host)
			return end;
	}
	return last;
}

/* ---- what streams are told ----------------------------------------------------------------------- */

static bool begins(const char *name, const char *word)
{
	return !strncmp(name, word, strlen(word));
}

/* CUDA and HIP have one call; events of others are arguments of launches. */
static bool tells(const struct gt_report *report, const struct gt_profile *profile)
{
	for (size_t i = 0; i < report->read->tables[GT_OTF2_REGION].count; i++) {
		const char *name = gt_report_region_name(report, i);

		if (report->classes.regions[i] == GT_CLASS_GPU_LAUNCH && profile->regions[i].calls &&
		    !begins(name, "cu") && !begins(name, "__cuda") && !begins(name, "hip"))
			return false;
	}
	return true;
}

static void collect_told(struct devices *devices, uint32_t host)
{
	struct gt_sync *sync = devices->sync;
	struct told *told = &devices->told[class_at(devices, host)->process];

	for (uint64_t i = 0; i < gt_segment_count(sync, host); i++, gt_spill_used(&sync->spill)) {
		const struct gt_wait_segment *segment = gt_segment_at(sync, host, i);
		uint32_t node = gt_profile_node_at(sync->profile, host, segment->node);

		if (segment->class != GT_CLASS_GPU_OTHER ||
		    !strstr(gt_sync_region(sync, host, node), "StreamWaitEvent"))
			continue;
		told->times = gt_grown(told->times, told->count, &told->room, sizeof(*told->times));
		told->times[told->count++] = segment->begin;
	}
}

static int by_time(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void order_told(struct devices *devices, uint32_t processes)
{
	for (uint32_t i = 0; i < processes; i++)
		if (devices->told[i].count)
			qsort(devices->told[i].times, devices->told[i].count, sizeof(uint64_t), by_time);
}

/* Was there such a call in that time? */
static bool was_told(const struct told *told, uint64_t from, uint64_t to)
{
	size_t low = 0, high = told->count;

	while (low < high) { /* the first that is not before */
		size_t middle = low + (high - low) / 2;

		if (told->times[middle] < from)
			low = middle + 1;
		else
			high = middle;
	}
	return low < told->count && told->times[low] <= to;
}

/* CUPTI numbers the legacy default stream 7, HIP 0, in names as in "CUDA[0:7]". */
static bool is_default(const struct gt_sync *sync, uint32_t stream)
{
	const char *name = gt_otf2_location_at(sync->report->read, stream)->name;

	return strstr(name, begins(name, "HIP") ? ":0]" : ":7]");
}

/* Can an activity of a stream have waited for another one's that ended? */
static bool may_wait(const struct devices *devices, uint32_t stream, uint64_t index, const struct end *end)
{
	const struct gt_wait_segment *segment = gt_segment_at(devices->sync, stream, index);
	const struct gt_wait_segment *last =
		index > 1 ? gt_segment_at(devices->sync, stream, index - 2) : NULL;
	uint64_t from = last && last->launcher != GT_NO_CAUSE ? last->sent : 0;

	if (!devices->tells || segment->launcher == GT_NO_CAUSE || end->launcher == GT_NO_CAUSE)
		return true;
	return segment->sent == end->sent || segment->sent == from || is_default(devices->sync, stream) ||
	       is_default(devices->sync, end->location) ||
	       was_told(&devices->told[class_at(devices, stream)->process], from, segment->sent);
}

/* ---- streams ------------------------------------------------------------------------------------- */

/* The last end on another stream after `from` that an activity may have waited for. `cursor` only grows. */
static const struct end *last_awaited(const struct devices *devices, uint32_t stream, uint64_t index,
				      uint64_t from, uint64_t *cursor)
{
	const struct gt_log *ends = &devices->ends[class_at(devices, stream)->process];
	uint64_t begin = gt_segment_at(devices->sync, stream, index)->begin;

	if (!last_end(ends, cursor, from, begin, stream))
		return NULL;
	for (uint64_t i = *cursor; i--;) {
		const struct end *end = gt_log_at(ends, i);

		if (end->time <= from)
			break;
		if (end->location != stream && may_wait(devices, stream, index, end))
			return end;
	}
	return NULL;
}

/* Why an activity began when it did, and not at `from`: where its stream was idle before, or has begun. */
static void why(struct devices *devices, uint32_t stream, uint64_t index, uint64_t *cursor)
{
	struct gt_sync *sync = devices->sync;
	struct gt_timeline *timeline = &sync->timelines[stream];
	const struct gt_wait_segment *segment = gt_segment_at(sync, stream, index);
	bool launched = segment->launcher != GT_NO_CAUSE;
	uint64_t from = index ? gt_segment_at(sync, stream, index - 1)->begin : 0;
	const struct end *end;

	if (launched && segment->sent > from)
		from = segment->sent;
	if (segment->begin > DEPENDENCY_NS && from < segment->begin - DEPENDENCY_NS)
		from = segment->begin - DEPENDENCY_NS;
	end = last_awaited(devices, stream, index, from, cursor);
	if (!index) {
		if (end || launched) {
			timeline->creator = end ? end->location : segment->launcher;
			timeline->created = end ? end->time : segment->sent;
		}
	} else if (end) {
		bool copy = segment->class == GT_CLASS_KERNEL && end->class != GT_CLASS_KERNEL;

		/* Without its launch it may as well have been launched just then. */
		gt_sync_wait(sync, stream, index - 1,
			     !launched ? GT_WAIT_NONE : copy ? GT_WAIT_COPY : GT_WAIT_STREAM,
			     end->location, end->time);
	} else if (launched) {
		gt_sync_wait(sync, stream, index - 1, GT_WAIT_NONE, segment->launcher, segment->sent);
	}
}

static void stream_causes(struct devices *devices, uint32_t stream)
{
	struct gt_sync *sync = devices->sync;
	uint64_t cursor = 0;

	for (uint64_t i = 0; i < gt_segment_count(sync, stream); i++, gt_spill_used(&sync->spill))
		if (is_activity(gt_segment_at(sync, stream, i)) &&
		    (!i || gt_segment_at(sync, stream, i - 1)->class == GT_CLASS_GPU_IDLE))
			why(devices, stream, i, &cursor);
}

/* The whole device was idle from `since` until this activity. */
static void starved(struct gt_sync *sync, const struct gt_item *item, uint64_t since, bool quick,
		    uint64_t long_gap_ns)
{
	const struct gt_wait_segment *segment = gt_segment_at(sync, item->location, item->segment);
	struct gt_wait_segment *idle;

	if (!item->segment)
		return;
	idle = gt_segment_at(sync, item->location, item->segment - 1);
	if (idle->class != GT_CLASS_GPU_IDLE || idle->cause == GT_NO_CAUSE || idle->wait ||
	    idle->until <= since)
		return;
	idle->wait = quick && segment->quick && segment->begin - since < long_gap_ns ? GT_WAIT_LAUNCHES
										     : GT_WAIT_STARVED;
	idle->sent = since;
}

/* From which on the host does something else meanwhile than to launch, as for the finding gpu-gaps. */
static uint64_t long_gap(const struct gt_sync *sync)
{
	const struct gt_report *report = sync->report;
	uint64_t calls = 0, ns = 0;

	for (size_t i = 0; i < report->read->tables[GT_OTF2_REGION].count; i++) {
		if (report->classes.regions[i] != GT_CLASS_GPU_LAUNCH)
			continue;
		calls += sync->profile->regions[i].calls;
		ns += sync->profile->regions[i].exclusive;
	}
	return gt_long_gap(report->duration, GT_LONG_GAP, calls, ns);
}

static void find_starvation(struct devices *devices)
{
	struct gt_bag *bag = &devices->sync->bags[GT_BAG_BEGINS];
	uint64_t device = UINT64_MAX, busy = 0;
	bool quick = false; /* what ran last */
	uint64_t least = long_gap(devices->sync);

	for (; gt_bag_next(bag); gt_spill_used(&devices->sync->spill)) {
		struct gt_item item = gt_bag_take(bag);
		const struct gt_wait_segment *segment = gt_segment_at(devices->sync, item.location,
								      item.segment);

		if (item.key == device && segment->begin > busy)
			starved(devices->sync, &item, busy, quick, least);
		if (item.key != device || item.time > busy) {
			quick = segment->quick;
			busy = item.time;
		}
		device = item.key;
	}
}

/* ---- hosts --------------------------------------------------------------------------------------- */

/* Does the call of a segment wait for all that its device does? */
static bool is_whole(const struct gt_sync *sync, uint32_t host, const struct gt_wait_segment *segment)
{
	static const char *const calls[] = { "cudaDeviceSynchronize", "cudaThreadSynchronize",
					     "cuCtxSynchronize", "hipDeviceSynchronize",
					     "hipCtxSynchronize" };
	const char *name = gt_sync_region(sync, host, gt_profile_node_at(sync->profile, host, segment->node));

	for (size_t i = 0; name && i < sizeof(calls) / sizeof(calls[0]); i++)
		if (!strcmp(name, calls[i]))
			return true;
	return false;
}

static void host_waits(struct devices *devices, uint32_t host)
{
	struct gt_sync *sync = devices->sync;
	uint32_t process = class_at(devices, host)->process;
	const struct gt_log *ends = &devices->ends[process];
	uint64_t cursor = 0;

	for (uint64_t i = 0; ends->count && i < gt_segment_count(sync, host); i++) {
		struct gt_wait_segment *segment = gt_segment_at(sync, host, i);
		bool hidden = segment->class == GT_CLASS_GPU_HIDDEN_WAIT;
		const struct end *end;

		gt_spill_used(&sync->spill);
		if (segment->class != GT_CLASS_GPU_WAIT && !hidden)
			continue;
		segment->whole = !hidden && devices->device[process] < MANY && is_whole(sync, host, segment);
		/* It would wait for all that ended before it, too, if that took longer. */
		end = segment->whole ? last_end(ends, &cursor, 0, segment->end, GT_NO_CAUSE)
				     : last_of_own(ends, &cursor, segment->begin, segment->end, host);
		if (end)
			gt_sync_wait(sync, host, i, hidden ? GT_WAIT_HIDDEN : GT_WAIT_DEVICE, end->location,
				     end->time);
		segment->settled = (!end || end->time <= segment->begin) && !hidden;
	}
}

/* ---- all ----------------------------------------------------------------------------------------- */

void gt_device_causes(struct gt_sync *sync)
{
	const struct gt_classes *classes = &sync->report->classes;
	struct devices devices = {
		.sync = sync,
		.ends = gt_zeroed((size_t)classes->process_count + 1, sizeof(*devices.ends)),
		.told = gt_zeroed((size_t)classes->process_count + 1, sizeof(*devices.told)),
		.device = gt_zeroed((size_t)classes->process_count + 1, sizeof(*devices.device)),
		.tells = tells(sync->report, sync->profile),
	};
	uint32_t locations = (uint32_t)gt_sync_locations(sync);

	match_launches(sync);
	for (uint32_t i = 0; i < locations; i++)
		if (classes->locations[i].kind == GT_LOCATION_STREAM)
			collect(&devices, i);
		else
			collect_told(&devices, i);
	order_ends(&devices);
	order_told(&devices, classes->process_count);
	for (uint32_t i = 0; i < locations; i++)
		if (classes->locations[i].kind == GT_LOCATION_STREAM)
			stream_causes(&devices, i);
		else
			host_waits(&devices, i);
	find_starvation(&devices);
	for (uint32_t i = 0; i < classes->process_count; i++) {
		gt_log_free(&devices.ends[i]);
		free(devices.told[i].times);
	}
	free(devices.ends);
	free(devices.told);
	free(devices.device);
	gt_bag_free(&sync->bags[GT_BAG_LAUNCHES]);
	gt_bag_free(&sync->bags[GT_BAG_ENDS]);
	gt_bag_free(&sync->bags[GT_BAG_BEGINS]);
}
