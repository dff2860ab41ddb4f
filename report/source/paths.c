/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call paths of serialized launches: the regions that were open on the thread whose call has the launch's
 * correlation id.
 *
 * Limits: see source.h.
 */
#include "config.h"

#include "report/source/source.h"

#include "lib/assemble/util/memory.h"
#include "lib/read/read.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define PATH_MOST 4000u

struct search {
	struct gt_src *src;
	uint64_t correlation; /* the attribute */
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

static void path_text(const struct gt_otf2_cursor *at, char *text)
{
	size_t used = 0;

	*text = 0;
	for (size_t i = 0; i < at->depth && used < PATH_MOST; i++)
		used += (size_t)snprintf(text + used, PATH_MOST - used, "%s%s", i ? " > " : "",
					 at->stack[i].region->name);
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

static void enter(struct gt_otf2_cursor *at)
{
	struct search *search = at->user;
	const struct gt_pc_samples *s = &search->src->samples;
	const struct gt_pc_launch *l, *end = s->launches + s->launch_count;
	OTF2_AttributeValue value;
	char text[PATH_MOST];
	ptrdiff_t process;

	if (at->location->type != OTF2_LOCATION_TYPE_CPU_THREAD ||
	    !gt_otf2_attribute(at, search->correlation, OTF2_TYPE_UINT64, &value))
		return;
	process = process_of(at);
	if (process < 0)
		return;
	l = first_launch(s, (size_t)process, value.uint64);
	if (l == end || l->process != (size_t)process || l->correlation != value.uint64)
		return;
	path_text(at, text);
	pthread_mutex_lock(&search->lock);
	for (; l < end && l->process == (size_t)process && l->correlation == value.uint64; l++) {
		struct gt_src_path *path;

		if (!is_shown(search->src, l->function))
			continue;
		path = find_path(search->src, text, l->function);
		path->samples += l->samples;
		path->launches++;
	}
	pthread_mutex_unlock(&search->lock);
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
	static const struct gt_otf2_visitor visitor = { .enter = enter };
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
	if (!rc)
		rc = gt_otf2_events(read);
	/* The reader is not closed: regions' names are its. */
	if (src->path_count)
		qsort(src->paths, src->path_count, sizeof(*src->paths), by_samples);
	return rc;
}
