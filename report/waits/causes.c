/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds who ended each wait, by bringing the sides of messages, collectives, locks and threads together.
 *
 * Definitions: Scalasca's (gputrace-waits(7)). A receive that ends before its send begins is a matter of
 * clocks, and no wait.
 *
 * Limits: the members of one collective are in memory while they are looked at, and the barriers of a
 * process's threads, which no record ties together: the one that came last is found by time.
 */
#include "config.h"

#include "lib/assemble/util/memory.h"
#include "report/model/rules.h"
#include "report/waits/sync.h"

#include <stdlib.h>
#include <string.h>

/* Items of one key. */
struct group {
	struct gt_item *items;
	size_t count, room;
};

static bool next_group(struct gt_bag *bag, struct group *group)
{
	const struct gt_item *next = gt_bag_next(bag);
	uint64_t key = next ? next->key : 0;

	for (group->count = 0; next && next->key == key; next = gt_bag_next(bag)) {
		if (group->count == group->room) {
			group->room = group->room ? 2 * group->room : 64;
			group->items = reallocarray(group->items, group->room, sizeof(*group->items));
			if (!group->items)
				gt_no_memory();
		}
		group->items[group->count++] = gt_bag_take(bag);
	}
	return group->count;
}

/* ---- messages ------------------------------------------------------------------------------------ */

static void message(struct gt_sync *sync, const struct gt_item *sent, const struct gt_item *received)
{
	struct gt_wait_segment *segment = gt_segment_at(sync, received->location, received->segment);

	if (sent->time < segment->sent)
		segment->sent = sent->time;
	gt_sync_wait(sync, received->location, received->segment, (enum gt_wait)received->what,
		     sent->location, sent->time);
	if (received->what == GT_WAIT_LATE_POST)
		gt_sync_wait(sync, received->location, received->value, GT_WAIT_LATE_POST, sent->location,
			     sent->time);
	if (received->what == GT_WAIT_LATE_SENDER)
		gt_sync_wait(sync, sent->location, sent->segment, GT_WAIT_LATE_RECEIVER, received->location,
			     received->time);
}

/* MPI's messages do not overtake each other: a channel's n-th receive gets what its n-th send has sent. */
static void match_messages(struct gt_sync *sync)
{
	struct gt_bag *sends = &sync->bags[GT_BAG_SENDS], *receives = &sync->bags[GT_BAG_RECEIVES];

	for (;; gt_spill_used(&sync->spill)) {
		const struct gt_item *s = gt_bag_next(sends), *r = gt_bag_next(receives);

		if (!s && !r)
			return;
		if (s && r && s->key == r->key) {
			struct gt_item sent = gt_bag_take(sends), received = gt_bag_take(receives);

			message(sync, &sent, &received);
			continue;
		}
		gt_bag_take(!r || (s && s->key < r->key) ? sends : receives);
		sync->unmatched++;
	}
}

/*
 * Late sender in wrong order: a message that was received later had been sent earlier, and would have let the
 * receiver go on.
 */
static void find_wrong_order(struct gt_sync *sync, uint32_t location)
{
	uint64_t earliest = UINT64_MAX;

	for (uint64_t i = gt_segment_count(sync, location); i--;) {
		struct gt_wait_segment *segment = gt_segment_at(sync, location, i);

		if (segment->wait == GT_WAIT_LATE_SENDER && earliest < segment->until)
			segment->wait = GT_WAIT_WRONG_ORDER;
		if (segment->sent < earliest)
			earliest = segment->sent;
		gt_spill_used(&sync->spill);
	}
}

/* ---- polls --------------------------------------------------------------------------------------- */

/* What calls that asked in vain had to wait for. */
struct awaited {
	uint32_t cause;    /* GT_NO_CAUSE: it is not known */
	unsigned char wait;
	bool probes;       /* only probes were for it */
	uint64_t until;
	uint64_t begin, length; /* of the call that found it */
};

/* Up to this many times as long as the calls the time between them may be, where ranks share a processor. */
#define POLLS_APART 4

/* What a call found: an operation that it completed, or a message that it received after probes. */
static struct awaited found_by(const struct gt_wait_segment *segment)
{
	bool waited = segment->cause != GT_NO_CAUSE;
	struct awaited found = { .cause = waited ? segment->cause : segment->also,
				 .wait = waited ? segment->wait : segment->also_wait,
				 .probes = segment->class != GT_CLASS_MPI_TEST,
				 .until = waited ? segment->until : segment->also_until,
				 .begin = segment->begin,
				 .length = segment->end - segment->begin };

	if (gt_class_times[segment->class] != GT_TIME_MPI ||
	    (found.probes && found.wait != GT_WAIT_LATE_SENDER))
		found.cause = GT_NO_CAUSE;
	return found;
}

static bool is_probe(const struct gt_sync *sync, uint32_t location, const struct gt_wait_segment *segment)
{
	uint32_t node = gt_profile_node_at(sync->profile, location, segment->node);
	const char *name = gt_sync_region(sync, location, node);

	return strcasestr(name, "probe") || strcasestr(name, "get_status");
}

/* Has this call asked in vain? */
static bool is_vain(const struct gt_wait_segment *segment)
{
	return segment->class == GT_CLASS_MPI_TEST && segment->cause == GT_NO_CAUSE &&
	       segment->also == GT_NO_CAUSE;
}

/*
 * The first of the calls before `end` that waited for what was found there. Who works between two of them
 * does not wait; but a thread whose processor others need, too, also stops between two, for some
 * milliseconds. So it is from where the calls take a fair share of the time on.
 */
static uint64_t first_polled(struct gt_sync *sync, uint32_t location, uint64_t end,
			     const struct awaited *found)
{
	uint64_t first = end, behind = found->begin, calls = found->length, between = 0;

	for (uint64_t i = end; i--; gt_spill_used(&sync->spill)) {
		struct gt_wait_segment *segment = gt_segment_at(sync, location, i);

		if (!is_vain(segment) || (found->probes && !is_probe(sync, location, segment)))
			break;
		between += behind - segment->end;
		calls += segment->end - segment->begin;
		behind = segment->begin;
		if (between / POLLS_APART <= calls)
			first = i;
	}
	return first;
}

/*
 * Calls that test and find nothing wait for what the next one finds, if the thread does nothing else
 * meanwhile: no other call that counts, and not much more time between them than in them. They end before
 * that is there, but for the last of them.
 */
static void find_polled(struct gt_sync *sync, uint32_t location)
{
	struct awaited next = { .cause = GT_NO_CAUSE };
	uint64_t first = 0;

	for (uint64_t i = gt_segment_count(sync, location); i--; gt_spill_used(&sync->spill)) {
		struct gt_wait_segment *segment = gt_segment_at(sync, location, i);

		if (!is_vain(segment)) {
			next = found_by(segment);
			first = next.cause == GT_NO_CAUSE ? i : first_polled(sync, location, i, &next);
		} else if (i >= first && next.cause != GT_NO_CAUSE && next.until > segment->begin) {
			gt_sync_wait(sync, location, i, (enum gt_wait)next.wait, next.cause,
				     next.until < segment->end ? next.until : segment->end);
		}
	}
}

/* ---- collectives --------------------------------------------------------------------------------- */

static enum gt_shape_of_wait shape_of(const struct gt_item *item)
{
	return (enum gt_shape_of_wait)(item->what >> 8);
}

static enum gt_wait class_of(const struct gt_item *item)
{
	return (enum gt_wait)(item->what & 0xff);
}

/* The n-th of a process is the n-th of all others. */
static void number_collectives(struct gt_sync *sync)
{
	struct gt_bag *bag = &sync->bags[GT_BAG_COLLECTIVES];
	uint64_t key = UINT64_MAX, number = 0;

	while (gt_bag_next(bag)) {
		struct gt_item item = gt_bag_take(bag);

		number = item.key == key ? number + 1 : 0;
		key = item.key;
		item.key = (item.key >> 32 << 32) + (number & 0xffffffff);
		item.tie = item.location;
		gt_bag_add(&sync->spill, &sync->bags[GT_BAG_INSTANCES], &item);
	}
}

static uint64_t comm_of(const struct gt_sync *sync, uint64_t key)
{
	const struct gt_otf2 *read = sync->report->read;
	size_t index = key >> 32 & ((1 << 30) - 1);

	if ((enum gt_space)(key >> 62) == GT_SPACE_OTHER)
		index &= ~(size_t)GT_PLACE_LATER;
	if ((enum gt_space)(key >> 62) == GT_SPACE_WINDOW)
		return gt_otf2_window_at(read, index)->comm;
	return index < read->tables[GT_OTF2_COMM].count ? gt_otf2_comm_at(read, index)->id : GT_OTF2_NOTHING;
}

static bool same_process(const struct gt_sync *sync, uint32_t a, uint32_t b)
{
	const struct gt_location_class *locations = sync->report->classes.locations;

	return locations[a].process == locations[b].process;
}

/* The member that is the location, or of its process; NULL: there is none. */
static const struct gt_item *member(const struct gt_sync *sync, const struct group *group, uint32_t location)
{
	if (location != GT_NO_CAUSE)
		for (size_t i = 0; i < group->count; i++)
			if (same_process(sync, group->items[i].location, location))
				return &group->items[i];
	return NULL;
}

static const struct gt_item *last_of(const struct group *group, const struct gt_item *but)
{
	const struct gt_item *last = NULL;

	for (size_t i = 0; i < group->count; i++)
		if (&group->items[i] != but && (!last || group->items[i].time > last->time))
			last = &group->items[i];
	return last;
}

static void wait_for(struct gt_sync *sync, const struct gt_item *item, const struct gt_item *cause)
{
	if (cause)
		gt_sync_wait(sync, item->location, item->segment, class_of(item), cause->location,
			     cause->time);
}

static int by_location(const void *key, const void *item)
{
	uint32_t wanted = *(const uint32_t *)key, location = ((const struct gt_item *)item)->location;

	return wanted < location ? -1 : wanted > location;
}

/* The member with this rank; items are in the order of their locations. */
static const struct gt_item *of_rank(const struct gt_sync *sync, const struct group *group, uint64_t comm,
				     uint32_t rank)
{
	uint64_t id = gt_otf2_member(sync->report->read, comm, rank, GT_OTF2_NOTHING);
	ptrdiff_t index = gt_otf2_index(sync->report->read, GT_OTF2_LOCATION, id);
	uint32_t location = (uint32_t)index;
	const struct gt_item *item = NULL;

	if (index >= 0)
		item = bsearch(&location, group->items, group->count, sizeof(*group->items), by_location);
	return item || index < 0 ? item : member(sync, group, location);
}

static void higher_wait(struct gt_sync *sync, const struct group *group)
{
	uint64_t comm = comm_of(sync, group->items->key);
	const struct gt_item *last = NULL;

	for (uint32_t rank = 0; rank < group->count; rank++) {
		const struct gt_item *item = of_rank(sync, group, comm, rank);

		if (item && last)
			wait_for(sync, item, last);
		if (item && (!last || item->time > last->time))
			last = item;
	}
}

/* The last of those that it receives from: "0,3,4". */
static const struct gt_item *last_neighbour(const struct gt_sync *sync, const struct group *group,
					    const struct gt_item *item)
{
	enum { MOST = 4096 }; /* more than there is room for in a string of gputrace's */
	const char *text = gt_otf2_text(sync->report->read, item->value);
	uint64_t comm = comm_of(sync, item->key);
	const struct gt_item *last = NULL;

	for (int i = 0; i < MOST; i++) {
		char *end;
		uint32_t rank = (uint32_t)strtoul(text, &end, 10);
		const struct gt_item *one = end > text ? of_rank(sync, group, comm, rank) : NULL;

		if (end == text)
			break;
		if (one && one != item && (!last || one->time > last->time))
			last = one;
		text = *end ? end + 1 : end;
	}
	return last;
}

static void near_wait(struct gt_sync *sync, const struct group *group)
{
	for (size_t i = 0; i < group->count; i++) {
		const struct gt_item *item = &group->items[i];

		if (shape_of(item) == GT_NEAR_WAIT)
			wait_for(sync, item, last_neighbour(sync, group, item));
	}
}

static bool complete(const struct gt_sync *sync, const struct group *group)
{
	uint64_t comm = comm_of(sync, group->items->key);

	for (size_t i = 1; i < group->count; i++)
		if (class_of(&group->items[i]) != class_of(group->items))
			return false;
	return comm == GT_OTF2_NOTHING || gt_otf2_comm_size(sync->report->read, comm) == group->count;
}

static void instance(struct gt_sync *sync, const struct group *group)
{
	const struct gt_item *root = member(sync, group, group->items->value), *cause = NULL;
	enum gt_shape_of_wait shape = GT_NOBODY_WAITS;

	if (!complete(sync, group)) {
		sync->unmatched++;
		return;
	}
	/* Where one has bytes all have; a gather's root does not send. */
	for (size_t i = 0; i < group->count; i++)
		if (shape_of(&group->items[i]) != GT_NOBODY_WAITS)
			shape = shape_of(&group->items[i]);
	switch (shape) {
	case GT_NOBODY_WAITS:
		return;
	case GT_HIGHER_WAIT:
		higher_wait(sync, group);
		return;
	case GT_NEAR_WAIT:
		near_wait(sync, group);
		return;
	case GT_ROOT_WAITS:
		if (root)
			wait_for(sync, root, last_of(group, root));
		return;
	case GT_OTHERS_WAIT:
		cause = root;
		break;
	case GT_ALL_WAIT:
		cause = last_of(group, NULL);
		break;
	}
	for (size_t i = 0; i < group->count; i++)
		wait_for(sync, &group->items[i], cause);
	if (shape == GT_ALL_WAIT) /* the last one waits for nobody, but depends on the others */
		wait_for(sync, cause, last_of(group, cause));
}

/* ---- threads and locks --------------------------------------------------------------------------- */

/* A thread is the first one of its location, or there is a segment between it and the one before. */
static void born(struct gt_sync *sync, const struct gt_item *created, const struct gt_item *begun)
{
	struct gt_timeline *child = &sync->timelines[begun->location];
	struct gt_wait_segment *birth =
		begun->segment ? gt_segment_at(sync, begun->location, begun->segment - 1) : NULL;

	if (created->time > begun->time)
		return;
	if (birth && birth->birth) {
		birth->cause = created->location;
		birth->until = created->time;
	} else if (child->begin == begun->time || child->creator == GT_NO_CAUSE) {
		child->creator = created->location;
		child->created = created->time;
	}
}

/* What the log has of one thread, except whom it woke. */
static void thread(struct gt_sync *sync, const struct gt_item *const seen[GT_THREAD_WOKEN])
{
	if (seen[GT_THREAD_CREATED] && seen[GT_THREAD_BEGUN])
		born(sync, seen[GT_THREAD_CREATED], seen[GT_THREAD_BEGUN]);
	if (seen[GT_THREAD_ENDED] && seen[GT_THREAD_JOINED])
		gt_sync_wait(sync, seen[GT_THREAD_JOINED]->location, seen[GT_THREAD_JOINED]->segment,
			     GT_WAIT_JOIN, seen[GT_THREAD_ENDED]->location, seen[GT_THREAD_ENDED]->time);
}

/* The location of a thread that an item names; `by`: its begin, or NULL. */
static uint32_t named(const struct gt_sync *sync, const struct gt_item *item, const struct gt_item *by)
{
	const struct gt_classes *classes = &sync->report->classes;

	return by	     ? by->location
	       : item->value ? classes->processes[classes->locations[item->location].process].main
			     : GT_NO_CAUSE;
}

/*
 * When a thread that had a lock has released it at the latest, that another one had at the time: what it does
 * then, it does without. A condition wait releases its mutex.
 */
static uint64_t released_by(const struct gt_sync *sync, uint32_t holder, uint64_t time)
{
	uint64_t low = 0, high = gt_segment_count(sync, holder);
	const struct gt_wait_segment *segment;

	while (low < high) { /* the first that ends then or later */
		uint64_t middle = low + (high - low) / 2;

		if (gt_segment_at(sync, holder, middle)->end < time)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == gt_segment_count(sync, holder))
		return time;
	segment = gt_segment_at(sync, holder, low);
	return segment->begin < time && segment->class != GT_CLASS_UNLOCK ? segment->begin : time;
}

enum { WAKE_NS = 1000000 }; /* from when a lock is released to when the one that waits runs: hardly longer */

/*
 * Nobody is known to have released the lock: it was the one that had it as the wait began, unless it did
 * something else long before the end.
 */
static void held(struct gt_sync *sync, const struct gt_item *item, const struct gt_item *by)
{
	struct gt_wait_segment *segment = gt_segment_at(sync, item->location, item->segment);
	uint32_t cause = named(sync, item, by);

	uint64_t until;

	if (cause == GT_NO_CAUSE || segment->cause != GT_NO_CAUSE || segment->class != GT_CLASS_LOCK ||
	    segment->settled || sync->report->classes.locations[item->location].kind == GT_LOCATION_SERVICE)
		return;
	until = released_by(sync, cause, segment->end);
	if (until > segment->begin && segment->end - until < WAKE_NS)
		gt_sync_wait(sync, item->location, item->segment, GT_WAIT_LOCK, cause, until);
}

/* A wait ended because the thread `by` signalled a condition, or the first thread of the process did. */
static void woken(struct gt_sync *sync, const struct gt_item *item, const struct gt_item *by)
{
	const struct gt_location_class *here = &sync->report->classes.locations[item->location];
	uint32_t cause = named(sync, item, by);
	enum gt_wait class = gt_segment_at(sync, item->location, item->segment)->class == GT_CLASS_CONDITION
				     ? GT_WAIT_CONDITION : GT_WAIT_SEMAPHORE;

	if (cause != GT_NO_CAUSE) /* service threads are idle meanwhile */
		gt_sync_wait(sync, item->location, item->segment,
			     here->kind == GT_LOCATION_SERVICE ? GT_WAIT_NONE : class, cause, item->time);
}

static void threads(struct gt_sync *sync)
{
	struct gt_bag *bag = &sync->bags[GT_BAG_THREADS];
	struct gt_item items[GT_THREAD_WOKEN] = { 0 };
	const struct gt_item *seen[GT_THREAD_WOKEN] = { NULL };
	uint64_t key = 0;

	for (; gt_bag_next(bag); gt_spill_used(&sync->spill)) {
		struct gt_item item = gt_bag_take(bag);

		if (item.key != key) {
			thread(sync, seen);
			memset(seen, 0, sizeof(seen));
			key = item.key;
		}
		if (item.what == GT_THREAD_WOKEN) {
			woken(sync, &item, seen[GT_THREAD_BEGUN]);
			continue;
		} else if (item.what == GT_THREAD_HELD) {
			held(sync, &item, seen[GT_THREAD_BEGUN]);
			continue;
		}
		items[item.what] = item;
		seen[item.what] = &items[item.what];
	}
	thread(sync, seen);
	gt_bag_free(bag);
}

/*
 * MPI may return from MPI_Win_lock at once, and acquire the lock when accesses are to be complete, or when it
 * is to be released (Open MPI): that waits until another one has released it, unless both only share it.
 */
static void late_lock(struct gt_sync *sync, const struct gt_item *item, const struct gt_item *released)
{
	if (released->time > item->begin && (item->value || released->value))
		gt_sync_wait(sync, item->location, item->segment, GT_WAIT_WINDOW_LOCK, released->location,
			     released->time < item->time ? released->time : item->time);
}

/* It got the lock of a window from a call that had not returned yet. */
static bool from_one_that_releases(const struct gt_item *item, const struct gt_item *releasing)
{
	return releasing->key == item->key && releasing->location != item->location &&
	       releasing->time > item->time && releasing->begin > item->begin &&
	       (item->value || releasing->value);
}

/* What the log has of a window's lock; `released`: what may have ended a wait for it, or NULL. */
static void window_lock(struct gt_sync *sync, const struct gt_item *item, const struct gt_item *released,
			const struct gt_item *releasing)
{
	if (item->what == GT_LOCK_RELEASING)
		return;
	if (from_one_that_releases(item, releasing))
		late_lock(sync, item, releasing);
	else if (released && item->what != GT_LOCK_ACQUIRED)
		late_lock(sync, item, released);
}

/* Of all that released the lock, the last one that this waited for: who only shares it, for no other such. */
static const struct gt_item *last_in_the_way(const struct gt_item *item, const struct gt_item *released,
					     const struct gt_item *exclusive)
{
	const struct gt_item *last = item->value ? released : exclusive;

	return last->what == GT_LOCK_RELEASED && last->key == item->key ? last : NULL;
}

/*
 * Acquisitions and releases of each lock, in their order. Who released it last may not be its last holder if
 * not all are known: only if it was released during the call.
 */
static void locks(struct gt_sync *sync, enum gt_bag_kind kind)
{
	enum gt_wait class = kind == GT_BAG_LOCKS ? GT_WAIT_LOCK : GT_WAIT_WINDOW_LOCK;
	struct gt_bag *bag = &sync->bags[kind];
	struct gt_item released = { 0 }, exclusive = { 0 }, releasing = { 0 };
	bool known = false, all = kind != GT_BAG_LOCKS || sync->report->classes.all_locks;

	for (; gt_bag_next(bag); gt_spill_used(&sync->spill)) {
		struct gt_item item = gt_bag_take(bag);
		const struct gt_item *by = &released;
		struct gt_wait_segment *segment;

		known = known && item.key == released.key;
		if (kind == GT_BAG_WINDOW_LOCKS) {
			by = last_in_the_way(&item, &released, &exclusive);
			window_lock(sync, &item, by, &releasing);
		}
		if (item.what == GT_LOCK_RELEASED) {
			released = item;
			exclusive = item.value ? item : exclusive;
			known = true;
		} else if (item.what == GT_LOCK_RELEASING) {
			releasing = item;
		}
		if (item.what != GT_LOCK_ACQUIRED)
			continue;
		segment = gt_segment_at(sync, item.location, item.segment);
		segment->free = kind == GT_BAG_LOCKS && item.value && segment->class == GT_CLASS_LOCK;
		if (!known) {
			segment->settled |= segment->class == GT_CLASS_LOCK && kind == GT_BAG_LOCKS &&
					    !gt_waits_unseen(all, item.time - item.begin);
			continue;
		}
		/* A condition is waited for, and then the lock. */
		if (segment->class == GT_CLASS_CONDITION) {
			if (all)
				gt_sync_wait(sync, item.location, item.segment, GT_WAIT_CONDITION,
					     released.location, released.time);
			continue;
		}
		if (by)
			gt_sync_wait(sync, item.location, item.segment, class, by->location, by->time);
		segment->settled = (!by || by->time <= item.begin) &&
				   (kind != GT_BAG_LOCKS || !gt_waits_unseen(all, item.time - item.begin));
	}
	gt_bag_free(bag);
}

/* The threads that a thread waits for in a region of the class BARRIER. */
static enum gt_wait barrier_of(const struct gt_sync *sync, uint32_t location,
			       const struct gt_wait_segment *segment)
{
	const struct gt_otf2 *read = sync->report->read;
	uint32_t node = gt_profile_node_at(sync->profile, location, segment->node);
	uint32_t index = sync->profile->tree.nodes[node].region;
	const struct gt_otf2_region *region = gt_otf2_region_at(read, index);

	if (index >= read->tables[GT_OTF2_REGION].count)
		return GT_WAIT_THREAD_BARRIER;
	if (region->role == OTF2_REGION_ROLE_TASK_WAIT)
		return GT_WAIT_TASKS;
	return region->paradigm == OTF2_PARADIGM_OPENMP ? GT_WAIT_OMP_BARRIER : GT_WAIT_THREAD_BARRIER;
}

static void collect_barriers(struct gt_sync *sync, uint32_t location)
{
	for (uint64_t i = 0; i < gt_segment_count(sync, location); i++, gt_spill_used(&sync->spill)) {
		struct gt_wait_segment *segment = gt_segment_at(sync, location, i);
		struct gt_item item = { .tie = segment->begin,
					.time = segment->begin,
					.begin = segment->end,
					.location = location,
					.segment = (uint32_t)i };

		if (segment->class != GT_CLASS_BARRIER || segment->cause != GT_NO_CAUSE)
			continue;
		item.what = barrier_of(sync, location, segment);
		item.key = (uint64_t)sync->report->classes.locations[location].process << 1 |
			   (item.what == GT_WAIT_OMP_BARRIER);
		if (item.what != GT_WAIT_TASKS)
			gt_bag_add(&sync->spill, &sync->bags[GT_BAG_BARRIERS], &item);
		else if (segment->end > segment->begin) /* which task ended it is not looked for */
			segment->wait = GT_WAIT_TASKS;
	}
}

/*
 * Barriers of a process's threads in order of their begin: of those that began while one waited, the one that
 * passed quickest came last.
 */
static void barriers(struct gt_sync *sync, const struct group *group)
{
	enum { MOST = 1024 };

	for (size_t i = 0; i < group->count; i++) {
		const struct gt_item *one = &group->items[i], *last = NULL;

		for (size_t k = i + 1; k < group->count && k < i + MOST; k++) {
			const struct gt_item *other = &group->items[k];

			if (other->time > one->begin)
				break;
			if (other->location != one->location &&
			    (!last || other->begin - other->time < last->begin - last->time))
				last = other;
		}
		if (last)
			gt_sync_wait(sync, one->location, one->segment, (enum gt_wait)one->what,
				     last->location, last->time);
	}
}

/* Waits that nobody is known to have ended. */
static void as_such(struct gt_sync *sync, uint32_t location)
{
	static const unsigned char waits[GT_CLASSES] = {
		[GT_CLASS_LOCK] = GT_WAIT_LOCK,           [GT_CLASS_THREAD_JOIN] = GT_WAIT_JOIN,
		[GT_CLASS_CONDITION] = GT_WAIT_CONDITION, [GT_CLASS_SLEEP] = GT_WAIT_SLEEP,
		[GT_CLASS_SEMAPHORE] = GT_WAIT_SEMAPHORE, [GT_CLASS_PROCESS] = GT_WAIT_CHILD,
		[GT_CLASS_GPU_WAIT] = GT_WAIT_DEVICE,     [GT_CLASS_GPU_HIDDEN_WAIT] = GT_WAIT_HIDDEN,
	};

	/* Service threads are idle. */
	if (sync->report->classes.locations[location].kind == GT_LOCATION_SERVICE)
		return;
	for (uint64_t i = 0; i < gt_segment_count(sync, location); i++) {
		struct gt_wait_segment *segment = gt_segment_at(sync, location, i);

		if (segment->cause == GT_NO_CAUSE && !segment->settled && segment->end > segment->begin &&
		    waits[segment->class])
			segment->wait = waits[segment->class];
		gt_spill_used(&sync->spill);
	}
}

/* ---- all ----------------------------------------------------------------------------------------- */

static void each_group(struct gt_sync *sync, enum gt_bag_kind kind, struct group *group)
{
	for (; next_group(&sync->bags[kind], group); gt_spill_used(&sync->spill)) {
		if (kind == GT_BAG_INSTANCES)
			instance(sync, group);
		else if (kind == GT_BAG_PROCESSES)
			gt_process_life(sync, group->items, group->count);
		else
			barriers(sync, group);
	}
	gt_bag_free(&sync->bags[kind]);
}

void gt_causes(struct gt_sync *sync)
{
	struct group group = { .count = 0 };
	uint32_t locations = (uint32_t)gt_sync_locations(sync);

	match_messages(sync);
	gt_bag_free(&sync->bags[GT_BAG_SENDS]);
	gt_bag_free(&sync->bags[GT_BAG_RECEIVES]);
	number_collectives(sync);
	gt_bag_free(&sync->bags[GT_BAG_COLLECTIVES]);
	each_group(sync, GT_BAG_INSTANCES, &group);
	locks(sync, GT_BAG_LOCKS);
	locks(sync, GT_BAG_WINDOW_LOCKS);
	threads(sync);
	gt_process_waits(sync);
	each_group(sync, GT_BAG_PROCESSES, &group);
	gt_children(sync);
	for (uint32_t i = 0; i < locations; i++)
		collect_barriers(sync, i);
	each_group(sync, GT_BAG_BARRIERS, &group);
	gt_channel_causes(sync);
	gt_device_causes(sync);
	for (uint32_t i = 0; i < locations; i++) {
		find_polled(sync, i);
		find_wrong_order(sync, i);
		as_such(sync, i);
	}
	free(group.items);
}
