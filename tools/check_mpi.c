/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The events of messages, collectives, communicators and one-sided operations of one location.
 *
 * Limits: one-sided operations are checked for their references and ranks only.
 */
#include "config.h"
#include "tools/check_state.h"

#include <stdlib.h>
#include <string.h>

/* ---- messages -------------------------------------------------------------------------------- */

/* One end of a message that was begun at the event with this number. */
static bool begun_message(struct state *s, uint64_t time, uint32_t peer, uint64_t comm, uint32_t tag,
			  uint64_t bytes, bool receive, uint64_t begun, struct record *out)
{
	struct check *check = s->check;
	uint64_t other;
	ptrdiff_t i, j;

	if (!refer(s, KIND_COMM, comm, "communicator"))
		return false;
	if (s->own_comm != comm) {
		s->own = check_own(check, comm, s->location);
		s->own_comm = comm;
	}
	other = s->own == ARCHIVE ? ARCHIVE : check_member(check, comm, peer, s->own);
	i = check_find(check, KIND_LOCATION, s->own);
	j = check_find(check, KIND_LOCATION, other);
	if (s->own == ARCHIVE || i < 0)
		BROKEN(s, RULE_COMMS, "is no member of communicator %" PRIu64 " \"%s\"", comm,
		       check_name(check, KIND_COMM, comm));
	else if (j < 0)
		BROKEN(s, RULE_COMMS, "rank %u is no member of communicator %" PRIu64 " \"%s\"",
		       peer, comm, check_name(check, KIND_COMM, comm));
	if (i < 0 || j < 0)
		return false;
	*out = (struct record){.key = {comm << 32 | tag, receive ? (uint64_t)j << 32 | (uint64_t)i
								 : (uint64_t)i << 32 | (uint64_t)j},
			       .order = begun,
			       .time = time,
			       .event = s->n,
			       .value = bytes,
			       .location = s->index,
			       .what = !receive ? MESSAGE_SEND : s->failed ? MESSAGE_CUT : MESSAGE_RECEIVE};
	pairs_add(check, BAG_MESSAGES, out);
	/* Then it is the receive that a call failed with which does both. */
	if (s->failed)
		s->sent = false;
	return true;
}

static bool message(struct state *s, uint64_t time, uint32_t peer, uint64_t comm, uint32_t tag,
		    uint64_t bytes, bool receive, struct record *out)
{
	return begun_message(s, time, peer, comm, tag, bytes, receive, s->n, out);
}

static void retract(struct state *s, struct record *r)
{
	r->what = MESSAGE_RETRACT;
	pairs_add(s->check, BAG_MESSAGES, r);
}

void check_failed_send(struct state *s)
{
	if (s->sent)
		retract(s, &s->send);
}

EVENT(MpiSend, uint32_t to, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
BODY(MpiSend, (data, time, to, comm, tag, bytes), uint32_t to, OTF2_CommRef comm, uint32_t tag,
     uint64_t bytes)
{
	s->sent = message(s, time, to, comm, tag, bytes, false, &s->send);
}

static void begin(struct state *s, uint64_t id, const struct record *r)
{
	if (s->request_count == s->request_room) {
		s->request_room = s->request_room ? s->request_room * 2 : 64;
		s->requests = realloc(s->requests, s->request_room * sizeof(*s->requests));
		if (!s->requests)
			abort();
	}
	s->requests[s->request_count++] = (struct request){id, *r};
}

EVENT(MpiIsend, uint32_t to, OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t request)
BODY(MpiIsend, (data, time, to, comm, tag, bytes, request), uint32_t to, OTF2_CommRef comm,
     uint32_t tag, uint64_t bytes, uint64_t request)
{
	struct record r;

	if (message(s, time, to, comm, tag, bytes, false, &r))
		begin(s, request, &r);
}

EVENT(MpiIrecvRequest, uint64_t request)
BODY(MpiIrecvRequest, (data, time, request), uint64_t request)
{
	begin(s, request, &(struct record){.time = time, .event = s->n, .what = MESSAGE_RECEIVE});
}

/* Takes a request from the list of open ones. */
static bool complete(struct state *s, uint64_t id, struct record *out)
{
	for (size_t i = s->request_count; i-- > 0;) {
		if (s->requests[i].id != id)
			continue;
		*out = s->requests[i].record;
		s->requests[i] = s->requests[--s->request_count];
		return true;
	}
	return false;
}

EVENT(MpiIsendComplete, uint64_t request)
BODY(MpiIsendComplete, (data, time, request), uint64_t request)
{
	struct record r;

	(void)time;
	complete(s, request, &r);
}

EVENT(MpiRequestCancelled, uint64_t request)
BODY(MpiRequestCancelled, (data, time, request), uint64_t request)
{
	struct record r;

	(void)time;
	if (complete(s, request, &r) && r.what == MESSAGE_SEND)
		retract(s, &r);
}

EVENT(MpiRecv, uint32_t from, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
BODY(MpiRecv, (data, time, from, comm, tag, bytes), uint32_t from, OTF2_CommRef comm, uint32_t tag,
     uint64_t bytes)
{
	struct record r;

	message(s, time, from, comm, tag, bytes, true, &r);
}

EVENT(MpiIrecv, uint32_t from, OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t request)
BODY(MpiIrecv, (data, time, from, comm, tag, bytes, request), uint32_t from, OTF2_CommRef comm,
     uint32_t tag, uint64_t bytes, uint64_t request)
{
	struct record begun = {.event = s->n}, r;

	complete(s, request, &begun);
	begun_message(s, time, from, comm, tag, bytes, true, begun.event, &r);
}

/* ---- collectives ----------------------------------------------------------------------------- */

EVENT(MpiCollectiveBegin)
BODY(MpiCollectiveBegin, (data, time))
{
	if (s->in_collective)
		BROKEN(s, RULE_COLLECTIVES, "begins a collective inside another");
	s->in_collective = true;
	s->collective_begin = time;
}

static void collective(struct state *s, uint64_t begin, uint64_t end, uint64_t comm, uint32_t op,
		       uint32_t root, bool blocking)
{
	struct check *check = s->check;
	struct record r = {.time = begin,
			   .order = end,
			   .event = s->n,
			   .location = s->index,
			   .value = (uint64_t)op << 32 | root};
	ptrdiff_t i, group;

	if (!refer(s, KIND_COMM, comm, "communicator"))
		return;
	if (check_own(check, comm, s->location) == ARCHIVE) {
		BROKEN(s, RULE_COMMS, "is no member of communicator %" PRIu64 " \"%s\"", comm,
		       check_name(check, KIND_COMM, comm));
		return;
	}
	i = check_find(check, KIND_COMM, comm);
	group = check_find(check, KIND_GROUP, check->tables[KIND_COMM].items[i].a);
	if (group >= 0 && check->tables[KIND_GROUP].items[group].type == OTF2_GROUP_TYPE_COMM_SELF)
		return; /* each process has its own, of itself alone */
	r.key[0] = (uint64_t)i << 1 | !blocking;
	if (!blocking) {
		check->failed_later[i] |= s->failed;
		/* The sides of an inter-communicator name the root in different ways. */
		r.key[1] = check->tables[KIND_COMM].items[i].inter ? (uint64_t)op << 32 : r.value;
		pairs_add(check, BAG_COLLECTIVES, &r);
		return;
	}
	r.what = s->failed ? COLLECTIVE_FAILED : COLLECTIVE_DONE;
	group = check_find(check, KIND_LOCATION_GROUP, check->tables[KIND_LOCATION].items[s->index].a);
	if (group >= 0 && check->threads[group] > 1) {
		r.key[1] = (uint64_t)group;
		r.time = end;
		r.order = begin;
		pairs_add(check, BAG_ORDER, &r);
		return;
	}
	if (!s->sequence)
		s->sequence = calloc(check->tables[KIND_COMM].count, sizeof(*s->sequence));
	if (!s->sequence)
		abort();
	check_number(check, &r, &s->sequence[i]);
}

EVENT(MpiCollectiveEnd, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root, uint64_t sent,
      uint64_t received)
BODY(MpiCollectiveEnd, (data, time, op, comm, root, sent, received), OTF2_CollectiveOp op,
     OTF2_CommRef comm, uint32_t root, uint64_t sent, uint64_t received)
{
	/* For all others; neighbours wait for each other only. */
	bool waits = (op == OTF2_COLLECTIVE_OP_BARRIER || sent || received) &&
		     !(s->depth && strstr(check_name(s->check, KIND_REGION, s->stack[s->depth - 1]),
					  "eighbor_"));

	if (!s->in_collective)
		BROKEN(s, RULE_COLLECTIVES, "ends a collective that never began");
	collective(s, s->in_collective ? s->collective_begin : time, waits ? time : UINT64_MAX, comm,
		   op, root, true);
	s->in_collective = false;
}

EVENT(NonBlockingCollectiveComplete, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root,
      uint64_t sent, uint64_t received, uint64_t request)
BODY(NonBlockingCollectiveComplete, (data, time, op, comm, root, sent, received, request),
     OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root, uint64_t sent, uint64_t received,
     uint64_t request)
{
	(void)sent, (void)received, (void)request;
	collective(s, time, time, comm, op, root, false);
}

/* ---- communicators and windows --------------------------------------------------------------- */

PLAIN(CommCreate, KIND_COMM, "communicator", c, (data, time, c), OTF2_CommRef c)
PLAIN(CommDestroy, KIND_COMM, "communicator", c, (data, time, c), OTF2_CommRef c)
PLAIN(RmaWinCreate, KIND_RMA_WIN, "RMA window", w, (data, time, w), OTF2_RmaWinRef w)
PLAIN(RmaWinDestroy, KIND_RMA_WIN, "RMA window", w, (data, time, w), OTF2_RmaWinRef w)
#define WINDOW(s, win, remote)                                                                     \
	do {                                                                                       \
		if (refer(s, KIND_RMA_WIN, win, "RMA window"))                                     \
			window_rank(s, win, remote);                                               \
	} while (0)

static void window_rank(struct state *s, uint64_t win, uint32_t remote)
{
	ptrdiff_t i = check_find(s->check, KIND_RMA_WIN, win);
	uint64_t comm = s->check->tables[KIND_RMA_WIN].items[i].a;

	if (check_member(s->check, comm, remote, s->location) == ARCHIVE)
		BROKEN(s, RULE_COMMS, "rank %u is no member of the window's communicator %" PRIu64,
		       remote, comm);
}

EVENT(RmaPut, OTF2_RmaWinRef win, uint32_t remote, uint64_t bytes, uint64_t id)
BODY(RmaPut, (data, time, win, remote, bytes, id), OTF2_RmaWinRef win, uint32_t remote,
     uint64_t bytes, uint64_t id)
{
	(void)time, (void)bytes, (void)id;
	WINDOW(s, win, remote);
}

EVENT(RmaGet, OTF2_RmaWinRef win, uint32_t remote, uint64_t bytes, uint64_t id)
BODY(RmaGet, (data, time, win, remote, bytes, id), OTF2_RmaWinRef win, uint32_t remote,
     uint64_t bytes, uint64_t id)
{
	(void)time, (void)bytes, (void)id;
	WINDOW(s, win, remote);
}

EVENT(RmaAtomic, OTF2_RmaWinRef win, uint32_t remote, OTF2_RmaAtomicType type, uint64_t sent,
      uint64_t received, uint64_t id)
BODY(RmaAtomic, (data, time, win, remote, type, sent, received, id), OTF2_RmaWinRef win,
     uint32_t remote, OTF2_RmaAtomicType type, uint64_t sent, uint64_t received, uint64_t id)
{
	(void)time, (void)type, (void)sent, (void)received, (void)id;
	WINDOW(s, win, remote);
}

#define RMA_DONE(name)                                                                             \
	EVENT(name, OTF2_RmaWinRef win, uint64_t id)                                               \
	BODY(name, (data, time, win, id), OTF2_RmaWinRef win, uint64_t id)                         \
	{                                                                                          \
		(void)time, (void)id;                                                              \
		refer(s, KIND_RMA_WIN, win, "RMA window");                                         \
	}

RMA_DONE(RmaOpCompleteBlocking)
RMA_DONE(RmaOpCompleteNonBlocking)
RMA_DONE(RmaOpCompleteRemote)

#define REQUEST(name)                                                                              \
	EVENT(name, uint64_t request)                                                              \
	BODY(name, (data, time, request), uint64_t request)                                        \
	{                                                                                          \
		(void)s, (void)time, (void)request;                                                \
	}

REQUEST(MpiRequestTest)
REQUEST(NonBlockingCollectiveRequest)

void check_mpi_callbacks(OTF2_EvtReaderCallbacks *c)
{
#define SET(name) OTF2_EvtReaderCallbacks_Set##name##Callback(c, on_##name)
	SET(MpiSend);
	SET(MpiIsend);
	SET(MpiIsendComplete);
	SET(MpiIrecvRequest);
	SET(MpiRecv);
	SET(MpiIrecv);
	SET(MpiRequestTest);
	SET(MpiRequestCancelled);
	SET(MpiCollectiveBegin);
	SET(MpiCollectiveEnd);
	SET(NonBlockingCollectiveRequest);
	SET(NonBlockingCollectiveComplete);
	SET(CommCreate);
	SET(CommDestroy);
	SET(RmaWinCreate);
	SET(RmaWinDestroy);
	SET(RmaPut);
	SET(RmaGet);
	SET(RmaAtomic);
	SET(RmaOpCompleteBlocking);
	SET(RmaOpCompleteNonBlocking);
	SET(RmaOpCompleteRemote);
#undef SET
}
