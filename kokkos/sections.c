/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profile sections: they may overlap, and stop on another thread than they started on, so they are no
 * thread's regions. They are regions of a location of their own, "Kokkos sections"; what overlaps is put
 * beside it when assembling ("Kokkos sections lane 2").
 *
 * Limits: SECTIONS sections at a time. One is written when it stops; one that runs at the end of the program
 * ends there, one that runs when the process is killed is not in the trace. What runs in a parent is not in
 * its forked child.
 */
#include <string.h>

#include "gputrace/lock.h"
#include "kokkos/kokkos.h"

enum { SECTIONS = 4096 };

static struct section {
	gt_ref region;
	uint64_t begin; /* tick; 0: it does not run */
	bool used;
} sections[SECTIONS];
static uint32_t next_section;
static struct gt_lock lock;
static struct gt_location *row;
static bool tried;

/* Under the lock. */
static struct gt_location *own_row(void)
{
	static const struct gt_location_info info = {
		.bytes = sizeof(info),
		.name = "Kokkos sections",
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

/* The section with this number, with the lock held; NULL, and not held: there is none. */
static struct section *hold(uint32_t section, uint64_t *mask)
{
	struct section *s = section - 1 < SECTIONS ? &sections[section - 1] : NULL;

	if (!s)
		return NULL;
	*mask = gt_lock(&lock);
	if (*mask != GT_LOCK_REFUSED && s->used)
		return s;
	gt_unlock(&lock, *mask);
	return NULL;
}

/* Under the lock. */
static void stop(struct section *s, uint64_t end)
{
	struct gt_location *location = s->begin && s->region ? own_row() : NULL;
	const struct gt_slot slots[] = {
		{ .time = s->begin, .word = GT_WORD(GT_T_ENTER, s->region) },
		{ .time = end > s->begin ? end : s->begin, .word = GT_WORD(GT_T_LEAVE, s->region) },
	};

	if (location)
		gt_location_block(location, slots, 2);
	s->begin = 0;
}

uint32_t gt_kk_section_create(const char *name)
{
	gt_ref region = gt_kk_region(GT_KK_SECTION, name);
	uint64_t mask = gt_lock(&lock);
	uint32_t number = 0;

	for (uint32_t i = 0; mask != GT_LOCK_REFUSED && i < SECTIONS && !number; i++) {
		uint32_t at = (next_section + i) % SECTIONS;

		if (!sections[at].used) {
			sections[at] = (struct section){ .region = region, .used = true };
			number = next_section = at + 1;
		}
	}
	gt_unlock(&lock, mask);
	return number;
}

void gt_kk_section_start(uint32_t section)
{
	bool active = gt_active();
	uint64_t mask;
	struct section *s = hold(section, &mask);

	if (!s)
		return;
	if (!s->begin && active)
		s->begin = gt_now();
	gt_unlock(&lock, mask);
}

void gt_kk_section_stop(uint32_t section)
{
	uint64_t mask;
	struct section *s = hold(section, &mask);

	if (!s)
		return;
	stop(s, gt_now());
	gt_unlock(&lock, mask);
}

void gt_kk_section_destroy(uint32_t section)
{
	uint64_t mask;
	struct section *s = hold(section, &mask);

	if (!s)
		return;
	stop(s, gt_now());
	s->used = false;
	gt_unlock(&lock, mask);
}

void gt_kk_sections_end(bool ends)
{
	uint64_t mask, now = gt_now();

	if (!ends || gt_is_confined())
		return;
	mask = gt_lock(&lock);
	for (uint32_t i = 0; mask != GT_LOCK_REFUSED && i < SECTIONS; i++)
		if (sections[i].used && sections[i].begin) {
			stop(&sections[i], now);
			sections[i].begin = now; /* exec may fail: then it goes on */
		}
	gt_unlock(&lock, mask);
}

void gt_kk_sections_forked(void)
{
	lock = (struct gt_lock){ 0 };
	row = NULL;
	tried = false;
	for (uint32_t i = 0; i < SECTIONS; i++)
		sections[i].begin = 0;
}
