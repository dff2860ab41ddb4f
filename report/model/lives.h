/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When threads that share a location, one after another, lived: the times between them.
 *
 * Limits: 24 bytes each, in memory.
 */
#ifndef GT_REPORT_LIVES_H
#define GT_REPORT_LIVES_H

#include <stddef.h>
#include <stdint.h>

/* Zero at first: there always was a thread. */
struct gt_lives {
	struct gt_absence {
		uint64_t begin, end, before; /* before: ns of those before it */
	} *absences;
	size_t count, room;
};

/* In their order: there was no thread from `begin` to `end`. */
void gt_lives_add(struct gt_lives *lives, uint64_t begin, uint64_t end);
/* The ns without a thread. */
static inline uint64_t gt_lives_absent(const struct gt_lives *lives)
{
	const struct gt_absence *last = lives->count ? &lives->absences[lives->count - 1] : NULL;

	return last ? last->before + last->end - last->begin : 0;
}
/* The ns until a time in which there was a thread, taken that there was one before the first absence. */
uint64_t gt_lives_until(const struct gt_lives *lives, uint64_t time);

#endif
