/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Start/end ranges (NVTX, roctx). They may overlap, and end on another thread than they began on, so they
 * cannot be regions of a thread. They become regions of a location of their own, "NVTX ranges"; the assembly
 * moves overlapping ones to further lanes ("NVTX ranges lane 2").
 *
 * Limits: a range is written when it ends. One that is still open when the program ends is closed there; one
 * that is open when the process is killed is lost. A forked child drops the ranges that it inherited.
 */
#include <string.h>

#include "accel/accel.h"
#include "gputrace/lock.h"

#define BUCKETS 4096u
#define CHUNK   (1u << 16)

static struct entry {
	uint64_t id, begin;
	struct gt_accel_range what;
	struct entry *next;
} *open_ranges[BUCKETS], *unused;
static struct gt_lock ranges_lock;
static struct gt_location *row;
static bool tried;

static uint64_t lock(void)
{
	return gt_lock(&ranges_lock);
}

static void unlock(uint64_t mask)
{
	gt_unlock(&ranges_lock, mask);
}

/* Under the lock. NULL: no memory. */
static struct entry *take(void)
{
	struct entry *e = unused;

	if (!e) {
		e = gt_memory(CHUNK);
		if (!e)
			return NULL;
		for (size_t i = 0; i < CHUNK / sizeof(*e); i++)
			e[i].next = i + 1 < CHUNK / sizeof(*e) ? &e[i + 1] : NULL;
	}
	unused = e->next;
	return e;
}

/* Under the lock. */
static struct gt_location *own_row(void)
{
	const struct gt_location_info info = {
		.bytes = sizeof(info),
		.name = gt_accel_runtime.ranges,
		.kind = GT_LOC_GPU_STREAM,
		.flags = GT_LOC_UNSORTED | GT_LOC_COMMITS | GT_LOC_ASIDE,
		.key = GT_KEY_NO_DEVICE,
	};

	if (!row && !tried) {
		tried = true;
		row = gt_location_create(&info);
	}
	return row;
}

void gt_accel_range_begin(uint64_t id, uint64_t tick, const struct gt_accel_range *range)
{
	struct entry *e;
	uint64_t mask;

	if (!gt_active() || !range->region)
		return;
	mask = lock();
	e = mask != GT_LOCK_REFUSED && own_row() ? take() : NULL;
	if (e) {
		e->id = id;
		e->begin = tick ? tick : gt_now();
		e->what = *range;
		e->next = open_ranges[id % BUCKETS];
		open_ranges[id % BUCKETS] = e;
	} else {
		gt_lost(gt_is_confined() ? GT_LOSS_SANDBOX : GT_LOSS_NO_LOCATION, 2);
	}
	unlock(mask);
}

/* Under the lock. */
static void write_range(const struct entry *e, uint64_t end)
{
	const struct gt_accel_range *r = &e->what;
	struct gt_accel_block block = { .count = 0 };

	if (r->attribute)
		gt_accel_put_data(&block, GT_T_ATTR, r->attribute, (uint64_t[2]){ r->value, 0 }, 1, e->begin);
	gt_accel_put(&block, GT_T_ENTER, r->region, e->begin);
	if (r->category)
		gt_accel_put_data(&block, GT_T_PARAM_STR, r->parameter, (uint64_t[2]){ r->category, 0 }, 1,
				  e->begin);
	gt_accel_put(&block, GT_T_LEAVE, r->region, end > e->begin ? end : e->begin);
	gt_location_block(row, block.slots, block.count);
}

/* Under the lock. The range with this number, out of the table; NULL: it began while nothing was recorded, or
 * has ended already. */
static struct entry *take_open(uint64_t id)
{
	struct entry **at = &open_ranges[id % BUCKETS], *e;

	while (*at && (*at)->id != id)
		at = &(*at)->next;
	e = *at;
	if (e)
		*at = e->next;
	return e;
}

void gt_accel_range_end(uint64_t id)
{
	uint64_t mask = lock();
	struct entry *e = mask == GT_LOCK_REFUSED ? NULL : take_open(id);

	if (e) {
		write_range(e, gt_now());
		e->next = unused;
		unused = e;
	}
	unlock(mask);
}

/* The end of a confined process, or not: what is open has not been ended, or could not be. */
static void lose_open(bool ends)
{
	static uint64_t reported;
	uint64_t lost = 0;

	for (unsigned i = 0; ends && i < BUCKETS; i++)
		for (const struct entry *e = open_ranges[i]; e; e = e->next)
			lost += 2;
	gt_lost(GT_LOSS_SANDBOX, lost - reported);
	reported = lost;
}

void gt_accel_ranges_finish(bool ends)
{
	uint64_t mask, now = gt_now();

	if (gt_is_confined()) {
		lose_open(ends);
		return;
	}
	mask = lock();
	for (unsigned i = 0; ends && mask != GT_LOCK_REFUSED && i < BUCKETS; i++)
		for (struct entry *e = open_ranges[i]; e; e = e->next) {
			write_range(e, now);
			e->begin = now; /* exec may fail: then it goes on */
		}
	unlock(mask);
}

void gt_accel_ranges_forked(void)
{
	memset(open_ranges, 0, sizeof(open_ranges));
	ranges_lock = (struct gt_lock){ 0 };
	row = NULL;
	tried = false;
}
