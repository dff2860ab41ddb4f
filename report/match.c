/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collecting ends, and finding what belongs together.
 *
 * Limits: see match.h.
 */
#include "config.h"

#include "report/match.h"

#include <stdlib.h>
#include <string.h>

static void *grown(void *old, size_t count, size_t *room, size_t size)
{
	if (count < *room)
		return old;
	*room = *room ? 2 * *room : 64;
	old = reallocarray(old, *room, size);
	if (!old)
		abort();
	return old;
}

/* ---- of a location ----------------------------------------------------------------------------- */

static void collect(struct gt_match *match, const struct gt_end *end)
{
	match->ends.items = grown(match->ends.items, match->ends.count, &match->ends.room, sizeof(*end));
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
	match->requests = grown(match->requests, match->request_count, &match->request_room,
				sizeof(*match->requests));
	match->requests[match->request_count++] = (struct gt_request){ id, *end, match->ends.count - 1 };
}

/* Takes a request from the list of open ones. */
static bool close_request(struct gt_match *match, uint64_t id, struct gt_request *out)
{
	for (size_t i = match->request_count; i-- > 0;) {
		if (match->requests[i].id != id)
			continue;
		*out = match->requests[i];
		match->requests[i] = match->requests[--match->request_count];
		return true;
	}
	return false;
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
	for (uint32_t i = 0; match->last_send && i < at->attribute_count; i++) {
		OTF2_AttributeValue value;
		OTF2_Type type;
		uint32_t id;

		if (gt_otf2_nth_attribute(at, i, &id, &type, &value) && id == mpi_error)
			match->ends.items[match->last_send - 1].retracted = true;
	}
	match->last_send = 0;
}

static void move(struct gt_ends *all, const struct gt_end *items, size_t count)
{
	if (all->count + count > all->room) {
		all->room = 2 * all->room + count;
		all->items = reallocarray(all->items, all->room, sizeof(*all->items));
		if (!all->items)
			abort();
	}
	if (count)
		memcpy(all->items + all->count, items, count * sizeof(*all->items));
	all->count += count;
}

void gt_match_flush(struct gt_match *match, struct gt_ends *all)
{
	size_t done = match->last_send ? match->last_send - 1 : match->ends.count;

	for (size_t i = 0; i < match->request_count; i++)
		if (match->requests[i].end.what == GT_END_SEND && match->requests[i].place < done)
			done = match->requests[i].place;
	if (!done)
		return;
	move(all, match->ends.items, done);
	match->ends.count -= done;
	memmove(match->ends.items, match->ends.items + done, match->ends.count * sizeof(*match->ends.items));
	for (size_t i = 0; i < match->request_count; i++)
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
	*match = (struct gt_match){ .own = 0 };
}

/* ---- all --------------------------------------------------------------------------------------- */

static int compare(const void *va, const void *vb)
{
	const struct gt_end *a = va, *b = vb;

#define BY(field)                                                                                  \
	if (a->field != b->field)                                                                  \
	return a->field < b->field ? -1 : 1
	BY(key[0]);
	BY(key[1]);
	BY(what);
	BY(order);
	BY(location);
	BY(begun);
	BY(event);
#undef BY
	return 0;
}

struct matching {
	void *user;
	void (*pair)(void *user, const struct gt_end *from, const struct gt_end *to);
	void (*single)(void *user, const struct gt_end *end);
};

static void alone(const struct matching *m, const struct gt_end *end)
{
	if (m->single)
		m->single(m->user, end);
}

static void match_messages(const struct matching *m, const struct gt_end *sends, size_t send_count,
			   const struct gt_end *receives, size_t count)
{
	size_t s = 0;

	for (size_t r = 0; r < count; r++) {
		for (; s < send_count && sends[s].retracted; s++)
			alone(m, &sends[s]);
		if (s < send_count)
			m->pair(m->user, &sends[s++], &receives[r]);
		else
			alone(m, &receives[r]);
	}
	for (; s < send_count; s++)
		alone(m, &sends[s]);
}

/* Numbers come again: an activity is of the last call before it, or of the first one. */
static void match_launches(const struct matching *m, const struct gt_end *calls, size_t call_count,
			   const struct gt_end *activities, size_t count)
{
	size_t c = 0;

	for (size_t a = 0; a < count; a++) {
		while (c + 1 < call_count && calls[c + 1].time <= activities[a].time)
			c++;
		if (call_count)
			m->pair(m->user, &calls[c], &activities[a]);
		else
			alone(m, &activities[a]);
	}
}

static size_t run_of(const struct gt_end *first, const struct gt_end *last)
{
	const struct gt_end *e = first;

	while (e < last && e->key[0] == first->key[0] && e->key[1] == first->key[1])
		e++;
	return (size_t)(e - first);
}

void gt_match_all(struct gt_ends *all, void *user,
		  void (*pair)(void *user, const struct gt_end *from, const struct gt_end *to),
		  void (*single)(void *user, const struct gt_end *end))
{
	const struct matching m = { user, pair, single };
	const struct gt_end *last;
	size_t n;

	if (!all->count)
		return;
	last = all->items + all->count;
	qsort(all->items, all->count, sizeof(*all->items), compare);
	for (const struct gt_end *e = all->items; e < last; e += n) {
		size_t from = 0;

		n = run_of(e, last);
		while (from < n && (e[from].what == GT_END_SEND || e[from].what == GT_END_CALL))
			from++;
		if (e->what == GT_END_SEND || e->what == GT_END_RECEIVE)
			match_messages(&m, e, from, e + from, n - from);
		else
			match_launches(&m, e, from, e + from, n - from);
	}
}
