/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collecting what belongs together, and asking for it.
 *
 * Limits: see keep.h.
 */
#include "config.h"

#include "report/part/keep.h"

#include <stdlib.h>
#include <string.h>

#include "lib/assemble/util/memory.h"

const char *const gt_left_names[GT_LEFT] = {
	[GT_LEFT_MESSAGES] = "of messages",
	[GT_LEFT_COLLECTIVES] = "of collective operations",
	[GT_LEFT_THREADS] = "of the lives of threads",
	[GT_LEFT_LOCKS] = "of locks",
	[GT_LEFT_OTHERS] = "of others",
};

/* Events that stay together, of one location each. */
struct member {
	uint64_t key[3];    /* of those that belong together */
	uint64_t size;      /* how many there must be, 0: as many as there are */
	uint64_t order;     /* collectives: the time at which it was begun */
	uint64_t who;       /* collectives: the member of the communicator */
	uint64_t events[2]; /* their numbers; 0: none */
	uint32_t location;
	bool inside;        /* all of them are in the part */
	bool numbered;      /* the n-th of each member belong together */
};

struct members {
	struct member *items;
	size_t count, room;
};

struct numbers {
	uint64_t *items;
	size_t count, room;
};

struct gt_keep {
	const struct gt_otf2 *read;
	const struct gt_part *part;
	struct gt_ends ends;
	struct members members;
	struct numbers *numbers; /* of events that stay, for each location */
	uint64_t mpi_error;
};

/* Of one location, in the first pass. */
struct state {
	struct gt_match match;
	struct members members;
	struct member collective;   /* that has begun */
	struct members requests;    /* of collectives; key[0]: the request */
	struct members nested;      /* what must end here, innermost last; key[0]: its type */
};

static void add(struct members *members, const struct member *member)
{
	members->items = gt_grown(members->items, members->count, &members->room, sizeof(*member));
	members->items[members->count++] = *member;
}

static void stays(struct gt_keep *keep, uint32_t location, uint64_t event)
{
	struct numbers *n = &keep->numbers[location];

	if (!event)
		return;
	n->items = gt_grown(n->items, n->count, &n->room, sizeof(*n->items));
	n->items[n->count++] = event;
}

struct gt_keep *gt_keep_new(const struct gt_otf2 *read, const struct gt_part *part)
{
	struct gt_keep *keep = calloc(1, sizeof(*keep));

	if (keep)
		keep->numbers = calloc(read->tables[GT_OTF2_LOCATION].count + 1, sizeof(*keep->numbers));
	if (!keep || !keep->numbers)
		gt_no_memory();
	keep->read = read;
	keep->part = part;
	keep->mpi_error = gt_otf2_attribute_named(read, "MPI_ERROR");
	return keep;
}

/* ---- the first pass ---------------------------------------------------------------------------- */

enum { KEY_BLOCKING, KEY_NONBLOCKING, KEY_THREAD };

static struct gt_keep *keep_of(const struct gt_otf2_cursor *at)
{
	return ((struct gt_keep_user *)at->user)->keep;
}

static bool inside(const struct gt_otf2_cursor *at)
{
	const struct gt_part *part = keep_of(at)->part;

	return gt_part_has(part, at->index) && gt_part_at(part, at->time);
}

static struct member begun(const struct gt_otf2_cursor *at, uint64_t key)
{
	return (struct member){ .key = { key }, .order = at->time, .events = { at->event },
				.location = (uint32_t)at->index, .inside = inside(at) };
}

static void complete(struct gt_otf2_cursor *at, struct member *member, const struct gt_otf2_event *event,
		     uint64_t kind)
{
	const struct gt_otf2_MpiCollectiveEnd *e = &event->MpiCollectiveEnd; /* the other begins alike */
	struct state *state = at->state;

	if (event->undefined)
		return;
	member->key[0] = kind << 32 | e->comm;
	member->key[1] = kind == KEY_BLOCKING ? 0 : (uint64_t)e->op << 32 | e->root;
	member->who = gt_otf2_own(at->read, e->comm, at->location->id);
	member->size = gt_otf2_comm_size(at->read, e->comm);
	member->events[1] = at->event;
	member->inside = member->inside && inside(at);
	member->numbered = true;
	add(&state->members, member);
}

static void complete_request(struct gt_otf2_cursor *at, const struct gt_otf2_event *event)
{
	struct members *open = &((struct state *)at->state)->requests;

	for (size_t i = open->count; i-- > 0;) {
		struct member member = open->items[i];

		if (member.key[0] != event->NonBlockingCollectiveComplete.request)
			continue;
		open->items[i] = open->items[--open->count];
		complete(at, &member, event, KEY_NONBLOCKING);
		return;
	}
}

static void thread(struct gt_otf2_cursor *at, const struct gt_otf2_event *event)
{
	const struct gt_otf2_ThreadCreate *e = &event->ThreadCreate; /* all of them are alike */
	struct member member = begun(at, (uint64_t)KEY_THREAD << 32 | e->comm);

	member.key[1] = e->number;
	add(&((struct state *)at->state)->members, &member);
}

/* Ends the innermost that was begun by an event of this type. */
static void close_nested(struct gt_otf2_cursor *at, enum gt_otf2_type type)
{
	struct members *nested = &((struct state *)at->state)->nested;
	struct member member;

	if (!nested->count || nested->items[nested->count - 1].key[0] != type)
		return;
	member = nested->items[--nested->count];
	member.events[1] = at->event;
	member.inside = member.inside && inside(at);
	member.key[0] = GT_OTF2_NOTHING; /* alone, as its numbers are */
	member.key[1] = (uint64_t)at->index;
	member.key[2] = member.events[0];
	add(&((struct state *)at->state)->members, &member);
}

static void on_event(struct gt_otf2_cursor *at, const struct gt_otf2_event *event)
{
	struct state *state = at->state;
	struct member member;

	gt_match_event(&state->match, at, event, 0);
	switch (event->type) {
	case GT_OTF2_MpiCollectiveBegin:
		state->collective = begun(at, 0);
		break;
	case GT_OTF2_MpiCollectiveEnd:
		if (state->collective.events[0])
			complete(at, &state->collective, event, KEY_BLOCKING);
		state->collective.events[0] = 0;
		break;
	case GT_OTF2_NonBlockingCollectiveRequest:
		member = begun(at, event->NonBlockingCollectiveRequest.request);
		add(&state->requests, &member);
		break;
	case GT_OTF2_NonBlockingCollectiveComplete:
		complete_request(at, event);
		break;
	case GT_OTF2_ThreadCreate:
	case GT_OTF2_ThreadBegin:
	case GT_OTF2_ThreadWait:
	case GT_OTF2_ThreadEnd:
		thread(at, event);
		break;
	case GT_OTF2_RmaCollectiveBegin:
	case GT_OTF2_ThreadFork:
	case GT_OTF2_ThreadTeamBegin:
	case GT_OTF2_OmpFork:
		member = begun(at, event->type);
		add(&state->nested, &member);
		break;
	case GT_OTF2_RmaCollectiveEnd:
		close_nested(at, GT_OTF2_RmaCollectiveBegin);
		break;
	case GT_OTF2_ThreadJoin:
		close_nested(at, GT_OTF2_ThreadFork);
		break;
	case GT_OTF2_ThreadTeamEnd:
		close_nested(at, GT_OTF2_ThreadTeamBegin);
		break;
	case GT_OTF2_OmpJoin:
		close_nested(at, GT_OTF2_OmpFork);
		break;
	default:
		break;
	}
}

static void on_enter(struct gt_otf2_cursor *at)
{
	((struct state *)at->state)->match.last_send = 0;
}

static void on_leave(struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame)
{
	(void)frame;
	gt_match_leave(&((struct state *)at->state)->match, at, keep_of(at)->mpi_error);
}

static void on_merge(struct gt_otf2_cursor *at)
{
	struct gt_keep *keep = keep_of(at);
	struct state *state = at->state;

	gt_match_end(&state->match, &keep->ends);
	for (size_t i = 0; i < state->members.count; i++)
		add(&keep->members, &state->members.items[i]);
	free(state->members.items);
	free(state->requests.items);
	free(state->nested.items);
}

const struct gt_otf2_visitor gt_keep_visitor = {
	.state_size = sizeof(struct state),
	.enter = on_enter,
	.leave = on_leave,
	.event = on_event,
	.merge = on_merge,
};

/* ---- what belongs together ---------------------------------------------------------------------- */

static void on_pair(void *user, const struct gt_end *from, const struct gt_end *to)
{
	struct gt_keep *keep = user;
	const struct gt_part *part = keep->part;

	if (!gt_part_has(part, from->location) || !gt_part_has(part, to->location) ||
	    !gt_part_at(part, from->time) || !gt_part_at(part, from->last) || !gt_part_at(part, to->order) ||
	    !gt_part_at(part, to->time))
		return;
	stays(keep, from->location, from->event);
	stays(keep, to->location, to->event);
	if (to->begun != to->event)
		stays(keep, to->location, to->begun);
}

#define BY(field)                                                                                  \
	if (a->field != b->field)                                                                  \
	return a->field < b->field ? -1 : 1

static int by_who(const void *va, const void *vb)
{
	const struct member *a = va, *b = vb;

	BY(key[0]);
	BY(key[1]);
	BY(who);
	BY(order);
	BY(location);
	BY(events[0]);
	return 0;
}

static int by_key(const void *va, const void *vb)
{
	const struct member *a = va, *b = vb;

	BY(key[0]);
	BY(key[1]);
	BY(key[2]);
	return 0;
}

/* The n-th of each member gets the number n. */
static void number_collectives(struct members *all)
{
	uint64_t n = 0;

	if (all->count)
		qsort(all->items, all->count, sizeof(*all->items), by_who);
	for (size_t i = 0; i < all->count; i++) {
		struct member *m = &all->items[i];

		n = i && m[-1].key[0] == m->key[0] && m[-1].key[1] == m->key[1] && m[-1].who == m->who ? n + 1
												       : 0;
		if (m->numbered)
			m->key[2] = n;
	}
}

static void keep_group(struct gt_keep *keep, const struct member *first, size_t count)
{
	if (first->size && first->size != count)
		return;
	for (size_t i = 0; i < count; i++)
		if (!first[i].inside)
			return;
	for (size_t i = 0; i < count; i++) {
		stays(keep, first[i].location, first[i].events[0]);
		stays(keep, first[i].location, first[i].events[1]);
	}
}

static int by_number(const void *va, const void *vb)
{
	const uint64_t *a = va, *b = vb;

	return (*a > *b) - (*a < *b);
}

void gt_keep_match(struct gt_keep *keep)
{
	struct members *all = &keep->members;

	gt_match_all(&keep->ends, &(struct gt_matched){ keep, on_pair, NULL });
	free(keep->ends.items);
	number_collectives(all);
	if (all->count)
		qsort(all->items, all->count, sizeof(*all->items), by_key);
	for (size_t i = 0, n; i < all->count; i += n) {
		for (n = 1; i + n < all->count && !by_key(&all->items[i], &all->items[i + n]); n++)
			;
		keep_group(keep, &all->items[i], n);
	}
	free(all->items);
	for (size_t i = 0; i < keep->read->tables[GT_OTF2_LOCATION].count; i++)
		if (keep->numbers[i].count)
			qsort(keep->numbers[i].items, keep->numbers[i].count, sizeof(uint64_t), by_number);
}

/* ---- the second pass ---------------------------------------------------------------------------- */

static bool is_kept(const struct gt_keep *keep, struct gt_part_kept *kept, const struct gt_otf2_cursor *at)
{
	const struct numbers *n = &keep->numbers[at->index];

	while (kept->next < n->count && n->items[kept->next] < at->event)
		kept->next++;
	return kept->next < n->count && n->items[kept->next] == at->event;
}

static void begin(struct gt_part_kept *kept, uint64_t kind, uint64_t key)
{
	kept->open = gt_grown(kept->open, kept->open_count, &kept->room, sizeof(*kept->open));
	kept->open[kept->open_count++] = (struct gt_kept_open){ { kind, key } };
}

static bool is_open(struct gt_part_kept *kept, uint64_t kind, uint64_t key, bool ends)
{
	for (size_t i = kept->open_count; i-- > 0;) {
		if (kept->open[i].key[0] != kind || kept->open[i].key[1] != key)
			continue;
		if (ends)
			kept->open[i] = kept->open[--kept->open_count];
		return true;
	}
	return false;
}

enum { OPEN_REQUEST, OPEN_OPERATION, OPEN_LOCK };

static bool keep_request(const struct gt_keep *keep, struct gt_part_kept *kept,
			 const struct gt_otf2_cursor *at,
			 uint64_t request)
{
	if (!is_kept(keep, kept, at))
		return false;
	begin(kept, OPEN_REQUEST, request);
	return true;
}

static uint64_t lock_kind(const struct gt_otf2_ThreadAcquireLock *e)
{
	return OPEN_LOCK + ((uint64_t)e->model + 1);
}

static uint64_t lock_key(uint64_t lock, uint64_t order)
{
	return lock << 32 | order;
}

static bool keep_lock(struct gt_part_kept *kept, uint64_t kind, uint64_t key, bool acquires)
{
	if (!acquires)
		return is_open(kept, kind, key, true);
	begin(kept, kind, key);
	return true;
}

static bool keep_other(struct gt_part_kept *kept, const struct gt_otf2_event *e, enum gt_left *why)
{
	*why = GT_LEFT_OTHERS;
	switch (e->type) {
	case GT_OTF2_ProgramBegin:
		return kept->began = true;
	case GT_OTF2_ProgramEnd:
		return kept->began;
	case GT_OTF2_IoOperationBegin:
		begin(kept, OPEN_OPERATION, e->IoOperationBegin.matching);
		return true;
	case GT_OTF2_IoOperationTest:
		return is_open(kept, OPEN_OPERATION, e->IoOperationTest.matching, false);
	case GT_OTF2_IoOperationIssued:
		return is_open(kept, OPEN_OPERATION, e->IoOperationIssued.matching, false);
	case GT_OTF2_IoOperationComplete:
		return is_open(kept, OPEN_OPERATION, e->IoOperationComplete.matching, true);
	case GT_OTF2_IoOperationCancelled:
		return is_open(kept, OPEN_OPERATION, e->IoOperationCancelled.matching, true);
	default:
		return !e->undefined;
	}
}

bool gt_keep_event(const struct gt_keep *keep, struct gt_part_kept *kept,
			 const struct gt_otf2_cursor *at,
		   const struct gt_otf2_event *e, enum gt_left *why)
{
	*why = GT_LEFT_MESSAGES;
	switch (e->type) {
	case GT_OTF2_MpiSend:
	case GT_OTF2_MpiRecv:
		return is_kept(keep, kept, at);
	case GT_OTF2_MpiIsend:
		return keep_request(keep, kept, at, e->MpiIsend.request);
	case GT_OTF2_MpiIrecvRequest:
		return keep_request(keep, kept, at, e->MpiIrecvRequest.request);
	case GT_OTF2_MpiIrecv:
		is_open(kept, OPEN_REQUEST, e->MpiIrecv.request, true);
		return is_kept(keep, kept, at);
	case GT_OTF2_MpiRequestTest:
		return is_open(kept, OPEN_REQUEST, e->MpiRequestTest.request, false);
	case GT_OTF2_MpiIsendComplete:
		return is_open(kept, OPEN_REQUEST, e->MpiIsendComplete.request, true);
	case GT_OTF2_MpiRequestCancelled:
		return is_open(kept, OPEN_REQUEST, e->MpiRequestCancelled.request, true);
	case GT_OTF2_MpiCollectiveBegin:
	case GT_OTF2_MpiCollectiveEnd:
	case GT_OTF2_RmaCollectiveBegin:
	case GT_OTF2_RmaCollectiveEnd:
		*why = GT_LEFT_COLLECTIVES;
		return is_kept(keep, kept, at);
	case GT_OTF2_NonBlockingCollectiveRequest:
		*why = GT_LEFT_COLLECTIVES;
		return keep_request(keep, kept, at, e->NonBlockingCollectiveRequest.request);
	case GT_OTF2_NonBlockingCollectiveComplete:
		*why = GT_LEFT_COLLECTIVES;
		is_open(kept, OPEN_REQUEST, e->NonBlockingCollectiveComplete.request, true);
		return is_kept(keep, kept, at);
	case GT_OTF2_ThreadCreate:
	case GT_OTF2_ThreadBegin:
	case GT_OTF2_ThreadWait:
	case GT_OTF2_ThreadEnd:
	case GT_OTF2_ThreadFork:
	case GT_OTF2_ThreadJoin:
	case GT_OTF2_ThreadTeamBegin:
	case GT_OTF2_ThreadTeamEnd:
	case GT_OTF2_OmpFork:
	case GT_OTF2_OmpJoin:
		*why = GT_LEFT_THREADS;
		return is_kept(keep, kept, at);
	case GT_OTF2_ThreadAcquireLock:
	case GT_OTF2_ThreadReleaseLock: /* is like the other one */
		*why = GT_LEFT_LOCKS;
		return keep_lock(kept, lock_kind(&e->ThreadAcquireLock),
				 lock_key(e->ThreadAcquireLock.lock, e->ThreadAcquireLock.order),
				 e->type == GT_OTF2_ThreadAcquireLock);
	case GT_OTF2_OmpAcquireLock:
	case GT_OTF2_OmpReleaseLock:
		*why = GT_LEFT_LOCKS;
		return keep_lock(kept, OPEN_LOCK, lock_key(e->OmpAcquireLock.lock, e->OmpAcquireLock.order),
				 e->type == GT_OTF2_OmpAcquireLock);
	default:
		return keep_other(kept, e, why);
	}
}

void gt_kept_end(struct gt_part_kept *kept)
{
	free(kept->open);
}
