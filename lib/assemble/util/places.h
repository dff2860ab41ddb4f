/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds open items, such as requests, by their number. The items themselves are in an array of the caller's
 * without gaps. A million may be open at once, and they may end in any order.
 *
 * Limits: up to 2^32 - 2 items; ends the process if memory runs out (memory.h).
 */
#ifndef GT_ASSEMBLE_UTIL_PLACES_H
#define GT_ASSEMBLE_UTIL_PLACES_H

#include <stddef.h>
#include <stdint.h>

#define GT_NO_PLACE SIZE_MAX

/* Zeroed, it is empty. */
struct gt_places {
	struct gt_place {
		uint64_t number;
		uint32_t what, next; /* next: + 1, of those of the same hash */
	} *entries;                  /* one for each item, in the same order */
	uint32_t *heads;             /* + 1, by hash; as many as there is room for */
	size_t count, room;
};

/* A new item, which comes to the end of the array. `what`: numbers of several kinds are told apart by it. */
void gt_places_add(struct gt_places *places, unsigned what, uint64_t number);
/*
 * The place of the item of this number that was added last, or GT_NO_PLACE. It is no longer there: the caller
 * moves the last item (places->count, now) to its place.
 */
size_t gt_places_take(struct gt_places *places, unsigned what, uint64_t number);
void gt_places_free(struct gt_places *places);

#endif
