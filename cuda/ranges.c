/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NVTX ranges with a start and an end: they may overlap, and end on another thread than they began on,
 * so they are no thread's regions. They are regions of a location of their own among the process's threads,
 * "NVTX ranges"; what overlaps is put beside it when assembling ("NVTX ranges lane 2").
 *
 * Limits: a range is written when it ends; one that is open at the end of the program ends there, one
 * that is open when the process is killed is not in the trace. What a forked child has inherited is its
 * parent's.
 */
#include <string.h>
#include <sys/mman.h>

#include "cuda/cuda.h"
#include "cuda/lock.h"
#include "cuda/ranges.h"

#define BUCKETS 4096u
#define CHUNK   (1u << 16)

static struct entry {
	uint64_t id, begin;
	struct gt_nv_range what;
	struct entry *next;
} *open_ranges[BUCKETS], *unused;
static uint64_t next_id;
static uint32_t lock_word;
static struct gt_location *row;
static bool tried;

/*
 * Of the thread's other calls nothing is recorded meanwhile; a signal that strikes after it finds that
 * over.
 */
static uint64_t lock(void)
{
	uint64_t mask = gt_cu_lock(&lock_word);

	gt_guard();
	return mask;
}

static void unlock(uint64_t mask)
{
	gt_unguard();
	gt_cu_unlock(&lock_word, mask);
}

/* Under the lock. NULL: no memory. */
static struct entry *take(void)
{
	struct entry *e = unused;

	if (!e) {
		void *p = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			return NULL;
		e = p;
		for (size_t i = 0; i < CHUNK / sizeof(*e); i++)
			e[i].next = i + 1 < CHUNK / sizeof(*e) ? &e[i + 1] : NULL;
	}
	unused = e->next;
	return e;
}

uint64_t gt_nv_range_start(const struct gt_nv_range *range)
{
	bool recorded = gt_active() && range->region;
	uint64_t id, mask = lock();
	struct entry *e;

	id = ++next_id;
	e = recorded ? take() : NULL;
	if (e) {
		e->id = id;
		e->begin = gt_now();
		e->what = *range;
		e->next = open_ranges[id % BUCKETS];
		open_ranges[id % BUCKETS] = e;
	} else if (recorded) {
		gt_lost(GT_LOSS_NO_LOCATION, 1);
	}
	unlock(mask);
	return id;
}

/* Under the lock. */
static void write_range(const struct entry *e, uint64_t end)
{
	static const struct gt_location_info info = {
		.bytes = sizeof(info),
		.name = "NVTX ranges",
		.kind = GT_LOC_GPU_STREAM,
		.flags = GT_LOC_UNSORTED | GT_LOC_COMMITS | GT_LOC_ASIDE,
		.key = GT_KEY_NO_DEVICE,
	};
	const struct gt_nv_range *r = &e->what;

	if (!row && !tried) {
		tried = true;
		row = gt_location_create(&info);
	}
	if (!row) {
		gt_lost(GT_LOSS_NO_LOCATION, 1);
		return;
	}
	if (r->attribute)
		gt_location_record(row, GT_T_ATTR, r->attribute, (uint64_t[2]){ r->value, 0 }, 1,
				   e->begin);
	gt_location_record(row, GT_T_ENTER, r->region, NULL, 0, e->begin);
	if (r->category)
		gt_location_record(row, GT_T_PARAM_STR, r->parameter, (uint64_t[2]){ r->category, 0 }, 1,
				   e->begin);
	gt_location_record(row, GT_T_LEAVE, r->region, NULL, 0, end > e->begin ? end : e->begin);
}

void gt_nv_range_end(uint64_t id)
{
	struct entry **at, *e;
	uint64_t mask = lock();

	for (at = &open_ranges[id % BUCKETS]; *at && (*at)->id != id; at = &(*at)->next)
		;
	e = *at;
	if (e) { /* else it began while nothing was recorded, or has ended already */
		*at = e->next;
		write_range(e, gt_now());
		e->next = unused;
		unused = e;
	}
	unlock(mask);
}

void gt_nv_ranges_finish(void)
{
	uint64_t mask = lock(), now = gt_now();

	for (unsigned i = 0; i < BUCKETS; i++)
		for (struct entry *e = open_ranges[i]; e; e = e->next) {
			write_range(e, now);
			e->begin = now; /* exec may fail: then it goes on */
		}
	unlock(mask);
}

void gt_nv_ranges_forked(void)
{
	memset(open_ranges, 0, sizeof(open_ranges));
	lock_word = 0;
	row = NULL;
	tried = false;
}
