/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The events of messages, collectives and one-sided operations of one location.
 *
 * Limits: one-sided operations are checked for their references and ranks only.
 */
#include "config.h"
#include "tools/check.h"


#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/assemble/util/memory.h"

bool check_failed(const struct gt_otf2_cursor *at)
{
	return gt_otf2_has_attribute(at, ((const struct check *)at->user)->mpi_error);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void no_member(struct gt_otf2_cursor *at, uint64_t comm)
{
	check_event(at, RULE_COMMS, "is no member of communicator %" PRIu64 " \"%s\"", comm,
		    gt_otf2_find_comm(at->read, comm)->name);
}

static uint32_t receive_what(const struct gt_otf2_cursor *at, bool failed)
{
	if (gt_otf2_has_attribute(at, ((const struct check *)at->user)->freed))
		return MESSAGE_FREED;
	return failed ? MESSAGE_CUT : MESSAGE_RECEIVE;
}

/* One end of a message that was begun at the event with this number. */
static bool begun_message(struct gt_otf2_cursor *at, const struct gt_otf2_event *e, bool receive,
			  uint64_t begun, struct record *out)
{
	const struct gt_otf2_MpiSend *m = &e->MpiSend; /* the others begin with the same fields */
	const struct gt_otf2 *read = at->read;
	struct state *s = at->state;
	bool failed = check_failed(at);
	uint64_t other;
	ptrdiff_t i, j;

	if (e->undefined)
		return false;
	if (s->own_comm != m->comm) {
		s->own = gt_otf2_own(read, m->comm, at->location->id);
		s->own_comm = m->comm;
	}
	other = s->own == GT_OTF2_NOTHING ? GT_OTF2_NOTHING : gt_otf2_member(read, m->comm, m->peer, s->own);
	i = gt_otf2_index(read, GT_OTF2_LOCATION, s->own);
	j = gt_otf2_index(read, GT_OTF2_LOCATION, other);
	if (i < 0)
		no_member(at, m->comm);
	else if (j < 0)
		check_event(at, RULE_COMMS, "rank %u is no member of communicator %u \"%s\"", m->peer,
			    m->comm, gt_otf2_find_comm(read, m->comm)->name);
	if (i < 0 || j < 0)
		return false;
	*out = (struct record){ .key = { (uint64_t)m->comm << 32 | m->tag,
					 receive ? (uint64_t)j << 32 | (uint64_t)i
						 : (uint64_t)i << 32 | (uint64_t)j },
				.order = begun,
				.time = at->ticks,
				.event = at->event,
				.value = m->bytes,
				.location = (uint32_t)at->index,
				.what = receive ? receive_what(at, failed) : MESSAGE_SEND };
	pairs_add(at->user, s, BAG_MESSAGES, out);
	/* Then it is the receive that a call failed with which does both. */
	if (failed)
		s->sent = false;
	return true;
}

static void retract(struct gt_otf2_cursor *at, struct record *r)
{
	r->what = MESSAGE_RETRACT;
	pairs_add(at->user, at->state, BAG_MESSAGES, r);
}

void check_failed_send(struct gt_otf2_cursor *at)
{
	struct state *s = at->state;

	if (s->sent)
		retract(at, &s->send);
}

static void begin(struct state *s, uint64_t id, const struct record *r)
{
	s->requests = gt_grown(s->requests, s->open_requests.count, &s->request_room, sizeof(*s->requests));
	s->requests[s->open_requests.count] = *r;
	gt_places_add(&s->open_requests, 0, id);
}

/* Takes a request from the list of open ones. */
static bool complete(struct state *s, uint64_t id, struct record *out)
{
	size_t place = gt_places_take(&s->open_requests, 0, id);

	if (place == GT_NO_PLACE)
		return false;
	*out = s->requests[place];
	s->requests[place] = s->requests[s->open_requests.count];
	return true;
}

/*
 * A message that MPI_Mprobe has matched, but which the archive has from its receive on only (gputrace's have
 * it from the probe on): it may have come before others of its channel.
 */
static void note_late_match(struct gt_otf2_cursor *at, const char *call)
{
	struct check *check = at->user;

	if (at->depth && !strcmp(at->stack[at->depth - 1].region->name, call))
		__atomic_store_n(&check->matched_early, true, __ATOMIC_RELAXED);
}

static void receive_later(struct gt_otf2_cursor *at, const struct gt_otf2_event *e)
{
	struct record begun = { .event = at->event }, r;

	complete(at->state, e->MpiIrecv.request, &begun);
	begun_message(at, e, true, begun.event, &r);
}

/* ---- collectives ----------------------------------------------------------------------------- */

/* Threads of one process share the order of its collectives, which is seen when all have been read. */
static void number_blocking(struct gt_otf2_cursor *at, struct record *r, size_t comm)
{
	struct check *check = at->user;
	struct state *s = at->state;
	ptrdiff_t group = gt_otf2_index(at->read, GT_OTF2_LOCATION_GROUP, at->location->group);
	uint64_t begin_time = r->time;

	if (group >= 0 && check->threads[group] > 1) {
		r->key[1] = (uint64_t)group;
		r->time = r->order;
		r->order = begin_time;
		pairs_add(check, s, BAG_ORDER, r);
		return;
	}
	if (!s->sequence)
		s->sequence = gt_zeroed(at->read->tables[GT_OTF2_COMM].count, sizeof(*s->sequence));
	check_number(check, s, r, &s->sequence[comm]);
}

static void collective(struct gt_otf2_cursor *at, const struct gt_otf2_event *e, uint64_t begin_time,
		       uint64_t end, bool blocking)
{
	const struct gt_otf2_MpiCollectiveEnd *c = &e->MpiCollectiveEnd; /* the other begins like it */
	const struct gt_otf2 *read = at->read;
	const struct gt_otf2_comm *comm = gt_otf2_find_comm(read, c->comm);
	const struct gt_otf2_group *group;
	struct check *check = at->user;
	struct record r = { .time = begin_time,
			    .order = end,
			    .event = at->event,
			    .location = (uint32_t)at->index,
			    .value = (uint64_t)c->op << 32 | c->root };
	size_t i;

	if (!comm)
		return;
	if (gt_otf2_own(read, c->comm, at->location->id) == GT_OTF2_NOTHING)
		return no_member(at, c->comm);
	group = gt_otf2_find_group(read, comm->group);
	if (group && group->type == OTF2_GROUP_TYPE_COMM_SELF)
		return; /* each process has its own, of itself alone */
	i = (size_t)gt_otf2_index(read, GT_OTF2_COMM, c->comm);
	r.key[0] = (uint64_t)i << 1 | !blocking;
	if (blocking) {
		r.what = check_failed(at) ? COLLECTIVE_FAILED : COLLECTIVE_DONE;
		return number_blocking(at, &r, i);
	}
	if (check_failed(at))
		__atomic_store_n(&check->failed_later[i], true, __ATOMIC_RELAXED);
	/* The sides of an inter-communicator name the root in different ways. */
	r.key[1] = comm->inter ? (uint64_t)c->op << 32 : r.value;
	pairs_add(check, at->state, BAG_COLLECTIVES, &r);
}

static void collective_begin(struct gt_otf2_cursor *at)
{
	struct state *s = at->state;

	if (s->in_collective)
		check_event(at, RULE_COLLECTIVES, "begins a collective inside another");
	s->in_collective = true;
	s->collective_begin = at->ticks;
}

static void collective_end(struct gt_otf2_cursor *at, const struct gt_otf2_event *e)
{
	const struct gt_otf2_MpiCollectiveEnd *c = &e->MpiCollectiveEnd;
	struct state *s = at->state;
	/* For all others; neighbours wait for each other only. */
	bool waits = (c->op == OTF2_COLLECTIVE_OP_BARRIER || c->sent || c->received) &&
		     !(at->depth && strstr(at->stack[at->depth - 1].region->name, "eighbor_"));

	if (!s->in_collective)
		check_event(at, RULE_COLLECTIVES, "ends a collective that never began");
	collective(at, e, s->in_collective ? s->collective_begin : at->ticks, waits ? at->ticks : UINT64_MAX,
		   true);
	s->in_collective = false;
}

/* ---- windows --------------------------------------------------------------------------------- */

static void window_rank(struct gt_otf2_cursor *at, uint64_t win, uint32_t remote)
{
	const struct gt_otf2_window *window = gt_otf2_find_window(at->read, win);

	if (window && gt_otf2_member(at->read, window->comm, remote, at->location->id) == GT_OTF2_NOTHING)
		check_event(at, RULE_COMMS, "rank %u is no member of the window's communicator %u", remote,
			    window->comm);
}

/* ---- all ------------------------------------------------------------------------------------- */

void check_mpi(struct gt_otf2_cursor *at, const struct gt_otf2_event *e)
{
	struct state *s = at->state;
	struct record r;

	switch (e->type) {
	case GT_OTF2_MpiSend:
		s->sent = begun_message(at, e, false, at->event, &s->send);
		break;
	case GT_OTF2_MpiIsend:
		if (begun_message(at, e, false, at->event, &r))
			begin(s, e->MpiIsend.request, &r);
		break;
	case GT_OTF2_MpiIrecvRequest:
		note_late_match(at, "MPI_Imrecv");
		begin(s, e->MpiIrecvRequest.request,
		      &(struct record){ .time = at->ticks, .event = at->event, .what = MESSAGE_RECEIVE });
		break;
	case GT_OTF2_MpiIsendComplete:
		complete(s, e->MpiIsendComplete.request, &r);
		break;
	case GT_OTF2_MpiRequestCancelled:
		if (complete(s, e->MpiRequestCancelled.request, &r) && r.what == MESSAGE_SEND)
			retract(at, &r);
		break;
	case GT_OTF2_MpiRecv:
		note_late_match(at, "MPI_Mrecv");
		begun_message(at, e, true, at->event, &r);
		break;
	case GT_OTF2_MpiIrecv:
		receive_later(at, e);
		break;
	case GT_OTF2_MpiCollectiveBegin:
		collective_begin(at);
		break;
	case GT_OTF2_MpiCollectiveEnd:
		collective_end(at, e);
		break;
	case GT_OTF2_NonBlockingCollectiveRequest:
		s->open_later++;
		break;
	case GT_OTF2_NonBlockingCollectiveComplete:
		s->open_later -= s->open_later != 0;
		collective(at, e, at->ticks, at->ticks, false);
		break;
	case GT_OTF2_RmaPut:
		window_rank(at, e->RmaPut.win, e->RmaPut.remote);
		break;
	case GT_OTF2_RmaGet:
		window_rank(at, e->RmaGet.win, e->RmaGet.remote);
		break;
	case GT_OTF2_RmaAtomic:
		window_rank(at, e->RmaAtomic.win, e->RmaAtomic.remote);
		break;
	default:
		break;
	}
}
