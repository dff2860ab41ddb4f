/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts the sides of messages, collectives and one-sided operations of ranks into bags.
 *
 * Limits: see sync.h.
 */
#include "config.h"

#include "report/waits/sync_int.h"

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

	/* A message that was cut: that is what the call fails with (MPI_Sendrecv). */
	if (state->sent && gt_otf2_has_attribute(at, sync->mpi_error)) {
		gt_sync_put(sync, state, GT_BAG_SENDS, &state->send);
		state->sent = false;
	}
	if (!key)
		return;
	item = gt_sync_item(sync, state, at);
	if (event->type == GT_OTF2_MpiIrecv &&
	    gt_sync_end_request(state, GT_OTF2_MpiIrecvRequest, event->MpiIrecv.request, &begun)) {
		item.tie = begun.tie;
		item.time = begun.time;
		if (begun.value) { /* MPI_Mprobe waited for it */
			item.segment = begun.segment;
			item.begin = begun.begin;
		}
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
	item->tie = item->time;
	gt_sync_put(sync, state, GT_BAG_COLLECTIVES, item);
}

static uint32_t collective_what(enum gt_shape_of_wait shape, enum gt_wait wait)
{
	return (uint32_t)shape << 8 | wait;
}

/*
 * Data comes from neighbours alone, which the event names. Where it does not (it is not gputrace's, or they
 * are too many) nobody is known to wait.
 */
static void among_neighbours(struct gt_sync *sync, const struct gt_otf2_cursor *at, uint64_t received,
			     struct gt_item *item)
{
	OTF2_AttributeValue value;
	bool named = gt_otf2_attribute(at, sync->neighbours, OTF2_TYPE_STRING, &value);

	if (!named && !(at->depth && strstr(at->stack[at->depth - 1].region->name, "eighbor_")))
		return;
	item->what = collective_what(named && received ? GT_NEAR_WAIT : GT_NOBODY_WAITS, GT_WAIT_NEIGHBOUR);
	item->value = named ? value.stringRef : 0;
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

	if (!blocking && gt_sync_end_request(state, GT_OTF2_NonBlockingCollectiveRequest,
				     event->NonBlockingCollectiveComplete.request, &begun))
		item.time = begun.time;
	item.what = collective_what(shape, c->op == OTF2_COLLECTIVE_OP_BARRIER ? GT_WAIT_BARRIER
									       : waits[shape]);
	item.value = root_of(state, at, c->comm, c->root);
	among_neighbours(sync, at, c->received, &item);
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

/*
 * Operations, opening and closing of a file that a communicator has opened together. `time`: when this member
 * came to it.
 */
static void file_collective(struct gt_sync *sync, struct gt_syncing *state, const struct gt_otf2_cursor *at,
			    uint64_t file, uint64_t time, unsigned place)
{
	const struct gt_otf2_io_handle *handle = gt_otf2_find_io_handle(at->read, file);
	struct gt_item item;
	ptrdiff_t index = handle ? gt_otf2_index(at->read, GT_OTF2_COMM, handle->comm) : -1;

	if (index < 0)
		return;
	item = gt_sync_item(sync, state, at);
	item.time = time;
	item.what = collective_what(GT_ALL_WAIT, GT_WAIT_FILE);
	item.value = GT_NO_CAUSE;
	collective(sync, state, at, GT_SPACE_OTHER, (size_t)index + place, handle->comm, &item);
}

void gt_sync_file(struct gt_sync *sync, struct gt_syncing *state, const struct gt_otf2_cursor *at,
		  uint64_t file)
{
	file_collective(sync, state, at, file, gt_sync_entry(state, at), 0);
}

static uint64_t operation_id(uint64_t file, uint64_t matching)
{
	return gt_sync_mixed(gt_sync_mixed(7, file), matching);
}

/* Nonblocking operations may wait in the call that begins them, too: split collectives do. */
static void file_operation(struct gt_sync *sync, struct gt_syncing *state,
			   const struct gt_otf2_cursor *at, const struct gt_otf2_IoOperationBegin *e)
{
	struct gt_item item;

	if (!(e->flags & OTF2_IO_OPERATION_FLAG_COLLECTIVE))
		return;
	gt_sync_file(sync, state, at, e->handle);
	if (!(e->flags & OTF2_IO_OPERATION_FLAG_NON_BLOCKING))
		return;
	item = gt_sync_item(sync, state, at);
	gt_sync_begin_request(state, GT_OTF2_IoOperationBegin, operation_id(e->handle, e->matching), &item);
}

static void file_completed(struct gt_sync *sync, struct gt_syncing *state, const struct gt_otf2_cursor *at,
			   uint64_t file, uint64_t matching, bool done)
{
	uint64_t id = operation_id(file, matching);
	struct gt_item begun;

	if (gt_sync_end_request(state, GT_OTF2_IoOperationBegin, id, &begun) && done)
		file_collective(sync, state, at, file, begun.time, GT_PLACE_LATER);
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
	item.key = place_of(GT_SPACE_OTHER, GT_PLACE_JOB + last, job ? strtoul(job + 8, NULL, 10) : 0);
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

static uint64_t lock_key(uint64_t win, uint32_t remote)
{
	return gt_sync_mixed(gt_sync_mixed(2, win), remote);
}

/* `shared`: of an acquisition; what follows has it from there. */
static void window_lock(struct gt_sync *sync, struct gt_syncing *state, const struct gt_otf2_cursor *at,
			uint64_t key, uint32_t what, bool shared)
{
	struct gt_item item = gt_sync_item(sync, state, at), begun;
	bool held;

	item.key = key;
	item.value = !shared;
	item.time = at->time;
	item.tie = at->time;
	item.what = what;
	held = what != GT_LOCK_ACQUIRED && gt_sync_end_request(state, GT_OTF2_RmaAcquireLock, key, &begun);
	if (what != GT_LOCK_ACQUIRED)
		item.value = held && begun.value;
	if (what == GT_LOCK_ACQUIRED || (what == GT_LOCK_USED && held))
		gt_sync_begin_request(state, GT_OTF2_RmaAcquireLock, key, held ? &begun : &item);
	state->window_locks += what == GT_LOCK_ACQUIRED;
	state->window_locks -= what == GT_LOCK_RELEASED && held;
	if (what != GT_LOCK_USED || held)
		gt_sync_put(sync, state, GT_BAG_WINDOW_LOCKS, &item);
	if (what != GT_LOCK_RELEASED)
		return;
	item.tie = item.begin;
	item.what = GT_LOCK_RELEASING;
	gt_sync_put(sync, state, GT_BAG_WINDOW_LOCKS, &item);
}

static bool has_lock(struct gt_syncing *state, uint64_t key, struct gt_item *acquired)
{
	bool held = gt_sync_end_request(state, GT_OTF2_RmaAcquireLock, key, acquired);

	if (held)
		gt_sync_begin_request(state, GT_OTF2_RmaAcquireLock, key, acquired);
	return held;
}

/* MPI_Win_lock_all is a lock of each rank that is accessed then: others MPI need not lock. */
static void lock_target(struct gt_sync *sync, struct gt_syncing *state, uint64_t win, uint32_t remote)
{
	uint64_t key = lock_key(win, remote), all = lock_key(win, UINT32_MAX);
	struct gt_item item;

	if (has_lock(state, key, &item) || !has_lock(state, all, &item))
		return;
	item.key = key;
	gt_sync_begin_request(state, GT_OTF2_RmaAcquireLock, key, &item);
	gt_sync_begin_request(state, GT_OTF2_RmaReleaseLock, all, &item);
	gt_sync_put(sync, state, GT_BAG_WINDOW_LOCKS, &item);
	state->window_locks++;
}

static void unlock(struct gt_sync *sync, struct gt_syncing *state, const struct gt_otf2_cursor *at,
		   uint64_t key)
{
	struct gt_item target;

	while (gt_sync_end_request(state, GT_OTF2_RmaReleaseLock, key, &target))
		window_lock(sync, state, at, target.key, GT_LOCK_RELEASED, false);
	window_lock(sync, state, at, key, GT_LOCK_RELEASED, false);
}

static uint64_t access_id(uint64_t win, uint64_t matching)
{
	return gt_sync_mixed(gt_sync_mixed(8, win), matching);
}

/* Calls that complete an access before its epoch ends (MPI_Win_flush and similar) may have waited for the
 * lock. */
static void window_access(struct gt_sync *sync, struct gt_syncing *state, uint64_t win, uint32_t remote,
			  uint64_t matching)
{
	struct gt_item item = { .key = lock_key(win, remote) };

	if (!state->window_locks)
		return;
	lock_target(sync, state, win, remote);
	gt_sync_begin_request(state, GT_OTF2_RmaPut, access_id(win, matching), &item);
}

static void window_accessed(struct gt_sync *sync, struct gt_syncing *state, const struct gt_otf2_cursor *at,
			    uint64_t win, uint64_t matching)
{
	struct gt_item begun;

	if (!gt_sync_end_request(state, GT_OTF2_RmaPut, access_id(win, matching), &begun) ||
	    !state->window_locks)
		return;
	/* Once for all that one call completes. */
	if (state->used_lock != begun.key || state->used_in != gt_sync_here(sync, state, at))
		window_lock(sync, state, at, begun.key, GT_LOCK_USED, false);
	state->used_lock = begun.key;
	state->used_in = gt_sync_here(sync, state, at);
}

/* Completed in a way that MPI's adapter does not record: nothing is known of a lock. */
static void window_over(struct gt_syncing *state, uint64_t win, uint64_t matching)
{
	struct gt_item begun;

	gt_sync_end_request(state, GT_OTF2_RmaPut, access_id(win, matching), &begun);
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
		state->matched = e->type == GT_OTF2_MpiIrecvRequest && in_call(at, "mprobe");
		item.value = state->matched;
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
		return file_operation(sync, state, at, &e->IoOperationBegin);
	case GT_OTF2_IoOperationComplete:
		return file_completed(sync, state, at, e->IoOperationComplete.handle,
				      e->IoOperationComplete.matching, true);
	case GT_OTF2_IoOperationCancelled:
		return file_completed(sync, state, at, e->IoOperationCancelled.handle,
				      e->IoOperationCancelled.matching, false);
	case GT_OTF2_IoCreateHandle:
		return gt_sync_file(sync, state, at, e->IoCreateHandle.handle);
	case GT_OTF2_IoDestroyHandle:
		return gt_sync_file(sync, state, at, e->IoDestroyHandle.handle);
	case GT_OTF2_RmaSync:
		return notification(sync, state, at, &e->RmaSync);
	case GT_OTF2_RmaAcquireLock:
		return window_lock(sync, state, at, lock_key(e->RmaAcquireLock.win, e->RmaAcquireLock.remote),
				   GT_LOCK_ACQUIRED, e->RmaAcquireLock.type == OTF2_LOCK_SHARED);
	case GT_OTF2_RmaReleaseLock:
		return unlock(sync, state, at, lock_key(e->RmaReleaseLock.win, e->RmaReleaseLock.remote));
	case GT_OTF2_RmaPut:
		return window_access(sync, state, e->RmaPut.win, e->RmaPut.remote, e->RmaPut.matching);
	case GT_OTF2_RmaGet:
		return window_access(sync, state, e->RmaGet.win, e->RmaGet.remote, e->RmaGet.matching);
	case GT_OTF2_RmaAtomic:
		return window_access(sync, state, e->RmaAtomic.win, e->RmaAtomic.remote,
				     e->RmaAtomic.matching);
	case GT_OTF2_RmaOpCompleteNonBlocking:
		return window_accessed(sync, state, at, e->RmaOpCompleteNonBlocking.win,
				       e->RmaOpCompleteNonBlocking.matching);
	case GT_OTF2_RmaOpCompleteBlocking:
		return window_over(state, e->RmaOpCompleteBlocking.win, e->RmaOpCompleteBlocking.matching);
	case GT_OTF2_RmaOpCompleteRemote:
		return window_over(state, e->RmaOpCompleteRemote.win, e->RmaOpCompleteRemote.matching);
	default:
		return;
	}
}
