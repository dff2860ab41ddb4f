/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ranks do to each other: the sides of messages, collectives and one-sided operations are put into bags.
 *
 * Limits: see sync.h.
 */
#include "config.h"

#include "report/sync_int.h"

#include <stdlib.h>
#include <string.h>

/* ---- messages ------------------------------------------------------------------------------------ */

/* Transfers are in the timelines of streams. */
static bool of_gpu(const struct gt_otf2 *read, uint64_t comm)
{
	const struct gt_otf2_comm *c = gt_otf2_find_comm(read, comm);
	const struct gt_otf2_group *group = c ? gt_otf2_find_group(read, c->group) : NULL;

	return group && (group->paradigm == OTF2_PARADIGM_CUDA || group->paradigm == OTF2_PARADIGM_HIP ||
			 group->paradigm == OTF2_PARADIGM_OPENCL);
}

static uint64_t own_in(struct gt_syncing *state, const struct gt_otf2_cursor *at, uint64_t comm)
{
	if (state->own_comm != comm) {
		state->own_comm = comm;
		state->own = of_gpu(at->read, comm) ? GT_OTF2_NOTHING
						    : gt_otf2_own(at->read, comm, at->location->id);
	}
	return state->own;
}

/* The channel from this location to a rank, or from it. 0: there is none. */
static uint64_t channel(struct gt_syncing *state, const struct gt_otf2_cursor *at, uint64_t comm,
			uint32_t peer, uint64_t tag, bool receive)
{
	uint64_t own = own_in(state, at, comm), other;

	other = own == GT_OTF2_NOTHING ? own : gt_otf2_member(at->read, comm, peer, own);
	if (other == GT_OTF2_NOTHING)
		return 0;
	tag = gt_sync_mixed(gt_sync_mixed(1, comm), tag);
	tag = gt_sync_mixed(tag, receive ? other : own);
	return gt_sync_mixed(tag, receive ? own : other) | 1;
}

static uint64_t message_channel(struct gt_syncing *state, const struct gt_otf2_cursor *at,
				const struct gt_otf2_event *event, bool receive)
{
	const struct gt_otf2_MpiSend *m = &event->MpiSend; /* the others begin like it */

	return event->undefined ? 0 : channel(state, at, m->comm, m->peer, m->tag, receive);
}

static void send(struct gt_sync *sync, struct gt_syncing *state, const struct gt_otf2_cursor *at,
		 const struct gt_otf2_event *event)
{
	uint64_t key = message_channel(state, at, event, false);
	struct gt_item item;

	if (!key)
		return;
	item = gt_sync_item(sync, state, at);
	item.key = key;
	item.what = GT_WAIT_LATE_SENDER;
	if (event->type == GT_OTF2_MpiIsend) {
		gt_sync_begin_request(state, GT_OTF2_MpiIsend, event->MpiIsend.request, &item);
	} else if (state->is_open) { /* it counts when the call has succeeded */
		if (state->sent)
			gt_sync_put(sync, state, GT_BAG_SENDS, &state->send);
		state->send = item;
		state->sent = true;
	} else {
		gt_sync_put(sync, state, GT_BAG_SENDS, &item);
	}
}

/* `item` is of the call that began it; `time` when the receiver was there. */
static void receive(struct gt_sync *sync, struct gt_syncing *state, const struct gt_otf2_cursor *at,
		    const struct gt_otf2_event *event)
{
	uint64_t key = message_channel(state, at, event, true);
	struct gt_item item, begun;

	if (!key)
		return;
	item = gt_sync_item(sync, state, at);
	if (event->type == GT_OTF2_MpiIrecv &&
	    gt_sync_end_request(state, GT_OTF2_MpiIrecvRequest, event->MpiIrecv.request, &begun)) {
		item.tie = begun.tie;
		item.time = begun.time;
	} else if (state->probe != GT_NO_CAUSE) {
		item.segment = state->probe;
		item.time = item.begin = state->probe_begin;
	}
	item.key = key;
	item.what = GT_WAIT_LATE_SENDER;
	gt_sync_put(sync, state, GT_BAG_RECEIVES, &item);
}

static void isend_complete(struct gt_sync *sync, struct gt_syncing *state, const struct gt_otf2_cursor *at,
			   uint64_t request)
{
	struct gt_item item;

	if (!gt_sync_end_request(state, GT_OTF2_MpiIsend, request, &item))
		return;
	item.segment = gt_sync_here(sync, state, at);
	item.begin = gt_sync_entry(state, at);
	gt_sync_put(sync, state, GT_BAG_SENDS, &item);
}

static void cancelled(struct gt_syncing *state, uint64_t request)
{
	struct gt_item item;

	if (!gt_sync_end_request(state, GT_OTF2_MpiIsend, request, &item))
		gt_sync_end_request(state, GT_OTF2_MpiIrecvRequest, request, &item);
}

/* ---- collectives --------------------------------------------------------------------------------- */

static enum gt_shape_of_wait shape_of(OTF2_CollectiveOp op, bool data)
{
	switch (op) {
	case OTF2_COLLECTIVE_OP_BARRIER:
	case OTF2_COLLECTIVE_OP_CREATE_HANDLE:
	case OTF2_COLLECTIVE_OP_DESTROY_HANDLE:
	case OTF2_COLLECTIVE_OP_ALLOCATE:
	case OTF2_COLLECTIVE_OP_DEALLOCATE:
	case OTF2_COLLECTIVE_OP_CREATE_HANDLE_AND_ALLOCATE:
	case OTF2_COLLECTIVE_OP_DESTROY_HANDLE_AND_DEALLOCATE:
		return GT_ALL_WAIT;
	case OTF2_COLLECTIVE_OP_BCAST:
	case OTF2_COLLECTIVE_OP_SCATTER:
	case OTF2_COLLECTIVE_OP_SCATTERV:
		return data ? GT_OTHERS_WAIT : GT_NOBODY_WAITS;
	case OTF2_COLLECTIVE_OP_GATHER:
	case OTF2_COLLECTIVE_OP_GATHERV:
	case OTF2_COLLECTIVE_OP_REDUCE:
		return data ? GT_ROOT_WAITS : GT_NOBODY_WAITS;
	case OTF2_COLLECTIVE_OP_SCAN:
	case OTF2_COLLECTIVE_OP_EXSCAN:
		return data ? GT_HIGHER_WAIT : GT_NOBODY_WAITS;
	default:
		return data ? GT_ALL_WAIT : GT_NOBODY_WAITS;
	}
}

/* Which member is its root: its location, or GT_NO_CAUSE. */
static uint32_t root_of(struct gt_syncing *state, const struct gt_otf2_cursor *at, uint64_t comm,
			uint32_t root)
{
	uint64_t own = own_in(state, at, comm), id;
	ptrdiff_t index;

	if (root == OTF2_UNDEFINED_UINT32 || own == GT_OTF2_NOTHING)
		return GT_NO_CAUSE;
	id = gt_otf2_member(at->read, comm, root, own);
	index = gt_otf2_index(at->read, GT_OTF2_LOCATION, id);
	return index < 0 ? GT_NO_CAUSE : (uint32_t)index;
}

static uint64_t place_of(enum gt_space space, uint64_t index, uint64_t low)
{
	return (uint64_t)space << 62 | index << 32 | low;
}

/* A collective among the members of a communicator, which counts them at `place`. */
static void collective(struct gt_sync *sync, struct gt_syncing *state,
		       const struct gt_otf2_cursor *at, enum gt_space space, size_t index, uint64_t comm,
		       struct gt_item *item)
{
	const struct gt_otf2_comm *c = gt_otf2_find_comm(at->read, comm);
	const struct gt_otf2_group *group = c ? gt_otf2_find_group(at->read, c->group) : NULL;

	if (!c || c->inter || (group && group->type == OTF2_GROUP_TYPE_COMM_SELF))
		return;
	item->key = place_of(space, index, sync->report->classes.locations[at->index].process);
	item->tie = item->time & ((UINT64_C(1) << TIE_BITS) - 1);
	gt_sync_put(sync, state, GT_BAG_COLLECTIVES, item);
}

static uint32_t collective_what(enum gt_shape_of_wait shape, enum gt_wait wait)
{
	return (uint32_t)shape << 8 | wait;
}

static void mpi_collective(struct gt_sync *sync, struct gt_syncing *state,
			   const struct gt_otf2_cursor *at, const struct gt_otf2_event *event, bool blocking)
{
	const struct gt_otf2_MpiCollectiveEnd *c = &event->MpiCollectiveEnd; /* the other begins like it */
	static const enum gt_wait waits[] = { [GT_ALL_WAIT] = GT_WAIT_NXN,
					      [GT_ROOT_WAITS] = GT_WAIT_EARLY_REDUCE,
					      [GT_OTHERS_WAIT] = GT_WAIT_LATE_BROADCAST,
					      [GT_HIGHER_WAIT] = GT_WAIT_EARLY_SCAN };
	struct gt_item item = gt_sync_item(sync, state, at), begun;
	enum gt_shape_of_wait shape = shape_of(c->op, c->sent || c->received);
	ptrdiff_t index = gt_otf2_index(at->read, GT_OTF2_COMM, c->comm);

	if (at->depth && strstr(at->stack[at->depth - 1].region->name, "eighbor_"))
		shape = GT_NOBODY_WAITS;
	if (!blocking && gt_sync_end_request(state, GT_OTF2_NonBlockingCollectiveRequest,
				     event->NonBlockingCollectiveComplete.request, &begun))
		item.time = begun.time;
	item.what = collective_what(shape, c->op == OTF2_COLLECTIVE_OP_BARRIER ? GT_WAIT_BARRIER
									       : waits[shape]);
	item.value = root_of(state, at, c->comm, c->root);
	if (index >= 0)
		collective(sync, state, at, blocking ? GT_SPACE_COMM : GT_SPACE_LATER, (size_t)index,
			   c->comm, &item);
}

static void window_collective(struct gt_sync *sync, struct gt_syncing *state,
			      const struct gt_otf2_cursor *at, uint64_t win)
{
	ptrdiff_t index = gt_otf2_index(at->read, GT_OTF2_WINDOW, win);
	struct gt_item item = gt_sync_item(sync, state, at);

	item.what = collective_what(GT_ALL_WAIT, GT_WAIT_WINDOW);
	item.value = GT_NO_CAUSE;
	if (index >= 0)
		collective(sync, state, at, GT_SPACE_WINDOW, (size_t)index,
			   gt_otf2_window_at(at->read, (size_t)index)->comm, &item);
}

static void file_collective(struct gt_sync *sync, struct gt_syncing *state,
			    const struct gt_otf2_cursor *at, const struct gt_otf2_IoOperationBegin *e)
{
	const struct gt_otf2_io_handle *handle = gt_otf2_find_io_handle(at->read, e->handle);
	struct gt_item item = gt_sync_item(sync, state, at);
	ptrdiff_t index = handle ? gt_otf2_index(at->read, GT_OTF2_COMM, handle->comm) : -1;

	if (index < 0 || !(e->flags & OTF2_IO_OPERATION_FLAG_COLLECTIVE) ||
	    (e->flags & OTF2_IO_OPERATION_FLAG_NON_BLOCKING))
		return;
	item.what = collective_what(GT_ALL_WAIT, GT_WAIT_FILE);
	item.value = GT_NO_CAUSE;
	collective(sync, state, at, GT_SPACE_OTHER, (size_t)index, handle->comm, &item);
}

/* MPI_Init and MPI_Finalize: one instance for each job. */
void gt_sync_setup(struct gt_sync *sync, struct gt_syncing *state,
		  const struct gt_otf2_cursor *at, const struct gt_otf2_region *region)
{
	const struct gt_location_class *location = &sync->report->classes.locations[at->index];
	const struct gt_process_class *process = &sync->report->classes.processes[location->process];
	struct gt_item item = gt_sync_item(sync, state, at);
	bool last = strcasestr(region->name, "finalize");
	const char *job;

	if (process->rank == GT_NO_RANK || location->kind != GT_LOCATION_MAIN ||
	    (!last && !strcasestr(region->name, "init")))
		return;
	job = strstr(process->group->name, " of job ");
	item.what = collective_what(GT_ALL_WAIT, last ? GT_WAIT_FINALIZE : GT_WAIT_INIT);
	item.value = GT_NO_CAUSE;
	item.key = place_of(GT_SPACE_OTHER, (1 << 29) + last, job ? strtoul(job + 8, NULL, 10) : 0);
	gt_sync_put(sync, state, GT_BAG_INSTANCES, &item);
}

/* ---- windows ------------------------------------------------------------------------------------- */

static bool in_call(const struct gt_otf2_cursor *at, const char *part)
{
	return at->depth && strcasestr(at->stack[at->depth - 1].region->name, part);
}

/* Posts and starts, completes and waits: notifications are messages. */
static void notification(struct gt_sync *sync, struct gt_syncing *state, const struct gt_otf2_cursor *at,
			 const struct gt_otf2_RmaSync *e)
{
	const struct gt_otf2_window *window = gt_otf2_find_window(at->read, e->win);
	bool in = e->type == OTF2_RMA_SYNC_TYPE_NOTIFY_IN;
	bool start = in_call(at, "start") || in_call(at, "post");
	struct gt_item item = gt_sync_item(sync, state, at), begun;
	uint64_t epoch = e->win << 1 ^ (uint64_t)e->remote << 32;

	if (!window || (!in && e->type != OTF2_RMA_SYNC_TYPE_NOTIFY_OUT))
		return;
	item.key = channel(state, at, window->comm, e->remote, UINT64_C(1) << 33 | e->win << 1 | start, in);
	item.what = start ? GT_WAIT_LATE_POST : GT_WAIT_LATE_COMPLETE;
	item.value = item.segment;
	if (!item.key)
		return;
	if (!in)
		gt_sync_put(sync, state, GT_BAG_SENDS, &item);
	/* MPI may wait for the post in the end of the epoch. */
	if (in && start) {
		gt_sync_begin_request(state, GT_OTF2_RmaSync, epoch, &item);
	} else if (in) {
		gt_sync_put(sync, state, GT_BAG_RECEIVES, &item);
	} else if (!start && gt_sync_end_request(state, GT_OTF2_RmaSync, epoch, &begun)) {
		begun.value = item.segment;
		gt_sync_put(sync, state, GT_BAG_RECEIVES, &begun);
	}
}

static void window_lock(struct gt_sync *sync, struct gt_syncing *state, const struct gt_otf2_cursor *at,
			uint64_t win, uint32_t remote, uint32_t what)
{
	struct gt_item item = gt_sync_item(sync, state, at);

	item.key = gt_sync_mixed(gt_sync_mixed(2, win), remote);
	item.time = at->time;
	item.tie = at->time & ((UINT64_C(1) << TIE_BITS) - 1);
	item.what = what;
	gt_sync_put(sync, state, GT_BAG_WINDOW_LOCKS, &item);
}

/* ---- all ----------------------------------------------------------------------------------------- */

void gt_sync_mpi(struct gt_sync *sync, struct gt_syncing *state, const struct gt_otf2_cursor *at,
		 const struct gt_otf2_event *e)
{
	struct gt_item item;

	switch (e->type) {
	case GT_OTF2_MpiSend:
	case GT_OTF2_MpiIsend:
		return send(sync, state, at, e);
	case GT_OTF2_MpiRecv:
	case GT_OTF2_MpiIrecv:
		return receive(sync, state, at, e);
	case GT_OTF2_MpiIrecvRequest:
	case GT_OTF2_NonBlockingCollectiveRequest:
		item = gt_sync_item(sync, state, at);
		return gt_sync_begin_request(state, e->type, e->MpiIrecvRequest.request, &item);
	case GT_OTF2_MpiIsendComplete:
		return isend_complete(sync, state, at, e->MpiIsendComplete.request);
	case GT_OTF2_MpiRequestCancelled:
		return cancelled(state, e->MpiRequestCancelled.request);
	case GT_OTF2_MpiCollectiveEnd:
		return mpi_collective(sync, state, at, e, true);
	case GT_OTF2_NonBlockingCollectiveComplete:
		return mpi_collective(sync, state, at, e, false);
	case GT_OTF2_RmaCollectiveEnd:
		return window_collective(sync, state, at, e->RmaCollectiveEnd.win);
	case GT_OTF2_IoOperationBegin:
		return file_collective(sync, state, at, &e->IoOperationBegin);
	case GT_OTF2_RmaSync:
		return notification(sync, state, at, &e->RmaSync);
	case GT_OTF2_RmaAcquireLock:
		return window_lock(sync, state, at, e->RmaAcquireLock.win, e->RmaAcquireLock.remote,
				   GT_LOCK_ACQUIRED);
	case GT_OTF2_RmaReleaseLock:
		return window_lock(sync, state, at, e->RmaReleaseLock.win, e->RmaReleaseLock.remote,
				   GT_LOCK_RELEASED);
	default:
		return;
	}
}
