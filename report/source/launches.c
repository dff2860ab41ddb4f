/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matches launches that have times of blocks with launches of the trace: the kernel of that process that
 * has its CUDA_GRID_ID. Nodes of a graph have the same number each time: then it is the one that is as far
 * from another launch in the trace as by the GPU's timer.
 *
 * Limits: where all launches of a process are of graphs that were launched several times, none has a place.
 */
#include "config.h"

#include "report/source/blocks.h"

#include "lib/assemble/util/memory.h"
#include "lib/read/read.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define NEAR_NS 50000 /* launches may overlap by less than they take */

struct kernel {
	uint64_t process; /* location group */
	uint32_t pid, grid;
	struct gt_block_place place;
};

struct search {
	struct gt_block_launches *launches;
	uint64_t *asked;      /* key_of() of the launches, sorted */
	uint64_t grid, correlation; /* attributes */
	pthread_mutex_t lock;
	struct kernel *kernels;
	size_t count, room;
};

static uint32_t pid_of(const struct gt_otf2 *read, uint64_t process)
{
	const struct gt_otf2_property *pid =
		gt_otf2_find_owned(read, GT_OTF2_LOCATION_GROUP, process, "GPUTRACE::PROCESS_ID");

	return pid && pid->text ? (uint32_t)strtoul(pid->text, NULL, 10) : 0;
}

static uint64_t key_of(uint32_t pid, uint32_t grid)
{
	return (uint64_t)pid << 32 | grid;
}

static int by_key(const void *va, const void *vb)
{
	const uint64_t *a = va, *b = vb;

	return *a < *b ? -1 : *a > *b;
}

static int by_kernel(const void *va, const void *vb)
{
	const struct kernel *a = va, *b = vb;
	uint64_t mine = key_of(a->pid, a->grid), other = key_of(b->pid, b->grid);

	return by_key(&mine, &other);
}

static bool is_asked(const struct search *search, uint64_t key)
{
	return (uint32_t)key &&
	       bsearch(&key, search->asked, search->launches->count, sizeof(key), by_key);
}

static void list_asked(struct search *search)
{
	search->asked = gt_zeroed(search->launches->count + 1, sizeof(*search->asked));
	for (size_t i = 0; i < search->launches->count; i++)
		search->asked[i] = key_of(search->launches->items[i].pid, search->launches->items[i].grid);
	qsort(search->asked, search->launches->count, sizeof(*search->asked), by_key);
}

static void enter(struct gt_otf2_cursor *at)
{
	struct search *search = at->user;
	uint64_t process = gt_otf2_process(at->read, at->location);
	struct gt_otf2_frame *frame = &at->stack[at->depth - 1];
	OTF2_AttributeValue grid, correlation;
	struct kernel kernel;

	if (!gt_otf2_attribute(at, search->grid, OTF2_TYPE_UINT64, &grid))
		return;
	kernel = (struct kernel){ .process = process, .pid = pid_of(at->read, process),
				  .grid = (uint32_t)grid.uint64,
				  .place = { .region = frame->region->name, .stream = at->location->name,
					     .start = at->time } };
	if (!is_asked(search, key_of(kernel.pid, kernel.grid)))
		return;
	if (gt_otf2_attribute(at, search->correlation, OTF2_TYPE_UINT64, &correlation))
		kernel.place.correlation = correlation.uint64;
	pthread_mutex_lock(&search->lock);
	if (search->count == search->room) {
		search->room = search->room ? 2 * search->room : 64;
		search->kernels = gt_resized(search->kernels, search->room, sizeof(kernel));
	}
	search->kernels[search->count++] = kernel;
	frame->user = search->count;
	pthread_mutex_unlock(&search->lock);
}

static void leave(struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame)
{
	struct search *search = at->user;

	if (!frame->user)
		return;
	pthread_mutex_lock(&search->lock);
	search->kernels[frame->user - 1].place.end = at->time;
	pthread_mutex_unlock(&search->lock);
}

/* ---- which it is --------------------------------------------------------------------------------- */

/* Pids of several hosts may be the same. */
static bool on_host(const struct gt_otf2 *read, uint64_t process, const char *host)
{
	const struct gt_otf2_location_group *group = gt_otf2_find_location_group(read, process);
	const struct gt_otf2_node *node = group ? gt_otf2_find_node(read, group->parent) : NULL;

	for (unsigned depth = 0; node && depth < 64; depth++) {
		if (!strcmp(node->name, host))
			return true;
		node = gt_otf2_find_node(read, node->parent);
	}
	return false;
}

/* The first kernel of that process and number; others follow. */
static size_t first_kernel(const struct search *search, const struct gt_block_launch *l)
{
	size_t low = 0, high = search->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct kernel *k = &search->kernels[middle];

		if (key_of(k->pid, k->grid) < key_of(l->pid, l->grid))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_number(const struct search *search, size_t i, const struct gt_block_launch *l)
{
	return l->grid && i < search->count && search->kernels[i].pid == l->pid &&
	       search->kernels[i].grid == l->grid;
}

/* On the same host, and of the time that its blocks took. */
static bool fits(const struct gt_otf2 *read, const struct kernel *k, const struct gt_block_launch *l)
{
	return l->count && k->place.end >= k->place.start &&
	       k->place.end - k->place.start >= gt_blocks_span(l) && on_host(read, k->process, l->host);
}

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static bool place_alone(const struct gt_otf2 *read, const struct search *search, struct gt_block_launch *l)
{
	const struct kernel *found = NULL;

	for (size_t i = first_kernel(search, l); is_number(search, i, l); i++) {
		if (!fits(read, &search->kernels[i], l))
			continue;
		if (found)
			return false;
		found = &search->kernels[i];
	}
	if (found)
		l->place = found->place;
	return found;
}

/* The nearest launch of the process with a place, of which `known` are. */
static const struct gt_block_launch *anchor_of(const struct search *search, const struct gt_block_launch *l,
					       const bool *known)
{
	const struct gt_block_launch *best = NULL;

	for (size_t i = 0; i < search->launches->count; i++) {
		const struct gt_block_launch *other = &search->launches->items[i];

		if (known[i] && other->pid == l->pid && !strcmp(other->host, l->host) &&
		    (!best || apart(other->first, l->first) < apart(best->first, l->first)))
			best = other;
	}
	return best;
}

static void place_by_time(const struct gt_otf2 *read, const struct search *search, struct gt_block_launch *l,
			  const struct gt_block_launch *anchor)
{
	uint64_t gap = apart(l->first, anchor->first), least = UINT64_MAX;

	for (size_t i = first_kernel(search, l); is_number(search, i, l); i++) {
		const struct kernel *k = &search->kernels[i];
		bool later = k->place.start >= anchor->place.start;
		uint64_t off = apart(apart(k->place.start, anchor->place.start), gap);

		if (later != (l->first >= anchor->first) && gap > NEAR_NS)
			continue;
		/* The clocks' rates are a few millionths apart. */
		if (fits(read, k, l) && off < NEAR_NS + gap / 10000 && off < least) {
			least = off;
			l->place = k->place;
		}
	}
}

static void place_all(const struct gt_otf2 *read, struct search *search)
{
	struct gt_block_launches *all = search->launches;
	bool *known = gt_zeroed(all->count + 1, sizeof(*known));

	if (search->count)
		qsort(search->kernels, search->count, sizeof(*search->kernels), by_kernel);
	for (size_t i = 0; i < all->count; i++)
		known[i] = place_alone(read, search, &all->items[i]);
	for (size_t i = 0; i < all->count; i++) {
		const struct gt_block_launch *anchor =
			known[i] ? NULL : anchor_of(search, &all->items[i], known);

		if (anchor)
			place_by_time(read, search, &all->items[i], anchor);
	}
	free(known);
}

int gt_blocks_place(struct gt_block_launches *launches, const char *anchor)
{
	static const struct gt_otf2_visitor visitor = { .enter = enter, .leave = leave };
	struct search search = { .launches = launches, .lock = PTHREAD_MUTEX_INITIALIZER };
	struct gt_otf2 *read =
		gt_otf2_open(anchor, &(struct gt_otf2_options){ .visitor = &visitor, .user = &search });
	int rc;

	if (!read)
		return -EIO;
	list_asked(&search);
	rc = gt_otf2_definitions(read);
	search.grid = gt_otf2_attribute_named(read, "CUDA_GRID_ID");
	search.correlation = gt_otf2_attribute_named(read, "CORRELATION_ID");
	if (!rc && search.grid != GT_OTF2_NOTHING)
		rc = gt_otf2_events(read);
	place_all(read, &search);
	free(search.kernels);
	free(search.asked);
	/* The reader is not closed: names are its. */
	return rc;
}
