/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collecting ends, and finding what belongs together.
 *
 * Limits: see match.h.
 */
#include "config.h"

#include "report/part/match.h"

#include <stdlib.h>
#include <string.h>

#include "lib/assemble/util/memory.h"

/* ---- of a location ----------------------------------------------------------------------------- */

static void collect(struct gt_match *match, const struct gt_end *end)
{
	match->ends.items = gt_grown(match->ends.items, match->ends.count, &match->ends.room, sizeof(*end));
	match->ends.items[match->ends.count++] = *end;
}

/* Fills in who sends to whom. */
static bool message(struct gt_match *match, const struct gt_otf2_cursor *at,
		    const struct gt_otf2_event *event, bool receive, struct gt_end *end)
{
	const struct gt_otf2_MpiSend *m = &event->MpiSend; /* the others begin with the same fields */
	uint64_t other;
	ptrdiff_t i, j;

	if (event->undefined)
		return false;
	if (match->own_comm != (uint64_t)m->comm + 1) {
		match->own = gt_otf2_own(at->read, m->comm, at->location->id);
		match->own_comm = (uint64_t)m->comm + 1;
	}
	if (match->own == GT_OTF2_NOTHING)
		return false;
	other = gt_otf2_member(at->read, m->comm, m->peer, match->own);
	i = gt_otf2_index(at->read, GT_OTF2_LOCATION, match->own);
	j = gt_otf2_index(at->read, GT_OTF2_LOCATION, other);
	if (i < 0 || j < 0)
		return false;
	end->key[0] = (uint64_t)m->comm << 32 | m->tag;
	end->key[1] = receive ? (uint64_t)j << 32 | (uint64_t)i : (uint64_t)i << 32 | (uint64_t)j;
	end->bytes = m->bytes;
	end->comm = m->comm;
	end->tag = m->tag;
	end->what = receive ? GT_END_RECEIVE : GT_END_SEND;
	return true;
}

static void open_request(struct gt_match *match, uint64_t id, const struct gt_end *end)
{
	match->requests =
		gt_grown(match->requests, match->open.count, &match->request_room, sizeof(*match->requests));
	match->requests[match->open.count] = (struct gt_request){ *end, match->ends.count - 1 };
	gt_places_add(&match->open, 0, id);
}

/* Takes a request from the list of open ones. */
static bool close_request(struct gt_match *match, uint64_t id, struct gt_request *out)
{
	size_t place = gt_places_take(&match->open, 0, id);

	if (place == GT_NO_PLACE)
		return false;
	*out = match->requests[place];
	match->requests[place] = match->requests[match->open.count];
	return true;
}

static struct gt_end end_here(const struct gt_otf2_cursor *at, uint64_t user)
{
	return (struct gt_end){ .order = at->time, .begun = at->event, .event = at->event,
				.time = at->time, .last = at->time,
				.user = user, .location = (uint32_t)at->index };
}

static bool sent(struct gt_match *match, const struct gt_otf2_cursor *at, const struct gt_otf2_event *event,
		 struct gt_end *end)
{
	if (!message(match, at, event, false, end))
		return false;
	collect(match, end);
	match->last_send = match->ends.count;
	if (event->type == GT_OTF2_MpiIsend)
		open_request(match, event->MpiIsend.request, end);
	return true;
}

static bool received(struct gt_match *match, const struct gt_otf2_cursor *at,
		     const struct gt_otf2_event *event, struct gt_end *end)
{
	struct gt_request begun;

	if (match->last_send && at->attribute_count && !match->is_known) {
		match->mpi_error = gt_otf2_attribute_named(at->read, "MPI_ERROR");
		match->is_known = true;
	}
	/* A message that was cut: that is what the call fails with (MPI_Sendrecv). */
	if (match->last_send && at->attribute_count && gt_otf2_has_attribute(at, match->mpi_error))
		match->last_send = 0;
	if (event->type == GT_OTF2_MpiIrecv && close_request(match, event->MpiIrecv.request, &begun)) {
		end->order = begun.end.order;
		end->begun = begun.end.event;
	}
	if (!message(match, at, event, true, end))
		return false;
	collect(match, end);
	return true;
}

bool gt_match_event(struct gt_match *match, const struct gt_otf2_cursor *at,
		    const struct gt_otf2_event *event, uint64_t user)
{
	struct gt_end end = end_here(at, user);
	struct gt_request request;

	switch (event->type) {
	case GT_OTF2_MpiSend:
	case GT_OTF2_MpiIsend:
		return sent(match, at, event, &end);
	case GT_OTF2_MpiRecv:
	case GT_OTF2_MpiIrecv:
		return received(match, at, event, &end);
	case GT_OTF2_MpiIrecvRequest:
		end.what = GT_END_RECEIVE;
		open_request(match, event->MpiIrecvRequest.request, &end);
		break;
	case GT_OTF2_MpiIsendComplete:
		if (close_request(match, event->MpiIsendComplete.request, &request) &&
		    request.end.what == GT_END_SEND)
			match->ends.items[request.place].last = at->time;
		break;
	case GT_OTF2_MpiRequestCancelled:
		if (close_request(match, event->MpiRequestCancelled.request, &request) &&
		    request.end.what == GT_END_SEND)
			match->ends.items[request.place].retracted = true;
		break;
	default:
		break;
	}
	return false;
}

bool gt_match_enter(struct gt_match *match, const struct gt_otf2_cursor *at, uint64_t correlation,
		    uint64_t user)
{
	struct gt_end end = end_here(at, user);
	OTF2_AttributeValue value;

	match->last_send = 0;
	if (!at->attribute_count)
		return false;
	if (gt_otf2_attribute(at, correlation, OTF2_TYPE_UINT64, &value))
		end.bytes = value.uint64;
	else if (gt_otf2_attribute(at, correlation, OTF2_TYPE_UINT32, &value))
		end.bytes = value.uint32;
	else
		return false;
	end.key[0] = gt_otf2_process(at->read, at->location) | UINT64_C(1)
								       << 63; /* no communicator is that */
	end.key[1] = end.bytes;
	end.what = at->location->type == OTF2_LOCATION_TYPE_CPU_THREAD ? GT_END_CALL : GT_END_ACTIVITY;
	collect(match, &end);
	return true;
}

void gt_match_leave(struct gt_match *match, const struct gt_otf2_cursor *at, uint64_t mpi_error)
{
	if (match->last_send && gt_otf2_has_attribute(at, mpi_error))
		match->ends.items[match->last_send - 1].retracted = true;
	match->last_send = 0;
}

static void move(struct gt_ends *all, const struct gt_end *items, size_t count)
{
	if (all->count + count > all->room) {
		all->room = 2 * all->room + count;
		all->items = gt_resized(all->items, all->room, sizeof(*all->items));
	}
	if (count)
		memcpy(all->items + all->count, items, count * sizeof(*all->items));
	all->count += count;
}

void gt_match_flush(struct gt_match *match, struct gt_ends *all)
{
	size_t done = match->last_send ? match->last_send - 1 : match->ends.count;

	for (size_t i = 0; i < match->open.count; i++)
		if (match->requests[i].end.what == GT_END_SEND && match->requests[i].place < done)
			done = match->requests[i].place;
	if (!done)
		return;
	move(all, match->ends.items, done);
	match->ends.count -= done;
	memmove(match->ends.items, match->ends.items + done, match->ends.count * sizeof(*match->ends.items));
	for (size_t i = 0; i < match->open.count; i++)
		if (match->requests[i].end.what == GT_END_SEND)
			match->requests[i].place -= done;
	if (match->last_send)
		match->last_send -= done;
}

void gt_match_end(struct gt_match *match, struct gt_ends *all)
{
	move(all, match->ends.items, match->ends.count);
	free(match->ends.items);
	free(match->requests);
	gt_places_free(&match->open);
	*match = (struct gt_match){ .own = 0 };
}

/* ---- one channel ------------------------------------------------------------------------------- */

static void wait_for_other(struct gt_match_channel *channel, const struct gt_end *end)
{
	struct gt_ends *waiting = &channel->waiting;

	if (waiting->count == waiting->room && channel->first > waiting->count / 2) {
		waiting->count -= channel->first;
		memmove(waiting->items, waiting->items + channel->first, waiting->count * sizeof(*end));
		channel->first = 0;
	}
	waiting->items = gt_grown(waiting->items, waiting->count, &waiting->room, sizeof(*end));
	waiting->items[waiting->count++] = *end;
}

/* The first one that waits, if it is of this kind. */
static const struct gt_end *take(struct gt_match_channel *channel, enum gt_end_what what)
{
	const struct gt_ends *waiting = &channel->waiting;

	if (channel->first == waiting->count || waiting->items[channel->first].what != what)
		return NULL;
	return &waiting->items[channel->first++];
}

static void alone(const struct gt_matched *to, const struct gt_end *end)
{
	if (to->single)
		to->single(to->user, end);
}

/* Numbers come again: an activity is of the last call before it, or of the first one. */
static void called(struct gt_match_channel *channel, const struct gt_end *call, const struct gt_matched *to)
{
	const struct gt_end *activity;

	channel->call = *call;
	channel->called = true;
	while ((activity = take(channel, GT_END_ACTIVITY)))
		to->pair(to->user, call, activity);
}

void gt_channel_end(struct gt_match_channel *channel, const struct gt_end *end, const struct gt_matched *to)
{
	const struct gt_end *other;

	switch (end->what) {
	case GT_END_SEND:
		if (end->retracted)
			alone(to, end);
		else if ((other = take(channel, GT_END_RECEIVE)))
			to->pair(to->user, end, other);
		else
			wait_for_other(channel, end);
		break;
	case GT_END_RECEIVE:
		if ((other = take(channel, GT_END_SEND)))
			to->pair(to->user, other, end);
		else
			wait_for_other(channel, end);
		break;
	case GT_END_CALL:
		called(channel, end, to);
		break;
	case GT_END_ACTIVITY:
		if (channel->called)
			to->pair(to->user, &channel->call, end);
		else
			wait_for_other(channel, end);
		break;
	}
}

void gt_channel_close(struct gt_match_channel *channel, const struct gt_matched *to)
{
	for (size_t i = channel->first; i < channel->waiting.count; i++)
		alone(to, &channel->waiting.items[i]);
	channel->first = channel->waiting.count = 0;
	channel->called = false;
}

/* ---- all --------------------------------------------------------------------------------------- */

int gt_match_order(const void *va, const void *vb)
{
	const struct gt_end *a = va, *b = vb;

#define BY(field)                                                                                  \
	if (a->field != b->field)                                                                  \
	return a->field < b->field ? -1 : 1
	BY(key[0]);
	BY(key[1]);
	BY(order);
	BY(what);
	BY(location);
	BY(begun);
	BY(event);
#undef BY
	return 0;
}

void gt_match_all(struct gt_ends *all, const struct gt_matched *to)
{
	struct gt_match_channel channel = { .first = 0 };

	if (all->count)
		qsort(all->items, all->count, sizeof(*all->items), gt_match_order);
	for (size_t i = 0; i < all->count; i++) {
		const struct gt_end *e = &all->items[i];

		if (i && (e->key[0] != e[-1].key[0] || e->key[1] != e[-1].key[1]))
			gt_channel_close(&channel, to);
		gt_channel_end(&channel, e, to);
	}
	gt_channel_close(&channel, to);
	free(channel.waiting.items);
}
