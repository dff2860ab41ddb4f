/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call paths of serialized launches: the regions that were open on the thread whose call has the launch's
 * correlation id, and the functions between that the call's CALL_PATH names.
 *
 * Limits: see source.h.
 */
#include "config.h"

#include "report/source/source.h"

#include "lib/assemble/util/memory.h"
#include "lib/read/read.h"
#include "report/model/stacks.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define PATH_MOST 4000u

struct search {
	struct gt_src *src;
	uint64_t correlation, path; /* attributes */
	pthread_mutex_t lock;
};

static ptrdiff_t process_of(const struct gt_otf2_cursor *at)
{
	const struct search *search = at->user;
	const struct gt_pc_samples *s = &search->src->samples;
	uint64_t group = gt_otf2_process(at->read, at->location);
	const struct gt_otf2_property *pid =
		gt_otf2_find_owned(at->read, GT_OTF2_LOCATION_GROUP, group, "GPUTRACE::PROCESS_ID");

	for (size_t i = 0; pid && pid->text && i < s->process_count; i++)
		if (s->processes[i].pid == strtoul(pid->text, NULL, 10))
			return (ptrdiff_t)i;
	return -1;
}

/* The launches of a correlation id lie side by side. */
static const struct gt_pc_launch *first_launch(const struct gt_pc_samples *s, size_t process,
						uint64_t correlation)
{
	size_t low = 0, high = s->launch_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct gt_pc_launch *l = &s->launches[middle];

		if (l->process < process || (l->process == process && l->correlation < correlation))
			low = middle + 1;
		else
			high = middle;
	}
	return &s->launches[low];
}

static size_t put_name(char *text, size_t used, const char *name)
{
	if (used < PATH_MOST)
		used += (size_t)snprintf(text + used, PATH_MOST - used, "%s%s", used ? " > " : "", name);
	return used;
}

/* What is open, the functions that launched the kernel, and the call, which has been left. */
static void path_text(const struct gt_otf2_cursor *at, const struct gt_otf2_frame *call, uint32_t path,
		      const char *kernel, char *text)
{
	const struct gt_otf2_region *open[GT_OPEN_MOST];
	struct gt_frames *frames = gt_zeroed(1, sizeof(*frames));
	unsigned count = 0;
	size_t used = 0;

	while (count < GT_OPEN_MOST && count < at->depth) {
		open[count] = at->stack[at->depth - 1 - count].region;
		count++;
	}
	gt_call_frames(at->read, gt_stack_launcher(at->read, path, kernel), open, count, frames);
	*text = 0;
	for (size_t i = 0; i < at->depth; i++)
		used = put_name(text, used, at->stack[i].region->name);
	while (frames->count)
		used = put_name(text, used, frames->regions[--frames->count]->name);
	put_name(text, used, call->region->name);
	free(frames);
}

static struct gt_src_path *find_path(struct gt_src *src, const char *text, size_t function)
{
	struct gt_src_path *path;

	for (size_t i = 0; i < src->path_count; i++)
		if (src->paths[i].function == function && !strcmp(src->paths[i].path, text))
			return &src->paths[i];
	if (src->path_count == src->path_room) {
		src->path_room = src->path_room ? 2 * src->path_room : 16;
		src->paths = gt_resized(src->paths, src->path_room, sizeof(*src->paths));
	}
	path = &src->paths[src->path_count++];
	*path = (struct gt_src_path){ .path = strdup(text), .function = function };
	if (!path->path)
		gt_no_memory();
	return path;
}

static bool is_shown(const struct gt_src *src, size_t function)
{
	for (size_t i = 0; i < src->count; i++)
		if (src->functions[i].samples == &src->samples.functions[function])
			return true;
	return false;
}

/* In frame->user: 1 + the index of the first launch that the call has made. */
static void enter(struct gt_otf2_cursor *at)
{
	struct search *search = at->user;
	const struct gt_pc_samples *s = &search->src->samples;
	const struct gt_pc_launch *l, *end = s->launches + s->launch_count;
	OTF2_AttributeValue value;
	ptrdiff_t process;

	at->stack[at->depth - 1].user = 0;
	if (at->location->type != OTF2_LOCATION_TYPE_CPU_THREAD ||
	    !gt_otf2_attribute(at, search->correlation, OTF2_TYPE_UINT64, &value))
		return;
	process = process_of(at);
	if (process < 0)
		return;
	l = first_launch(s, (size_t)process, value.uint64);
	if (l < end && l->process == (size_t)process && l->correlation == value.uint64)
		at->stack[at->depth - 1].user = (uint64_t)(l - s->launches) + 1;
}

/* `attribute`: that says who made the call. */
static void end_call(const struct gt_otf2_cursor *at, const struct gt_otf2_frame *call, uint64_t attribute)
{
	struct search *search = at->user;
	const struct gt_pc_samples *s = &search->src->samples;
	const struct gt_pc_launch *end = s->launches + s->launch_count, *first;
	uint32_t called = gt_stack_call_path(at, attribute);
	char text[PATH_MOST];

	if (!call->user)
		return;
	first = &s->launches[call->user - 1];
	pthread_mutex_lock(&search->lock);
	for (const struct gt_pc_launch *l = first;
	     l < end && l->process == first->process && l->correlation == first->correlation; l++) {
		struct gt_src_path *path;

		if (!is_shown(search->src, l->function))
			continue;
		path_text(at, call, called, s->functions[l->function].shown, text);
		path = find_path(search->src, text, l->function);
		path->samples += l->samples;
		path->launches++;
	}
	pthread_mutex_unlock(&search->lock);
}

static void leave(struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame)
{
	end_call(at, frame, ((struct search *)at->user)->path);
}

/* Calls that are still open. */
static void end(struct gt_otf2_cursor *at, bool whole)
{
	(void)whole;
	while (at->depth--)
		end_call(at, &at->stack[at->depth], GT_OTF2_NOTHING);
	at->depth = 0;
}

static int by_samples(const void *va, const void *vb)
{
	const struct gt_src_path *a = va, *b = vb;

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return strcmp(a->path, b->path);
}

int gt_src_paths(struct gt_src *src, const char *anchor)
{
	static const struct gt_otf2_visitor visitor = { .enter = enter, .leave = leave, .end = end };
	struct search search = { .src = src, .lock = PTHREAD_MUTEX_INITIALIZER };
	struct gt_otf2 *read;
	int rc;

	if (!src->samples.launch_count)
		return 0;
	read = gt_otf2_open(anchor, &(struct gt_otf2_options){ .visitor = &visitor, .user = &search });
	if (!read)
		return -EIO;
	rc = gt_otf2_definitions(read);
	search.correlation = gt_otf2_attribute_named(read, "CORRELATION_ID");
	search.path = gt_otf2_attribute_named(read, "CALL_PATH");
	if (!rc)
		rc = gt_otf2_events(read);
	/* The reader is not closed: regions' names are its. */
	if (src->path_count)
		qsort(src->paths, src->path_count, sizeof(*src->paths), by_samples);
	return rc;
}
