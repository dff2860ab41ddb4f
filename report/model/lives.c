/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The times between threads that share a location.
 *
 * Limits: see lives.h.
 */
#include "config.h"

#include "report/model/lives.h"

#include "lib/assemble/util/memory.h"

void gt_lives_add(struct gt_lives *lives, uint64_t begin, uint64_t end)
{
	struct gt_absence absence = { .begin = begin, .end = end };

	absence.before = gt_lives_absent(lives);
	lives->absences = gt_grown(lives->absences, lives->count, &lives->room, sizeof(*lives->absences));
	lives->absences[lives->count++] = absence;
}

uint64_t gt_lives_until(const struct gt_lives *lives, uint64_t time)
{
	size_t low = 0, high = lives->count; /* those before `low` have begun */
	const struct gt_absence *last;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (lives->absences[middle].begin <= time)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return time;
	last = &lives->absences[low - 1];
	return (time < last->end ? last->begin : time - (last->end - last->begin)) - last->before;
}
