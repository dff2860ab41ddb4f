/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes whose creation is not recorded: system() does not say which process its shell was. A process
 * knows its parent's number, so a call of system() in the parent that it lived in has created it, and waited
 * for it. Where the child itself is not recorded, a program that it ran is what the call waited for, and so
 * it is for waitpid(), if there is only one call that it can be.
 *
 * Limits: of processes of gputrace's archives. Whose parent has several threads, and none of them was in
 * system(), has no creator.
 */
#include "config.h"

#include "lib/assemble/util/memory.h"
#include "report/waits/sync.h"

#include <stdlib.h>
#include <string.h>

/* A process by its number, which others may have had before, on a host. */
struct numbered {
	uint64_t host, id, begin;
	uint32_t process;
};

struct families {
	struct gt_sync *sync;
	struct numbered *processes; /* in their order */
	size_t count;
	uint32_t *threads;          /* by process: its first location, then by location the next one */
	uint32_t *next;
	struct life *lives;         /* those that may be an orphan's, in their order */
	size_t life_count, life_room;
};

/* A call that a process may have been for. */
struct call {
	uint32_t location;
	uint64_t segment;
	uint64_t end;
	uint32_t creator; /* and who created it, and when */
	uint64_t created;
	unsigned found; /* how many it could be */
};

/*
 * A call of system() that nobody who is known was for, or the life of a process that is not recorded. Of all
 * on its host up to it, in the order of their begin: which ends last, and when the next to last does, + 1.
 */
struct life {
	uint64_t host, begin, second;
	struct call call;
	size_t last;
};

static uint64_t number(const struct gt_sync *sync, uint32_t process, const char *name)
{
	const struct gt_otf2_location_group *group = sync->report->classes.processes[process].group;
	const struct gt_otf2_property *p =
		gt_otf2_find_owned(sync->report->read, GT_OTF2_LOCATION_GROUP, group->id, name);

	return p && p->text ? strtoull(p->text, NULL, 10) : 0;
}

static uint32_t main_of(const struct families *all, uint32_t process)
{
	return all->sync->report->classes.processes[process].main;
}

static int in_order(const void *one, const void *other)
{
	const struct numbered *a = one, *b = other;

	if (a->host != b->host)
		return a->host < b->host ? -1 : 1;
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return (a->begin > b->begin) - (a->begin < b->begin);
}

static struct families families_of(struct gt_sync *sync)
{
	const struct gt_classes *classes = &sync->report->classes;
	uint32_t count = classes->process_count, locations = (uint32_t)gt_sync_locations(sync);
	struct families all = { .sync = sync,
				.processes = gt_zeroed(count + 1, sizeof(*all.processes)),
				.threads = gt_zeroed(count + 1, sizeof(*all.threads)),
				.next = gt_zeroed(locations + 1, sizeof(*all.next)) };

	for (uint32_t i = 0; i < count; i++) {
		uint64_t id = number(sync, i, "GPUTRACE::PROCESS_ID");

		all.threads[i] = GT_NO_CAUSE;
		if (id && main_of(&all, i) != GT_NO_DEVICE)
			all.processes[all.count++] = (struct numbered){
				classes->processes[i].group->parent, id,
				sync->timelines[main_of(&all, i)].begin, i };
	}
	qsort(all.processes, all.count, sizeof(*all.processes), in_order);
	for (uint32_t i = locations; i--;) {
		const struct gt_location_class *of = &classes->locations[i];

		if ((of->kind != GT_LOCATION_MAIN && of->kind != GT_LOCATION_THREAD) ||
		    !gt_segment_count(sync, i))
			continue;
		all.next[i] = all.threads[of->process];
		all.threads[of->process] = i;
	}
	return all;
}

static uint64_t location_end(const struct families *all, uint32_t location)
{
	uint64_t count = gt_segment_count(all->sync, location);

	return count ? gt_segment_at(all->sync, location, count - 1)->end : 0;
}

/* The process that had this number then, or NULL. */
static const struct numbered *had(const struct families *all, uint64_t host, uint64_t id, uint64_t when)
{
	const struct numbered key = { host, id, when, 0 };
	size_t low = 0, high = all->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (in_order(&all->processes[middle], &key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || all->processes[low - 1].host != host || all->processes[low - 1].id != id ||
	    location_end(all, main_of(all, all->processes[low - 1].process)) < when)
		return NULL;
	return &all->processes[low - 1];
}

/* Where a process ended, or what became of it by exec(). */
static struct gt_item end_of(const struct families *all, const struct numbered *first)
{
	const struct gt_sync *sync = all->sync;
	const struct numbered *last = first, *behind = all->processes + all->count;
	uint32_t location;

	while (last + 1 < behind && last[1].host == first->host && last[1].id == first->id) {
		uint32_t creator = sync->timelines[main_of(all, last[1].process)].creator;

		if (creator == GT_NO_CAUSE ||
		    sync->report->classes.locations[creator].process != last->process)
			break;
		last++;
	}
	location = sync->exits[last->process];
	if (location == GT_NO_CAUSE || !gt_segment_count(sync, location))
		location = main_of(all, last->process);
	return (struct gt_item){ .location = location, .time = location_end(all, location) };
}

/* The last segment that begins before the time, or at it, + 1. */
static uint64_t up_to(const struct gt_sync *sync, uint32_t location, uint64_t time)
{
	uint64_t from = 0, to = gt_segment_count(sync, location);

	while (from < to) {
		uint64_t middle = from + (to - from) / 2;

		if (gt_segment_at(sync, location, middle)->begin <= time)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* Did the call create a process as well? */
static bool is_system(const struct gt_sync *sync, uint32_t location, const struct gt_wait_segment *segment)
{
	return segment->class == GT_CLASS_PROCESS &&
	       !strcmp("system", gt_sync_region(sync, location,
						gt_profile_node_at(sync->profile, location, segment->node)));
}

static void find(struct call *call, const struct call *other)
{
	unsigned found = call->found + 1;

	if (!call->found || call->end > other->end)
		*call = *other;
	call->found = found;
}

/* The calls of system() in a process, in which another one lived. The first to end then is taken. */
static void look(const struct families *all, uint32_t process, uint64_t from, uint64_t to, struct call *call)
{
	const struct gt_sync *sync = all->sync;

	for (uint32_t i = all->threads[process]; i != GT_NO_CAUSE; i = all->next[i]) {
		uint64_t at = up_to(sync, i, from);
		const struct gt_wait_segment *segment = at ? gt_segment_at(sync, i, at - 1) : NULL;

		if (segment && segment->end >= to && is_system(sync, i, segment))
			find(call, &(struct call){ .location = i, .segment = at - 1, .end = segment->end,
						   .creator = i, .created = segment->begin });
	}
}

static void add_life(struct families *all, uint64_t host, uint64_t begin, const struct call *call)
{
	all->lives = gt_grown(all->lives, all->life_count, &all->life_room, sizeof(*all->lives));
	all->lives[all->life_count++] = (struct life){ .host = host, .begin = begin, .call = *call };
}

static void add_calls(struct families *all, uint64_t host, uint32_t location)
{
	struct gt_sync *sync = all->sync;

	if (!sync->profile->locations[location].class_calls[GT_CLASS_PROCESS])
		return;
	for (uint64_t i = 0; i < gt_segment_count(sync, location); i++, gt_spill_used(&sync->spill)) {
		const struct gt_wait_segment *segment = gt_segment_at(sync, location, i);

		if (segment->cause == GT_NO_CAUSE && is_system(sync, location, segment))
			add_life(all, host, segment->begin,
				 &(struct call){ location, i, segment->end, location, segment->begin, 1 });
	}
}

static int by_begin(const void *one, const void *other)
{
	const struct life *a = one, *b = other;

	if (a->host != b->host)
		return a->host < b->host ? -1 : 1;
	return (a->begin > b->begin) - (a->begin < b->begin);
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void sort_lives(struct families *all)
{
	if (all->life_count)
		qsort(all->lives, all->life_count, sizeof(*all->lives), by_begin);
	for (size_t i = 0; i < all->life_count; i++) {
		struct life *life = &all->lives[i];
		const struct life *before = i && life[-1].host == life->host ? life - 1 : NULL;
		uint64_t end = life->call.end, last = before ? all->lives[before->last].call.end : 0;

		life->last = !before || end >= last ? i : before->last;
		if (before)
			life->second = later(before->second, 1 + (end < last ? end : last));
	}
}

/* All that an orphan may have been for. */
static void collect_lives(struct families *all)
{
	const struct gt_sync *sync = all->sync;
	const struct gt_classes *classes = &sync->report->classes;

	for (size_t i = 0; i < all->count; i++)
		for (uint32_t k = all->threads[all->processes[i].process]; k != GT_NO_CAUSE; k = all->next[k])
			add_calls(all, all->processes[i].host, k);
	for (size_t i = 0; i < sync->unrecorded_count; i++) {
		const struct gt_unrecorded *one = &sync->unrecorded[i];
		uint32_t process = classes->locations[one->joiner].process;

		add_life(all, classes->processes[process].group->parent, one->from,
			 &(struct call){ one->joiner, one->segment, one->to, one->creator, one->created, 1 });
	}
	sort_lives(all);
}

/* All in which this one lived. */
static void look_everywhere(const struct families *all, const struct numbered *child, uint64_t end,
			    struct call *call)
{
	const struct life *life;
	size_t low = 0, high = all->life_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		life = &all->lives[middle];
		if (life->host != child->host ? life->host < child->host : life->begin <= child->begin)
			low = middle + 1;
		else
			high = middle;
	}
	life = low ? &all->lives[low - 1] : NULL;
	if (!life || life->host != child->host || all->lives[life->last].call.end < end)
		return;
	*call = all->lives[life->last].call;
	call->found += life->second > end;
	call->created = call->created < child->begin ? call->created : child->begin;
}

static bool is_alone(const struct families *all, uint32_t process)
{
	uint32_t first = all->threads[process];

	return first != GT_NO_CAUSE && all->next[first] == GT_NO_CAUSE;
}

/* A process that nobody is known to have created: those whose parent is known first. */
static void adopt(const struct families *all, const struct numbered *child, bool unknown)
{
	struct gt_sync *sync = all->sync;
	struct gt_timeline *timeline = &sync->timelines[main_of(all, child->process)];
	uint64_t id = number(sync, child->process, "GPUTRACE::PARENT_PROCESS_ID");
	const struct numbered *parent = id ? had(all, child->host, id, child->begin) : NULL;
	struct gt_item end = end_of(all, child);
	struct call call = { .found = 0 };

	if (!id || unknown == (parent != NULL))
		return;
	if (parent)
		look(all, parent->process, child->begin, end.time, &call);
	else
		look_everywhere(all, child, end.time, &call);
	if (call.found && (parent || call.found == 1)) {
		timeline->creator = call.creator;
		timeline->created = call.created;
		gt_sync_wait(sync, call.location, call.segment, GT_WAIT_CHILD, end.location, end.time);
	} else if (parent && is_alone(all, parent->process)) {
		timeline->creator = main_of(all, parent->process);
		timeline->created = child->begin;
	}
}

void gt_children(struct gt_sync *sync)
{
	struct families all = families_of(sync);

	for (int unknown = 0; unknown < 2; unknown++) {
		if (unknown)
			collect_lives(&all);
		for (size_t i = 0; i < all.count; i++)
			if (sync->timelines[main_of(&all, all.processes[i].process)].creator == GT_NO_CAUSE)
				adopt(&all, &all.processes[i], unknown);
	}
	free(all.processes);
	free(all.threads);
	free(all.next);
	free(all.lives);
}
