/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers questions about one segment: what it waited for, who ended the wait, and how long it took.
 *
 * Limits: see sync.h.
 */
#include "config.h"

#include "report/model/posix.h"
#include "report/waits/sync.h"

#define NAME(NAME, text) text,
const char *const gt_wait_names[GT_WAITS] = { GT_WAIT_LIST(NAME) };
#undef NAME

/* It would have waited for that, if the rest had been earlier. */
static void add_other(struct gt_wait_segment *segment, unsigned class, uint32_t cause, uint64_t until)
{
	if (segment->also != GT_NO_CAUSE && segment->also_until >= until)
		return;
	segment->also = cause;
	segment->also_until = until;
	segment->also_wait = (unsigned char)class;
}

/*
 * Of two reasons with the same end, the one that must have been waited for: a call that sends and receives
 * had to wait for its message, but not necessarily for its own to be received.
 */
static bool surer(const struct gt_wait_segment *segment, enum gt_wait class, uint64_t until)
{
	return segment->until == until && segment->wait == GT_WAIT_LATE_RECEIVER &&
	       class == GT_WAIT_LATE_SENDER;
}

void gt_sync_wait(struct gt_sync *sync, uint32_t location, uint64_t index, enum gt_wait class, uint32_t cause,
		  uint64_t until)
{
	struct gt_wait_segment *segment = gt_segment_at(sync, location, index);

	if (until > segment->end || cause == location)
		return;
	if (until <= segment->begin ||
	    (segment->cause != GT_NO_CAUSE && segment->until >= until && !surer(segment, class, until))) {
		add_other(segment, class, cause, until);
		return;
	}
	if (segment->cause != GT_NO_CAUSE)
		add_other(segment, segment->wait, segment->cause, segment->until);
	segment->wait = (unsigned char)class;
	segment->cause = cause;
	segment->until = until;
}

bool gt_sync_by_time(const struct gt_sync *sync, uint32_t location, const struct gt_wait_segment *segment)
{
	uint32_t node = gt_profile_node_at(sync->profile, location, segment->node);
	uint32_t region = sync->profile->tree.nodes[node].region;
	const struct gt_otf2 *read = sync->report->read;

	return segment->class == GT_CLASS_SLEEP &&
	       (region >= read->tables[GT_OTF2_REGION].count ||
		gt_posix_call(gt_otf2_region_at(read, region)->name) != GT_POSIX_AWAIT);
}

uint64_t gt_sync_waited(const struct gt_wait_segment *segment)
{
	uint64_t from;

	if (!segment->wait)
		return 0;
	from = segment->class == GT_CLASS_GPU_IDLE && segment->sent != UINT64_MAX ? segment->sent
										     : segment->begin;
	return (segment->cause == GT_NO_CAUSE ? segment->end : segment->until) - from;
}

enum { NESTED = 8 }; /* calls in one that is left later, among which a segment's own is looked for */

/* The first whose last segment is this one or comes later. */
static uint64_t first_path(const struct gt_log *paths, uint64_t segment)
{
	uint64_t low = 0, high = paths->count;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (((struct gt_wait_path *)gt_log_at(paths, middle))->last < segment)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct gt_call_path gt_sync_path(const struct gt_sync *sync, uint32_t location, uint64_t segment)
{
	const struct gt_log *paths = &sync->timelines[location].paths;
	uint64_t first = first_path(paths, segment);

	for (uint64_t i = first; i < paths->count && i < first + NESTED; i++) {
		const struct gt_wait_path *path = gt_log_at(paths, i);

		if (path->first <= segment && segment <= path->last)
			return path->call;
	}
	return (struct gt_call_path){ .path = 0 };
}
