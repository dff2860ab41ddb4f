/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes: which thread ended each, by whom they were created, and who waited for their end.
 *
 * Limits: of processes of gputrace's archives. Who ends a process is not known if it was killed.
 */
#include "config.h"

#include "lib/assemble/util/memory.h"
#include "report/waits/sync.h"

#include <stdlib.h>
#include <string.h>

/* ---- ends ---------------------------------------------------------------------------------------- */

static const char *property(const struct gt_sync *sync, enum gt_otf2_kind kind, uint64_t owner,
			    const char *name)
{
	const struct gt_otf2_property *p = gt_otf2_find_owned(sync->report->read, kind, owner, name);

	return p && p->text ? p->text : "";
}

/* The thread of a process with that number of the kernel. */
static uint32_t thread_of(const struct gt_sync *sync, uint32_t process, const char *number)
{
	const struct gt_location_class *locations = sync->report->classes.locations;

	for (uint32_t i = 0; i < gt_sync_locations(sync); i++)
		if (locations[i].process == process && locations[i].kind != GT_LOCATION_STREAM &&
		    !strcmp(number, property(sync, GT_OTF2_LOCATION,
					     gt_otf2_location_at(sync->report->read, i)->id,
					     "GPUTRACE::THREAD_ID")))
			return i;
	return GT_NO_CAUSE;
}

static uint32_t exits(const struct gt_sync *sync, uint32_t process)
{
	const struct gt_process_class *of = &sync->report->classes.processes[process];
	const char *ended = property(sync, GT_OTF2_LOCATION_GROUP, of->group->id, "GPUTRACE::ENDED"), *thread;

	if (of->main == GT_NO_DEVICE)
		return GT_NO_CAUSE;
	if (strncmp(ended, "exit ", 5) && strncmp(ended, "_exit ", 6) && strncmp(ended, "quick_exit ", 11))
		return GT_NO_CAUSE;
	thread = property(sync, GT_OTF2_LOCATION_GROUP, of->group->id, "GPUTRACE::EXIT_THREAD_ID");
	return *thread ? thread_of(sync, process, thread) : of->main;
}

/* The last segment of a location that took time, or NULL. */
static const struct gt_wait_segment *last_of(const struct gt_sync *sync, uint32_t location, uint64_t *index)
{
	for (*index = gt_segment_count(sync, location); *index;) {
		const struct gt_wait_segment *segment = gt_segment_at(sync, location, --*index);

		if (segment->end > segment->begin)
			return segment;
	}
	return NULL;
}

/* The main thread has left, and the process goes on until its last thread has ended. */
static void wait_for_others(struct gt_sync *sync, uint32_t process)
{
	const struct gt_classes *classes = &sync->report->classes;
	uint32_t main = classes->processes[process].main, node;
	uint64_t last;
	const struct gt_wait_segment *segment = last_of(sync, main, &last);

	if (!segment || segment->class != GT_CLASS_THREAD_JOIN || segment->cause != GT_NO_CAUSE)
		return;
	node = gt_profile_node_at(sync->profile, main, segment->node);
	if (strcmp(gt_sync_region(sync, main, node), "pthread_exit") != 0)
		return;
	for (uint32_t i = 0; i < gt_sync_locations(sync); i++)
		if (classes->locations[i].process == process &&
		    classes->locations[i].kind == GT_LOCATION_THREAD && gt_segment_count(sync, i))
			gt_sync_wait(sync, main, last, GT_WAIT_JOIN, i,
				     gt_segment_at(sync, i, gt_segment_count(sync, i) - 1)->end);
}

void gt_process_exits(struct gt_sync *sync)
{
	uint32_t count = sync->report->classes.process_count;

	sync->exits = gt_zeroed(count + 1, sizeof(*sync->exits));
	for (uint32_t i = 0; i < count; i++)
		sync->exits[i] = exits(sync, i);
}

/* Where the process of a location ended. */
static struct gt_item end_of(const struct gt_sync *sync, const struct gt_item *ended)
{
	uint32_t location = sync->exits[sync->report->classes.locations[ended->location].process];
	struct gt_item item = *ended;
	uint64_t count = location == GT_NO_CAUSE ? 0 : gt_segment_count(sync, location);

	if (count) {
		item.location = location;
		item.time = gt_segment_at(sync, location, count - 1)->end;
	}
	return item;
}

void gt_process_waits(struct gt_sync *sync)
{
	const struct gt_classes *classes = &sync->report->classes;

	for (uint32_t i = 0; i < classes->process_count; i++)
		if (sync->exits[i] != GT_NO_CAUSE && sync->exits[i] == classes->processes[i].main)
			wait_for_others(sync, i);
}

/* ---- lives --------------------------------------------------------------------------------------- */

/* Who began then was created by the other, at that time or when it began, whichever was earlier. */
static void descends(struct gt_sync *sync, const struct gt_item *begun, const struct gt_item *from)
{
	struct gt_timeline *child = &sync->timelines[begun->location];

	if (from->location == begun->location)
		return;
	child->creator = from->location;
	child->created = from->time < begun->time ? from->time : begun->time;
}

/* Since when a process may have lived that nobody is seen to create: since the last one was waited for. */
static uint64_t since(const struct gt_sync *sync, const struct gt_item *joined)
{
	enum { BACK = 1024 };

	for (uint64_t i = joined->segment; i && i + BACK > joined->segment; i--) {
		const struct gt_wait_segment *segment = gt_segment_at(sync, joined->location, i - 1);

		if (segment->class == GT_CLASS_PROCESS)
			return segment->end;
	}
	return joined->segment > BACK ? joined->begin : sync->timelines[joined->location].begin;
}

/* `created` may be NULL: who waits for it did that, as by vfork(), which is not recorded. */
static void add_unrecorded(struct gt_sync *sync, const struct gt_item *created, const struct gt_item *joined)
{
	const struct gt_item *by = created ? created : joined;

	sync->unrecorded = gt_grown(sync->unrecorded, sync->unrecorded_count, &sync->unrecorded_room,
				    sizeof(*sync->unrecorded));
	sync->unrecorded[sync->unrecorded_count++] = (struct gt_unrecorded){
		.from = created ? created->begin : since(sync, joined),
		.to = joined->time,
		.segment = joined->segment,
		.created = created ? created->time : joined->begin,
		.creator = by->location, .joiner = joined->location,
	};
}

/*
 * The life of one process: exec() makes another location of it, which follows the one before. Its parent says
 * that it has created it when the call returns: the process may run by then, or have ended.
 */
void gt_process_life(struct gt_sync *sync, const struct gt_item *items, size_t count)
{
	const struct gt_item *created = NULL, *ended = NULL, *first = NULL;
	struct gt_item end;

	for (size_t i = 0; i < count; i++) {
		const struct gt_item *item = &items[i], *from = ended ? ended : created;

		switch ((enum gt_thread_item)item->what) {
		case GT_THREAD_CREATED:
			if (first && !created && item->begin <= first->time)
				descends(sync, first, item);
			else
				ended = first = NULL;
			created = item;
			break;
		case GT_THREAD_BEGUN:
			first = first ? first : item;
			if (from)
				descends(sync, item, from);
			break;
		case GT_THREAD_ENDED:
			end = end_of(sync, item);
			ended = &end;
			break;
		case GT_THREAD_JOINED:
			if (ended)
				gt_sync_wait(sync, item->location, item->segment, GT_WAIT_CHILD,
					     ended->location, ended->time);
			else if (!first)
				add_unrecorded(sync, created, item);
			/* Not seen to be created: vfork(), clone(). Who waits for it did that. */
			if (first && !created)
				descends(sync, first, item);
			created = ended = first = NULL;
			break;
		case GT_THREAD_WOKEN:
		case GT_THREAD_HELD:
			break;
		}
	}
}
