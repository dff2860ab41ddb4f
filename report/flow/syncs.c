/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds where GPU streams are joined: at the host calls that wait for them.
 *
 * A call that says its stream (CUPTI's own account of waits) joins that one, a call that waits for a whole
 * device all streams of the device on which something ended last. Any other joins the stream that ended last
 * while it waited, or the only one of its process.
 *
 * Of too many, those waits are counted that end in some slices of the run's time, the same ones at all
 * locations of a process. What streams had done last before those slices' waits is kept, and the waits before
 * them.
 *
 * Limits: which stream an event is of, and which device is the current one, is in no record. A call that need
 * not wait, and is for one of several streams, joins none. Where waits are left out, one for what a call
 * further back than CONTEXT, or another thread's, had waited for may be counted.
 */
#include "config.h"

#include "report/flow/flow.h"

#include <stdio.h>
#include <string.h>

#include "lib/assemble/util/lookup.h"

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

/* ---- of too many ---------------------------------------------------------------------------------- */

/* Waits that are kept before one that is counted, as what it waits for may have been waited for by them. */
enum { CONTEXT = 8 };

/* Slices of time are chosen by their number: the same ones at all locations. */
static bool is_chosen(uint32_t mask, uint64_t slice)
{
	return !(gt_hash_mix(GT_HASH_START, slice) >> 32 & mask);
}

static bool is_counted(const struct gt_flow *flow, uint32_t mask, const struct gt_flow_wait *wait)
{
	return is_chosen(mask, wait->end / flow->sync_slice);
}

static void filter_waits(const struct gt_flow *flow, struct gt_flow_syncs *syncs)
{
	size_t count = syncs->wait_count, to = count, left = CONTEXT; /* another one may follow */

	for (size_t i = count; i-- > 0;) {
		bool counted = is_counted(flow, syncs->mask, &syncs->waits[i]);

		if (!counted && !left)
			continue;
		left = counted ? CONTEXT : syncs->waits[i].all ? 0 : left - 1;
		syncs->waits[--to] = syncs->waits[i];
	}
	syncs->wait_count = count - to;
	memmove(syncs->waits, syncs->waits + to, syncs->wait_count * sizeof(*syncs->waits));
}

/* Whether a wait that ends in a chosen slice may find this as what was done last. */
static bool may_be_last(const struct gt_flow *flow, uint32_t mask, const struct gt_flow_done *done)
{
	uint64_t slice = done[0].end / flow->sync_slice, next = done[1].end / flow->sync_slice;

	if (next - slice > 2 * (uint64_t)mask)
		return true;
	while (slice < next && !is_chosen(mask, slice))
		slice++;
	return is_chosen(mask, slice);
}

static void filter_dones(const struct gt_flow *flow, struct gt_flow_syncs *syncs)
{
	size_t kept = 0;

	for (size_t i = 0; i < syncs->done_count; i++)
		if (i + 1 == syncs->done_count || may_be_last(flow, syncs->mask, &syncs->dones[i]))
			syncs->dones[kept++] = syncs->dones[i];
	syncs->done_count = kept;
}

/* Leaves out half of the slices until there is room; returns when to do so again. */
static size_t thin(const struct gt_flow *flow, struct gt_flow_syncs *syncs, const size_t *count, size_t most,
		   void (*filter)(const struct gt_flow *flow, struct gt_flow_syncs *syncs))
{
	for (filter(flow, syncs); *count > most / 4 * 3 && syncs->mask < UINT32_MAX; filter(flow, syncs))
		syncs->mask = 2 * syncs->mask + 1;
	return *count > most / 4 * 3 ? 2 * *count : most;
}

static void add_wait(const struct gt_flow *flow, struct gt_flow_ends *ends, const struct gt_otf2_cursor *at,
		     const struct gt_otf2_frame *frame, bool hidden)
{
	struct gt_flow_syncs *syncs = &ends->syncs;

	if (syncs->wait_count >= (syncs->wait_full ? syncs->wait_full : flow->most_syncs / 2))
		syncs->wait_full =
			thin(flow, syncs, &syncs->wait_count, flow->most_syncs / 2, filter_waits);
	syncs->waits = gt_grown(syncs->waits, syncs->wait_count, &syncs->wait_room, sizeof(*syncs->waits));
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

static void add_done(const struct gt_flow *flow, struct gt_flow_syncs *syncs, const struct gt_flow_done *done)
{
	if (syncs->done_count >= (syncs->done_full ? syncs->done_full : flow->most_syncs))
		syncs->done_full = thin(flow, syncs, &syncs->done_count, flow->most_syncs, filter_dones);
	syncs->dones = gt_grown(syncs->dones, syncs->done_count, &syncs->done_room, sizeof(*syncs->dones));
	syncs->dones[syncs->done_count++] = *done;
}

/* ---- calls that wait, and what streams do ------------------------------------------------------------ */

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
	size_t first, next; /* streams of the process */
	uint32_t mask;	    /* slices that all locations of the process have chosen */
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
		if (sscanf(name, "%*[^[][%u:%u]", &device, &number) != 2) /* of any runtime */
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

	s->joined = s->ended;
	if (!is_counted(j->flow, j->mask, wait))
		return;
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
			.count = 1 + (uint64_t)j->mask });
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

static void join_process(struct joining *j, const struct gt_flow_wait *waits, size_t count)
{
	for (j->first = j->next; j->first < j->count && j->streams[j->first].process < waits->process;)
		j->first++;
	for (j->next = j->first; j->next < j->count && j->streams[j->next].process == waits->process;)
		j->next++;
	if (j->next == j->first)
		return;
	j->mask = 0;
	for (size_t i = j->first; i < j->next; i++)
		j->mask |= j->flow->syncs[j->streams[i].location].mask;
	for (size_t i = 0; i < count; i++)
		j->mask |= j->flow->syncs[waits[i].location].mask;
	if (j->mask >= j->flow->sync_step)
		j->flow->sync_step = 1 + (uint64_t)j->mask;
	for (size_t i = 0; i < count; i++)
		join_streams(j, &waits[i], j->streams + j->first, j->next - j->first);
}

void gt_flow_find_syncs(struct gt_flow *flow, const struct gt_flow_index *index, struct gt_lookup *known)
{
	struct joining j = { .flow = flow, .index = index, .known = known };
	size_t count = 0, next;
	struct gt_flow_wait *waits = all_waits(flow, &count);

	find_streams(&j);
	for (size_t i = 0; i < count; i = next) {
		for (next = i; next < count && waits[next].process == waits[i].process;)
			next++;
		join_process(&j, &waits[i], next - i);
	}
	free(j.streams);
	free(waits);
	for (size_t i = 0; i < flow->report.read->tables[GT_OTF2_LOCATION].count; i++)
		free(flow->syncs[i].dones);
}
