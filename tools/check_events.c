/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The events of each location: rules that need no other location and are not lib/read's are checked here, the
 * rest is handed to check_pairs.c.
 *
 * Limits: see check.h.
 */
#include "config.h"
#include "tools/check.h"

#include <stdlib.h>
#include <string.h>

#include "lib/assemble/util/memory.h"

__attribute__((format(printf, 4, 0)))
static void on_fault(void *user, struct gt_otf2_cursor *at, enum gt_otf2_fault fault, const char *format,
		     va_list args)
{
	struct check *check = user;
	enum check_rule rule = fault == GT_OTF2_MARKERS ? RULE_MARKERS : (enum check_rule)fault;

	if (at)
		check_note(check, &((struct state *)at->state)->broken[rule], at->location->id, at->event,
			   at->ticks, format, args);
	else
		check_note(check, &check->broken[rule], GT_OTF2_NOTHING, NO_EVENT, 0, format, args);
}

/* ---- regions --------------------------------------------------------------------------------- */

static bool is_stream(const struct gt_otf2_cursor *at)
{
	return at->location->type == OTF2_LOCATION_TYPE_ACCELERATOR_STREAM;
}

static bool is_activity(const struct gt_otf2_region *region)
{
	return region->id != GT_OTF2_NOTHING && region->role != OTF2_REGION_ROLE_ARTIFICIAL;
}

/* A call, or what it made a GPU do, says which belongs to which. */
static void look_at_launch(struct gt_otf2_cursor *at, uint64_t ticks)
{
	struct check *check = at->user;
	uint64_t process = gt_otf2_process(at->read, at->location);
	OTF2_AttributeValue number;

	if (process != GT_OTF2_NOTHING &&
	    gt_otf2_attribute(at, check->correlation, OTF2_TYPE_UINT64, &number))
		pairs_add(check, at->state, BAG_LAUNCHES,
			  &(struct record){ .key = { process, number.uint64 },
					    .time = ticks,
					    .event = at->event,
					    .location = (uint32_t)at->index,
					    .what = is_stream(at) ? LAUNCH_ACTIVITY : LAUNCH_CALL });
}

/* A process that begins MPI and never ends it has left what others were still waiting for. */
static void look_at_life(struct gt_otf2_cursor *at, const char *name)
{
	ptrdiff_t group = gt_otf2_index(at->read, GT_OTF2_LOCATION_GROUP, at->location->group);
	uint8_t what = !strcmp(name, "MPI_Finalize") || !strcmp(name, "MPI_Session_finalize") ? MPI_ENDED
		     : !strcmp(name, "MPI_Init") || !strcmp(name, "MPI_Init_thread") ||
				       !strcmp(name, "MPI_Session_init")
			     ? MPI_BEGUN
			     : 0;

	if (what && group >= 0)
		__atomic_fetch_or(&((struct check *)at->user)->life[group], what, __ATOMIC_RELAXED);
}

static void look_at_time(struct gt_otf2_cursor *at)
{
	if (at->event == 1)
		((struct state *)at->state)->first = at->time;
}

static void on_enter(struct gt_otf2_cursor *at)
{
	struct state *s = at->state;
	struct gt_otf2_frame *top = &at->stack[at->depth - 1];

	look_at_time(at);
	if (at->called)
		check_context_call(at);
	if (is_stream(at) && is_activity(top->region) && s->kernels++)
		check_event(at, RULE_STREAMS, "\"%s\" begins inside \"%s\"", top->region->name,
			    at->depth > 1 ? top[-1].region->name : "?");
	if (at->attribute_count)
		look_at_launch(at, at->ticks);
	if (!strncmp(top->region->name, "MPI_", 4))
		look_at_life(at, top->region->name);
	s->sent = false;
	top->user = at->ticks;
}

static void on_leave(struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame)
{
	struct state *s = at->state;

	if (at->called)
		check_context_call(at);
	if (at->attribute_count) {
		if (check_failed(at))
			check_failed_send(at);
		if (!is_stream(at))
			look_at_launch(at, frame->user);
	}
	s->sent = false;
	if (s->kernels && is_activity(frame->region))
		s->kernels--;
}

/* ---- threads, locks, programs ---------------------------------------------------------------- */

static void thread(struct gt_otf2_cursor *at, const struct gt_otf2_event *e, uint32_t what)
{
	if (!e->undefined)
		pairs_add(at->user, at->state, BAG_THREADS,
			  &(struct record){ .key = { e->ThreadBegin.comm, e->ThreadBegin.number },
					    .order = what,
					    .time = at->ticks,
					    .event = at->event,
					    .location = (uint32_t)at->index,
					    .what = what });
}

static void lock(struct gt_otf2_cursor *at, const struct gt_otf2_event *e, uint32_t what)
{
	const struct gt_otf2_ThreadAcquireLock *l = &e->ThreadAcquireLock;

	pairs_add(at->user, at->state, BAG_LOCKS,
		  &(struct record){ .key = { (uint64_t)at->location->group << 32 | l->lock, l->order >> 16 },
				    .order = l->order,
				    .time = at->ticks,
				    .event = at->event,
				    .location = (uint32_t)at->index,
				    .what = what });
}

static void on_event(struct gt_otf2_cursor *at, const struct gt_otf2_event *e)
{
	struct state *s = at->state;

	look_at_time(at);
	switch (e->type) {
	case GT_OTF2_ThreadCreate:
		return thread(at, e, THREAD_CREATE);
	case GT_OTF2_ThreadBegin:
		return thread(at, e, THREAD_BEGIN);
	case GT_OTF2_ThreadEnd:
		return thread(at, e, THREAD_END);
	case GT_OTF2_ThreadWait:
		return thread(at, e, THREAD_WAIT);
	case GT_OTF2_ThreadAcquireLock:
		return lock(at, e, LOCK_ACQUIRE);
	case GT_OTF2_ThreadReleaseLock:
		return lock(at, e, LOCK_RELEASE);
	case GT_OTF2_MeasurementOnOff:
		__atomic_store_n(&((struct check *)at->user)->was_off, true, __ATOMIC_RELAXED);
		return;
	case GT_OTF2_CallingContextSample:
		if (!e->undefined)
			check_sample(at, &e->CallingContextSample);
		return;
	case GT_OTF2_ProgramBegin:
		if (s->begins++ > s->ends)
			check_event(at, RULE_PROGRAM, "a second program begins before the first ends");
		return;
	case GT_OTF2_ProgramEnd:
		if (s->ends++ >= s->begins)
			check_event(at, RULE_PROGRAM, "a program ends that never began");
		return;
	default:
		check_mpi(at, e);
	}
}

/* ---- a location ------------------------------------------------------------------------------ */

static void on_begin(struct gt_otf2_cursor *at)
{
	((struct state *)at->state)->own_comm = GT_OTF2_NOTHING;
}

static void on_end(struct gt_otf2_cursor *at, bool whole)
{
	struct check *check = at->user;
	struct state *s = at->state;

	if (whole && s->in_collective && !check->excused)
		pairs_add(check, s, BAG_OPEN,
			  &(struct record){ .key = { at->location->group },
					    .time = at->ticks,
					    .event = at->event,
					    .location = (uint32_t)at->index });
	check_samples_end(at);
	pairs_flush(check, s);
	free(s->sequence);
	free(s->requests);
	gt_places_free(&s->open_requests);
}

static void on_merge(struct gt_otf2_cursor *at)
{
	struct check *check = at->user;

	check->events += at->event;
	check->open_later += ((struct state *)at->state)->open_later;
	check_merge(check, ((struct state *)at->state)->broken);
}

const struct gt_otf2_visitor check_visitor = {
	.state_size = sizeof(struct state),
	.begin = on_begin,
	.enter = on_enter,
	.leave = on_leave,
	.event = on_event,
	.end = on_end,
	.merge = on_merge,
	.fault = on_fault,
};

/* ---- before ---------------------------------------------------------------------------------- */

/* Reads the processes' statements about their clocks. */
static void read_clocks(struct check *check)
{
	const struct gt_otf2 *read = check->read;

	for (size_t i = 0; i < read->tables[GT_OTF2_PROPERTY].count; i++) {
		const struct gt_otf2_property *p = gt_otf2_property_at(read, i);
		ptrdiff_t group = gt_otf2_index(read, GT_OTF2_LOCATION_GROUP, p->owner);
		double ns = strtod(p->text, NULL);

		if (p->kind != GT_OTF2_LOCATION_GROUP || group < 0 || p->type != OTF2_TYPE_STRING ||
		    strcmp(p->name, "GPUTRACE::CLOCK_ERROR_NS"))
			continue;
		check->several_clocks = true;
		check->clocks[group] = *p->text >= '0' && *p->text <= '9' && ns < 1e18 && read->resolution
					       ? (uint64_t)(ns / 1e9 * (double)read->resolution)
					       : CLOCK_UNKNOWN;
	}
	if (check->several_clocks)
		check->clock_error = check->reading_error;
	check->clock_error = (uint64_t)((double)check->clock_error / 1e9 * (double)read->resolution);
}

static void *filled(size_t count, size_t size, int byte)
{
	void *items = gt_need(malloc((count + 1) * size));

	return memset(items, byte, (count + 1) * size);
}

void check_prepare(struct check *check)
{
	const struct gt_otf2 *read = check->read;
	size_t groups = read->tables[GT_OTF2_LOCATION_GROUP].count, comms = read->tables[GT_OTF2_COMM].count;

	check->threads = filled(groups, sizeof(*check->threads), 0);
	check->clocks = filled(groups, sizeof(*check->clocks), 0xff); /* CLOCK_UNTOLD */
	check->life = filled(groups, sizeof(*check->life), 0);
	check->met = filled(groups, sizeof(*check->met), 0);
	check->failed = filled(comms, sizeof(*check->failed), 0xff);
	check->failed_later = filled(comms, sizeof(*check->failed_later), 0);
	for (size_t i = 0; i < read->tables[GT_OTF2_LOCATION].count; i++) {
		const struct gt_otf2_location *l = gt_otf2_location_at(read, i);
		ptrdiff_t group = gt_otf2_index(read, GT_OTF2_LOCATION_GROUP, l->group);

		if (group >= 0 && l->type == OTF2_LOCATION_TYPE_CPU_THREAD)
			check->threads[group]++;
	}
	check->mpi_error = gt_otf2_attribute_named(read, "MPI_ERROR");
	check->freed = gt_otf2_attribute_named(read, "MPI_REQUEST_FREED");
	check->stacks = gt_stacks_of(read);
	check->correlation = gt_otf2_attribute_named(read, "CORRELATION_ID");
	read_clocks(check);
}
