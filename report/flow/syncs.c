/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where GPU streams are joined: at the calls of hosts that wait for them.
 *
 * A call that says its stream (CUPTI's own account of waits) joins that one, a call that waits for a whole
 * device all streams of the device on which something ended last. Any other joins the stream that ended last
 * while it waited, or the only one of its process.
 *
 * Limits: which stream an event is of, and which device is the current one, is in no record. A call that need
 * not wait, and is for one of several streams, joins none.
 */
#include "config.h"

#include "report/flow/flow.h"

#include <stdio.h>
#include <string.h>

/* ---- reading -------------------------------------------------------------------------------------- */

static enum gt_class class_of(const struct gt_flow *flow, const struct gt_otf2_frame *frame)
{
	return gt_class_of(&flow->report.classes, frame->region);
}

static bool is_wait(enum gt_class class)
{
	return class == GT_CLASS_GPU_WAIT || class == GT_CLASS_GPU_HIDDEN_WAIT;
}

void gt_flow_sync_enter(const struct gt_flow *flow, struct gt_flow_ends *ends,
			const struct gt_otf2_cursor *at)
{
	OTF2_AttributeValue value;

	if (!is_wait(class_of(flow, &at->stack[at->depth - 1])))
		return;
	if (gt_otf2_attribute(at, flow->stream, OTF2_TYPE_UINT64, &value))
		ends->syncs.stream = (uint32_t)value.uint64;
	else if (gt_otf2_attribute(at, flow->stream, OTF2_TYPE_UINT32, &value))
		ends->syncs.stream = value.uint32;
}

/* cudaDeviceSynchronize(), cuCtxSynchronize() and the like. */
static bool waits_for_all(const char *name)
{
	return strstr(name, "DeviceSync") || strstr(name, "CtxSync") || strstr(name, "ThreadSync");
}

static void add_wait(const struct gt_flow *flow, struct gt_flow_ends *ends, const struct gt_otf2_cursor *at,
		     const struct gt_otf2_frame *frame, bool hidden)
{
	struct gt_flow_syncs *syncs = &ends->syncs;

	if (syncs->wait_count >= flow->most_syncs / 2) {
		for (size_t i = 0; i < syncs->wait_count / 2; i++)
			syncs->waits[i] = syncs->waits[2 * i + 1];
		syncs->wait_count /= 2;
		syncs->step *= 2;
	}
	if (++syncs->seen % syncs->step)
		return;
	syncs->waits =
		gt_flow_room(syncs->waits, &syncs->wait_room, syncs->wait_count, sizeof(*syncs->waits));
	syncs->waits[syncs->wait_count++] = (struct gt_flow_wait){
		.begin = frame->begin,
		.end = at->time,
		.path = hidden && at->depth ? gt_flow_path_here(ends, at) : frame->user,
		.location = (uint32_t)at->index,
		.process = flow->report.classes.locations[at->index].process,
		.stream = syncs->stream,
		.all = waits_for_all(frame->region->name),
	};
}

/* Of too many, the later one of each two is kept. */
static void add_done(const struct gt_flow *flow, struct gt_flow_syncs *syncs, const struct gt_flow_done *done)
{
	if (syncs->done_count >= flow->most_syncs) {
		for (size_t i = 0; i < syncs->done_count / 2; i++)
			syncs->dones[i] = syncs->dones[2 * i + 1];
		syncs->done_count /= 2;
		syncs->step *= 2;
	}
	syncs->last = *done;
	if (++syncs->seen % syncs->step)
		return;
	syncs->dones =
		gt_flow_room(syncs->dones, &syncs->done_room, syncs->done_count, sizeof(*syncs->dones));
	syncs->dones[syncs->done_count++] = *done;
}

void gt_flow_sync_merge(struct gt_flow *flow, struct gt_flow_syncs *syncs)
{
	if (!syncs->step)
		return;
	if (syncs->seen % syncs->step && syncs->last.end) {
		syncs->dones = gt_flow_room(syncs->dones, &syncs->done_room, syncs->done_count,
					    sizeof(*syncs->dones));
		syncs->dones[syncs->done_count++] = syncs->last;
	}
	flow->sync_step = syncs->step > flow->sync_step ? syncs->step : flow->sync_step;
}

void gt_flow_sync_leave(const struct gt_flow *flow, struct gt_flow_ends *ends,
			const struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame)
{
	struct gt_flow_syncs *syncs = &ends->syncs;
	enum gt_class class = class_of(flow, frame);

	if (flow->report.classes.locations[at->index].kind == GT_LOCATION_STREAM) {
		if (class != GT_CLASS_GPU_IDLE)
			add_done(flow, syncs, &(struct gt_flow_done){ frame->begin, at->time, frame->user });
	} else if (is_wait(class) && !(at->depth && class_of(flow, &at->stack[at->depth - 1]) ==
							    GT_CLASS_GPU_WAIT)) {
		/* The outermost one, which is a state; the driver's is in the runtime's. */
		add_wait(flow, ends, at, frame, class == GT_CLASS_GPU_HIDDEN_WAIT);
		syncs->stream = GT_FLOW_NONE;
	}
}

/* ---- matching ------------------------------------------------------------------------------------- */

struct stream {
	uint32_t location, process, device, number;
	size_t ended, joined; /* of what it has done: until the time, and until the last join */
};

struct joining {
	struct gt_flow *flow;
	const struct gt_flow_index *index;
	struct gt_lookup *known;
	struct stream *streams; /* by process */
	size_t count;
};

static const struct gt_flow_done *last_done(const struct joining *j, const struct stream *s)
{
	return &j->flow->syncs[s->location].dones[s->ended - 1];
}

static int by_process(const void *a, const void *b)
{
	const struct stream *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->location < y->location ? -1 : x->location > y->location;
}

static void find_streams(struct joining *j)
{
	const struct gt_classes *classes = &j->flow->report.classes;
	size_t count = j->flow->report.read->tables[GT_OTF2_LOCATION].count;

	j->streams = gt_flow_zeroed(count, sizeof(*j->streams));
	for (size_t i = 0; i < count; i++) {
		const char *name = gt_otf2_location_at(j->flow->report.read, i)->name;
		unsigned device, number;

		if (!j->flow->syncs[i].done_count)
			continue;
		if (sscanf(name, "CUDA[%u:%u]", &device, &number) != 2)
			number = GT_FLOW_NONE;
		j->streams[j->count++] =
			(struct stream){ .location = (uint32_t)i,
					 .process = classes->locations[i].process,
					 .device = classes->locations[i].device,
					 .number = number };
	}
	if (j->count > 1)
		qsort(j->streams, j->count, sizeof(*j->streams), by_process);
}

static void join(struct joining *j, const struct gt_flow_wait *wait, struct stream *s)
{
	const struct gt_flow_done *done = last_done(j, s);

	gt_flow_add_branch(
		j->flow, j->known,
		&(struct gt_flow_branch){
			.what = GT_BRANCH_SYNCHRONIZE,
			.from = s->location,
			.to = wait->location,
			.from_state = gt_flow_state_of(j->flow, j->index, s->location, done->path,
						       done->begin),
			.to_state = gt_flow_state_of(j->flow, j->index, wait->location, wait->path,
						     wait->begin),
			.count = j->flow->syncs[wait->location].step });
	s->joined = s->ended;
}

/* Whether a stream can be one that is waited for: it has done something that no call has waited for yet. */
static bool is_open(const struct gt_flow_wait *wait, const struct stream *s)
{
	return s->joined < s->ended && (wait->stream == GT_FLOW_NONE || wait->stream == s->number);
}

/* Until the end of a wait; times only grow. */
static void go_on(const struct joining *j, struct stream *s, uint64_t time)
{
	const struct gt_flow_syncs *syncs = &j->flow->syncs[s->location];

	while (s->ended < syncs->done_count && syncs->dones[s->ended].end <= time)
		s->ended++;
}

static void join_streams(struct joining *j, const struct gt_flow_wait *wait, struct stream *streams,
			 size_t count)
{
	struct stream *last = NULL;

	for (size_t i = 0; i < count; i++) {
		go_on(j, &streams[i], wait->end);
		if (!is_open(wait, &streams[i]))
			continue;
		if (!last || last_done(j, &streams[i])->end > last_done(j, last)->end)
			last = &streams[i];
	}
	if (!last)
		return;
	if (!wait->all && (count == 1 || wait->stream != GT_FLOW_NONE ||
			   last_done(j, last)->end >= wait->begin))
		join(j, wait, last);
	for (size_t i = 0; wait->all && i < count; i++)
		if (is_open(wait, &streams[i]) && streams[i].device == last->device)
			join(j, wait, &streams[i]);
}

static int by_end(const void *a, const void *b)
{
	const struct gt_flow_wait *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return x->location < y->location ? -1 : x->location > y->location;
}

static struct gt_flow_wait *all_waits(struct gt_flow *flow, size_t *count)
{
	size_t locations = flow->report.read->tables[GT_OTF2_LOCATION].count, all = 0;
	struct gt_flow_wait *waits;

	for (size_t i = 0; i < locations; i++)
		all += flow->syncs[i].wait_count;
	waits = gt_flow_zeroed(all, sizeof(*waits));
	for (size_t i = 0; i < locations; i++) {
		struct gt_flow_syncs *syncs = &flow->syncs[i];

		if (syncs->wait_count)
			memcpy(waits + *count, syncs->waits, syncs->wait_count * sizeof(*waits));
		*count += syncs->wait_count;
		free(syncs->waits);
		syncs->waits = NULL;
	}
	if (all > 1)
		qsort(waits, all, sizeof(*waits), by_end);
	return waits;
}

void gt_flow_syncs(struct gt_flow *flow, const struct gt_flow_index *index, struct gt_lookup *known)
{
	struct joining j = { .flow = flow, .index = index, .known = known };
	size_t count = 0, first = 0, end = 0;
	struct gt_flow_wait *waits = all_waits(flow, &count);

	find_streams(&j);
	for (size_t i = 0; i < count; i++) {
		while (first < j.count && j.streams[first].process < waits[i].process)
			first++;
		for (end = end > first ? end : first;
		     end < j.count && j.streams[end].process == waits[i].process;)
			end++;
		if (end > first)
			join_streams(&j, &waits[i], j.streams + first, end - first);
	}
	free(j.streams);
	free(waits);
	for (size_t i = 0; i < flow->report.read->tables[GT_OTF2_LOCATION].count; i++)
		free(flow->syncs[i].dones);
}
