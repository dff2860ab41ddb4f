/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory spaces: each is a location of the process, "Kokkos space Host", on which are how many bytes are
 * allocated in it now and at most (metrics), and, as messages, the copies from one space to another.
 * Who allocates has a region of no length, with the view's name.
 *
 * Limits: SPACES spaces. What was allocated before recording began is not known: when it is freed, the metric
 * does not go below 0. A forked child begins with what its parent had.
 */
#include <string.h>
#include <unistd.h>

#include "gputrace/hash.h"
#include "gputrace/lock.h"
#include "gputrace/syscall.h"
#include "kokkos/kokkos.h"

enum { SPACES = 32, NAME = 128 };

struct gt_kk_space {
	char name[GT_KK_SPACE_NAME];
	uint64_t bytes, most;
	gt_ref bytes_metric, most_metric, allocate, deallocate;
	struct gt_location *location;
};

static struct gt_kk_space spaces[SPACES];
static uint32_t space_count; /* atomic */
static struct gt_lock lock;
static gt_ref view_parameter, source_parameter, bytes_parameter, comm;
static uint32_t last_tag; /* atomic */

static const char *join(char *text, const char *first, const char *name, const char *last)
{
	const char *pieces[] = { first, name, last };
	size_t n = 0;

	for (unsigned i = 0; i < 3; i++)
		for (const char *c = pieces[i]; *c && n + 1 < NAME; c++)
			text[n++] = *c;
	text[n] = '\0';
	return text;
}

static gt_ref metric(const char *name, const char *what, const char *description)
{
	char text[NAME];
	const struct gt_metric_info info = {
		.bytes = sizeof(info),
		.name = join(text, "Kokkos ", name, what),
		.unit = "bytes",
		.group = "Kokkos memory",
		.description = description,
		.value = GT_VALUE_UINT,
		.mode = GT_METRIC_ABSOLUTE_NEXT,
	};

	return gt_def_metric(&info);
}

/* ---- spaces ------------------------------------------------------------------------------------- */

/* Under the lock. In a forked child there is none yet. */
static void place(struct gt_kk_space *space)
{
	char text[NAME];
	const struct gt_location_info info = {
		.bytes = sizeof(info),
		.name = join(text, "Kokkos space ", space->name, ""),
		.kind = GT_LOC_METRIC,
	};

	if (!space->location)
		space->location = gt_location_create(&info);
}

/* Under the lock. */
static void make(struct gt_kk_space *space, const char *name)
{
	char text[NAME];

	memcpy(space->name, name, strlen(name) + 1);
	space->bytes_metric = metric(name, " bytes", "bytes of Kokkos' allocations in this memory space");
	space->most_metric = metric(name, " bytes, at most", "the most that this has been until now");
	space->allocate = gt_kk_region(GT_KK_ALLOCATE, join(text, "Kokkos::allocate ", name, ""));
	space->deallocate = gt_kk_region(GT_KK_DEALLOCATE, join(text, "Kokkos::deallocate ", name, ""));
}

static struct gt_kk_space *find(const char *name)
{
	uint32_t n = __atomic_load_n(&space_count, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(spaces[i].name, name))
			return &spaces[i];
	return NULL;
}

struct gt_kk_space *gt_kk_space_of(const struct gt_kk_handle *handle)
{
	char name[GT_KK_SPACE_NAME] = { 0 };
	struct gt_kk_space *space;
	uint64_t mask;

	memcpy(name, handle->name, strnlen(handle->name, sizeof(name) - 1));
	space = find(name);
	if (space)
		return space;
	mask = gt_lock(&lock);
	space = mask == GT_LOCK_REFUSED ? NULL : find(name);
	if (mask != GT_LOCK_REFUSED && !space && space_count < SPACES) {
		space = &spaces[space_count];
		make(space, name);
		__atomic_store_n(&space_count, space_count + 1, __ATOMIC_RELEASE); /* pairs with find() */
	}
	gt_unlock(&lock, mask);
	return space;
}

void gt_kk_spaces_begin(void)
{
	view_parameter = gt_def_parameter("KOKKOS_VIEW", GT_VALUE_UINT);
	source_parameter = gt_def_parameter("KOKKOS_SOURCE_VIEW", GT_VALUE_UINT);
	bytes_parameter = gt_def_parameter("KOKKOS_BYTES", GT_VALUE_UINT);
}

/* ---- allocations -------------------------------------------------------------------------------- */

static void record_metric(struct gt_kk_space *space, gt_ref id, uint64_t value)
{
	gt_location_record(space->location, GT_T_METRIC, id, (uint64_t[2]){ value, 0 }, 1, gt_now());
}

/* Under the lock. */
static void account(struct gt_kk_space *space, uint64_t bytes, bool freed)
{
	place(space);
	if (freed)
		space->bytes -= bytes < space->bytes ? bytes : space->bytes;
	else
		space->bytes += bytes;
	record_metric(space, space->bytes_metric, space->bytes);
	if (space->bytes > space->most) {
		space->most = space->bytes;
		record_metric(space, space->most_metric, space->most);
	}
}

static void parameter(gt_ref id, bool text, uint64_t value)
{
	gt_record(text ? GT_T_PARAM_STR : GT_T_PARAM_UINT, id, (uint64_t[2]){ value, 0 }, 1);
}

void gt_kk_view_event(gt_ref region, const char *view)
{
	gt_enter(region);
	parameter(view_parameter, true, gt_def_string(gt_kk_text(view)));
	gt_leave(region);
}

void gt_kk_allocated(struct gt_kk_space *space, const char *view, uint64_t bytes, bool freed)
{
	gt_ref region = freed ? space->deallocate : space->allocate;
	uint64_t mask;

	if (region) {
		gt_enter(region);
		parameter(view_parameter, true, gt_def_string(gt_kk_text(view)));
		parameter(bytes_parameter, false, bytes);
		gt_leave(region);
	}
	mask = gt_lock(&lock);
	if (mask == GT_LOCK_REFUSED)
		gt_lost(GT_LOSS_SANDBOX, 1);
	else
		account(space, bytes, freed);
	gt_unlock(&lock, mask);
}

/* ---- copies ------------------------------------------------------------------------------------- */

/* Under the lock. Processes have their own. */
static gt_ref own_comm(void)
{
	if (!comm)
		comm = gt_def_comm("Kokkos deep copies", GT_NONE, GT_PARADIGM_USER,
				   gt_hash_mix((uint64_t)gt_raw(SYS_getpid), gt_monotonic()));
	return comm;
}

static void record_message(struct gt_kk_space *space, unsigned type, const struct gt_kk_copy *copy)
{
	uint64_t mask = gt_lock(&lock);

	if (mask == GT_LOCK_REFUSED) {
		gt_lost(GT_LOSS_SANDBOX, 1);
	} else {
		place(space);
		gt_location_record(space->location, type, own_comm(),
				   (uint64_t[2]){ copy->tag, copy->bytes }, 1, gt_now());
	}
	gt_unlock(&lock, mask);
}

void gt_kk_copy_begin(struct gt_kk_copy *copy, const struct gt_kk_handle *to, const char *to_view,
		      const struct gt_kk_handle *from, const char *from_view)
{
	struct gt_kk_space *target = gt_kk_space_of(to), *source = gt_kk_space_of(from);
	char half[NAME], text[NAME];

	copy->to = NULL;
	if (!target || !source)
		return;
	join(half, "Kokkos::deep_copy ", source->name, " to ");
	copy->region = gt_kk_region(GT_KK_COPY, join(text, half, target->name, ""));
	if (!copy->region)
		return;
	gt_enter(copy->region);
	parameter(view_parameter, true, gt_def_string(gt_kk_text(to_view)));
	parameter(source_parameter, true, gt_def_string(gt_kk_text(from_view)));
	parameter(bytes_parameter, false, copy->bytes);
	if (target == source)
		return;
	copy->to = target;
	copy->tag = __atomic_add_fetch(&last_tag, 1, __ATOMIC_RELAXED);
	record_message(source, GT_T_USER_SEND, copy);
}

void gt_kk_copy_end(const struct gt_kk_copy *copy)
{
	if (copy->to)
		record_message(copy->to, GT_T_USER_RECV, copy);
	gt_leave(copy->region);
}

void gt_kk_spaces_forked(void)
{
	lock = (struct gt_lock){ 0 };
	comm = GT_NONE;
	for (uint32_t i = 0; i < SPACES; i++)
		spaces[i].location = NULL;
}
