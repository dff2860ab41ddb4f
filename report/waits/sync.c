/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timelines, while locations are read.
 *
 * A segment is open while the innermost region is one of those that count. Where something happens outside of
 * one, as the release of a lock, there is an empty segment.
 *
 * Limits: see sync.h.
 */
#include "config.h"

#include "report/model/conditions.h"
#include "report/waits/sync_int.h"
#include "report/waits/whatif.h"

#include <stdlib.h>
#include <string.h>

#include "lib/assemble/util/memory.h"

enum { SEGMENTS_MOST = 64 }; /* of a call, that say who made it */

/* ---- segments ----------------------------------------------------------------------------------- */

static bool counts(const struct gt_syncing *state, enum gt_class class)
{
	return state->stream || gt_class_loud(class);
}

/* The innermost region is another one now. */
static void turn(struct gt_report *report, struct gt_sync *sync, struct gt_syncing *state,
		 const struct gt_otf2_cursor *at)
{
	enum gt_class class = at->depth ? gt_class_of(&report->classes, at->stack[at->depth - 1].region)
					: GT_CLASS_GPU_IDLE;

	if (state->is_open)
		gt_sync_close_segment(sync, state, at->time);
	if (at->depth ? counts(state, class) : state->stream)
		gt_sync_open_segment(sync, state, at->time, gt_sync_node(at), class);
}

/* ---- threads and locks --------------------------------------------------------------------------- */

/* The time in which the location had no thread, until this one. */
static void birth(struct gt_sync *sync, struct gt_syncing *state, const struct gt_otf2_cursor *at)
{
	gt_sync_open_segment(sync, state, state->profiling->ended, 0, GT_CLASS_CODE);
	state->open.birth = true;
	gt_sync_close_segment(sync, state, at->time);
}

/* A thread by its number in its process, as WOKEN_BY has it. */
static uint64_t thread_key(const struct gt_sync *sync, const struct gt_otf2_cursor *at, uint64_t number)
{
	uint32_t process = sync->report->classes.locations[at->index].process;

	return gt_sync_mixed(gt_sync_mixed(6, process), number);
}

static void thread(struct gt_sync *sync, struct gt_syncing *state, const struct gt_otf2_cursor *at,
		   const struct gt_otf2_event *event, enum gt_thread_item what)
{
	struct gt_item item;

	if (state->profiling->follows)
		birth(sync, state, at);
	item = gt_sync_item(sync, state, at);
	item.key = gt_sync_mixed(gt_sync_mixed(3, event->ThreadBegin.comm), event->ThreadBegin.number);
	item.tie = item.what = what;
	item.time = at->time;
	if (event->undefined)
		return;
	gt_sync_put(sync, state, GT_BAG_THREADS, &item);
	if (what != GT_THREAD_BEGUN ||
	    (sync->woken_by == GT_OTF2_NOTHING && sync->held_by == GT_OTF2_NOTHING))
		return;
	item.key = thread_key(sync, at, event->ThreadBegin.number);
	gt_sync_put(sync, state, GT_BAG_THREADS, &item);
}

/* The call that is left waited for a condition or a semaphore, and says which thread signalled it. */
static void woken(struct gt_sync *sync, struct gt_syncing *state, const struct gt_otf2_cursor *at)
{
	OTF2_AttributeValue by, ago;
	struct gt_item item;

	if (!gt_otf2_attribute(at, sync->woken_by, OTF2_TYPE_UINT64, &by) ||
	    !gt_otf2_attribute(at, sync->woken_ago, OTF2_TYPE_UINT64, &ago) || ago.uint64 > at->time)
		return;
	item = gt_sync_item(sync, state, at);
	item.key = thread_key(sync, at, by.uint64);
	item.tie = item.what = GT_THREAD_WOKEN;
	item.time = at->time - ago.uint64;
	item.value = by.uint64 == 0;
	gt_sync_put(sync, state, GT_BAG_THREADS, &item);
}

/* The call that is entered has to wait for a lock, and says which thread has it. */
static void held(struct gt_sync *sync, struct gt_syncing *state, const struct gt_otf2_cursor *at)
{
	OTF2_AttributeValue by;
	struct gt_item item;

	if (!gt_otf2_attribute(at, sync->held_by, OTF2_TYPE_UINT64, &by))
		return;
	item = gt_sync_item(sync, state, at);
	item.key = thread_key(sync, at, by.uint64);
	item.tie = item.what = GT_THREAD_HELD;
	item.value = by.uint64 == 0;
	gt_sync_put(sync, state, GT_BAG_THREADS, &item);
}

static void lock(struct gt_sync *sync, struct gt_syncing *state, const struct gt_otf2_cursor *at,
		 const struct gt_otf2_event *event, uint32_t what)
{
	const struct gt_otf2_ThreadAcquireLock *l = &event->ThreadAcquireLock;
	struct gt_item item = gt_sync_item(sync, state, at);

	item.key = (uint64_t)at->location->group << 32 | l->lock;
	item.tie = (uint64_t)l->order << 1 | what;
	item.time = at->time;
	item.what = what;
	item.value = sync->report->whatif && gt_whatif_frees(sync->report->whatif, at, l->lock);
	gt_sync_put(sync, state, GT_BAG_LOCKS, &item);
}

/* The begin or end of a process, or what its parent has to do with it: in a call that began at `begin`. */
static void process(struct gt_sync *sync, struct gt_syncing *state, const struct gt_otf2_cursor *at,
		    uint64_t id, enum gt_thread_item what)
{
	const struct gt_otf2_location_group *group =
		gt_otf2_find_location_group(at->read, at->location->group);
	struct gt_item item;

	if (what == GT_THREAD_CREATED)
		gt_sync_part_at_entry(sync, state, at);
	item = gt_sync_item(sync, state, at);
	item.key = gt_sync_mixed(gt_sync_mixed(5, group ? group->parent : 0), id);
	item.begin = at->depth ? at->stack[at->depth - 1].begin : at->time;
	item.time = at->time;
	item.tie = at->time;
	item.what = what;
	gt_sync_put(sync, state, GT_BAG_PROCESSES, &item);
}

static uint64_t process_id(const struct gt_otf2_cursor *at)
{
	const struct gt_otf2_property *p =
		gt_otf2_find_owned(at->read, GT_OTF2_LOCATION_GROUP, at->location->group,
				   "GPUTRACE::PROCESS_ID");

	return p && p->text ? strtoull(p->text, NULL, 10) : 0;
}

/* The call that is open, which began then, says who made it: that holds for all of its segments. */
static void call_path(struct gt_sync *sync, struct gt_syncing *state, const struct gt_otf2_cursor *at,
		      uint32_t node, uint64_t begin)
{
	struct gt_log *segments = &state->timeline.segments;
	struct gt_wait_path path = { .first = segments->count, .last = segments->count, .call.node = node };

	path.call.path = gt_stack_call_path(at, sync->call_path);
	if (!path.call.path || !node)
		return;
	while (path.first && segments->count - path.first < SEGMENTS_MOST) {
		const struct gt_wait_segment *before = gt_log_at(segments, path.first - 1);

		if (before->begin < begin || !gt_sync_is_in(state, before->node, node))
			break;
		path.first--;
	}
	*(struct gt_wait_path *)gt_log_add(&sync->spill, &state->timeline.paths) = path;
}

/* A call, or what it made a GPU do, says which belongs to which. */
static void launch(struct gt_report *report, struct gt_sync *sync, struct gt_syncing *state,
		   const struct gt_otf2_cursor *at, uint64_t begin)
{
	OTF2_AttributeValue number;
	struct gt_item item;

	if (!gt_otf2_attribute(at, sync->correlation, OTF2_TYPE_UINT64, &number))
		return;
	item = gt_sync_item(sync, state, at);
	item.key = gt_sync_mixed(4, report->classes.locations[at->index].process);
	item.key = gt_sync_mixed(item.key, number.uint64);
	item.tie = item.what = state->stream ? GT_LAUNCH_ACTIVITY : GT_LAUNCH_CALL;
	item.time = begin;
	gt_sync_put(sync, state, GT_BAG_LAUNCHES, &item);
}

/* ---- the analysis -------------------------------------------------------------------------------- */

static void begin(struct gt_report *report, struct gt_otf2_cursor *at, void *memory)
{
	const struct gt_location_class *location = &report->classes.locations[at->index];
	struct gt_syncing *state = memory;

	state->sync = gt_report_result(report, &gt_sync_analysis);
	state->profiling = gt_report_state(report, at, &gt_profile_analysis);
	state->stream = location->kind == GT_LOCATION_STREAM;
	state->other = location->kind == GT_LOCATION_OTHER;
	state->own_comm = GT_OTF2_NOTHING;
	state->process_id = location->kind == GT_LOCATION_MAIN ? process_id(at) : 0;
	state->probe = GT_NO_CAUSE;
	state->timeline.creator = GT_NO_CAUSE;
	state->timeline.segments.size = sizeof(struct gt_wait_segment);
	state->timeline.profile.size = sizeof(uint32_t);
	state->timeline.paths.size = sizeof(struct gt_wait_path);
}

static void first(struct gt_syncing *state, const struct gt_otf2_cursor *at)
{
	if (state->begun)
		return;
	state->begun = true;
	state->timeline.begin = at->time;
	if (state->process_id)
		process(state->sync, state, at, state->process_id, GT_THREAD_BEGUN);
}

static void enter(struct gt_report *report, struct gt_otf2_cursor *at, void *memory)
{
	struct gt_syncing *state = memory;
	struct gt_sync *sync = state->sync;

	if (state->other)
		return;
	first(state, at);
	turn(report, sync, state, at);
	if (!at->attribute_count)
		return;
	if (state->is_open && state->open.class == GT_CLASS_CONDITION)
		state->open.condition = gt_condition_of(at, sync->condition);
	if (state->is_open && state->open.class == GT_CLASS_LOCK)
		held(sync, state, at);
	launch(report, sync, state, at, at->time);
	if (state->is_open)
		call_path(sync, state, at, state->open.node, at->time);
}

static void leave_call(struct gt_report *report, struct gt_sync *sync, struct gt_syncing *state,
		       struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame)
{
	enum gt_class class = (enum gt_class)state->open.class;
	OTF2_AttributeValue file;

	/* The frame is no longer in the stack. */
	at->depth++;
	if (at->attribute_count) {
		if (gt_otf2_has_attribute(at, sync->mpi_error))
			state->sent = false;
		if (!state->stream)
			launch(report, sync, state, at, frame->begin);
		if (class == GT_CLASS_CONDITION || class == GT_CLASS_SEMAPHORE)
			woken(sync, state, at);
		if (gt_otf2_attribute(at, sync->mpi_file, OTF2_TYPE_IO_HANDLE, &file))
			gt_sync_file(sync, state, at, file.ioHandleRef);
		call_path(sync, state, at, (uint32_t)frame->user, frame->begin);
	}
	if (class == GT_CLASS_MPI_SETUP)
		gt_sync_setup(sync, state, at, frame->region);
	at->depth--;
	if (state->sent)
		gt_sync_put(sync, state, GT_BAG_SENDS, &state->send);
	state->sent = false;
	if (gt_class_times[class] != GT_TIME_MPI)
		return;
	state->probe = class == GT_CLASS_MPI_WAIT && !state->matched &&
				       strcasestr(frame->region->name, "probe")
			       ? (uint32_t)state->timeline.segments.count : GT_NO_CAUSE;
	state->probe_begin = frame->begin;
	state->matched = false;
}

static void leave(struct gt_report *report, struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame,
		  void *memory)
{
	struct gt_syncing *state = memory;
	struct gt_sync *sync = state->sync;

	if (state->other)
		return;
	if (state->is_open)
		leave_call(report, sync, state, at, frame);
	turn(report, sync, state, at);
}

static void event(struct gt_report *report, struct gt_otf2_cursor *at, const struct gt_otf2_event *e,
		  void *memory)
{
	struct gt_syncing *state = memory;
	struct gt_sync *sync = state->sync;

	(void)report;
	if (state->other)
		return;
	first(state, at);
	switch (e->type) {
	case GT_OTF2_ParameterUnsignedInt:
		if (e->ParameterUnsignedInt.parameter == sync->child)
			process(sync, state, at, e->ParameterUnsignedInt.value,
				state->is_open && state->open.class == GT_CLASS_PROCESS
					? GT_THREAD_JOINED : GT_THREAD_CREATED);
		return;
	case GT_OTF2_ThreadCreate:
		return thread(sync, state, at, e, GT_THREAD_CREATED);
	case GT_OTF2_ThreadBegin:
		return thread(sync, state, at, e, GT_THREAD_BEGUN);
	case GT_OTF2_ThreadEnd:
		return thread(sync, state, at, e, GT_THREAD_ENDED);
	case GT_OTF2_ThreadWait:
		return thread(sync, state, at, e, GT_THREAD_JOINED);
	case GT_OTF2_ThreadAcquireLock:
		return lock(sync, state, at, e, GT_LOCK_ACQUIRED);
	case GT_OTF2_ThreadReleaseLock:
		return lock(sync, state, at, e, GT_LOCK_RELEASED);
	default:
		gt_sync_io(sync, state, at, e);
		gt_sync_mpi(sync, state, at, e);
	}
}

/* A send that was never completed still counts as sent. */
static void end(struct gt_report *report, struct gt_otf2_cursor *at, void *memory)
{
	struct gt_syncing *state = memory;
	struct gt_sync *sync = state->sync;

	(void)report;
	if (state->other)
		return;
	first(state, at);
	if (state->sent)
		gt_sync_put(sync, state, GT_BAG_SENDS, &state->send);
	for (size_t i = 0; i < state->waiting.count; i++) {
		if (state->requests[i].what == GT_OTF2_MpiIsend)
			gt_sync_put(sync, state, GT_BAG_SENDS, &state->requests[i].item);
		if (state->requests[i].what == GT_OTF2_RmaSync)
			gt_sync_put(sync, state, GT_BAG_RECEIVES, &state->requests[i].item);
	}
	gt_sync_io_end(sync, state, at);
	if (state->is_open)
		gt_sync_close_segment(sync, state, at->time);
	gt_sync_open_segment(sync, state, at->time, 0, GT_CLASS_CODE);
	gt_sync_close_segment(sync, state, at->time);
	if (state->process_id)
		process(sync, state, at, state->process_id, GT_THREAD_ENDED);
	for (unsigned i = 0; i < GT_BAGS; i++) {
		gt_sync_hand_over(sync, state, (enum gt_bag_kind)i);
		free(state->pending[i].items);
	}
	free(state->requests);
	gt_places_free(&state->waiting);
}

static void carry(struct gt_report *report, struct gt_carry *carry, void *memory)
{
	struct gt_timeline *timeline = &((struct gt_syncing *)memory)->timeline;
	struct gt_sync *sync = gt_report_result(report, &gt_sync_analysis);

	gt_carry_bytes(carry, &timeline->begin, sizeof(timeline->begin));
	gt_carry_bytes(carry, &timeline->created, sizeof(timeline->created));
	gt_carry_bytes(carry, &timeline->creator, sizeof(timeline->creator));
	gt_log_carry(&sync->spill, carry, &timeline->segments, sizeof(struct gt_wait_segment));
	gt_log_carry(&sync->spill, carry, &timeline->profile, sizeof(uint32_t));
	gt_log_carry(&sync->spill, carry, &timeline->paths, sizeof(struct gt_wait_path));
}

/* Items are sorted when all are there. */
static void carry_bag(struct gt_sync *sync, struct gt_carry *carry, struct gt_bag *bag)
{
	const struct gt_item *next = gt_carry_loads(carry) ? NULL : gt_bag_next(bag);
	struct gt_item item = { .key = 0 };
	bool more = next;

	for (gt_carry_bytes(carry, &more, sizeof(more)); more; gt_carry_bytes(carry, &more, sizeof(more))) {
		if (next)
			item = gt_bag_take(bag);
		gt_carry_bytes(carry, &item, sizeof(item));
		if (gt_carry_loads(carry))
			gt_bag_add(&sync->spill, bag, &item);
		next = gt_carry_loads(carry) ? NULL : gt_bag_next(bag);
		more = next;
	}
}

static void carry_result(struct gt_report *report, struct gt_carry *carry, void *result)
{
	struct gt_sync *sync = result;

	(void)report;
	for (unsigned i = 0; i < GT_BAGS; i++)
		carry_bag(sync, carry, &sync->bags[i]);
}

static void merge(struct gt_report *report, struct gt_otf2_cursor *at, void *memory, void *result)
{
	struct gt_sync *sync = result;
	struct gt_timeline *timeline = &sync->timelines[at->index];

	(void)report;
	*timeline = ((struct gt_syncing *)memory)->timeline;
	gt_log_end(&sync->spill, &timeline->segments);
	gt_log_end(&sync->spill, &timeline->profile);
	gt_log_end(&sync->spill, &timeline->paths);
}

static void prepare(struct gt_report *report, void *result)
{
	struct gt_sync *sync = result;

	sync->report = report;
	sync->shows_launches = gt_report_shows(report, gt_launches_kind.key);
	sync->mpi_error = gt_otf2_attribute_named(report->read, "MPI_ERROR");
	sync->neighbours = gt_otf2_attribute_named(report->read, "MPI_NEIGHBOURS");
	sync->mpi_file = gt_otf2_attribute_named(report->read, "MPI_FILE");
	sync->child = GT_OTF2_NOTHING;
	for (size_t i = 0; i < report->read->tables[GT_OTF2_PARAMETER].count; i++)
		if (!strcmp(gt_otf2_parameter_at(report->read, i)->name, "child process id"))
			sync->child = gt_otf2_parameter_at(report->read, i)->id;
	sync->correlation = gt_otf2_attribute_named(report->read, "CORRELATION_ID");
	sync->woken_by = gt_otf2_attribute_named(report->read, "GPUTRACE::WOKEN_BY");
	sync->woken_ago = gt_otf2_attribute_named(report->read, "GPUTRACE::WOKEN_AGO");
	sync->held_by = gt_otf2_attribute_named(report->read, "GPUTRACE::HELD_BY");
	sync->condition = gt_otf2_attribute_named(report->read, "GPUTRACE::CONDITION_ADDRESS");
	sync->call_path = gt_otf2_attribute_named(report->read, "CALL_PATH");
	sync->timelines = gt_zeroed(gt_sync_locations(sync) + 1, sizeof(*sync->timelines));
	gt_spill_open(&sync->spill);
}

static bool shows_path(const struct gt_report *report)
{
	return gt_report_shows(report, gt_path_kind.key) ||
	       gt_report_shows(report, gt_path_locations_kind.key);
}

/* Findings read the table of waits. */
static bool shows_waits(const struct gt_report *report)
{
	return gt_report_shows(report, gt_wait_classes_kind.key) ||
	       gt_report_shows(report, gt_waits_kind.key) || gt_report_shows(report, "findings");
}

static bool wanted(struct gt_report *report)
{
	return shows_path(report) || shows_waits(report) || gt_report_shows(report, gt_delays_kind.key) ||
	       gt_report_shows(report, gt_launches_kind.key);
}

static void blame_longest(struct gt_sync *sync)
{
	size_t count;
	struct gt_wait_at *waits = gt_waits_longest(sync, &count);
	struct gt_section *section = gt_section_add(&sync->report->figures, &gt_delays_kind);

	gt_delays_blame(sync, waits, count);
	for (size_t i = 0; i < count; i++)
		section->left_out += gt_segment_at(sync, waits[i].location, waits[i].segment)->blame != 0;
	free(waits);
}

/* Without the critical path and delays, as in a short report, it takes two thirds of the time. */
static void figures(struct gt_report *report, void *result)
{
	struct gt_sync *sync = result;
	struct gt_path *path = NULL;

	sync->profile = gt_report_result(report, &gt_profile_analysis);
	gt_process_exits(sync);
	gt_causes(sync);
	if (report->whatif && !gt_whatif_predict(sync))
		return;
	if (shows_path(report))
		path = gt_path_find(sync);
	else
		gt_section_add(&report->figures, &gt_path_kind)->left_out = report->duration;
	if (gt_report_shows(report, gt_delays_kind.key))
		gt_delays_figures(sync);
	else if (shows_waits(report))
		blame_longest(sync);
	if (shows_waits(report))
		gt_waits_figures(sync);
	gt_launches_figures(sync);
	if (path)
		gt_path_figures(path);
}

static void release(void *result)
{
	struct gt_sync *sync = result;

	gt_whatif_drop(sync);
	for (size_t i = 0; i < gt_sync_locations(sync); i++) {
		gt_log_free(&sync->timelines[i].segments);
		gt_log_free(&sync->timelines[i].profile);
		gt_log_free(&sync->timelines[i].paths);
	}
	for (unsigned i = 0; i < GT_BAGS; i++)
		gt_bag_free(&sync->bags[i]);
	free(sync->timelines);
	free(sync->exits);
	free(sync->unrecorded);
	gt_sums_free(&sync->launches);
	gt_spill_close(&sync->spill);
}

static const struct gt_section_kind *const sections[] = { &gt_wait_classes_kind, &gt_waits_kind,
							  &gt_delays_kind, &gt_path_kind,
							  &gt_path_locations_kind, &gt_launches_kind, NULL };

const struct gt_analysis gt_sync_analysis = {
	.name = "sync", .wanted = wanted, .loud_only = true,
	.state_size = sizeof(struct gt_syncing), .result_size = sizeof(struct gt_sync),
	.prepare = prepare, .begin = begin, .enter = enter, .leave = leave, .event = event, .end = end,
	.carry = carry, .carry_result = carry_result,
	.merge = merge, .figures = figures, .free = release, .sections = sections,
};

/* When one location waited for another. */
static struct gt_spans waited_for(const struct gt_sync *sync, uint32_t location, uint32_t late)
{
	struct gt_spans spans = { 0 };

	for (uint64_t n = 0; location != late && n < gt_segment_count(sync, location); n++) {
		const struct gt_wait_segment *of = gt_segment_at(sync, location, n);
		uint64_t waited = gt_sync_waited(of);

		if (of->wait && waited && of->cause == late && of->until > waited)
			gt_spans_add(&spans, of->until - waited, of->until);
	}
	return spans;
}

/* parts[k] has those of 2^k locations, or nothing: so none is merged more often than there are parts. */
struct gt_spans gt_report_kept_waiting(const struct gt_report *report, uint32_t late)
{
	const struct gt_sync *sync = gt_report_result(report, &gt_sync_analysis);
	struct gt_spans parts[32] = { { 0 } }, all = { 0 };

	for (uint32_t i = 0; sync && i < gt_sync_locations(sync); i++) {
		struct gt_spans one = waited_for(sync, i, late);
		unsigned k = 0;

		for (; i >> k & 1; k++) {
			gt_spans_merge(&one, &parts[k]);
			gt_spans_free(&parts[k]);
		}
		parts[k] = one;
	}
	for (unsigned k = 0; k < 32; k++) {
		gt_spans_merge(&all, &parts[k]);
		gt_spans_free(&parts[k]);
	}
	return all;
}
